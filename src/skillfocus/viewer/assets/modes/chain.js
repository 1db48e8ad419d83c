// Chains: a queue of skills per set, the states it visits, and the tree of all chains.

/**
 * @import { App } from "../app.js"
 * @import { Model } from "../model.js"
 * @import { SkillSet } from "../skill_set.js"
 * @import { Mode } from "./mode.js"
 */
import { chart } from "../charts.js";
import { element, formatNumber } from "../dom.js";
import { heatMap } from "../heat.js";
import { Tree } from "../simulate.js";
import { choiceName, unfinishedVerdict, variableNames } from "../words.js";
import { baseMode } from "./mode.js";

/** The longest chains of the tree, and how many skills "five at random" queues. */
const LENGTHS = 5;
/** Milliseconds that the trees grow between two frames. */
const SLICE = 12;
const COLORS = ["#d4622a", "#2f7fb8", "#2a9d5c", "#9b5fc0"];
const LETTERS = "ABCD";

/** @type {Mode} */
export const chainMode = {
  ...baseMode,
  name: "chain",
  label: "Chain",

  // Recorded runs begin in few states, and none where another skill has ended.
  isAvailable(model) {
    return model.worlds.some((world) => !world.starts);
  },

  /** The queue of each set. @returns {{ queues: number[][] }} */
  createState(model) {
    return { queues: model.sets.map(() => /** @type {number[]} */ ([])) };
  },

  lead() {
    return ["Skills one after another: how many different states can they bring about?"];
  },

  enter(model) {
    for (const i of model.shown) if (!queues(model)[i].length) queues(model)[i] = [model.skill[i]];
  },

  queue(model, set) {
    return queues(model)[set.index];
  },

  choose(model, set, z) {
    queues(model)[set.index] = [...queues(model)[set.index], z];
  },

  verdict(set, run, step, moment) {
    const unfinished = unfinishedVerdict(set, run, step, moment, `skill ${moment.z}, `);
    if (unfinished) return unfinished;
    const count = run.ends.length;
    if (!count) return { kind: "plain", sign: "+", text: "Click skills to put them in a queue." };
    const changed = variableNames(set.world, set.world.differences(run.states[0], run.states[step]));
    return { kind: "plain", sign: "•", text: `${count} skill${count > 1 ? "s" : ""}, ${run.steps} step${run.steps === 1 ? "" : "s"}; changed: ${changed || "nothing"}` };
  },

  controls(app, set) {
    return queueRow(app, set);
  },

  createSection(app) {
    return new ChainSection(app);
  },

  toLink(model) {
    return { queue: model.shown.map((i) => queues(model)[i].join(".")).join("_") };
  },

  fromLink(model, parts) {
    const texts = (parts.get("queue") ?? "").split("_");
    model.shown.forEach((i, place) => {
      const skills = (texts[place] ?? "").split(".").filter((text) => /^\d+$/.test(text)).map(Number);
      queues(model)[i] = skills.filter((z) => z < model.sets[i].nSkills);
    });
  },
};

/** @param {Model} model @returns {number[][]} */
function queues(model) {
  return model.modeState.chain.queues;
}

/** The queue of a set as buttons that take skills out of it. @param {App} app @param {SkillSet} set */
function queueRow(app, set) {
  const queue = queues(app.model)[set.index];
  const change = async (/** @type {number[]} */ to) => {
    await app.change(() => (queues(app.model)[set.index] = to), true);
    app.panels.find((panel) => panel.set === set)?.controls.querySelector("button")?.focus();
  };
  const items = queue.map((z, i) =>
    element(
      "button",
      { type: "button", class: "chip queued", title: "Take it out of the queue", onclick: () => change(queue.filter((_, j) => j !== i)) },
      `${choiceName(set, z)} ✕`,
    ),
  );
  const random = () => change(Array.from({ length: LENGTHS }, () => Math.floor(Math.random() * set.nSkills)));
  return [
    element("span", {}, queue.length ? "Queue: " : "Queue: click skills above. "),
    ...items,
    element("button", { type: "button", class: "quiet", onclick: random }, "five at random"),
    queue.length ? element("button", { type: "button", class: "quiet", onclick: () => change([]) }, "clear") : "",
  ];
}

