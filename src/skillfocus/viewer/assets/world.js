// A world as the page's data has it. Simulation is that of Python's `rollout.py`: same tables, same
// order of random numbers.

/**
 * @import { PackedArray, WorldData } from "./data.js"
 * @import { Random } from "./random.js"
 */

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, i32: Int32Array, f32: Float32Array };

/**
 * @param {PackedArray} packed
 * @returns {Promise<any>} A typed array.
 */
export async function unpack({ type, data }) {
  const letters = atob(data);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new ARRAYS[type](await new Response(stream).arrayBuffer());
}

export class World {
  /** @param {WorldData} data */
  constructor(data) {
    this.id = data.id;
    this.start = data.start;
    /** The states that runs were recorded from; null where the page simulates. */
    this.starts = data.starts ?? null;
    this.defaultTarget = data.defaultTarget;
    this.actions = data.actions;
    this.variables = data.variables;
    this.nStates = data.nStates;
    this.nActions = data.actions.length;
    this.nVariables = data.variables.length;
    this.nOutcomes = data.nOutcomes ?? 1;
    this.nMarks = data.nMarks ?? 0;
    this.laws = data.laws ?? [];
    // Cells are characters as Python counts them, not the halves of which JavaScript makes some.
    this.map = !data.map ? null : { ...data.map, rows: data.map.rows.map((row) => Array.from(row)) };
    this.goal = data.goal ?? null;
    /** What worlds of real-valued variables have besides. */
    this.real = data.real ?? null;
    /** How many numbers a state has. */
    this.width = data.real?.width ?? data.variables.length;
    /** Pictures of the states, if the environment draws them. */
    this.frames = data.frames ?? null;
    this.noFrames = data.noFrames ?? "";
    /** All tiles of the pictures. @type {HTMLImageElement | null} */
    this.sheet = data.frames ? new Image() : null;
    if (this.sheet) this.sheet.src = data.frames.sheet;
    // The tables, filled by `read`; see WorldData for their meaning. Successors are absolute here.
    /** @type {Uint8Array | Uint16Array | Int32Array | Float32Array} */
    this.values = null;
    /** @type {Float32Array} */
    this.observations = null;
    /** @type {Int32Array} */
    this.successors = null;
    /** @type {Int32Array} */
    this.lawOf = null;
    /** @type {Int32Array} */
    this.marks = null;
    /** @type {Int32Array} */
    this.again = null;
    /** @type {Int32Array} */
    this.marksIn = null;
    /** @type {Int32Array} */
    this.lookOf = null;
    /** @type {Uint16Array} */
    this.tiles = null;
    /** @type {Map<string, Int32Array>} */
    this.contextTables = new Map();
    /** @type {Map<string, number>} */
    this.stateIndex = new Map();
  }

  /**
   * Unpack a world's tables.
   * @param {WorldData} data
   */
  static async read(data) {
    const world = new World(data);
    const packed = [data.values, data.successors, data.lawOf, data.marks, data.again, data.marksIn, data.map?.lookOf, data.frames?.tiles, data.real?.observations];
    const arrays = await Promise.all(packed.map((array) => array && unpack(array)));
    [world.values, world.successors, world.lawOf, world.marks, world.again, world.marksIn, world.lookOf, world.tiles, world.observations] = arrays;
    const perState = world.nActions * world.nOutcomes;
    const absolute = (/** @type {Int32Array} */ steps) => steps?.map((step, i) => step + Math.floor(i / perState));
    world.successors = absolute(world.successors);
    world.again = absolute(world.again);
    for (let s = 0; s < world.nStates && !world.real; s++) world.stateIndex.set(world.state(s).join(), s);
    return world;
  }

  /** The indices of a state's values. @param {number} s @returns {number[]} */
  state(s) {
    return Array.from(this.values.subarray(s * this.width, (s + 1) * this.width));
  }

  /** The index of one value of a state. @param {number} s @param {number} variable @returns {number} */
  value(s, variable) {
    return this.values[s * this.nVariables + variable];
  }

  /** The numbers of a real-valued variable. @param {number} s @param {number} variable */
  numbers(s, variable) {
    const [first, size] = this.real.places[variable];
    return this.values.subarray(s * this.width + first, s * this.width + first + size);
  }

  /** What a policy of real-valued actions saw in a state. @param {number} s */
  observation(s) {
    const { observationSize } = this.real;
    return /** @type {Float32Array} */ (this.observations ?? this.values).subarray(s * observationSize, (s + 1) * observationSize);
  }

