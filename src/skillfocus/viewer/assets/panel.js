// One skill set: its world, its skills, what the run has changed.

const MOVES = { up: [-1, 0], right: [0, 1], down: [1, 0], left: [0, -1] };

class Panel {
  constructor(app, set) {
    this.app = app;
    this.set = set;
    const { world } = set;
    this.view = world.map ? new MapView(world, app.model.data.icons) : new CardsView(world);
    this.skills = element("div", { class: "skills", role: "group", "aria-label": `Skills of ${set.label}` });
    this.chips = set.targets.map((_, z) => this.chip(z));
    const groups = new Map();
    this.chips.forEach((chip, z) => groups.set(this.aim(z), [...(groups.get(this.aim(z)) ?? []), chip]));
    this.skills.append(...[...groups].map(([aim, chips]) => element("span", {}, element("span", { class: "aim" }, aim), chips)));
    this.queue = element("div", { class: "queue" });
    this.legend = element("div", { class: "legend" });
    this.verdict = element("p", { class: "verdict" });
    this.spoken = element("p", { class: "unseen", "aria-live": "polite" });
    this.values = new Values(world);
    this.typical = element("p", { class: "crowd" });
    this.choices = element("div", { class: "choices" });
    this.crowd = element("p", { class: "crowd" });
    this.effects = new EffectsTable(app, set);
    this.element = element(
      "section",
      { class: "panel", "aria-label": set.label },
      this.header(),
      this.skills,
      this.queue,
      this.verdict,
      this.spoken,
      element("div", { class: "figures" }, this.typical, this.crowd),
      element("div", { class: "stage" }, this.view.canvas),
      this.legend,
      this.choices,
      this.values.element,
      this.effects.element,
    );
    if (world.map) this.listen();
    this.shown = "";
  }

  header() {
    const { app, set } = this;
    const others = app.model.inWorld();
    const title = element("h2", {}, set.label);
    if (others.length === 1) return element("header", {}, title);
    const pick = element(
      "select",
      { "aria-label": `Skill set ${app.model.shown.indexOf(set.index) + 1}`, onchange: (event) => app.exchange(set.index, Number(event.target.value)) },
      others.map((other) => element("option", { value: other.index, selected: other === set }, other.label)),
    );
    const remove = element(
      "button",
      { type: "button", class: "quiet", "aria-label": `Remove ${set.label}`, title: "Remove", onclick: () => app.remove(set.index) },
      "✕",
    );
    return element("header", {}, element("h2", { class: "unseen" }, set.label), pick, app.model.shown.length > 1 && remove);
  }

  // What a skill is for.
  aim(z) {
    const { set } = this;
    return set.targets[z].map((j) => set.world.variables[j].name).join(" + ") || "no target";
  }

  chip(z) {
    const { app, set } = this;
    const title = `skill ${z}, ${set.targets[z].length ? "for " : ""}${this.aim(z)}`;
    return element("button", { type: "button", class: "chip", "aria-pressed": "false", "aria-label": title, title, onclick: () => app.choose(set.index, z) }, String(z));
  }

