// What can be chosen for all skill sets at once: the world, the goal, the start, chance, layers.

class Controls {
  constructor(app) {
    this.app = app;
    const { model } = app;
    const on = (id, kind, act) => byId(id).addEventListener(kind, act);
    on("play", "click", () => app.toggle());
    on("first", "click", () => app.seek(() => 0));
    on("back", "click", () => app.seek(({ t }) => Math.ceil(t) - 1));
    on("forward", "click", () => app.seek(({ t }) => Math.floor(t) + 1));
    on("last", "click", () => app.seek(({ length }) => length));
    on("scrub", "input", (event) => app.seek(() => Number(event.target.value)));
    on("speed", "change", (event) => app.pace(Number(event.target.value)));
    on("seed", "change", (event) => app.change(() => (model.seed = Math.min(Math.max(Math.floor(Number(event.target.value)) || 0, 0), 2 ** 32 - 1)), true));
    on("again", "click", () => app.another());
    on("slips", "change", (event) => app.change(() => (model.slips = event.target.checked), true));
    on("ghosts", "change", (event) => app.change(() => (model.ghosts = Number(event.target.value)), true));
    on("arrows", "change", (event) => app.change(() => (model.arrows = event.target.checked)));
    on("heat", "change", (event) => app.change(() => (model.heat = event.target.value)));
    on("reset", "click", () => app.begin(model.mode === "agent" ? model.taskStart() : model.world.start));
    on("link", "click", () => this.copy());
    byId("link").hidden = location.protocol === "about:"; // a part of another page has no address
    on("help", "click", () => byId("keys").showModal());
    byId("speed").append(...SPEEDS.map((speed) => element("option", { value: speed }, `${speed} / s`)));
    byId("heat").append(...Object.entries(HEATS).map(([value, name]) => element("option", { value }, name)));
    this.modes = Object.entries(MODES)
      .filter(([mode]) => mode !== "agent" || model.sets.some((set) => set.task))
      .map(([mode, name]) => element("button", { type: "button", value: mode, onclick: () => app.turnTo(mode) }, name));
    byId("modes").append(...this.modes);
    this.worlds = model.worlds.map((world, i) => element("button", { type: "button", onclick: () => app.enter(i) }, world.id));
    if (model.worlds.length > 1) byId("worlds").append(...this.worlds);
    byId("worlds").hidden = model.worlds.length < 2;
  }

  // The controls that depend on the world.
  rebuild() {
    const { app } = this;
    const { model } = app;
    const { world } = model;
    byId("world").textContent = world.id;
    this.goals = model.goals().map((j) =>
      element("button", { type: "button", value: j, onclick: () => app.change(() => model.watch(j), true) }, world.variables[j].name),
    );
    byId("goals").replaceChildren(...this.goals);
    this.firsts = world.variables.map((variable, j) =>
      element(
        "select",
        { id: `first-${j}`, onchange: (event) => app.begin(world.changed(model.start, j, Number(event.target.value))) },
        variable.labels.map((label, value) => element("option", { value }, label)),
      ),
    );
    byId("firsts").replaceChildren(
      ...world.variables.map((variable, j) => element("label", { for: `first-${j}` }, element("span", {}, variable.name), this.firsts[j])),
    );
    const more = model.inWorld().filter((set) => !model.shown.includes(set.index));
    byId("add").replaceChildren(element("option", { value: "" }, "compare with …"), ...more.map((set) => element("option", { value: set.index }, set.label)));
    byId("add").hidden = !more.length || model.shown.length >= MOST_SHOWN;
    byId("add").onchange = (event) => event.target.value !== "" && app.add(Number(event.target.value));
    byId("hint").textContent = world.map ? "or click a cell of a map" : "";
    byId("layers").hidden = !world.map;
    byId("chance").hidden = world.laws.every(([first]) => first >= 1) && !world.nMarks && model.inWorld().every((set) => Math.max(...set.modes) === 1);
  }

  taskWords() {
    const { model } = this.app;
    const task = model.shown.map((i) => model.sets[i].task).find(Boolean);
    if (!task) return "";
    const told = task.reward === "proxy" ? ", told a proxy of what is wanted" : "";
    return `An agent has learned the task “${task.name}” with these skills and single moves${told}. At every step it chooses one of them.`;
  }

  refresh() {
    const { model } = this.app;
    const { world } = model;
    const pressed = (button, is) => button.setAttribute("aria-pressed", String(is));
    this.modes.forEach((button) => pressed(button, button.value === model.mode));
    this.worlds.forEach((button, i) => pressed(button, model.worlds[i] === world));
    this.goals.forEach((button) => pressed(button, model.mode === "skill" && Number(button.value) === model.goal));
    for (const lead of document.querySelectorAll(".lead")) lead.hidden = lead.dataset.mode !== model.mode;
    document.querySelector(".lead[data-mode=agent]").textContent = this.taskWords();
    byId("goal-row").hidden = model.mode !== "skill";
    this.firsts.forEach((select, j) => (select.value = world.value(model.start, j)));
    byId("scrub").max = Math.max(model.length, 1);
    byId("seed").value = model.seed;
    byId("seed").disabled = byId("again").disabled = byId("ghosts").disabled = !model.slips;
    byId("slips").checked = model.slips;
    if (![...byId("ghosts").options].some((option) => Number(option.value) === model.ghosts))
      byId("ghosts").append(element("option", { value: model.ghosts }, `${model.ghosts} ghosts`));
    byId("ghosts").value = model.ghosts;
    byId("speed").value = model.speed;
    byId("arrows").checked = model.arrows;
    byId("heat").value = model.heat;
    const shown = model.shown.map((i) => model.heats[i]);
    for (const option of byId("heat").options) {
      if (option.value === "reward") option.disabled = !shown.some((heat) => heat.known);
      if (option.value === "earned") option.disabled = !shown.some((heat) => heat.penalised);
    }
    byId("panels").dataset.count = model.shown.length;
  }

  frame(t) {
    const { model } = this.app;
    byId("scrub").value = t;
    byId("scrub").setAttribute("aria-valuetext", `step ${Math.floor(t)} of ${model.length}`);
    byId("clock").textContent = `${Math.floor(t)} / ${model.length}`;
    byId("play").textContent = model.playing ? "❚❚" : "▶";
    byId("play").setAttribute("aria-label", model.playing ? "Pause" : "Play");
  }

  async copy() {
    this.app.keepLink();
    try {
      await navigator.clipboard.writeText(location.href);
      tell("The link to this view was copied.");
    } catch {
      tell("The page's address is now the link to this view.");
    }
    setTimeout(() => tell(""), 4000);
  }
}
