// Runs of skills, of chains of skills, and of an agent that chooses skills.

/**
 * @import { Recording, SkillSet } from "./skill_set.js"
 * @import { World } from "./world.js"
 */
import { Random } from "./random.js";
import { UNKNOWN } from "./skill_set.js";

/**
 * What decides a run besides its start: the seed of its random numbers, and whether moves slip.
 * Without slips, every action has its likeliest outcome.
 * @typedef {{ seed?: number, slips?: boolean }} Chance
 */

/**
 * Why the last skill of a run ended: it stopped, it used up its steps, the task was accomplished, or
 * it reached a state that the page does not know.
 * @typedef {"done" | "limit" | "over" | "unknown"} End
 */

/** A run: the states visited, and the skills followed. */
export class Run {
  /**
   * @param {World} world
   * @param {number} start
   * @param {Chance} chance
   * @param {number} ghost 0 for the run itself; ghosts have random numbers of their own.
   */
  constructor(world, start, { seed = 0, slips = true }, ghost = 0) {
    this.world = world;
    this.slips = slips;
    this.random = new Random(ghost ? [seed, ghost] : seed);
    /** Hidden marks that are set now. */
    this.marked = world.drawMarks(start, this.random);
    this.states = [start];
    /** [step]: the hidden marks that were set; null where the world has none. */
    this.marks = [world.nMarks ? this.marked.slice() : null];
    /**
     * The skills followed: since which step, from which first state, in which mode.
     * @type {{ at: number, z: number, first: number, mode: number }[]}
     */
    this.followed = [];
    /** @type {End} */
    this.end = "done";
    /** Of a chain: the step at which each skill ended. @type {number[]} */
    this.ends = [];
    /** Of an agent: what it chose, and when. @type {{ at: number, choice: number }[]} */
    this.choices = [];
    /** Of an agent: the time used; a skill that stops at once takes one step. */
    this.elapsed = 0;
    /** Of an agent: whether it satisfied its reward. */
    this.solved = false;
  }

  get last() {
    return this.states[this.states.length - 1];
  }

  get steps() {
    return this.states.length - 1;
  }

  /** @param {number} action */
  step(action) {
    const u = this.slips ? this.random.next() : this.world.likeliest(this.last, action);
    const s = this.world.move(this.last, action, this.marked, u);
    this.states.push(s);
    this.marks.push(this.world.nMarks ? this.marked.slice() : null);
    return s;
  }

  /**
   * Follow a skill from the last state.
   * @param {SkillSet} set
   * @param {number} z
   * @param {number} most How many steps are left.
   * @param {Uint8Array | null} over [state]: where the run ends.
   * @returns {void}
   */
  follow(set, z, most = set.stepLimit, over = null) {
    const first = this.last;
    const recordings = set.recordings(z, first);
    if (recordings) return this.replay(set, z, recordings);
    const modes = set.modes[z];
    const mode = modes > 1 ? Math.floor(this.random.next() * modes) : 0;
    const column = set.column(z, first, mode);
    const limit = Math.min(most, set.stepLimit);
    this.followed.push({ at: this.steps, z, first, mode });
    for (let t = 0; ; t++) {
      if (t === limit) return void (this.end = "limit");
      const action = column[this.last];
      if (action === this.world.nActions) return void (this.end = "done");
      if (action === UNKNOWN) return void (this.end = "unknown");
      this.step(action);
      if (over?.[this.last]) return void (this.end = "over");
    }
  }

  /**
   * Follow one of the recorded runs of a skill.
   * @param {SkillSet} set @param {number} z @param {Recording[]} recordings
   * @returns {void}
   */
  replay(set, z, recordings) {
    const mode = Math.floor(this.random.next() * recordings.length);
    this.followed.push({ at: this.steps, z, first: this.last, mode });
    if (!recordings.length) return void (this.end = "unknown");
    const { states, actions } = recordings[mode];
    for (const s of states.subarray(1)) this.states.push(s);
    while (this.marks.length < this.states.length) this.marks.push(null);
    this.end = actions[actions.length - 1] === set.world.nActions ? "done" : "limit";
  }
}

/**
 * Run skills one after another. Unless runs are recorded, a single skill is Python's
 * `skills.rollout(skill, start, np.random.default_rng(seed))`.
 * @param {SkillSet} set @param {number[]} queue @param {number} start @param {Chance} chance
 */
export function runChain(set, queue, start, chance, ghost = 0) {
  const run = new Run(set.world, start, chance, ghost);
  for (const z of queue) {
    run.follow(set, z);
    run.ends.push(run.steps);
    if (run.end === "unknown") break;
  }
  return run;
}

/**
 * Run the greedy agent of a learned task: an episode of Python's `smdp_q_learning` without learning.
 * @param {SkillSet} set @param {number} start @param {Chance} chance
 */
