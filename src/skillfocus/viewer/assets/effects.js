// What all skills of a set do, as it was computed: a table whose rows choose the skill.

const DISTURBING = 0.1;

class EffectsTable {
  constructor(app, set) {
    const { world, effects } = set;
    const heads = ["skill", "target", "changes it", "side effects", ...world.variables.map((v) => v.name), "steps"];
    this.rows = effects.map((effect, z) => {
      const names = set.targets[z].map((j) => world.variables[j].name);
      const choose = element("button", { type: "button", class: "link", onclick: () => app.choose(set.index, z) }, String(z));
      const others = effect.byVariable.map((p) => element("td", { class: names.length && p > DISTURBING ? "effect" : "" }, p == null ? "" : number(p)));
      return element(
        "tr",
        {},
        element("th", { scope: "row" }, choose),
        element("td", {}, names.join(" + ") || "–"),
        element("td", {}, number(effect.changesTarget)),
        element("td", { class: names.length && effect.sideEffects > DISTURBING ? "effect" : "" }, number(effect.sideEffects, 3)),
        others,
        element("td", {}, number(effect.steps, 1)),
      );
    });
    const exact = effects.every((effect) => effect.exact);
    const caption = `Probabilities that a variable ends changed, ${exact ? "exact" : "from samples"}, over all first states within reach. Side effects: the sum over variables that are no targets; above ${DISTURBING} in red.`;
    this.element = element(
      "details",
      { class: "effects" },
      element("summary", {}, `${exact ? "Exact side effects" : "Side effects"} of all ${effects.length} skills`),
      element("p", { class: "note" }, caption),
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Side effects of ${set.label}` }, element("table", {}, element("thead", {}, element("tr", {}, heads.map((head) => element("th", { scope: "col" }, head)))), element("tbody", {}, this.rows))),
    );
    this.element.open = app.model.shown.length === 1;
  }

  mark(z) {
    this.rows.forEach((row, i) => {
      row.classList.toggle("current", i === z);
      if (i === z) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    });
  }
}
