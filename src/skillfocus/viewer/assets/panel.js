// One skill set: its picture, its skills, and what its run has changed.

/**
 * @import { App } from "./app.js"
 * @import { HeatMap } from "./heat.js"
 * @import { Moment } from "./model.js"
 * @import { Run } from "./simulate.js"
 * @import { SkillSet } from "./skill_set.js"
 */
import { ActionList } from "./actions.js";
import { CardsView } from "./cards.js";
import { element, formatNumber, joinNames } from "./dom.js";
import { EffectsTable } from "./effects.js";
import { FramesView } from "./frames.js";
import { heatLegend, heatMap } from "./heat.js";
import { MapView } from "./map.js";
import { RolloutsView } from "./rollouts.js";
import { UNKNOWN } from "./skill_set.js";
import { ValueTable } from "./values.js";
import { ghostWords } from "./words.js";

/** Directions [down, right] of the moves of a grid world, and of the arrow keys. @type {Object<string, number[]>} */
const MOVES = { up: [-1, 0], right: [0, 1], down: [1, 0], left: [0, -1] };

export class Panel {
  /** @param {App} app @param {SkillSet} set */
  constructor(app, set) {
    this.app = app;
    this.set = set;
    const { world } = set;
    this.map = world.map ? new MapView(world, app.model.data.icons) : null;
    const drawn = this.map ?? (world.frames ? new FramesView(world) : world.real ? new RolloutsView(app, set) : null);
    this.view = drawn ?? new CardsView(world);
    this.actions = world.map || world.real ? null : new ActionList(set);
    this.chips = set.targets.map((_, z) => this.chip(z));
    this.skills = this.skillRow();
    this.controls = element("div", { class: "queue" });
    this.legend = element("div", { class: "legend" });
    this.verdict = element("p", { class: "verdict" });
    this.spoken = element("p", { class: "unseen", "aria-live": "polite" });
    this.values = new ValueTable(world);
    this.average = element("p", { class: "crowd" });
    this.details = element("div", { class: "choices" });
    this.crowd = element("p", { class: "crowd" });
    this.effects = world.real ? null : new EffectsTable(app, set);
    this.element = element(
      "section",
      { class: `panel ${this.map || world.frames ? "" : "by-cards"}`, "aria-label": set.label },
      this.header(),
      this.skills,
      this.controls,
      this.verdict,
      this.spoken,
      element("div", { class: "figures" }, this.average, this.crowd),
      element("div", { class: "stage" }, this.view.element, this.actions?.element),
      world.noFrames ? element("p", { class: "crowd no-frames" }, world.noFrames) : null,
      this.legend,
      this.details,
      this.values.element,
      this.effects?.element,
    );
    if (this.map) this.listen();
    /** @type {Run} */
    this.run = null;
    /** @type {Run[]} */
    this.ghosts = [];
    /** @type {{ heat: HeatMap | null, arrows: any }} */
    this.layers = { heat: null, arrows: null };
    this.drawnKey = "";
  }

  header() {
    const { app, set } = this;
    const others = app.model.inWorld();
    if (others.length === 1) return element("header", {}, element("h2", {}, set.label));
    const pick = element(
      "select",
      {
        "aria-label": `Skill set ${app.model.shown.indexOf(set.index) + 1}`,
        onchange: (/** @type {any} */ event) => app.replaceSet(set.index, Number(event.target.value)),
      },
      others.map((other) => element("option", { value: other.index, selected: other === set }, other.label)),
    );
    const remove = element(
      "button",
      { type: "button", class: "quiet", "aria-label": `Remove ${set.label}`, title: "Remove", onclick: () => app.removeSet(set.index) },
      "✕",
    );
    return element("header", {}, element("h2", { class: "unseen" }, set.label), pick, app.model.shown.length > 1 && remove);
  }

  /** The skills as buttons, grouped by what they are for. */
  skillRow() {
    /** @type {Map<string, any[]>} */
    const groups = new Map();
    this.chips.forEach((chip, z) => groups.set(this.targetName(z), [...(groups.get(this.targetName(z)) ?? []), chip]));
    return element(
      "div",
      { class: "skills", role: "group", "aria-label": `Skills of ${this.set.label}` },
      [...groups].map(([target, chips]) => element("span", {}, element("span", { class: "aim" }, target), chips)),
    );
  }

  /** What a skill is for. @param {number} z */
  targetName(z) {
    const { set } = this;
    return set.targets[z].map((j) => set.world.variables[j].name).join(" + ") || "no target";
  }

  /** @param {number} z */
  chip(z) {
    const { app, set } = this;
    const title = set.titles[z] ?? `skill ${z}, ${set.targets[z].length ? "for " : ""}${set.reaches[z] ?? this.targetName(z)}`;
    return element(
      "button",
      { type: "button", class: "chip", "aria-pressed": "false", "aria-label": title, title, onclick: () => app.chooseSkill(set, z) },
      String(z),
    );
  }