export function runAgent(set, start, chance, ghost = 0) {
  const { task, world } = set;
  const n = set.nSkills + world.nActions;
  const run = new Run(world, start, chance, ghost);
  while (run.elapsed < task.maxSteps) {
    const at = run.last * n;
    let best = -Infinity, ties = 0, choice = 0;
    for (let o = 0; o < n; o++) best = Math.max(best, task.q[at + o]);
    for (let o = 0; o < n; o++)
      if (task.q[at + o] === best && run.random.next() * ++ties < 1) choice = o;
    const before = run.steps;
    run.choices.push({ at: before, choice });
    if (choice < set.nSkills) run.follow(set, choice, task.maxSteps - run.elapsed, task.done);
    else run.step(choice - set.nSkills);
    run.elapsed += Math.max(run.steps - before, 1);
    if (task.done[run.last] || run.end === "unknown") break;
  }
  run.solved = Boolean(task.done[run.last]);
  return run;
}

/** As in Python, probability below this is not followed further. */
const NEGLIGIBLE = 1e-12;

/**
 * Where a skill ends from one first state: exactly, or in its recorded runs. Hidden marks are all taken
 * to be new.
 * @param {SkillSet} set @param {number} z @param {number} first
 * @returns {Float64Array} [state]: probability
 */
export function lastStates(set, z, first) {
  const { world } = set;
  const ends = new Float64Array(world.nStates);
  const moved = new Float64Array(world.nStates);
  const recordings = set.recordings(z, first);
  if (recordings) {
    for (const { states } of recordings) ends[states[states.length - 1]] += 1 / recordings.length;
    return ends;
  }
  for (let mode = 0; mode < set.modes[z]; mode++) {
    const column = set.column(z, first, mode);
    let mass = [[first, 1 / set.modes[z]]];
    for (let t = 0; t < set.stepLimit && mass.length; t++) {
      const reached = [];
      for (const [s, p] of mass) {
        const action = column[s];
        if (action >= world.nActions || p < NEGLIGIBLE) {
          ends[s] += p;
          continue;
        }
        const row = s * world.nActions + action;
        const law = world.laws[world.lawOf[row]];
        for (let m = 0, below = 0; m < world.nOutcomes; m++) {
          const share = law[m] - below;
          below = law[m];
          if (share <= 0) continue;
          const target = world.successors[row * world.nOutcomes + m];
          if (!moved[target]) reached.push(target);
          moved[target] += p * share;
        }
      }
      mass = reached.map((s) => [s, moved[s]]);
      for (const s of reached) moved[s] = 0;
    }
    for (const [s, p] of mass) ends[s] += p;
  }
  return ends;
}

/**
 * The tree of all chains of up to `lengths` skills, one skill per `step()`, in the order of Python's
 * `metrics.coverage.tree`.
 */
export class Tree {
  /** @param {SkillSet} set @param {number} start @param {Chance} chance */
  constructor(set, start, { seed = 0, slips = true }, lengths = 5) {
    this.set = set;
    this.lengths = lengths;
    this.slips = slips;
    this.random = new Random(seed);
    /** [depth]: the state and the marks at the end of the current chain's first skills. */
    this.states = [start];
    this.marks = [set.world.drawMarks(start, this.random)];
    /** [depth]: the skill to try next. */
    this.following = new Array(lengths).fill(0);
    /** [depth][state]: whether a chain of depth + 1 skills has ended there; and how many states. */
    this.seen = Array.from({ length: lengths }, () => new Uint8Array(set.world.nStates));
    this.counts = new Array(lengths).fill(0);
    this.depth = 0;
    this.chains = 0;
    this.total = 0;
    for (let l = 1; l <= lengths; l++) this.total += set.nSkills ** l;
  }

  get done() {
    return this.depth < 0;
  }

  /** [length - 1]: the share of all states that end some chain of that length. */
  get curve() {
    return this.counts.map((count) => count / this.set.world.nStates);
  }

  step() {
    const { set, lengths } = this;
    while (this.depth === lengths || this.following[this.depth] === set.nSkills)
      if (--this.depth < 0) return;
    const z = this.following[this.depth]++;
    const { world } = set;
    const marked = this.marks[this.depth].slice();
    let s = this.states[this.depth];
    const mode = set.modes[z] > 1 ? Math.floor(this.random.next() * set.modes[z]) : 0;
    const column = set.column(z, s, mode);
    for (let t = 0; t < set.stepLimit; t++) {
      const action = column[s];
      if (action >= world.nActions || world.starts) break;
      s = world.move(s, action, marked, this.slips ? this.random.next() : world.likeliest(s, action));
    }
    if (!this.seen[this.depth][s]) {
      this.seen[this.depth][s] = 1;
      this.counts[this.depth]++;
    }
    this.chains++;
    this.depth++;
    this.states[this.depth] = s;
    this.marks[this.depth] = marked;
    if (this.depth < lengths) this.following[this.depth] = 0;
  }
}
