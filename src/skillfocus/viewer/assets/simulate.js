// Runs of skills, of chains of skills, and of an agent that chooses skills.
//
// A run has the states met, per state the hidden marks set, and the skills followed: from which
// step on, from which first state, in which mode. `end` says why the last one ended: "done" (it
// terminated), "limit" (its steps were used up), "over" (the task was accomplished), "unknown" (it
// came where the page's tables do not reach).

class Run {
  // Random numbers are those of the seed, or of a ghost's own; without `slips`, every move has its
  // likeliest outcome.
  constructor(world, start, { seed = 0, slips = true }, ghost = 0) {
    this.world = world;
    this.slips = slips;
    this.random = new Random(ghost ? [seed, ghost] : seed);
    this.marked = world.drawMarks(start, this.random);
    this.states = [start];
    this.followed = [];
    this.marks = [world.nMarks ? this.marked.slice() : null];
    this.end = "done";
  }

  get last() {
    return this.states[this.states.length - 1];
  }

  get steps() {
    return this.states.length - 1;
  }

  step(action) {
    const u = this.slips ? this.random.next() : this.world.likeliest(this.last, action);
    const s = this.world.move(this.last, action, this.marked, u);
    this.states.push(s);
    this.marks.push(this.world.nMarks ? this.marked.slice() : null);
    return s;
  }

  // Follow a skill from where the run is; at most `most` steps, no further than where `over`.
  follow(set, z, most = set.stepLimit, over = null) {
    const first = this.last;
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
}

// The skills of a queue one after another. A single skill is the run that Python's
// `skills.rollout(skill, start, np.random.default_rng(seed))` is.
function runChain(set, queue, start, chance, ghost = 0) {
  const run = new Run(set.world, start, chance, ghost);
  run.ends = [];
  for (const z of queue) {
    run.follow(set, z);
    run.ends.push(run.steps);
    if (run.end === "unknown") break;
  }
  return run;
}

// The greedy agent of a learned task, as `hierarchy.episode` without learning.
function runAgent(set, start, chance, ghost = 0) {
  const { task, world } = set;
  const n = set.nSkills + world.nActions;
  const run = new Run(world, start, chance, ghost);
  run.choices = [];
  let elapsed = 0;
  while (elapsed < task.cap) {
    const at = run.last * n;
    let best = -Infinity, count = 0, choice = 0;
    for (let o = 0; o < n; o++) best = Math.max(best, task.q[at + o]);
    for (let o = 0; o < n; o++)
      if (task.q[at + o] === best && run.random.next() * ++count < 1) choice = o;
    const before = run.steps;
    run.choices.push({ at: before, choice });
    if (choice < set.nSkills) run.follow(set, choice, task.cap - elapsed, task.done);
    else run.step(choice - set.nSkills);
    elapsed += Math.max(run.steps - before, 1);
    if (task.done[run.last] || run.end === "unknown") break;
  }
  run.elapsed = elapsed;
  run.solved = Boolean(task.done[run.last]);
  return run;
}

// Where a skill ends from one first state: [state] -> probability, exact (as in Python, less
// probability than NEGLIGIBLE is not followed). Where marks are hidden, each is taken to be new.
const NEGLIGIBLE = 1e-12;

function lastStates(set, z, first) {
  const { world } = set;
  const ends = new Float64Array(world.nStates);
  const moved = new Float64Array(world.nStates);
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

// The tree of all chains of up to `lengths` skills, one skill a `step()`, in the order of Python's
// `metrics.coverage.tree`.
class Tree {
  constructor(set, start, { seed = 0, slips = true }, lengths = 5) {
    this.set = set;
    this.lengths = lengths;
    this.slips = slips;
    this.random = new Random(seed);
    this.states = [start];
    this.marks = [set.world.drawMarks(start, this.random)];
    this.following = new Array(lengths).fill(0);
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
      if (action >= world.nActions) break;
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
