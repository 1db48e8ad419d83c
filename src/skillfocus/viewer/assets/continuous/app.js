// The page of continuous skills: many skills side by side, played together.

/**
 * @import { ContinuousPageData } from "./data.js"
 * @import { Rollouts } from "./rollouts.js"
 */
import { byId, element } from "../dom.js";
import { SkillPanel } from "./panel.js";

/** Steps per second. */
const SPEED = 15;

export class ContinuousApp {
  /** @param {ContinuousPageData} data @param {Rollouts[]} sets */
  constructor(data, sets) {
    this.data = data;
    this.world = data.world;
    this.sets = sets;
    this.colours = this.world.variables.map((_, j) => data.colours[j % data.colours.length]);
    this.set = 0;
    /** The variable whose skills are shown; null for all. @type {number | null} */
    this.target = null;
    this.start = 0;
    this.others = true;
    this.t = 0;
    this.playing = false;
    /** When playing began, as if from step 0. */
    this.clock = 0;
    /** @type {SkillPanel[]} */
    this.panels = [];
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.draw());
    this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.listen();
  }

  get palette() {
    return this.data.palettes[this.dark.matches ? "dark" : "light"];
  }

  get rollouts() {
    return this.sets[this.set];
  }

  /** The colour of a variable, or of scenery. @param {string | null} name */
  colourOf(name) {
    const j = this.world.variables.findIndex((variable) => variable.name === name);
    return j < 0 ? this.palette.faint : this.colours[j];
  }

  listen() {
    byId("start").addEventListener("change", (/** @type {any} */ event) => this.change(() => (this.start = Number(event.target.value))));
    byId("others").addEventListener("change", (/** @type {any} */ event) => this.change(() => (this.others = event.target.checked)));
    byId("scrub").addEventListener("input", (/** @type {any} */ event) => this.seek(Number(event.target.value)));
    byId("play").addEventListener("click", () => this.toggle());
    byId("back").addEventListener("click", () => this.seek(this.t - 1));
    byId("forward").addEventListener("click", () => this.seek(this.t + 1));
    window.addEventListener("resize", () => this.draw());
    document.addEventListener("keydown", (event) => {
      if (event.target instanceof HTMLElement && event.target.closest("select, input, button")) return;
      if (event.key === " ") this.toggle();
      else if (event.key === "ArrowLeft") this.seek(this.t - 1);
      else if (event.key === "ArrowRight") this.seek(this.t + 1);
      else return;
      event.preventDefault();
    });
  }

  open() {
    byId("world").textContent = this.world.id;
    byId("lead").textContent = `Recorded rollouts: what each skill does from ${this.rollouts.nStarts} starts. Changes are shares of a variable's scale; side effects above ${this.data.threshold} are red.`;
    this.rebuild();
    if (!this.calm) this.toggle();
  }

  /** Make the panels anew. */
  rebuild() {
    const { rollouts } = this;
    this.start = Math.min(this.start, rollouts.nStarts - 1);
    this.t = Math.min(this.t, rollouts.nSteps);
    const tab = (/** @type {string} */ text, /** @type {boolean} */ pressed, /** @type {() => void} */ act) =>
      element("button", { type: "button", "aria-pressed": String(pressed), onclick: () => this.change(act, true) }, text);
    const sets = this.sets.length > 1 ? this.sets.map((set, i) => tab(set.label, i === this.set, () => (this.set = i))) : [];
    byId("sets").replaceChildren(...sets);
    const aimed = this.world.variables.map((_, j) => j).filter((j) => rollouts.targets.some((targets) => targets.includes(j)));
    if (!aimed.includes(this.target)) this.target = null;
    byId("targets").replaceChildren(
      tab("everything", this.target === null, () => (this.target = null)),
      ...aimed.map((j) => tab(this.world.variables[j].name, this.target === j, () => (this.target = j))),
    );
    byId("start").replaceChildren(
      ...Array.from({ length: rollouts.nStarts }, (_, i) => element("option", { value: i, selected: i === this.start }, `start ${i + 1} of ${rollouts.nStarts}`)),
    );
    const shown = rollouts.titles.map((_, z) => z).filter((z) => this.target === null || rollouts.targets[z].includes(this.target));
    this.panels = shown.map((z) => new SkillPanel(this, rollouts, z));
    byId("skills").replaceChildren(...this.panels.map((panel) => panel.element));
    byId("scrub").max = rollouts.nSteps;
    this.draw();
  }

  /** Choose something. @param {() => void} act @param {boolean} [anew] Whether other panels are shown then. */
  change(act, anew = false) {
    act();
    if (anew) this.rebuild();
    else this.draw();
  }

  /** @param {number} t */
  seek(t) {
    this.playing = false;
    this.t = Math.min(Math.max(t, 0), this.rollouts.nSteps);
    this.draw();
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing) {
      if (this.t >= this.rollouts.nSteps) this.t = 0;
      this.clock = performance.now() - (this.t / SPEED) * 1000;
      requestAnimationFrame((now) => this.tick(now));
    }
    this.draw();
  }

  /** @param {number} now */
  tick(now) {
    if (!this.playing) return;
    const t = Math.floor(((now - this.clock) / 1000) * SPEED);
    const last = this.rollouts.nSteps;
    if (t !== this.t) {
      this.t = Math.min(Math.max(t, 0), last);
      if (this.t === last) this.playing = false;
      this.draw();
    }
    if (this.playing) requestAnimationFrame((later) => this.tick(later));
  }

  draw() {
    for (const panel of this.panels) panel.draw();
    byId("scrub").value = this.t;
    byId("clock").textContent = `${this.t} of ${this.rollouts.nSteps}`;
    byId("play").textContent = this.playing ? "❚❚" : "▶";
    byId("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
  }
}
