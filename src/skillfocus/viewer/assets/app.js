// The page: it recomputes when something is chosen, and redraws as time goes on.

/**
 * @import { Model } from "./model.js"
 * @import { Section } from "./modes/mode.js"
 * @import { SkillSet } from "./skill_set.js"
 */
import { Controls } from "./controls.js";
import { announce, byId } from "./dom.js";
import { listenToKeys } from "./keys.js";
import { fromFragment, toFragment } from "./link.js";
import { MODES } from "./modes/index.js";
import { Panel } from "./panel.js";

export class App {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.draw());
    this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    /** Whether runs are being computed: what is chosen and what is shown do not fit together. */
    this.busy = false;
    /** Where to go once they are computed. @type {((model: Model) => number)[]} */
    this.waiting = [];
    this.link = "";
    this.frameTime = 0;
    this.frameRequested = false;
    /** @type {Panel[]} */
    this.panels = [];
    /** By name of the mode, what it shows below the panels. @type {Object<string, Section>} */
    this.sections = {};
    for (const mode of MODES) {
      const section = mode.createSection(this);
      if (section) this.sections[mode.name] = section;
    }
    byId("sections").append(...Object.values(this.sections).map((section) => section.element));
    this.controls = new Controls(this);
    listenToKeys(this);
    window.addEventListener("resize", () => this.draw());
    window.addEventListener("hashchange", () => this.followLink());
  }

  get theme() {
    return this.dark.matches ? "dark" : "light";
  }

  /** The section of the current mode. @returns {Section | undefined} */
  get section() {
    return this.sections[this.model.mode];
  }

  async open() {
    const described = fromFragment(this.model, location.hash.slice(1));
    this.rebuild();
    await this.change(() => {}, !described);
  }

  /** The address was changed from outside. */
  followLink() {
    if (location.hash.slice(1) === this.link) return;
    fromFragment(this.model, location.hash.slice(1));
    this.model.playing = false;
    this.rebuild();
    this.change(() => {});
  }

  saveLink() {
    this.link = toFragment(this.model);
    try {
      history.replaceState(null, "", `#${this.link}`);
    } catch {
      // Inside another page there may be no address of one's own.
    }
  }

  /** Make the panels anew. */
  rebuild() {
    this.model.runs = null;
    this.panels = this.model.shown.map((i) => new Panel(this, this.model.sets[i]));
    byId("panels").replaceChildren(...this.panels.map((panel) => panel.element));
    this.controls.rebuild();
    this.resetSections();
  }

  resetSections() {
    for (const section of Object.values(this.sections)) section.reset();
  }

  /** Compute the runs anew. Meanwhile nothing is drawn. */
  async refresh() {
    this.busy = true;
    try {
      if (!(await this.model.compute())) return;
    } catch (error) {
      announce(`This cannot be shown: ${error.message}.`);
      throw error;
    }
    this.busy = false;
    this.panels.forEach((panel) => panel.refresh());
    this.controls.refresh();
    this.draw();
    this.saveLink();
  }

  /**
   * Choose something.
   * @param {() => void} act
   * @param {boolean} [anew] Whether to watch it from the beginning.
   */
  async change(act, anew = false) {
    const conditions = () => [this.model.start, this.model.seed, this.model.slips].join();
    const before = conditions();
    act();
    if (anew) this.model.t = 0;
    if (before !== conditions()) this.resetSections();
    await this.refresh();
    if (this.busy) return;
    if (anew && !this.calm) this.play();
    for (const where of this.waiting.splice(0)) this.seek(where);
  }

  /** @param {number} start */
  setStart(start) {
    return this.change(() => (this.model.start = start), true);
  }

  /** @param {SkillSet} set @param {number} z */
  chooseSkill(set, z) {
    return this.change(() => {
      this.model.activeMode.choose(this.model, set, z);
      this.model.goal = null;
      this.model.alone = true;
    }, true);
  }

  /** Turn to the next skill of every set, or the previous one. @param {number} by */
  stepSkill(by) {
    const { model } = this;
    return this.change(() => {
      for (const i of model.shown) model.skill[i] = (model.skill[i] + by + model.sets[i].nSkills) % model.sets[i].nSkills;
      model.goal = null;
      model.alone = true;
    }, true);
  }

  nextHeat() {
    const able = [...byId("heat").options].filter((option) => !option.disabled).map((option) => option.value);
    return this.change(() => (this.model.heat = able[(able.indexOf(this.model.heat) + 1) % able.length]));
  }

  nextMode() {
    const names = this.controls.modes.map((button) => button.value);
    return this.setMode(names[(names.indexOf(this.model.mode) + 1) % names.length]);
  }

  /** @param {string} name */
  setMode(name) {
    return this.change(() => {
      this.section?.stop();
      this.model.mode = name;
      this.model.activeMode.enter(this.model);
    }, true);
  }

  nextSeed() {
    return this.change(() => (this.model.seed = (this.model.seed + 1) % 2 ** 32), true);
  }

  /** @param {number} speed */
  setSpeed(speed) {
    this.model.speed = speed;
    this.saveLink();
  }

  /** Change which sets are shown; what had the focus may be gone. @param {() => void} act */
  rearrange(act) {
    act();
    this.model.t = 0;
    const { starts } = this.model;
    if (starts.length && !starts.includes(this.model.start)) this.model.start = starts.at(-1);
    const focused = document.activeElement;
    this.rebuild();
    if (focused !== document.body && !focused.isConnected) {
      const first = /** @type {HTMLElement} */ (document.querySelector(".panel select, .map, .chip"));
      first?.focus();
    }
    return this.change(() => {}, true);
  }

  /** @param {number} place */
  enterWorld(place) {
    return this.rearrange(() => this.model.enterWorld(place));
  }

  /** @param {number} index */
  addSet(index) {
    return this.rearrange(() => (this.model.shown = [...this.model.shown, index]));
  }

  /** @param {number} index */
  removeSet(index) {
    return this.rearrange(() => (this.model.shown = this.model.shown.filter((i) => i !== index)));
  }

  /** Show another set in a panel; if it is shown already, the two change places. @param {number} from @param {number} to */
  replaceSet(from, to) {
    const { shown } = this.model;
    const swap = (/** @type {number} */ i) => (i === from ? to : i === to ? from : i);
    return this.rearrange(() => (this.model.shown = [...new Set(shown.map(swap))]));
  }

  play() {
    const { model } = this;
    if (model.t >= model.length) model.t = 0;
    model.playing = true;
    this.frameTime = performance.now();
    this.draw();
    this.requestFrame();
  }

  pause() {
    this.model.playing = false;
    this.draw();
    this.saveLink();
  }

  toggle() {
    if (this.model.playing) this.pause();
    else this.play();
  }

  /**
   * Go to a step.
   * @param {(model: Model) => number} where Called once the runs are computed.
   * @returns {void}
   */
  seek(where) {
    if (this.busy) return void this.waiting.push(where);
    this.model.playing = false;
    this.model.t = Math.min(Math.max(where(this.model), 0), this.model.length);
    this.draw();
    this.saveLink();
  }

  requestFrame() {
    if (this.frameRequested) return;
    this.frameRequested = true;
    requestAnimationFrame((now) => this.tick(now));
  }

  /** @param {number} now */
  tick(now) {
    const { model } = this;
    this.frameRequested = false;
    if (this.busy) this.frameTime = now;
    else if (model.playing) {
      model.t += (Math.max(now - this.frameTime, 0) / 1000) * model.speed;
      this.frameTime = now;
      if (model.t >= model.length) {
        model.t = model.length;
        model.playing = false;
        this.saveLink();
      }
    }
    this.section?.tick();
    this.draw();
    if (model.playing || this.section?.animating) this.requestFrame();
  }

  draw() {
    const { mode, runs, t } = this.model;
    if (this.busy || !runs) return;
    this.panels.forEach((panel) => panel.draw(t));
    this.controls.draw(t);
    for (const [name, section] of Object.entries(this.sections)) section.element.hidden = name !== mode;
    this.section?.draw(t);
  }
}