  listen() {
    const { app, set, view } = this;
    view.canvas.addEventListener("click", (event) => {
      const place = view.placeAt(event);
      if (place !== undefined) app.begin(set.world.changed(app.model.start, 0, place));
    });
    view.canvas.addEventListener("keydown", (event) => {
      const move = MOVES[event.key.replace("Arrow", "").toLowerCase()];
      if (!move || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      const place = view.beside(set.world.value(app.model.start, 0), move);
      app.begin(set.world.changed(app.model.start, 0, place));
    });
    view.canvas.addEventListener("pointermove", (event) => {
      const place = view.placeAt(event);
      view.canvas.title = place === undefined ? "" : this.tip(place);
    });
  }

  // What there is to know of a place: what changes there, its colour's number.
  tip(place) {
    const { world } = this.set;
    const changes = world.variables.filter((_, j) => world.map.places[j].includes(place)).map(({ name }) => name);
    const value = this.scene?.heat?.values[place];
    const parts = [world.variables[0].labels[place]];
    if (changes.length) parts.push(`changes ${listed(changes)}`);
    if (value !== undefined && !Number.isNaN(value)) parts.push(number(value));
    return `${parts.join(": ")} (click to start here)`;
  }

  // After the runs were made anew.
  refresh() {
    const { model } = this.app;
    const { set } = this;
    const { run, ghosts } = model.runs.get(set.index);
    this.run = run;
    this.ghosts = ghosts;
    const agent = model.mode === "agent";
    const queue = model.queueOf(set);
    this.skills.hidden = agent;
    this.chips.forEach((chip, z) => chip.setAttribute("aria-pressed", String(model.mode === "skill" && queue.includes(z))));
    this.queue.replaceChildren(...(model.mode === "chain" ? chainRow(this.app, set) : []));
    this.effects.mark(agent ? -1 : model.mode === "skill" ? queue[0] : queue.at(-1));
    this.element.classList.toggle("unsolved", agent && !set.task);
    this.shown = "";
  }

  // What heat and arrows show at a step: they belong to the skill under way.
  background(moment, state) {
    const { model } = this.app;
    const { set } = this;
    const { world } = set;
    const scene = { heat: null, arrows: null };
    if (!world.map) return scene;
    const { mode } = moment;
    const grown = this.app.chains.heat(set);
    if (grown) scene.heat = grown;
    else if (model.heat !== "none" && model.mode !== "agent" && model.heats[set.index].can(model.heat)) {
      const values = model.heats[set.index].over(model.heat, moment.z, mode, moment.first, state);
      scene.heat = { values, ...heatColours(values, this.app.theme, model.heat === "ends") };
    }
    if (model.arrows && model.mode !== "agent") {
      const column = set.column(moment.z, moment.first, mode);
      const values = world.state(state);
      scene.arrows = world.map.cells.map((_, place) => {
        values[0] = place;
        const s = world.number(values);
        if (s === undefined || column[s] === UNKNOWN) return null;
        return column[s] === world.nActions ? "end" : MOVES[world.actions[column[s]]];
      });
    }
    return scene;
  }

  frame(t) {
    const { model, theme } = this.app;
    const { set, run } = this;
    const step = Math.min(Math.floor(t + 1e-9), run.steps);
    const state = run.states[step];
    const moment = model.moment(set, run, step);
    const targets = model.targets(set, moment.z);
    const key = [Math.floor(t + 1e-9), t >= run.steps, theme, this.app.chains.turn].join("|");
    if (key !== this.shown) {
      this.shown = key;
      this.scene = this.background(moment, state);
      this.tell(moment, state, step, targets, Math.floor(t + 1e-9));
    }
    this.view.draw({
      ...this.scene, state, marked: run.marks[step], palette: model.data.palettes[theme], theme,
      behind: this.scene.heat || this.scene.arrows ? `${key}${model.turn}` : "",
      run, ghosts: this.ghosts, t, targets,
    });
  }

  // The words and tables of a step.
  tell(moment, state, step, targets, now) {
    const { model } = this.app;
    const { set, run } = this;
    const over = step >= run.steps;
    const said = model.mode === "agent" ? agentWords(set, run, step) : skillWords(set, run, step, moment, targets, model.mode);
    this.verdict.className = `verdict ${said.kind}`;
    this.verdict.replaceChildren(element("span", { class: "sign", "aria-hidden": "true" }, said.sign), said.text);
    this.spoken.textContent = over && !model.playing ? `${set.label}: ${said.text}` : "";
    this.values.show(run.states[0], state, targets, targets.length > 0, over);
    this.typical.textContent = model.mode === "skill" ? typicalWords(set, moment.z) : "";
    this.crowd.textContent = crowdWords(set, this.ghosts, now, model.mode === "skill" ? targets : null);
    this.choices.replaceChildren(...(model.mode === "agent" && set.task ? [choiceTable(set, run, step)] : []));
    this.legend.replaceChildren(...heatLegend(this.scene.heat));
    if (!model.playing || step === 0) this.view.canvas.setAttribute("aria-label", this.described(state));
  }

  described(state) {
    const { world } = this.set;
    const values = world.variables.map((variable, j) => `${variable.name} ${world.label(state, j)}`);
    const how = world.map ? "Map; arrow keys move the start. " : "";
    return `${how}Now: ${values.join(", ")}`;
  }
}
