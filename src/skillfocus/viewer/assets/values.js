// The table of each variable's first and current value.

/** @import { World } from "./world.js" */
import { breakable, element } from "./dom.js";

/** Of more variables than this, only targets and those that changed are shown. */
const MAX_ROWS = 24;

export class ValueTable {
  /** @param {World} world */
  constructor(world) {
    this.world = world;
    this.rows = world.variables.map((variable) => {
      const cells = { first: element("td"), now: element("td"), mark: element("td", { class: "mark" }) };
      const row = element("tr", {}, element("th", { scope: "row" }, breakable(variable.name)), cells.first, cells.now, cells.mark);
      return { row, ...cells };
    });
    const heads = ["variable", "first", "now", "what changed"].map((head, i) =>
      element("th", { scope: "col", class: i === 3 ? "mark" : "" }, head),
    );
    this.others = element("td", { colspan: 4, class: "mark" });
    this.element = element(
      "table",
      { class: "values" },
      element("thead", {}, element("tr", {}, heads)),
      element("tbody", {}, this.rows.map(({ row }) => row)),
      element("tfoot", {}, element("tr", {}, this.others)),
    );
  }

  /**
   * @param {number} first The first state.
   * @param {number} now The current state.
   * @param {number[]} targets What the run is judged by; without any, nothing is a side effect.
   * @param {boolean} over Whether the run has ended.
   */
  show(first, now, targets, over) {
    const { world } = this;
    let hidden = 0;
    this.rows.forEach(({ row, ...cells }, j) => {
      const changed = world.differs(first, now, j);
      cells.first.textContent = world.label(first, j);
      cells.now.textContent = world.label(now, j);
      if (targets.includes(j)) [row.className, cells.mark.textContent] = ["target", changed ? "✓ target" : "target"];
      else if (!changed) [row.className, cells.mark.textContent] = ["", "as it was"];
      else if (!targets.length) [row.className, cells.mark.textContent] = ["changed", "changed"];
      else if (over) [row.className, cells.mark.textContent] = ["effect", "✗ side effect"];
      else [row.className, cells.mark.textContent] = ["so-far", "changed so far"];
      row.hidden = world.nVariables > MAX_ROWS && !changed && !targets.includes(j);
      hidden += Number(row.hidden);
    });
    this.others.parentElement.hidden = !hidden;
    this.others.textContent = `${hidden} other variables are as they were`;
  }
}