  /** The color of a real-valued variable. @param {number} variable */
  color(variable) {
    return this.real.colors[variable % this.real.colors.length];
  }

  /** How far a real-valued variable is from where it was, over its scale. @param {number} first @param {number} last @param {number} variable */
  change(first, last, variable) {
    const before = this.numbers(first, variable), now = this.numbers(last, variable);
    let sum = 0;
    for (let i = 0; i < now.length; i++) sum += (now[i] - before[i]) ** 2;
    return Math.sqrt(sum) / this.variables[variable].scale;
  }

  /** Whether a variable differs between two states. @param {number} first @param {number} last @param {number} variable */
  differs(first, last, variable) {
    if (this.real) return this.change(first, last, variable) > this.real.threshold;
    return this.value(first, variable) !== this.value(last, variable);
  }

  /** One value of a state as text. @param {number} s @param {number} variable */
  label(s, variable) {
    if (this.real) return Array.from(this.numbers(s, variable), (x) => x.toFixed(2)).join(", ");
    return this.variables[variable].labels[this.value(s, variable)];
  }

  /** The state with these values, if there is one. @param {number[]} values */
  number(values) {
    return this.stateIndex.get(values.join());
  }

  /**
   * The state like s but for one value; if the world has none, one that differs in as few other
   * variables as possible. Where runs are recorded, only states that they begin in.
   * @param {number} s @param {number} variable @param {number} value
   */
  withValue(s, variable, value) {
    const wanted = this.state(s);
    wanted[variable] = value;
    const exact = this.number(wanted);
    if (exact !== undefined && (!this.starts || this.starts.includes(exact))) return exact;
    let best = s, fewest = Infinity;
    for (const other of this.starts ?? Array(this.nStates).keys()) {
      if (this.value(other, variable) !== value) continue;
      let differ = 0;
      for (let j = 0; j < this.nVariables; j++) if (this.value(other, j) !== wanted[j]) differ++;
      if (differ < fewest) [best, fewest] = [other, differ];
    }
    return best;
  }

  /** The variables whose values differ between two states. @param {number} first @param {number} last */
  differences(first, last) {
    return this.variables.map((_, j) => j).filter((j) => this.differs(first, last, j));
  }

  /**
   * [state]: the index of the combination of some variables' values, among those that occur, in
   * ascending order (as Python's `mdp.index_values`).
   * @param {number[]} variables
   */
  contextOf(variables) {
    const key = variables.join();
    if (!this.contextTables.has(key)) {
      let ofState = new Int32Array(this.nStates);
      for (const j of variables) {
        const size = this.variables[j].labels.length;
        const codes = Float64Array.from(ofState, (index, s) => index * size + this.value(s, j));
        const sorted = Array.from(new Set(codes)).sort((a, b) => a - b);
        const places = new Map(sorted.map((code, i) => [code, i]));
        ofState = Int32Array.from(codes, (code) => places.get(code));
      }
      this.contextTables.set(key, ofState);
    }
    return this.contextTables.get(key);
  }

  /** Set as many hidden marks as state s shows, in random cells. @param {number} s @param {Random} random */
  drawMarks(s, random) {
    const marked = new Uint8Array(this.nMarks);
    let missing = this.nMarks ? this.marksIn[s] : 0;
    while (missing > 0) {
      const mark = Math.floor(random.next() * this.nMarks);
      if (!marked[mark]) {
        marked[mark] = 1;
        missing--;
      }
    }
    return marked;
  }

  /**
   * One step, given its random number; sets hidden marks.
   * @param {number} s @param {number} action @param {Uint8Array} marked @param {number} u
   * @returns {number} The next state.
   */
  move(s, action, marked, u) {
    const row = s * this.nActions + action;
    const law = this.laws[this.lawOf[row]];
    let m = 0;
    while (u >= law[m]) m++;
    const outcome = row * this.nOutcomes + m;
    const mark = this.nMarks ? this.marks[outcome] : -1;
    if (mark >= 0) {
      if (marked[mark]) return this.again[outcome];
      marked[mark] = 1;
    }
    return this.successors[outcome];
  }

  /** A random number with which an action has its likeliest outcome. @param {number} s @param {number} action */
  likeliest(s, action) {
    const law = this.laws[this.lawOf[s * this.nActions + action]];
    let best = 0, most = 0, below = 0;
    for (const sum of law) {
      if (sum - below > most + 1e-12) [best, most] = [below, sum - below];
      below = sum;
    }
    return best;
  }
}
