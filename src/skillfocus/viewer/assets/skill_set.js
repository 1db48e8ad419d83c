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
 * @property {Uint8Array} [actions] Actions in the order of the walks, column after column.
 * @property {Int32Array} [begins] [column]: where its actions begin.
 * @property {number} [limit] The limit of the walks.
 * @property {Map<number, Recording[]>} [recorded] By first state, the recorded runs.
 * @property {Map<number, Uint8Array>} columns The columns that have been read, [state].
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
    this.nSkills = data.targets.length;
    /** @type {Policy[]} */
    this.policies = data.targets.map(() => ({ columns: new Map() }));
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
    const [actions, counts] = await Promise.all([unpack(data.actions), unpack(data.counts)]);
    const begins = new Int32Array(counts.length + 1);
    counts.forEach((/** @type {number} */ count, /** @type {number} */ i) => (begins[i + 1] = begins[i] + count));
    if (data.states) {
      const states = await unpack(data.states);
      policy.recorded = new Map();
      for (let i = 0; i < counts.length; i++) {
        const part = [begins[i], begins[i + 1]];
        const recording = { states: states.subarray(...part), actions: actions.subarray(...part) };
        policy.recorded.set(recording.states[0], [...(policy.recorded.get(recording.states[0]) ?? []), recording]);
      }
      return;
    }
    Object.assign(policy, { actions, begins, limit: data.limit });
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
    const { columns, whole } = this.policies[z];
    if (!columns.has(place)) {
      const n = this.world.nStates;
      columns.set(place, whole ? whole.subarray(place * n, (place + 1) * n) : this.walk(z, first, place));
    }
    return columns.get(place);
  }

  /**
   * Walk as viewer/walks.py does, and read off the actions in the order they were recorded.
   * @param {number} z @param {number} first @param {number} place
   */
  walk(z, first, place) {
    const { world } = this;
    const { actions, begins, limit } = this.policies[z];
    const column = new Uint8Array(world.nStates).fill(UNKNOWN);
    const queues = Array.from({ length: limit + 1 }, () => /** @type {number[]} */ ([]));
    const contexts = this.contexts[z];
    for (let s = 0; s < world.nStates; s++) if (contexts[s] === contexts[first]) queues[0].push(s);
    let next = begins[place];
    for (let cost = 0; cost <= limit; cost++) {
      for (let i = 0; i < queues[cost].length; i++) {
        const s = queues[cost][i];
        if (column[s] !== UNKNOWN) continue;
        const action = actions[next++];
        column[s] = action;
        if (action === world.nActions) continue;
        const row = s * world.nActions + action;
        const costs = world.costs[world.lawOf[row]];
        for (let m = 0; m < world.nOutcomes; m++) {
          const then = cost + costs[m];
          if (then > limit) continue;
          const outcome = row * world.nOutcomes + m;
          queues[then].push(world.successors[outcome]);
          if (world.nMarks && world.marks[outcome] >= 0) queues[then].push(world.again[outcome]);
        }
      }
    }
    return column;
  }
}
