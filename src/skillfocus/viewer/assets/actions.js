// The actions that a run has taken: what a map shows as a path, in words.

/**
 * @import { Model } from "./model.js"
 * @import { Run } from "./simulate.js"
 * @import { SkillSet } from "./skill_set.js"
 */
import { element } from "./dom.js";

export class ActionList {
  /** @param {SkillSet} set */
  constructor(set) {
    this.set = set;
    this.list = element("ol", { "aria-label": "Actions taken" });
    this.element = element("div", { class: "actions" }, element("span", { class: "note" }, "actions"), this.list);
    /** @type {Run | null} */
    this.run = null;
    /** @type {any[]} */
    this.items = [];
  }

  /** The action of each step of a run. @param {Model} model @param {Run} run */
  names(model, run) {
    const { set } = this;
    return Array.from({ length: run.steps }, (_, step) => {
      const { z, first, mode } = model.moment(set, run, step);
      return set.world.actions[set.column(z, first, mode)[run.states[step]]] ?? "?";
    });
  }

  /** Mark the actions taken before a step, and the one that is next. @param {Model} model @param {Run} run @param {number} step */
  show(model, run, step) {
    if (run !== this.run) {
      this.run = run;
      this.items = this.names(model, run).map((name) => element("li", {}, name));
      this.list.replaceChildren(...this.items, this.items.length ? "" : element("li", { class: "note" }, "none"));
    }
    this.items.forEach((item, i) => {
      item.className = i < step ? "taken" : i === step ? "next" : "";
    });
  }
}
