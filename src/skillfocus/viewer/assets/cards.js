// A world without a map: every variable is a card with its current value, and how the ghosts' values
// are spread.

/**
 * @import { Scene } from "./map.js"
 * @import { World } from "./world.js"
 */
import { breakable, element } from "./dom.js";

/** Values of ghosts shown on a card. */
const MAX_SPREAD = 4;

export class CardsView {
  /** @param {World} world */
  constructor(world) {
    this.world = world;
    this.cards = world.variables.map((variable) => {
      const value = element("strong", { class: "value" });
      const spread = element("div", { class: "spread", "aria-hidden": "true" });
      const card = element("div", { class: "card" }, element("span", { class: "name" }, breakable(variable.name)), value, spread);
      return { card, value, spread };
    });
    this.element = element("div", { class: "cards", role: "group" }, this.cards.map(({ card }) => card));
    this.drawnKey = "";
  }

  /** @param {Scene} scene */
  draw(scene) {
    const { world } = this;
    const step = Math.floor(scene.t);
    const key = [scene.state, scene.run.states[0], step, scene.ghosts.length, scene.targets].join("|");
    if (key === this.drawnKey) return;
    this.drawnKey = key;
    const changed = world.differences(scene.run.states[0], scene.state);
    const over = step >= scene.run.steps;
    this.cards.forEach(({ card, value, spread }, j) => {
      value.textContent = world.label(scene.state, j);
      const effect = changed.includes(j) && scene.targets.length > 0 && !scene.targets.includes(j);
      card.classList.toggle("target", scene.targets.includes(j));
      card.classList.toggle("effect", effect && over);
      card.classList.toggle("so-far", effect && !over);
      /** @type {Map<string, number>} */
      const counts = new Map();
      for (const ghost of scene.ghosts) {
        const label = world.label(ghost.states[Math.min(step, ghost.steps)], j);
        counts.set(label, (counts.get(label) ?? 0) + 1);
      }
      const common = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MAX_SPREAD);
      spread.replaceChildren(
        ...common.map(([label, count]) =>
          element("span", { style: `--share: ${count / scene.ghosts.length}` }, `${label} × ${count}`),
        ),
      );
    });
  }
}
