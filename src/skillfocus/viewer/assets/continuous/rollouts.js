// Recorded rollouts of one set of skills.

/** @import { ContinuousWorldData, RolloutsData } from "./data.js" */
import { unpack } from "../world.js";

export class Rollouts {
  /** @param {RolloutsData} data @param {ContinuousWorldData} world */
  constructor(data, world) {
    this.world = world;
    this.label = data.label;
    this.titles = data.titles;
    this.targets = data.targets;
    this.nStarts = data.nStarts;
    this.nSteps = data.nSteps;
    /** @type {Float32Array} */
    this.values = null;
    /** @type {Float32Array} */
    this.observations = null;
  }

  /** @param {RolloutsData} data @param {ContinuousWorldData} world */
  static async read(data, world) {
    const made = new Rollouts(data, world);
    made.values = await unpack(data.values);
    made.observations = data.observations ? await unpack(data.observations) : made.values;
    return made;
  }

  /** @param {Float32Array} all @param {number} size @param {number} z @param {number} start @param {number} t */
  row(all, size, z, start, t) {
    const first = ((z * this.nStarts + start) * (this.nSteps + 1) + t) * size;
    return all.subarray(first, first + size);
  }

  /** What a policy saw at a step. @param {number} z @param {number} start @param {number} t */
  observation(z, start, t) {
    return this.row(this.observations, this.world.observationSize, z, start, t);
  }

  /** How far a variable is from where it began, over its scale. @param {number} z @param {number} start @param {number} t @param {number} j */
  change(z, start, t, j) {
    const { first, size, scale } = this.world.variables[j];
    const before = this.row(this.values, this.world.size, z, start, 0);
    const now = this.row(this.values, this.world.size, z, start, t);
    let sum = 0;
    for (let i = first; i < first + size; i++) sum += (now[i] - before[i]) ** 2;
    return Math.sqrt(sum) / scale;
  }
}
