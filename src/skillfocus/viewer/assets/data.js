// Types of the page's data, as viewer/payload.py writes it. Nothing here
// runs: other modules refer to these types in comments, and the type checker reads them.

/**
 * An array: base64 of its zlib-compressed little-endian bytes.
 * @typedef {{ type: "u8" | "u16" | "i32" | "f32", data: string }} PackedArray
 */

/**
 * One path of an icon, on a box of 24 × 24: path data, fill, stroke, stroke width.
 * @typedef {[path: string, fill: string, stroke: string, width: number]} Shape
 */

/**
 * @typedef {object} VariableData
 * @property {string} name
 * @property {string[]} labels Its values as text; none if it is real-valued.
 * @property {number[][] | null} points Where its values lie; null if all are equally far apart.
 * @property {number} scale The largest distance between two values.
 */

/**
 * @typedef {object} MapData
 * @property {string[]} rows The map as drawn.
 * @property {[row: number, column: number][]} cells The free cells; a "place" is an index of this list.
 * @property {PackedArray} lookOf [state]: the look of the map, which depends on all variables but the position.
 * @property {Object<number, string[]>} looks By place, [look]: its glyph, for places that change.
 * @property {number[]} tracked [place]: its hidden mark, or -1.
 * @property {number[][]} places [variable]: the few places where it changes.
 * @property {Object<string, [Shape[], string]>} looksLike By glyph: its icon, and the letter on it.
 * @property {Object<number, string>} under By place: the glyph of the ground below whatever stands there.
 * @property {string[]} grounds The glyphs that fill their cell.
 * @property {string[]} agents [look]: the name of the agent's icon.
 */

/**
 * Pictures of all states: equal tiles are kept once, on a sheet.
 * @typedef {object} FramesData
 * @property {number} tile The side of a tile, in pixels.
 * @property {number} rows
 * @property {number} columns
 * @property {number} width
 * @property {number} height
 * @property {string} sheet A picture of all tiles, as a data URI.
 * @property {number} sheetColumns
 * @property {PackedArray} tiles [state, place]: the tile's number on the sheet.
 */

/**
 * A coordinate: a constant, or an entry of the observation.
 * @typedef {number | { observation: number }} Coordinate
 */

/**
 * A shape of a drawing, see worlds/drawing.py; which fields it has depends on its kind.
 * @typedef {object} ShapeData
 * @property {"circle" | "line" | "arrow" | "text"} kind
 * @property {string | null} [variable]
 * @property {[Coordinate, Coordinate]} [at]
 * @property {[Coordinate, Coordinate]} [start]
 * @property {[Coordinate, Coordinate]} [end]
 * @property {number} [radius]
 * @property {boolean} [trail]
 * @property {boolean} [hollow]
 * @property {boolean} [square]
 * @property {[Coordinate, number, number] | null} [filling]
 * @property {number | null} [width]
 * @property {Coordinate} [angle]
 * @property {number} [length]
 * @property {string} [text]
 */

/**
 * What a world of real-valued variables has besides.
 * @typedef {object} RealData
 * @property {[first: number, size: number][]} places [variable]: its first number's place in a state, and how many numbers it has.
 * @property {number} width How many numbers a state has.
 * @property {number} observationSize
 * @property {PackedArray | null} observations [state, entry]; null if they are the values.
 * @property {number} threshold From which change on a variable counts as changed, as a share of its scale.
 * @property {string[]} colors Of the variables, in turn.
 * @property {{ bounds: [number, number, number, number], shapes: ShapeData[] } | null} drawing
 */

/**
 * @typedef {object} WorldData
 * @property {string} id
 * @property {number} nStates
 * @property {number} [nOutcomes]
 * @property {number} [nMarks]
 * @property {string[]} actions
 * @property {VariableData[]} variables
 * @property {number} defaultTarget The variable that skills without another goal are for.
 * @property {number} start The state that the page starts in.
 * @property {PackedArray} values [state, variable]
 * @property {number[]} [starts] The states that runs were recorded from, in a world without a table. Its states are those that occur in recordings, and it has no successors.
 * @property {RealData} [real]
 * @property {PackedArray} [successors] [state, action, outcome], relative to the state
 * @property {PackedArray} [lawOf] [state, action]: a row of laws
 * @property {number[][]} [laws] [law, outcome]: cumulative probabilities
 * @property {PackedArray} [marks] [state, action, outcome]: the hidden mark it sets, or -1
 * @property {PackedArray} [again] [state, action, outcome]: the successor where that mark is set, relative
 * @property {PackedArray} [marksIn] [state]: how many marks are set
 * @property {MapData | null} [map]
 * @property {FramesData | null} [frames] Pictures of its states, drawn by its environment.
 * @property {string} [noFrames] Why there are none, though its environment draws; else empty.
 * @property {number | null} [goal] The variable that the page opens with; null for the first.
 */

/**
 * @typedef {object} Effects What a skill does over all starts within reach.
 * @property {number | null} changesTarget Probability that its targets end changed.
 * @property {number | null} sideEffects Expected number of other variables that end changed.
 * @property {(number | null)[]} byVariable [variable]: probability that it ends changed.
 * @property {number | null} steps
 * @property {boolean} exact Whether these are exact, not sampled.
 */

/**
 * @typedef {object} RewardGroup One table of a learned reward, in 256 levels.
 * @property {number[]} variables
 * @property {number[]} startVariables
 * @property {boolean} separable
 * @property {number[]} shape
 * @property {PackedArray} tables
 * @property {number} low The reward of level 0.
 * @property {number} step The reward between two levels.
 */

/**
 * @typedef {object} TaskData A task learned with a skill set.
 * @property {string} name
 * @property {"true" | "proxy"} reward
 * @property {number} start
 * @property {number} maxSteps
 * @property {any} done [state]: whether the reward is satisfied; packed until `taskReady`.
 * @property {any} true [state]: whether the true task is accomplished; packed until `taskReady`.
 * @property {any} q [state, skill or action]: learned values; packed until `taskReady`.
 * @property {number} optimum Steps of the best policy.
 */

/**
 * @typedef {object} SetData
 * @property {string} label
 * @property {boolean} first Whether the page opens with it.
 * @property {number} world
 * @property {string} objective
 * @property {string} learner
 * @property {number | null} strength
 * @property {string | null} penalty
 * @property {number} stepLimit
 * @property {string[]} titles [skill]: what it is called, in a world of real-valued variables.
 * @property {number[]} [starts] The states that runs of every skill were recorded from.
 * @property {number[][]} targets [skill]: variables
 * @property {(string | null)[]} reaches [skill]: the value that it is told to reach, such as "passenger=in taxi"
 * @property {number[][]} remembered [skill]: the variables of a first state that make its context
 * @property {number[]} modes [skill]: how many modes it draws from
 * @property {Effects[]} effects
 * @property {{ groups: RewardGroup[], terms: [number, number, number][][][] } | null} [learned]
 * @property {number[] | null} [coverage] Expected coverage by chains of 1, 2, … skills.
 * @property {TaskData | null} [task]
 */

/**
 * A policy: whole [column, state]; one bit for each of these cells and the actions of those that are
 * known; or as recorded runs: their states one after another, [count] states each, and what it does in
 * each.
 * @typedef {{ whole?: PackedArray, known?: PackedArray, actions?: PackedArray, counts?: PackedArray, states?: PackedArray }} PolicyData
 */

/**
 * @typedef {object} PageData
 * @property {WorldData[]} worlds
 * @property {SetData[]} sets
 * @property {Object<string, Shape[]>} icons
 * @property {Object<string, Object<string, string>>} palettes By theme and role.
 */

export {};
