// Chains: a queue of skills per set, the states it has met, and the tree of all chains.

const LENGTHS = 5;
const SLICE = 12; // milliseconds of growing between two frames
const COLOURS = ["#d4622a", "#2f7fb8", "#2a9d5c", "#9b5fc0"];

function chainRow(app, set) {
  const { model } = app;
  const queue = model.queue[set.index];
  const change = async (to) => {
    await app.change(() => (model.queue[set.index] = to), true);
    app.panels.find((panel) => panel.set === set)?.queue.querySelector("button")?.focus();
  };
  const items = queue.map((z, i) =>
    element("button", { type: "button", class: "chip queued", title: "Take it out of the queue", onclick: () => change(queue.filter((_, j) => j !== i)) }, `${choiceName(set, z)} ✕`),
  );
  const random = () => change(Array.from({ length: LENGTHS }, () => Math.floor(Math.random() * set.nSkills)));
  return [
    element("span", {}, queue.length ? "Queue: " : "Queue: click skills above. "),
    ...items,
    element("button", { type: "button", class: "quiet", onclick: random }, "five at random"),
    queue.length ? element("button", { type: "button", class: "quiet", onclick: () => change([]) }, "clear") : "",
  ];
}

class Chains {
  constructor(app) {
    this.app = app;
    this.turn = 0;
    this.trees = new Map();
    this.growing = false;
    this.button = element("button", { type: "button", class: "main", onclick: () => this.toggle() }, "Grow all chains");
    this.told = element("p", { class: "note", "aria-live": "off" });
    this.met = element("div");
    this.curve = element("div");
    this.key = element("p", { class: "key" });
    this.element = element(
      "section",
      { class: "chains", "aria-label": "Coverage" },
      element("div", {}, element("h3", {}, "States met by these queues"), this.met),
      element("div", {}, element("h3", {}, "Coverage by all chains"), this.curve),
      element("div", { class: "side" }, this.button, this.told, this.key),
    );
  }

  colour(set) {
    return COLOURS[this.app.model.shown.indexOf(set.index) % COLOURS.length];
  }

  // What its lines are called, where colours cannot be told apart.
  letter(set) {
    return "ABCD"[this.app.model.shown.indexOf(set.index)];
  }

  // The share of each place's states that end some chain, while trees are there to see.
  heat(set) {
    const tree = this.trees.get(set.index);
    if (!tree || this.app.model.mode !== "chain" || this.app.model.heat !== "none") return null;
    const { world } = set;
    const values = new Float64Array(world.map.cells.length);
    const every = new Float64Array(values.length);
    for (let s = 0; s < world.nStates; s++) {
      every[world.value(s, 0)]++;
      if (tree.seen.some((seen) => seen[s])) values[world.value(s, 0)]++;
    }
    const shares = values.map((count, place) => (count ? count / every[place] : NaN));
    return { values: shares, ...heatColours(shares, this.app.theme, true), low: 0, high: 1, note: " of a place's states" };
  }

  forget() {
    this.trees.clear();
    this.growing = false;
    this.turn++;
  }

  async toggle() {
    const { model } = this.app;
    if (this.growing) {
      this.growing = false;
      return this.app.draw();
    }
    const shown = model.shown.map((i) => model.sets[i]);
    const { turn } = this;
    await Promise.all(shown.map((set) => set.readyAll()));
    if (turn !== this.turn || model.mode !== "chain") return;
    if ([...this.trees.values()].every((tree) => tree.done)) this.trees.clear();
    for (const set of shown)
      if (!this.trees.has(set.index)) this.trees.set(set.index, new Tree(set, model.start, model.chance, LENGTHS));
    this.growing = true;
    this.app.wake();
  }

  // Let the trees grow for a moment.
  grow() {
    if (!this.growing) return;
    const trees = [...this.trees.values()].filter((tree) => !tree.done);
    const until = performance.now() + SLICE;
    while (trees.some((tree) => !tree.done) && performance.now() < until)
      for (const tree of trees) for (let i = 0; i < 50 && !tree.done; i++) tree.step();
    this.growing = trees.some((tree) => !tree.done);
    this.turn++;
  }

  draw(t) {
    const { model } = this.app;
    this.element.hidden = model.mode !== "chain";
    if (this.element.hidden) return;
    const key = [Math.floor(t), model.turn, this.turn, this.app.theme, model.shown, this.growing].join("|");
    if (key === this.drawnKey) return;
    this.drawnKey = key;
    const shown = model.shown.map((i) => model.sets[i]);
    this.drawMet(shown, Math.floor(t));
    this.drawCurve(shown);
    const trees = [...this.trees.values()];
    this.button.textContent = this.growing ? "Stop" : trees.some((tree) => !tree.done) ? "Go on" : "Grow all chains";
    const chains = trees.reduce((sum, tree) => sum + tree.chains, 0);
    const total = trees.reduce((sum, tree) => sum + tree.total, 0);
    this.told.textContent = trees.length
      ? `${chains.toLocaleString("en")} of ${total.toLocaleString("en")} chains of up to ${LENGTHS} skills from this start; lines are what was found so far${shown.some((set) => set.coverage) ? ", dashed: expected over all starts" : ""}.`
      : `Every chain of 1 to ${LENGTHS} skills from this start, each skill run once where each chain has come to: the share of all states that end one.`;
    this.key.replaceChildren(...shown.map((set) => element("span", { style: `--colour: ${this.colour(set)}` }, `${this.letter(set)} ${set.label}`)));
  }

  // How many different states a set's runs have met by each step.
  drawMet(shown, step) {
    const { model } = this.app;
    const lines = shown.map((set) => {
      const { run, ghosts } = model.runs.get(set.index);
      const seen = new Set();
      const points = [];
      for (let i = 0; i <= Math.min(step, model.length); i++) {
        for (const one of [run, ...ghosts]) if (i <= one.steps) seen.add(one.states[i]);
        points.push([i, seen.size]);
      }
      return { points, colour: this.colour(set), letter: this.letter(set), name: set.label, dots: false };
    });
    const top = Math.max(4, ...lines.map((line) => line.points.at(-1)[1]));
    const to = Math.max(model.length, 1);
    this.met.replaceChildren(
      chart(lines, { from: 0, to, top: 2 * Math.ceil(top / 2), across: "steps", up: "different states", ticks: [0, to], format: (value) => String(Math.round(value)) }),
    );
  }

  drawCurve(shown) {
    const lines = [];
    for (const set of shown) {
      const tree = this.trees.get(set.index);
      const colour = this.colour(set);
      const points = (curve) => curve.map((share, i) => [i + 1, share]);
      if (tree) lines.push({ points: points(tree.curve), colour, letter: this.letter(set), name: set.label });
      if (set.coverage) lines.push({ points: points(set.coverage.slice(0, LENGTHS)), colour, dashed: true, name: `${set.label}, expected` });
    }
    const top = Math.max(0.01, ...lines.flatMap((line) => line.points.map((point) => point[1])));
    const ticks = Array.from({ length: LENGTHS }, (_, i) => i + 1);
    this.curve.replaceChildren(
      chart(lines, { from: 1, to: LENGTHS, top: Math.ceil(top * 20) / 20, across: "skills in a chain", up: "share of all states", ticks, format: (value) => number(value) }),
    );
  }
}
