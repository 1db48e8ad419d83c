// What all skills of a set do, as Python computed it: a table whose rows choose the skill.

/**
 * @import { App } from "./app.js"
 * @import { SkillSet } from "./skill_set.js"
 */
import { element, formatNumber } from "./dom.js";

/** Probabilities above this are shown in red. */
const NOTABLE = 0.1;

export class EffectsTable {
  /** @param {App} app @param {SkillSet} set */
  constructor(app, set) {
    const { world, effects } = set;
    const heads = ["skill", "target", "changes it", "side effects", ...world.variables.map((v) => v.name), "steps"];
    this.rows = effects.map((effect, z) => {
      const names = set.targets[z].map((j) => world.variables[j].name);
      const choose = element("button", { type: "button", class: "link", onclick: () => app.chooseSkill(set, z) }, String(z));
      const notable = (/** @type {number | null} */ p) => (names.length && p > NOTABLE ? "effect" : "");
      return element(
        "tr",
        {},
        element("th", { scope: "row" }, choose),
        element("td", {}, (set.reaches[z] ?? names.join(" + ")) || "–"),
        element("td", {}, formatNumber(effect.changesTarget)),
        element("td", { class: notable(effect.sideEffects) }, formatNumber(effect.sideEffects, 3)),
        effect.byVariable.map((p) => element("td", { class: notable(p) }, p == null ? "" : formatNumber(p))),
        element("td", {}, formatNumber(effect.steps, 1)),
      );
    });
    const exact = effects.every((effect) => effect.exact);
    const starts = set.world.starts ? "first states that the world draws" : "all first states within reach";
    const note = `Probabilities that a variable ends changed, ${exact ? "exact" : "from samples"}, over ${starts}. Side effects: the sum over variables that are not targets; above ${NOTABLE} in red.`;
    const table = element(
      "table",
      {},
      element("thead", {}, element("tr", {}, heads.map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, this.rows),
    );
    this.element = element(
      "details",
      { class: "effects" },
      element("summary", {}, `${exact ? "Exact side effects" : "Side effects"} of all ${effects.length} skills`),
      element("p", { class: "note" }, note),
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Side effects of ${set.label}` }, table),
    );
    this.element.open = app.model.shown.length === 1;
  }

  /** Mark the row of a skill; null for none. @param {number | null} z */
  mark(z) {
    this.rows.forEach((row, i) => {
      row.classList.toggle("current", i === z);
      if (i === z) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    });
  }
}
