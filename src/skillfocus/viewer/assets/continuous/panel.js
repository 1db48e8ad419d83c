// One skill: its picture, and the trail of every variable over time.

/**
 * @import { ContinuousApp } from "./app.js"
 * @import { Rollouts } from "./rollouts.js"
 */
import { element, formatNumber, joinNames } from "../dom.js";
import { Stage } from "./stage.js";

export class SkillPanel {
  /** @param {ContinuousApp} app @param {Rollouts} rollouts @param {number} z */
  constructor(app, rollouts, z) {
    this.app = app;
    this.rollouts = rollouts;
    this.z = z;
    const { world } = app;
    const targets = rollouts.targets[z];
    const canvas = world.drawing && element("canvas", { role: "img", "aria-label": `${rollouts.titles[z]}: the world at this step` });
    this.stage = canvas && new Stage(canvas, world, (name) => app.colourOf(name));
    this.rows = world.variables.map(({ name }, j) => {
      const chart = element("canvas", { role: "img", "aria-label": `How far ${name} is from where it began` });
      const now = element("td", {});
      const target = targets.includes(j);
      const row = element("tr", { class: target && "target", style: `--colour: ${app.colours[j]}` }, element("th", { scope: "row" }, name), element("td", {}, chart), now);
      return { row, chart, now, target };
    });
    const aim = targets.length ? `changes ${joinNames(targets.map((j) => world.variables[j].name))}` : "leaves everything as it is";
    this.element = element(
      "section",
      { class: "rollout" },
      element("h2", {}, `${rollouts.titles[z]} `, element("span", { class: "aim" }, aim)),
      canvas && element("div", { class: "stage" }, canvas),
      element("table", { class: "trails" }, element("tbody", {}, this.rows.map(({ row }) => row))),
    );
  }

  draw() {
    const { app, rollouts, z } = this;
    this.stage?.draw(rollouts, z, app.start, app.t, app.others);
    this.rows.forEach(({ row, chart, now, target }, j) => {
      const change = rollouts.change(z, app.start, app.t, j);
      now.textContent = formatNumber(change);
      row.classList.toggle("effect", !target && change > app.data.threshold);
      this.drawTrail(chart, j);
    });
  }

  /** The change of a variable over time, of all starts; the chosen one up to now. @param {HTMLCanvasElement} canvas @param {number} j */
  drawTrail(canvas, j) {
    const { app, rollouts, z } = this;
    const width = (canvas.width = Math.max(Math.round((canvas.clientWidth || 160) * devicePixelRatio), 1));
    const height = (canvas.height = Math.max(Math.round((canvas.clientHeight || 35) * devicePixelRatio), 1));
    const pen = canvas.getContext("2d");
    const x = (/** @type {number} */ t) => (t / Math.max(rollouts.nSteps, 1)) * (width - 2) + 1;
    const y = (/** @type {number} */ change) => height - 2 - Math.min(change, 1) * (height - 4);
    const line = (/** @type {number} */ start, /** @type {number} */ until) => {
      pen.beginPath();
      for (let t = 0; t <= until; t++) pen.lineTo(x(t), y(rollouts.change(z, start, t, j)));
      pen.stroke();
    };
    pen.strokeStyle = app.palette.grid;
    pen.strokeRect(0.5, 0.5, width - 1, height - 1);
    pen.strokeStyle = app.colours[j];
    pen.lineWidth = devicePixelRatio;
    pen.globalAlpha = 0.25;
    for (let start = 0; start < rollouts.nStarts; start++) if (app.others || start === app.start) line(start, rollouts.nSteps);
    pen.globalAlpha = 1;
    pen.lineWidth = 2 * devicePixelRatio;
    line(app.start, app.t);
  }
}
