// What a mode of the page is. A mode decides which runs the panels show, what is said about them, and
// which controls there are. It is one object with the members of `baseMode`, in a file of its own, and
// one line in modes/index.js. What a mode needs from Python is a field of `set_data` in
// viewer/payload.py.

/**
 * @import { App } from "../app.js"
 * @import { HeatMap } from "../heat.js"
 * @import { Model, Moment } from "../model.js"
 * @import { Run } from "../simulate.js"
 * @import { SkillSet } from "../skill_set.js"
 * @import { Verdict } from "../words.js"
 */
import { runChain } from "../simulate.js";
import { unfinishedVerdict, variableNames } from "../words.js";

/**
 * What a mode shows below the panels.
 * @typedef {object} Section
 * @property {any} element
 * @property {number} version Changes whenever its heat maps do.
 * @property {boolean} animating Whether it wants to be drawn again soon.
 * @property {() => void} reset The start, the seed or the sets have changed.
 * @property {() => void} stop Another mode was chosen.
 * @property {() => void} tick Called before each frame.
 * @property {(t: number) => void} draw
 * @property {(set: SkillSet) => HeatMap | null} heat What to color a set's map with, if anything.
 */

/** @typedef {typeof baseMode} Mode */

/** The defaults: each set runs its chosen skill, and nothing is judged. */
export const baseMode = {
  /** Its name in links. */
  name: "",
  /** Its name on the page. */
  label: "",
  /** Whether panels list the skills to choose from. */
  choosesSkills: true,
  /** Whether the row "Watch skills for" is shown. */
  choosesGoal: false,
  /** Whether policies and heat maps can be shown. */
  hasLayers: true,

  /** Whether it can be chosen on this page. @param {Model} model */
  isAvailable(model) {
    return true;
  },

  /** What it remembers, kept in `model.modeState[name]`. @param {Model} model @returns {any} */
  createState(model) {
    return null;
  },

  /** The sentence above the panels: nodes and texts. @param {Model} model @returns {any[]} */
  lead(model) {
    return [];
  },

  /** It was chosen. @param {Model} model */
  enter(model) {},

  /** The state that "usual start" goes to. @param {Model} model */
  usualStart(model) {
    return model.world.start;
  },

  /** The skills that a set's run follows, one after another. @param {Model} model @param {SkillSet} set */
  queue(model, set) {
    return [model.skill[set.index]];
  },

  /**
   * Unpack what a set's runs need.
   * @param {Model} model
   * @param {SkillSet} set
   * @param {() => boolean} isCurrent Whether nothing else was chosen meanwhile.
   */
  async prepare(model, set, isCurrent) {
    if (isCurrent()) await Promise.all(this.queue(model, set).map((z) => set.ready(z)));
  },

  /** A set's run; `ghost` counts its ghosts from 1. @param {Model} model @param {SkillSet} set @param {number} ghost */
  run(model, set, ghost) {
    return runChain(set, this.queue(model, set), model.start, model.chance, ghost);
  },

  /** A skill was clicked. @param {Model} model @param {SkillSet} set @param {number} z */
  choose(model, set, z) {
    model.skill[set.index] = z;
  },

  /** Whether a skill's button is pressed. @param {Model} model @param {SkillSet} set @param {number} z */
  isPressed(model, set, z) {
    return false;
  },

  /** The skill marked in the table of side effects. @param {Model} model @param {SkillSet} set @returns {number | null} */
  currentSkill(model, set) {
    return this.queue(model, set).at(-1) ?? null;
  },

  /** The variables that a run is judged by. @param {Model} model @param {SkillSet} set @param {number} z @returns {number[]} */
  targets(model, set, z) {
    return [];
  },

  /**
   * What the run has come to.
   * @param {SkillSet} set @param {Run} run @param {number} step @param {Moment} moment @param {number[]} targets
   * @returns {Verdict}
   */
  verdict(set, run, step, moment, targets) {
    const changed = variableNames(set.world, set.world.differences(run.states[0], run.states[step]));
    return unfinishedVerdict(set, run, step, moment) ?? { kind: "plain", sign: "•", text: `Changed ${changed || "nothing"}.` };
  },

  /** What the skill does on average; empty for nothing. @param {SkillSet} set @param {number} z */
  average(set, z) {
    return "";
  },

  /** Whether a set has nothing to show and its picture is dimmed. @param {SkillSet} set */
  isDimmed(set) {
    return false;
  },

  /** Elements below a panel's skills. @param {App} app @param {SkillSet} set @returns {any[]} */
  controls(app, set) {
    return [];
  },

  /** Elements below a panel's picture. @param {SkillSet} set @param {Run} run @param {number} step @returns {any[]} */
  details(set, run, step) {
    return [];
  },

  /** What it shows below the panels. @param {App} app @returns {Section | null} */
  createSection(app) {
    return null;
  },

  /** Its own parts of a link. @param {Model} model @returns {Object<string, string>} */
  toLink(model) {
    return {};
  },

  /** Take its own parts of a link. @param {Model} model @param {URLSearchParams} parts */
  fromLink(model, parts) {},
};