/** Below the panels: how many states the queues visit, and the coverage of the tree of all chains. */
class ChainSection {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.version = 0;
    this.animating = false;
    this.drawnKey = "";
    /** By index of the set. @type {Map<number, Tree>} */
    this.trees = new Map();
    this.button = element("button", { type: "button", class: "main", onclick: () => this.toggle() }, "Grow all chains");
    this.note = element("p", { class: "note", "aria-live": "off" });
    this.visited = element("div");
    this.coverage = element("div");
    this.key = element("p", { class: "key" });
    this.element = element(
      "section",
      { class: "chains", "aria-label": "Coverage" },
      element("div", {}, element("h3", {}, "States visited by these queues"), this.visited),
      element("div", {}, element("h3", {}, "Coverage by all chains"), this.coverage),
      element("div", { class: "side" }, this.button, this.note, this.key),
    );
  }

  /** @param {SkillSet} set */
  color(set) {
    return COLORS[this.app.model.shown.indexOf(set.index) % COLORS.length];
  }

  /** @param {SkillSet} set */
  letter(set) {
    return LETTERS[this.app.model.shown.indexOf(set.index)];
  }

  get shownSets() {
    const { model } = this.app;
    return model.shown.map((i) => model.sets[i]);
  }

  /** The share of each place's states that end some chain, while there are trees. @param {SkillSet} set */
  heat(set) {
    const tree = this.trees.get(set.index);
    if (!tree || this.app.model.heat !== "none") return null;
    const { world } = set;
    const ended = new Float64Array(world.map.cells.length);
    const every = new Float64Array(ended.length);
    for (let s = 0; s < world.nStates; s++) {
      every[world.value(s, 0)]++;
      if (tree.seen.some((seen) => seen[s])) ended[world.value(s, 0)]++;
    }
    const shares = ended.map((count, place) => (count ? count / every[place] : NaN));
    return { ...heatMap(shares, this.app.theme, true), low: 0, high: 1, note: " of a place's states" };
  }

  reset() {
    this.trees.clear();
    this.animating = false;
    this.version++;
  }

  stop() {
    this.animating = false;
  }

  async toggle() {
    const { model } = this.app;
    if (this.animating) {
      this.animating = false;
      return this.app.draw();
    }
    const { version } = this;
    await Promise.all(this.shownSets.map((set) => set.readyAll()));
    if (version !== this.version || model.mode !== chainMode.name) return;
    if ([...this.trees.values()].every((tree) => tree.done)) this.trees.clear();
    for (const set of this.shownSets)
      if (!this.trees.has(set.index)) this.trees.set(set.index, new Tree(set, model.start, model.chance, LENGTHS));
    this.animating = true;
    this.app.requestFrame();
  }

  /** Let the trees grow for a moment. */
  tick() {
    if (!this.animating) return;
    const trees = [...this.trees.values()].filter((tree) => !tree.done);
    const until = performance.now() + SLICE;
    while (trees.some((tree) => !tree.done) && performance.now() < until)
      for (const tree of trees) for (let i = 0; i < 50 && !tree.done; i++) tree.step();
    this.animating = trees.some((tree) => !tree.done);
    this.version++;
  }

  /** @param {number} t */
  draw(t) {
    const { model } = this.app;
    const key = [Math.floor(t), model.version, this.version, this.app.theme, model.shown, this.animating].join("|");
    if (key === this.drawnKey) return;
    this.drawnKey = key;
    this.drawVisited(Math.floor(t));
    this.drawCoverage();
    const trees = [...this.trees.values()];
    this.button.textContent = this.animating ? "Stop" : trees.some((tree) => !tree.done) ? "Go on" : "Grow all chains";
    this.note.textContent = this.describeTrees(trees);
    this.key.replaceChildren(
      ...this.shownSets.map((set) => element("span", { style: `--color: ${this.color(set)}` }, `${this.letter(set)} ${set.label}`)),
    );
  }

  /** @param {Tree[]} trees */
  describeTrees(trees) {
    if (!trees.length)
      return `Every chain of 1 to ${LENGTHS} skills from this start, each skill run once from where its chain has come: the share of all states that end one.`;
    const chains = trees.reduce((sum, tree) => sum + tree.chains, 0);
    const total = trees.reduce((sum, tree) => sum + tree.total, 0);
    const expected = this.shownSets.some((set) => set.coverage) ? ", dashed: expected over all starts" : "";
    return `${chains.toLocaleString("en")} of ${total.toLocaleString("en")} chains of up to ${LENGTHS} skills from this start; lines: coverage so far${expected}.`;
  }

  /** How many different states each set's runs have visited by each step. @param {number} step */
  drawVisited(step) {
    const { model } = this.app;
    const lines = this.shownSets.map((set) => {
      const { run, ghosts } = model.runs.get(set.index);
      const seen = new Set();
      const points = [];
      for (let i = 0; i <= Math.min(step, model.length); i++) {
        for (const one of [run, ...ghosts]) if (i <= one.steps) seen.add(one.states[i]);
        points.push([i, seen.size]);
      }
      return { points, color: this.color(set), letter: this.letter(set), name: set.label, dots: false };
    });
    const top = Math.max(4, ...lines.map((line) => line.points.at(-1)[1]));
    const to = Math.max(model.length, 1);
    const format = (/** @type {number} */ value) => String(Math.round(value));
    this.visited.replaceChildren(
      chart(lines, { from: 0, to, top: 2 * Math.ceil(top / 2), across: "steps", up: "different states", ticks: [0, to], format }),
    );
  }

  drawCoverage() {
    const lines = [];
    const points = (/** @type {number[]} */ curve) => curve.map((share, i) => [i + 1, share]);
    for (const set of this.shownSets) {
      const tree = this.trees.get(set.index);
      const color = this.color(set);
      if (tree) lines.push({ points: points(tree.curve), color, letter: this.letter(set), name: set.label });
      if (set.coverage)
        lines.push({ points: points(set.coverage.slice(0, LENGTHS)), color, dashed: true, name: `${set.label}, expected` });
    }
    const top = Math.max(0.01, ...lines.flatMap((line) => line.points.map((point) => point[1])));
    const ticks = Array.from({ length: LENGTHS }, (_, i) => i + 1);
    const format = (/** @type {number} */ value) => formatNumber(value);
    this.coverage.replaceChildren(
      chart(lines, { from: 1, to: LENGTHS, top: Math.ceil(top * 20) / 20, across: "skills in a chain", up: "share of all states", ticks, format }),
    );
  }
}
