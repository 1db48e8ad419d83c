// What is being looked at, and the runs that follow from it.

/**
 * @import { PageData } from "./data.js"
 * @import { Chance, Run } from "./simulate.js"
 * @import { World } from "./world.js"
 */
import { Heat } from "./heat.js";
import { findMode, MODES } from "./modes/index.js";
import { SkillSet } from "./skill_set.js";

/** How many sets can be shown side by side. */
export const MAX_SHOWN = 4;
/** How many are shown at first where a world has more than that. */
const SHOWN_AT_FIRST = 2;
/** Steps a second. */
export const SPEEDS = [1, 2, 4, 8, 16, 32];
const DEFAULT_SPEED = 4, REAL_SPEED = 16;

/**
 * The skill that a run is following at a step, from which first state, in which mode of the skill.
 * @typedef {{ z: number, first: number, mode: number }} Moment
 */

export class Model {
  /** @param {PageData} data @param {World[]} worlds */
  constructor(data, worlds) {
    this.data = data;
    this.worlds = worlds;
    this.sets = data.sets.map((set, i) => new SkillSet(set, worlds[set.world], i));
    this.heats = this.sets.map((set) => new Heat(set));
    /** The name of the mode. */
    this.mode = MODES[0].name;
    /** By name of the mode, what it remembers. @type {Object<string, any>} */
    this.modeState = {};
    this.seed = 0;
    this.slips = true;
    this.ghosts = 0;
    /** Whether real-valued skills leave trails from the other starts, too. */
    this.others = true;
    this.arrows = false;
    this.heat = "none";
    /** The (fractional) step shown, and the number of steps of the longest run. */
    this.t = 0;
    this.length = 0;
    this.playing = false;
    /** Counts the calls of `compute`. */
    this.version = 0;
    /** [set]: the chosen skill. */
    this.skill = this.sets.map(() => 0);
    /** The variable that one wants to see changed; null if skills were chosen by number. @type {number | null} */
    this.goal = null;
    /** By index of the set. @type {Map<number, { run: Run, ghosts: Run[] }> | null} */
    this.runs = null;
    /** The indices of the sets side by side. @type {number[]} */
    this.shown = [];
    /** Whether a skill was chosen by its number: of real-valued ones, it is shown alone. */
    this.alone = false;
    this.world = worlds[0];
    this.speed = this.usualSpeed;
    this.start = 0;
    for (const mode of MODES) this.modeState[mode.name] = mode.createState(this);
    this.enterWorld(0);
  }

  get usualSpeed() {
    return this.world.real ? REAL_SPEED : DEFAULT_SPEED;
  }

  /** The recorded starts that all sets shown have. */
  get starts() {
    const several = this.shown.map((i) => this.sets[i].starts);
    return (several[0] ?? []).filter((start) => several.every((starts) => starts.includes(start)));
  }

  get activeMode() {
    return findMode(this.mode);
  }

  /** @returns {Chance} */
  get chance() {
    return { seed: this.seed, slips: this.slips };
  }

  inWorld(world = this.world) {
    return this.sets.filter((set) => set.world === world);
  }

  /** Turn to a world: its first sets, its own start, skills for its first goal. @param {number} place */
  enterWorld(place) {
    const usual = this.speed === this.usualSpeed;
    this.world = this.worlds[place];
    if (usual) this.speed = this.usualSpeed;
    const sets = this.inWorld();
    const first = sets.filter((set) => set.first);
    // Of real-valued skills, a set shows many side by side.
    const few = this.world.real ? 1 : sets.length > MAX_SHOWN ? SHOWN_AT_FIRST : MAX_SHOWN;
    const chosen = first.length ? first : sets.slice(0, few);
    this.shown = chosen.slice(0, MAX_SHOWN).map((set) => set.index);
    this.start = this.world.start;
    this.runs = null;
    this.watch(this.world.real ? null : (this.world.goal ?? this.goals()[0]));
  }

  /** Whether a skill is shown: the chosen one, or all real-valued ones for the variable that is watched. @param {SkillSet} set @param {number} z */
  shows(set, z) {
    if (!set.world.real || this.alone) return this.skill[set.index] === z;
    return this.goal === null || set.targets[z].includes(this.goal);
  }

  /** The variables that some set of this world has skills for, the default target last. */
  goals() {
    const every = new Set(this.inWorld().flatMap((set) => set.targets.flat()));
    if (!every.size && !this.world.real) this.world.variables.forEach((_, j) => every.add(j));
    const last = this.world.defaultTarget;
    return [...every].sort((a, b) => Number(a === last) - Number(b === last) || a - b);
  }

  /** In every set, choose the skill that changes a variable best and the others least; null for any. @param {number | null} variable */
  watch(variable) {
    this.goal = variable;
    this.alone = false;
    for (const set of this.inWorld()) {
      const score = (/** @type {number} */ z) => {
        const effects = set.effects[z];
        const own = set.targets[z].length === 1 && set.targets[z][0] === variable;
        if (own) return 10 + (effects?.changesTarget ?? 0) - (effects?.sideEffects ?? 0) / 100;
        return set.targets[z].includes(variable) ? 5 : (effects?.byVariable[variable] ?? 0);
      };
      const order = set.targets.map((_, z) => z).sort((a, b) => score(b) - score(a) || a - b);
      this.skill[set.index] = order[0];
    }
  }

  /** Compute the runs, once what they need is unpacked. False if something else was chosen meanwhile. */
  async compute() {
    const version = ++this.version;
    const isCurrent = () => version === this.version;
    const mode = this.activeMode;
    const sets = this.shown.map((i) => this.sets[i]);
    await Promise.all(
      sets.map(async (set) => {
        await mode.prepare(this, set, isCurrent);
        const skill = this.skill[set.index];
        if (set.world.real) await set.readyAll();
        if (this.heat !== "none") await Promise.all([this.heats[set.index].ready(), set.ready(skill)]);
        if (this.arrows) await set.ready(skill);
      }),
    );
    if (!isCurrent()) return false;
    this.runs = new Map();
    this.length = 0;
    for (const set of sets) {
      const run = mode.run(this, set, 0);
      const ghosts = [];
      for (let k = 1; k <= this.ghosts && this.slips && !set.world.real; k++) ghosts.push(mode.run(this, set, k));
      this.runs.set(set.index, { run, ghosts });
      this.length = Math.max(this.length, run.steps, ...ghosts.map((ghost) => ghost.steps));
    }
    this.t = Math.min(this.t, this.length);
    return true;
  }

  /** @param {SkillSet} set @param {Run} run @param {number} step @returns {Moment} */
  moment(set, run, step) {
    const begun = run.followed.filter(({ at }) => at <= step && (at < run.steps || at === 0));
    return begun.at(-1) ?? { z: this.skill[set.index], first: run.states[0], mode: 0 };
  }
}
