// A world without a map: every variable is a card that shows its value now, and how its ghosts'
// values are spread.

class CardsView {
  constructor(world) {
    this.world = world;
    this.cards = world.variables.map((variable) => {
      const value = element("strong", { class: "value" });
      const spread = element("div", { class: "spread", "aria-hidden": "true" });
      const card = element("div", { class: "card" }, element("span", { class: "name" }, variable.name), value, spread);
      return { card, value, spread };
    });
    this.canvas = element("div", { class: "cards", role: "group" }, this.cards.map((made) => made.card));
    this.shown = "";
  }

  // scene: {state, run, ghosts, t, targets}
  draw(scene) {
    const { world } = this;
    const step = Math.floor(scene.t);
    const key = [scene.state, scene.run.states[0], step, scene.ghosts.length, scene.targets].join("|");
    if (key === this.shown) return;
    this.shown = key;
    const changed = world.differences(scene.run.states[0], scene.state);
    this.cards.forEach(({ card, value, spread }, j) => {
      value.textContent = world.label(scene.state, j);
      card.classList.toggle("target", scene.targets.includes(j));
      const effect = changed.includes(j) && scene.targets.length > 0 && !scene.targets.includes(j);
      const over = step >= scene.run.steps;
      card.classList.toggle("effect", effect && over);
      card.classList.toggle("so-far", effect && !over);
      const counts = new Map();
      for (const ghost of scene.ghosts) {
        const label = world.label(ghost.states[Math.min(step, ghost.steps)], j);
        counts.set(label, (counts.get(label) ?? 0) + 1);
      }
      const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 4);
      spread.replaceChildren(
        ...most.map(([label, count]) =>
          element("span", { style: `--share: ${count / scene.ghosts.length}` }, `${label} × ${count}`),
        ),
      );
    });
  }
}
