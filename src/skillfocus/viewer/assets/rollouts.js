// A world of real-valued variables: recorded skills side by side, each with its picture and the trail of
// every variable over time.

/**
 * @import { App } from "./app.js"
 * @import { Scene } from "./map.js"
 * @import { SkillSet } from "./skill_set.js"
 */
import { element, formatNumber } from "./dom.js";
import { Drawing } from "./drawing.js";
import { variableNames } from "./words.js";

export class RolloutsView {
  /** @param {App} app @param {SkillSet} set */
  constructor(app, set) {
    this.app = app;
    this.set = set;
    this.every = set.targets.map((_, z) => new SkillRollouts(app, set, z));
    /** Those that are shown. @type {SkillRollouts[]} */
    this.skills = [];
    this.element = element("div", { class: "rollouts", role: "group" });
    this.drawnKey = "";
  }

  /** @param {Scene} scene */
  draw({ t, theme, palette }) {
    const { model } = this.app;
    const shown = this.every.filter(({ z }) => model.shows(this.set, z));
    if (shown.join() !== this.skills.join()) {
      this.skills = shown;
      this.element.replaceChildren(...shown.map((skill) => skill.element));
    }
    const key = [Math.floor(t), model.version, theme, this.element.clientWidth, devicePixelRatio].join("|");
    if (key === this.drawnKey) return;
    this.drawnKey = key;
    for (const skill of shown) skill.draw(Math.floor(t), palette);
  }
}

class SkillRollouts {
  /** @param {App} app @param {SkillSet} set @param {number} z */
  constructor(app, set, z) {
    this.app = app;
    this.set = set;
    this.z = z;
    const { world } = set;
    const targets = set.targets[z], title = set.titles[z];
    const canvas = world.real.drawing && element("canvas", { class: "picture", role: "img", "aria-label": `${title}: the world at this step` });
    this.drawing = canvas && new Drawing(canvas, world);
    this.rows = world.variables.map(({ name }, j) => {
      const chart = element("canvas", { role: "img", "aria-label": `How far ${name} is from where it began` });
      const now = element("td", {});
      const target = targets.includes(j);
      const row = element("tr", { class: target && "target", style: `--color: ${world.color(j)}` }, element("th", { scope: "row" }, name), element("td", {}, chart), now);
      return { row, chart, now, target };
    });
    const aim = targets.length ? `changes ${variableNames(world, targets)}` : "leaves everything as it is";
    this.element = element(
      "section",
      { class: "rollout" },
      element("h2", {}, `${title} `, element("span", { class: "aim" }, aim)),
      canvas,
      element("table", { class: "trails" }, element("tbody", {}, this.rows.map(({ row }) => row))),
    );
  }

  toString() {
    return String(this.z);
  }

  /** @param {number} step @param {Object<string, string>} palette */
  draw(step, palette) {
    const { set, z } = this;
    const { world } = set;
    const { others, start } = this.app.model;
    const statesFrom = (/** @type {number} */ first) => set.recordings(z, first)[0].states;
    const states = statesFrom(start);
    const behind = others ? set.starts.filter((other) => other !== start).map(statesFrom) : [];
    const t = Math.min(step, states.length - 1);
    this.drawing?.draw(states, behind, t, palette.faint);
    this.rows.forEach(({ row, chart, now, target }, j) => {
      const change = world.change(states[0], states[t], j);
      now.textContent = formatNumber(change);
      row.classList.toggle("effect", !target && change > world.real.threshold);
      this.drawTrail(chart, j, states, behind, t, palette.grid);
    });
  }

  /**
   * The change of a variable over time: of a run up to now, of it and others as a whole faintly.
   * @param {HTMLCanvasElement} canvas @param {number} j
   * @param {Int32Array} states @param {Int32Array[]} others @param {number} now @param {string} grid
   */
  drawTrail(canvas, j, states, others, now, grid) {
    const { world } = this.set;
    const width = (canvas.width = Math.max(Math.round((canvas.clientWidth || 160) * devicePixelRatio), 1));
    const height = (canvas.height = Math.max(Math.round((canvas.clientHeight || 35) * devicePixelRatio), 1));
    const pen = canvas.getContext("2d");
    const line = (/** @type {Int32Array} */ run, /** @type {number} */ until) => {
      pen.beginPath();
      for (let t = 0; t <= until; t++) {
        const x = (t / Math.max(run.length - 1, 1)) * (width - 2) + 1;
        pen.lineTo(x, height - 2 - Math.min(world.change(run[0], run[t], j), 1) * (height - 4));
      }
      pen.stroke();
    };
    pen.strokeStyle = grid;
    pen.strokeRect(0.5, 0.5, width - 1, height - 1);
    pen.strokeStyle = world.color(j);
    pen.lineWidth = devicePixelRatio;
    pen.globalAlpha = 0.25;
    for (const run of [...others, states]) line(run, run.length - 1);
    pen.globalAlpha = 1;
    pen.lineWidth = 2 * devicePixelRatio;
    line(states, now);
  }
}
