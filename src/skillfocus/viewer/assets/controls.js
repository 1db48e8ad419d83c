// What is chosen for all skill sets at once: mode, world, goal, start, chance and layers.

/** @import { App } from "./app.js" */
import { announce, byId, element } from "./dom.js";
import { HEATS } from "./heat.js";
import { MAX_SHOWN, SPEEDS } from "./model.js";
import { MODES } from "./modes/index.js";

const MAX_SEED = 2 ** 32 - 1;
const MESSAGE_MS = 4000;

export class Controls {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const { model } = app;
    const on = (/** @type {string} */ id, /** @type {string} */ kind, /** @type {(event: any) => void} */ act) =>
      byId(id).addEventListener(kind, act);
    on("play", "click", () => app.toggle());
    on("first", "click", () => app.seek(() => 0));
    on("back", "click", () => app.seek(({ t }) => Math.ceil(t) - 1));
    on("forward", "click", () => app.seek(({ t }) => Math.floor(t) + 1));
    on("last", "click", () => app.seek(({ length }) => length));
    on("scrub", "input", (event) => app.seek(() => Number(event.target.value)));
    on("speed", "change", (event) => app.setSpeed(Number(event.target.value)));
    on("seed", "change", (event) => {
      const seed = Math.floor(Number(event.target.value)) || 0;
      app.change(() => (model.seed = Math.min(Math.max(seed, 0), MAX_SEED)), true);
    });
    on("again", "click", () => app.nextSeed());
    on("slips", "change", (event) => app.change(() => (model.slips = event.target.checked), true));
    on("ghosts", "change", (event) => app.change(() => (model.ghosts = Number(event.target.value)), true));
    on("others", "change", (event) => app.change(() => (model.others = event.target.checked)));
    on("arrows", "change", (event) => app.change(() => (model.arrows = event.target.checked)));
    on("heat", "change", (event) => app.change(() => (model.heat = event.target.value)));
    on("reset", "click", () => app.setStart(model.activeMode.usualStart(model)));
    on("link", "click", () => this.copyLink());
    byId("link").hidden = location.protocol === "about:"; // a page inside another one has no address
    on("help", "click", () => byId("keys").showModal());
    byId("speed").append(...SPEEDS.map((speed) => element("option", { value: speed }, `${speed} / s`)));
    byId("heat").append(...Object.entries(HEATS).map(([value, name]) => element("option", { value }, name)));
    this.modes = MODES.filter((mode) => mode.isAvailable(model)).map((mode) =>
      element("button", { type: "button", value: mode.name, onclick: () => app.setMode(mode.name) }, mode.label),
    );
    byId("modes").append(...this.modes);
    byId("modes").hidden = this.modes.length < 2;
    this.worlds = model.worlds.map((world, i) =>
      element("button", { type: "button", onclick: () => app.enterWorld(i) }, world.id),
    );
    if (model.worlds.length > 1) byId("worlds").append(...this.worlds);
    byId("worlds").hidden = model.worlds.length < 2;
    /** @type {any[]} */
    this.goals = [];
    /** @type {any[]} */
    this.firstValues = [];
    /** @type {any} */
    this.recordedStart = null;
  }

  /** The controls that depend on the world and on the sets shown. */
  rebuild() {
    const { app } = this;
    const { model } = app;
    const { world } = model;
    byId("world").textContent = world.id;
    const goals = world.real ? [null, ...model.goals()] : model.goals();
    this.goals = goals.map((j) =>
      element("button", { type: "button", value: j, onclick: () => app.change(() => model.watch(j), true) }, world.variables[j]?.name ?? "everything"),
    );
    byId("goals").replaceChildren(...this.goals);
    this.recordedStart = element(
      "select",
      { id: "recorded-start", onchange: (/** @type {any} */ event) => app.setStart(Number(event.target.value)) },
      model.starts.map((s, i) => element("option", { value: s }, `${i + 1} of ${model.starts.length}`)),
    );
    this.firstValues = (world.starts ? [] : world.variables).map((variable, j) =>
      element(
        "select",
        {
          id: `first-${j}`,
          onchange: (/** @type {any} */ event) => app.setStart(world.withValue(model.start, j, Number(event.target.value))),
        },
        variable.labels.map((label, value) => element("option", { value }, label)),
      ),
    );
    byId("firsts").replaceChildren(
      ...this.firstValues.map((select, j) =>
        element("label", { for: `first-${j}` }, element("span", {}, world.variables[j].name), select),
      ),
      world.starts ? element("label", { for: "recorded-start" }, element("span", {}, "recorded start"), this.recordedStart) : "",
    );
    const more = model.inWorld().filter((set) => !model.shown.includes(set.index));
    byId("add").replaceChildren(
      element("option", { value: "" }, "compare with …"),
      ...more.map((set) => element("option", { value: set.index }, set.label)),
    );
    byId("add").hidden = !more.length || model.shown.length >= MAX_SHOWN;
    byId("add").onchange = (/** @type {any} */ event) => event.target.value !== "" && app.addSet(Number(event.target.value));
    byId("hint").textContent = !world.map ? "" : world.starts ? "or click the cell of a start" : "or click a cell of a map";
    byId("slips").parentElement.hidden = Boolean(world.starts);
    byId("others").parentElement.hidden = !world.real;
    byId("again").textContent = world.starts ? "another recording" : "other slips";
    const certain = !world.starts && world.laws.every(([first]) => first >= 1) && !world.nMarks;
    byId("chance").hidden = Boolean(world.real) || (certain && model.inWorld().every((set) => Math.max(...set.modes) === 1));
  }

  /** Show what is chosen. */
  refresh() {
    const { model } = this.app;
    const { world } = model;
    const mode = model.activeMode;
    const press = (/** @type {any} */ button, /** @type {boolean} */ is) => button.setAttribute("aria-pressed", String(is));
    this.modes.forEach((button) => press(button, button.value === model.mode));
    this.worlds.forEach((button, i) => press(button, model.worlds[i] === world));
    this.goals.forEach((button) => press(button, mode.choosesGoal && button.value === String(model.goal ?? "") && !(world.real && model.alone)));
    byId("lead").replaceChildren(...mode.lead(model));
    byId("goal-row").hidden = !mode.choosesGoal;
    byId("layers").hidden = !world.map || !mode.hasLayers;
    this.recordedStart.value = model.start;
    this.firstValues.forEach((select, j) => (select.value = world.value(model.start, j)));
    byId("scrub").max = Math.max(model.length, 1);
    byId("seed").value = model.seed;
    byId("seed").disabled = byId("again").disabled = byId("ghosts").disabled = !model.slips;
    byId("slips").checked = model.slips;
    if (![...byId("ghosts").options].some((option) => Number(option.value) === model.ghosts))
      byId("ghosts").append(element("option", { value: model.ghosts }, `${model.ghosts} ghosts`));
    byId("ghosts").value = model.ghosts;
    byId("speed").value = model.speed;
    byId("others").checked = model.others;
    byId("arrows").checked = model.arrows;
    byId("heat").value = model.heat;
    const heats = model.shown.map((i) => model.heats[i]);
    for (const option of byId("heat").options)
      option.disabled = option.value !== "none" && !heats.some((heat) => heat.has(option.value));
    byId("panels").dataset.count = model.shown.length;
  }

  /** The player at a step. @param {number} t */
  draw(t) {
    const { model } = this.app;
    byId("scrub").value = t;
    byId("scrub").setAttribute("aria-valuetext", `step ${Math.floor(t)} of ${model.length}`);
    byId("clock").textContent = `${Math.floor(t)} / ${model.length}`;
    byId("play").textContent = model.playing ? "❚❚" : "▶";
    byId("play").setAttribute("aria-label", model.playing ? "Pause" : "Play");
  }

  async copyLink() {
    this.app.saveLink();
    try {
      await navigator.clipboard.writeText(location.href);
      announce("The link to this view was copied.");
    } catch {
      announce("The page's address is now the link to this view.");
    }
    setTimeout(() => announce(""), MESSAGE_MS);
  }
}
