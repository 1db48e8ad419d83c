// The page itself: it reads its data, and redraws when something was chosen or time goes on.

class App {
  constructor(model) {
    this.model = model;
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.draw());
    this.waiting = [];
    this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.chains = new Chains(this);
    byId("chains").append(this.chains.element);
    this.controls = new Controls(this);
    listenToKeys(this);
    window.addEventListener("resize", () => this.draw());
    window.addEventListener("hashchange", () => this.follow());
  }

  get theme() {
    return this.dark.matches ? "dark" : "light";
  }

  async open() {
    const told = fromFragment(this.model, location.hash.slice(1));
    this.rebuild();
    await this.change(() => {}, !told);
  }

  // The address was changed from outside.
  follow() {
    if (location.hash.slice(1) === this.link) return;
    fromFragment(this.model, location.hash.slice(1));
    this.model.playing = false;
    this.rebuild();
    this.change(() => {});
  }

  rebuild() {
    this.model.runs = null;
    this.panels = this.model.shown.map((i) => new Panel(this, this.model.sets[i]));
    byId("panels").replaceChildren(...this.panels.map((panel) => panel.element));
    this.controls.rebuild();
    this.chains.forget();
  }

  // Make the runs anew. While they are being made, nothing is drawn: what is chosen and what is
  // shown would not fit together.
  async refresh() {
    this.busy = true;
    try {
      if (!(await this.model.compute())) return;
    } catch (error) {
      tell(`This cannot be shown: ${error.message}.`);
      throw error;
    }
    this.busy = false;
    this.panels.forEach((panel) => panel.refresh());
    this.controls.refresh();
    this.draw();
    this.keepLink();
  }

  // Choose something. `anew`: and watch it from the beginning.
  async change(act, anew = false) {
    const before = [this.model.start, this.model.seed, this.model.slips].join();
    act();
    if (anew) this.model.t = 0;
    if (before !== [this.model.start, this.model.seed, this.model.slips].join()) this.chains.forget();
    await this.refresh();
    if (this.busy) return;
    if (anew && !this.calm) this.play();
    for (const where of this.waiting.splice(0)) this.seek(where);
  }

  begin(start) {
    return this.change(() => (this.model.start = start), true);
  }

  choose(index, z) {
    const { model } = this;
    return this.change(() => {
      if (model.mode === "chain") model.queue[index] = [...model.queue[index], z];
      else model.skill[index] = z;
      model.goal = null;
    }, true);
  }

  turnSkill(by) {
    const { model } = this;
    return this.change(() => {
      for (const i of model.shown) model.skill[i] = (model.skill[i] + by + model.sets[i].nSkills) % model.sets[i].nSkills;
      model.goal = null;
    }, true);
  }

  turnHeat() {
    const able = [...byId("heat").options].filter((option) => !option.disabled).map((option) => option.value);
    return this.change(() => (this.model.heat = able[(able.indexOf(this.model.heat) + 1) % able.length]));
  }

  turnMode() {
    const modes = this.controls.modes.map((button) => button.value);
    return this.turnTo(modes[(modes.indexOf(this.model.mode) + 1) % modes.length]);
  }

  turnTo(mode) {
    const { model } = this;
    return this.change(() => {
      model.mode = mode;
      this.chains.growing = false;
      if (mode === "agent") model.start = model.taskStart();
      if (mode === "chain") for (const i of model.shown) if (!model.queue[i].length) model.queue[i] = [model.skill[i]];
    }, true);
  }

  another() {
    return this.change(() => (this.model.seed = (this.model.seed + 1) % 2 ** 32), true);
  }

  // Change which sets are shown; what had the focus may be gone.
  arrange(act) {
    act();
    this.model.t = 0;
    const focused = document.activeElement;
    this.rebuild();
    if (focused !== document.body && !focused.isConnected) document.querySelector(".panel select, .map, .chip")?.focus();
    return this.change(() => {}, true);
  }

  enter(place) {
    return this.arrange(() => this.model.enter(place));
  }

  add(index) {
    return this.arrange(() => (this.model.shown = [...this.model.shown, index]));
  }

  remove(index) {
    return this.arrange(() => (this.model.shown = this.model.shown.filter((i) => i !== index)));
  }

  exchange(from, to) {
    const { shown } = this.model;
    return this.arrange(() => (this.model.shown = [...new Set(shown.map((i) => (i === from ? to : i === to ? from : i)))]));
  }

  keepLink() {
    this.link = toFragment(this.model);
    try {
      history.replaceState(null, "", `#${this.link}`);
    } catch {
      // Inside another page there may be no address of one's own.
    }
  }

  play() {
    const { model } = this;
    if (model.t >= model.length) model.t = 0;
    model.playing = true;
    this.before = performance.now();
    this.draw();
    this.wake();
  }

  pause() {
    this.model.playing = false;
    this.draw();
    this.keepLink();
  }

  toggle() {
    if (this.model.playing) this.pause();
    else this.play();
  }

  // Go to a step; `where` finds it once the runs are there.
  seek(where) {
    if (this.busy) return void this.waiting.push(where);
    this.model.playing = false;
    this.model.t = Math.min(Math.max(where(this.model), 0), this.model.length);
    this.draw();
    this.keepLink();
  }

  pace(speed) {
    this.model.speed = speed;
    this.keepLink();
  }

  wake() {
    if (this.awake) return;
    this.awake = true;
    requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    const { model, chains } = this;
    this.awake = false;
    if (this.busy) this.before = now;
    else if (model.playing) {
      model.t += (Math.max(now - this.before, 0) / 1000) * model.speed;
      this.before = now;
      if (model.t >= model.length) {
        model.t = model.length;
        model.playing = false;
        this.keepLink();
      }
    }
    chains.grow();
    this.draw();
    if (model.playing || chains.growing) this.wake();
  }

  draw() {
    const { t } = this.model;
    if (this.busy || !this.model.runs) return;
    this.panels.forEach((panel) => panel.frame(t));
    this.controls.frame(t);
    this.chains.draw(t);
  }
}

async function open() {
  const data = JSON.parse(byId("data").textContent);
  const worlds = await Promise.all(data.worlds.map((world) => World.read(world)));
  const app = new App(new Model(data, worlds));
  // For those who like to look behind the page, and for its tests.
  window.skillfocus = { app, model: app.model, Random, Run, Tree, runChain, runAgent, lastStates };
  await app.open();
  document.body.dataset.ready = "yes";
  performance.mark("ready");
}

open().catch((error) => {
  tell(`This page cannot be opened: ${error.message}.`);
  throw error;
});
