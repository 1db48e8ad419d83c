// What is being looked at, and the runs that follow from it.

const MODES = { skill: "One skill", chain: "Chain", agent: "Agent" };
const MOST_SHOWN = 4;
const SPEEDS = [1, 2, 4, 8, 16, 32];

class Model {
  constructor(data, worlds) {
    this.data = data;
    this.worlds = worlds;
    this.sets = data.sets.map((set, i) => new SkillSet(set, worlds[set.world], i));
    this.heats = this.sets.map((set) => new Heat(set));
    Object.assign(this, {
      mode: "skill", seed: 0, slips: true, ghosts: 0, speed: 4, arrows: false, heat: "none",
      t: 0, playing: false,
    });
    this.skill = this.sets.map(() => 0);
    this.queue = this.sets.map(() => []);
    this.enter(0);
  }

  inWorld(world = this.world) {
    return this.sets.filter((set) => set.world === world);
  }

  // Turn to a world: its first sets, its own first state, one skill for every set's goal.
  enter(place) {
    this.world = this.worlds[place];
    const first = this.inWorld().filter((set) => set.first);
    const some = first.length ? first : this.inWorld().slice(0, this.inWorld().length > MOST_SHOWN ? 2 : MOST_SHOWN);
    this.shown = some.slice(0, MOST_SHOWN).map((set) => set.index);
    this.start = this.world.start;
    this.runs = null;
    this.watch(this.goals()[0]);
  }

  // Where the task of a shown set begins.
  taskStart() {
    const tasks = this.shown.map((i) => this.sets[i].task).filter(Boolean);
    return tasks.length ? tasks[0].start : this.start;
  }

  // The variables that some set of this world has skills for, the one that roams last.
  goals() {
    const every = new Set(this.inWorld().flatMap((set) => set.targets.flat()));
    if (!every.size) this.world.variables.forEach((_, j) => every.add(j));
    return [...every].sort((a, b) => (a === this.world.roams) - (b === this.world.roams) || a - b);
  }

  // In every set, pick the skill that changes a variable best and the others least.
  watch(variable) {
    this.goal = variable;
    for (const set of this.inWorld()) {
      const score = (z) => {
        const effects = set.effects[z];
        const own = set.targets[z].length === 1 && set.targets[z][0] === variable;
        if (own) return 10 + (effects.changesTarget ?? 0) - (effects.sideEffects ?? 0) / 100;
        return set.targets[z].includes(variable) ? 5 : (effects.byVariable[variable] ?? 0);
      };
      const order = set.effects.map((_, z) => z).sort((a, b) => score(b) - score(a) || a - b);
      this.skill[set.index] = order[0];
    }
  }

  // Skills without targets are picked by what they change from the start that is chosen.
  async pick(set, turn) {
    const { goal, start, world } = this;
    if (goal === null || this.mode !== "skill" || set.targets.some((targets) => targets.length)) return;
    await set.readyAll();
    if (turn !== this.turn) return;
    const heat = this.heats[set.index];
    const own = world.value(start, goal);
    const share = (z) => heat.ends(z, start).reduce((sum, p, s) => sum + (world.value(s, goal) === own ? 0 : p), 0);
    const shares = set.targets.map((_, z) => share(z));
    this.skill[set.index] = shares.indexOf(Math.max(...shares));
  }

  get chance() {
    return { seed: this.seed, slips: this.slips };
  }

  queueOf(set) {
    return this.mode === "chain" ? this.queue[set.index] : [this.skill[set.index]];
  }

  make(set, ghost) {
    if (this.mode === "agent" && set.task) return runAgent(set, this.start, this.chance, ghost);
    return runChain(set, this.queueOf(set), this.start, this.chance, ghost);
  }

  // Make the runs anew, once what they need is unpacked. False if another change came meanwhile.
  async compute() {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const shown = this.shown.map((i) => this.sets[i]);
    await Promise.all(
      shown.map(async (set) => {
        await this.pick(set, turn);
        if (this.mode === "agent" && set.task) await set.taskReady();
        else await Promise.all(this.queueOf(set).map((z) => set.ready(z)));
        if (this.heat !== "none") await Promise.all([this.heats[set.index].ready(), set.ready(this.skill[set.index])]);
        if (this.arrows) await set.ready(this.skill[set.index]);
      }),
    );
    if (turn !== this.turn) return false;
    this.runs = new Map();
    this.length = 0;
    for (const set of shown) {
      const run = this.make(set, 0);
      const ghosts = [];
      for (let k = 1; k <= this.ghosts && this.slips; k++) ghosts.push(this.make(set, k));
      this.runs.set(set.index, { run, ghosts });
      this.length = Math.max(this.length, run.steps, ...ghosts.map((ghost) => ghost.steps));
    }
    this.t = Math.min(this.t, this.length);
    return true;
  }

  // The skill a run is following at a step, its first state, and the mode drawn.
  moment(set, run, step) {
    const begun = run.followed.filter(({ at }) => at <= step && (at < run.steps || at === 0));
    return begun.at(-1) ?? { z: this.skill[set.index], first: run.states[0], mode: 0 };
  }

  // What a skill is judged by: its targets; of a plain one, the variable that is being watched.
  targets(set, z) {
    if (this.mode !== "skill") return [];
    return set.targets[z].length || this.goal === null ? set.targets[z] : [this.goal];
  }
}