  /** Clicks and arrow keys on the map move the start. */
  listen() {
    const { app, set, map } = this;
    const startAt = (/** @type {number} */ place) => app.setStart(set.world.withValue(app.model.start, 0, place));
    map.canvas.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      const place = map.placeAt(event);
      if (place !== undefined) startAt(place);
    });
    map.canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const move = MOVES[event.key.replace("Arrow", "").toLowerCase()];
      if (!move || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      startAt(map.beside(set.world.value(app.model.start, 0), move));
    });
    map.canvas.addEventListener("pointermove", (/** @type {MouseEvent} */ event) => {
      const place = map.placeAt(event);
      map.canvas.title = place === undefined ? "" : this.tip(place);
    });
  }

  /** What there is to know of a place: what changes there, the number of its color. @param {number} place */
  tip(place) {
    const { world } = this.set;
    const changes = world.variables.filter((_, j) => world.map.places[j].includes(place)).map(({ name }) => name);
    const value = this.layers.heat?.values[place];
    const parts = [world.variables[0].labels[place]];
    if (changes.length) parts.push(`changes ${joinNames(changes)}`);
    if (value !== undefined && !Number.isNaN(value)) parts.push(formatNumber(value));
    return `${parts.join(": ")} (click to start here)`;
  }

  /** The runs were computed anew. */
  refresh() {
    const { model } = this.app;
    const { set } = this;
    const mode = model.activeMode;
    ({ run: this.run, ghosts: this.ghosts } = model.runs.get(set.index));
    this.skills.hidden = !mode.choosesSkills;
    this.chips.forEach((chip, z) => chip.setAttribute("aria-pressed", String(mode.isPressed(model, set, z))));
    this.controls.replaceChildren(...mode.controls(this.app, set));
    // Several skills side by side have no one verdict, and no one table of values.
    this.verdict.hidden = this.values.element.hidden = Boolean(set.world.real) && !model.alone;
    this.effects?.mark(mode.currentSkill(model, set));
    this.element.classList.toggle("unsolved", mode.isDimmed(set));
    this.drawnKey = "";
  }

  /** Heat and arrows at a step: those of the skill that is being followed. @param {Moment} moment @param {number} state */
  computeLayers(moment, state) {
    const { model, section, theme } = this.app;
    const { set } = this;
    const { world } = set;
    if (!world.map) return { heat: null, arrows: null };
    const heats = model.heats[set.index];
    const shown = model.activeMode.hasLayers;
    let heat = section?.heat(set) ?? null;
    if (!heat && shown && model.heat !== "none" && heats.has(model.heat)) {
      const values = heats.over(model.heat, moment.z, moment.mode, moment.first, state);
      heat = heatMap(values, theme, model.heat === "ends");
    }
    return { heat, arrows: shown && model.arrows ? this.arrows(moment, state) : null };
  }

  /** [place]: where the skill would go, the other variables being as they are now. @param {Moment} moment @param {number} state */
  arrows(moment, state) {
    const { world } = this.set;
    const column = this.set.column(moment.z, moment.first, moment.mode);
    const values = world.state(state);
    return world.map.cells.map((_, place) => {
      values[0] = place;
      const s = world.number(values);
      if (s === undefined || column[s] === UNKNOWN) return null;
      return column[s] === world.nActions ? "end" : MOVES[world.actions[column[s]]];
    });
  }

  /** @param {number} t */
  draw(t) {
    const { model, section, theme } = this.app;
    const { set, run } = this;
    const now = Math.floor(t + 1e-9);
    const step = Math.min(now, run.steps);
    const state = run.states[step];
    const moment = model.moment(set, run, step);
    const targets = model.activeMode.targets(model, set, moment.z);
    const key = [now, t >= run.steps, theme, section?.version].join("|");
    if (key !== this.drawnKey) {
      this.drawnKey = key;
      this.layers = this.computeLayers(moment, state);
      this.describe(moment, state, step, targets, now);
    }
    const { heat, arrows } = this.layers;
    this.view.draw({
      heat, arrows, state, marked: run.marks[step], palette: model.data.palettes[theme], theme,
      behind: heat || arrows ? `${key}${model.version}` : "",
      run, ghosts: this.ghosts, t, targets,
    });
  }

  /**
   * The words and tables of a step.
   * @param {Moment} moment @param {number} state @param {number} step @param {number[]} targets
   * @param {number} now The step of the ghosts, which may run on.
   */
  describe(moment, state, step, targets, now) {
    const { model } = this.app;
    const { set, run } = this;
    const mode = model.activeMode;
    const over = step >= run.steps;
    const verdict = mode.verdict(set, run, step, moment, targets);
    this.verdict.className = `verdict ${verdict.kind}`;
    this.verdict.replaceChildren(element("span", { class: "sign", "aria-hidden": "true" }, verdict.sign), verdict.text);
    this.spoken.textContent = over && !model.playing ? `${set.label}: ${verdict.text}` : "";
    this.values.show(run.states[0], state, targets, over);
    this.actions?.show(model, run, step);
    this.average.textContent = mode.average(set, moment.z);
    this.crowd.textContent = ghostWords(set, this.ghosts, now, targets);
    this.details.replaceChildren(...mode.details(set, run, step));
    this.legend.replaceChildren(...heatLegend(this.layers.heat));
    if (!model.playing || step === 0) this.view.element.setAttribute("aria-label", this.stateWords(state));
  }

  /** @param {number} state */
  stateWords(state) {
    const { world } = this.set;
    const values = world.variables.map((variable, j) => `${variable.name} ${world.label(state, j)}`);
    const how = world.map ? "Map; arrow keys move the start. " : "";
    return `${how}Now: ${values.join(", ")}`;
  }
}
