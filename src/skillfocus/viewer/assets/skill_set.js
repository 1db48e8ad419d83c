// A skill set: its policies, unpacked when they are first needed.

/**
 * @import { PolicyData, SetData } from "./data.js"
 * @import { World } from "./world.js"
 */
import { unpack } from "./world.js";

/** Instead of an action: a state that the skill hardly ever reaches, which the page does not know. */
export const UNKNOWN = 255;

/**
 * A recorded run: its states, the first one included, and what the skill does in each.
 * @typedef {{ states: Int32Array, actions: Uint8Array }} Recording
 */

/**
 * @typedef {object} Policy One skill's policy, unpacked.
 * @property {Uint8Array} [whole] [column, state]
 * @property {Map<number, Recording[]>} [recorded] By first state, the recorded runs.
 */

export class SkillSet {
  /**
   * @param {SetData} data
   * @param {World} world
   * @param {number} index
   */
  constructor(data, world, index) {
    this.world = world;
    this.index = index;
    this.label = data.label;
    this.first = data.first;
    this.objective = data.objective;
    this.learner = data.learner;
    this.penalty = data.penalty;
    this.strength = data.strength;
    this.stepLimit = data.stepLimit;
    this.targets = data.targets;
    this.reaches = data.reaches;
    this.remembered = data.remembered;
    this.modes = data.modes;
    this.effects = data.effects;
    this.learned = data.learned;
    this.coverage = data.coverage;
    this.task = data.task;
    /** [skill]: what it is called, in a world of real-valued variables. */
    this.titles = data.titles;
    /** The states that runs of every skill were recorded from; none where the page simulates. */
    this.starts = data.starts ?? [];
    this.nSkills = data.targets.length;
    /** @type {Policy[]} */
    this.policies = data.targets.map(() => ({}));
    /** @type {Promise<void>[]} */
    this.loading = [];
    /** @type {Promise<PolicyData[]> | null} */
    this.reading = null;
    /** @type {Promise<void> | null} */
    this.taskLoading = null;
    /** @type {Int32Array[] | null} */
    this.contextTables = null;
  }

  /** [skill][first state]: the context; it selects columns of the skill's policy. */
  get contexts() {
    return (this.contextTables ??= this.remembered.map((variables) => this.world.contextOf(variables)));
  }

  /** Unpack a skill's policy; it cannot be used before. @param {number} z */
  ready(z) {
    this.loading[z] ??= this.load(z);
    return this.loading[z];
  }

  readyAll() {
    return Promise.all(this.targets.map((_, z) => this.ready(z)));
  }

  /** Read the policies, which stand further down the page and may not have arrived yet. */
  async read() {
    const part = () => document.getElementById(`policies-${this.index}`);
    while (!part()?.nextElementSibling) {
      if (document.readyState === "complete") throw new Error("the file is incomplete");
      await new Promise((later) => setTimeout(later, 5));
    }
    return JSON.parse(part().textContent);
  }

  /** @param {number} z */
  async load(z) {
    this.reading ??= this.read();
    const data = (await this.reading)[z];
    const policy = this.policies[z];
    if (data.whole) {
      policy.whole = await unpack(data.whole);
      return;
    }
    const actions = await unpack(data.actions);
    if (data.known) {
      const known = await unpack(data.known);
      policy.whole = new Uint8Array(known.length * 8).fill(UNKNOWN);
      for (let i = 0, next = 0; next < actions.length; i++)
        if (known[i >> 3] & (128 >> (i & 7))) policy.whole[i] = actions[next++];
      return;
    }
    const [states, counts] = await Promise.all([unpack(data.states), unpack(data.counts)]);
    policy.recorded = new Map();
    let begin = 0;
    for (const count of counts) {
      const part = [begin, (begin += count)];
      const recording = { states: states.subarray(...part), actions: actions.subarray(...part) };
      policy.recorded.set(recording.states[0], [...(policy.recorded.get(recording.states[0]) ?? []), recording]);
    }
  }

  /** Unpack what was learned of the task, and the skills it was learned with. */
  taskReady() {
    this.taskLoading ??= (async () => {
      const { task } = this;
      [task.q, task.done, task.true] = await Promise.all([task.q, task.done, task.true].map(unpack));
    })();
    return Promise.all([this.taskLoading, this.readyAll()]);
  }

  /** The recorded runs of a skill from a first state; null where the page simulates. @param {number} z @param {number} first */
  recordings(z, first) {
    const { recorded } = this.policies[z];
    return recorded ? (recorded.get(first) ?? []) : null;
  }

  /**
   * The column of a skill's policy for a first state and mode; where runs are recorded, the mode is the
   * number of the recording.
   * @param {number} z @param {number} first @param {number} mode
   * @returns {Uint8Array} [state]: an action; the number of actions to stop; or UNKNOWN.
   */
  column(z, first, mode) {
    const recordings = this.recordings(z, first);
    if (recordings) {
      const column = new Uint8Array(this.world.nStates).fill(UNKNOWN);
      recordings[mode]?.states.forEach((s, t) => (column[s] = recordings[mode].actions[t]));
      return column;
    }
    const place = this.contexts[z][first] * this.modes[z] + mode;
    const n = this.world.nStates;
    return this.policies[z].whole.subarray(place * n, (place + 1) * n);
  }
}
