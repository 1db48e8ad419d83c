// Types of the data of a page of continuous skills, as viewer/continuous.py writes it. Nothing here
// runs.

/** @import { PackedArray } from "../data.js" */

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
 * @typedef {object} ContinuousWorldData
 * @property {string} id
 * @property {{ name: string, first: number, size: number, scale: number }[]} variables
 * @property {number} size How many numbers a state has.
 * @property {number} observationSize
 * @property {{ bounds: [number, number, number, number], shapes: ShapeData[] } | null} drawing
 */

/**
 * @typedef {object} RolloutsData
 * @property {string} label
 * @property {string[]} titles [skill]
 * @property {number[][]} targets [skill]: variables
 * @property {number} nStarts
 * @property {number} nSteps
 * @property {PackedArray} values [skill, start, step, number]
 * @property {PackedArray | null} observations [skill, start, step, entry]; null if they are the values
 */

/**
 * @typedef {object} ContinuousPageData
 * @property {ContinuousWorldData} world
 * @property {RolloutsData[]} sets
 * @property {number} threshold From which change on a variable counts as changed.
 * @property {Object<string, Object<string, string>>} palettes By theme and role.
 * @property {string[]} colours Of the variables, in turn.
 */

export {};
