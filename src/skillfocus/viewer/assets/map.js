// A world's map on a canvas: floor, walls and things as they are in a state, the path of a run, its
// ghosts and the agent.

/**
 * @import { Shape } from "./data.js"
 * @import { HeatMap } from "./heat.js"
 * @import { Run } from "./simulate.js"
 * @import { World } from "./world.js"
 */
import { element } from "./dom.js";

/** Icons are drawn on a box of 24 × 24. */
const BOX = 24;
const LETTER_COLOR = "#1b1b1b";

/**
 * What a panel's picture shows.
 * @typedef {object} Scene
 * @property {number} state
 * @property {Uint8Array | null} marked Hidden marks that are set.
 * @property {Run} run
 * @property {Run[]} ghosts
 * @property {number} t The (fractional) step.
 * @property {number[]} targets Variables whose places are ringed.
 * @property {string} theme
 * @property {Object<string, string>} palette Colors by role.
 * @property {HeatMap | null} heat
 * @property {(number[] | "end" | null)[] | null} arrows [place]: a direction [down, right], or where the skill stops.
 * @property {string} behind Differs where heat or arrows do.
 */

/** @type {Map<string, Path2D>} */
const paths = new Map();

/** @param {string} data */
function path2d(data) {
  if (!paths.has(data)) paths.set(data, new Path2D(data));
  return paths.get(data);
}

/**
 * @param {CanvasRenderingContext2D} pen @param {Shape[]} shapes
 * @param {number} x @param {number} y @param {number} size
 */
function drawIcon(pen, shapes, x, y, size) {
  pen.save();
  pen.translate(x, y);
  pen.scale(size / BOX, size / BOX);
  pen.lineCap = pen.lineJoin = "round";
  for (const [data, fill, stroke, width] of shapes) {
    if (fill) {
      pen.fillStyle = fill;
      pen.fill(path2d(data));
    }
    if (stroke) {
      pen.strokeStyle = stroke;
      pen.lineWidth = width;
      pen.stroke(path2d(data));
    }
  }
  pen.restore();
}

export class MapView {
  /** @param {World} world @param {Object<string, Shape[]>} icons */
  constructor(world, icons) {
    this.world = world;
    this.icons = icons;
    this.canvas = element("canvas", { class: "map", tabindex: "0", role: "application" });
    this.element = this.canvas;
    // What changes rarely is drawn once, on a canvas of its own.
    this.ground = document.createElement("canvas");
    this.groundKey = "";
    this.cell = 1; // the size of a cell, in pixels
    const { rows } = world.map;
    this.height = rows.length;
    this.width = rows[0].length;
    this.canvas.style.aspectRatio = `${this.width} / ${this.height}`;
    this.places = new Map(world.map.cells.map((cell, place) => [cell.join(), place]));
  }

  /** The place under a pointer; undefined for a wall. @param {MouseEvent} event */
  placeAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * this.width);
    const row = Math.floor(((event.clientY - box.top) / box.height) * this.height);
    return this.places.get([row, column].join());
  }

  /** The place next to one, or the same if that is a wall. @param {number} place @param {number[]} direction */
  beside(place, [down, right]) {
    const [row, column] = this.world.map.cells[place];
    return this.places.get([row + down, column + right].join()) ?? place;
  }

  /** The center of a place, in pixels. @param {number} place @returns {[number, number]} */
  center(place) {
    const [row, column] = this.world.map.cells[place];
    return [(column + 0.5) * this.cell, (row + 0.5) * this.cell];
  }

  /** Fit the canvases to the size of the panel. */
  resize() {
    const ratio = window.devicePixelRatio || 1;
    const wide = Math.max(Math.round(this.canvas.clientWidth * ratio), this.width);
    this.cell = wide / this.width;
    const high = Math.round(this.cell * this.height);
    if (this.canvas.width === wide && this.canvas.height === high) return;
    this.canvas.width = this.ground.width = wide;
    this.canvas.height = this.ground.height = high;
    this.groundKey = "";
  }

  /** Floor, walls, things, tracks, heat and arrows. @param {Scene} scene */
  drawGround(scene) {
    const marks = scene.marked ? scene.marked.join("") : "";
    const { world } = this;
    const key = [world.lookOf[scene.state], marks, scene.theme, scene.behind].join("|");
    if (key === this.groundKey) return;
    this.groundKey = key;
    const pen = this.ground.getContext("2d");
    const { cell } = this;
    const { palette } = scene;
    pen.fillStyle = palette.wall;
    pen.fillRect(0, 0, this.ground.width, this.ground.height);
    world.map.cells.forEach(([row, column]) => {
      pen.fillStyle = palette.floor;
      pen.fillRect(column * cell, row * cell, cell + 0.5, cell + 0.5);
    });
    world.map.cells.forEach(([row, column], place) => this.drawCell(pen, scene, place, row, column));
    if (scene.arrows) this.drawArrows(pen, scene);
  }

  /**
   * @param {CanvasRenderingContext2D} pen @param {Scene} scene
   * @param {number} place @param {number} row @param {number} column
   */
  drawCell(pen, scene, place, row, column) {
    const { cell, world } = this;
    const { map } = world;
    const [x, y] = [column * cell, row * cell];
    const own = map.rows[row][column];
    const now = map.looks[place]?.[world.lookOf[scene.state]] ?? own;
    const shapes = map.looksLike[now];
    const ground = map.grounds.includes(now) ? now : map.under[place];
    if (ground) {
      pen.save();
      pen.beginPath();
      pen.rect(x, y, cell + 0.5, cell + 0.5);
      pen.clip();
      drawIcon(pen, map.looksLike[ground][0], x, y, cell + 0.5);
      pen.restore();
    }
    if (scene.marked?.[map.tracked[place]]) drawIcon(pen, this.icons.tracks, x, y, cell);
    if (scene.heat && !Number.isNaN(scene.heat.values[place])) {
      pen.fillStyle = scene.heat.color(scene.heat.values[place]);
      pen.fillRect(x, y, cell + 0.5, cell + 0.5);
    }
    pen.strokeStyle = scene.palette.grid;
    pen.lineWidth = Math.max(cell * 0.02, 1);
    pen.strokeRect(x, y, cell, cell);
    if (own !== now && map.looksLike[own]) {
      pen.globalAlpha = 0.65;
      pen.setLineDash([2, 2]);
      drawIcon(pen, [[map.looksLike[own][0][0][0], "", scene.palette.faint, 1]], x, y, cell);
      pen.setLineDash([]);
      pen.globalAlpha = 1;
    }
    if (shapes && !map.grounds.includes(now)) {
      drawIcon(pen, shapes[0], x + cell * 0.08, y + cell * 0.08, cell * 0.84);
      if (shapes[1]) {
        pen.fillStyle = LETTER_COLOR;
        pen.font = `600 ${cell * 0.5}px system-ui, sans-serif`;
        pen.textAlign = "center";
        pen.textBaseline = "middle";
        pen.fillText(shapes[1], x + cell / 2, y + cell * 0.53);
      }
    }
  }

  /** @param {CanvasRenderingContext2D} pen @param {Scene} scene */
  drawArrows(pen, scene) {
    const { cell } = this;
    pen.strokeStyle = pen.fillStyle = scene.palette.ink;
    pen.globalAlpha = 0.65;
    pen.lineWidth = Math.max(cell * 0.06, 1);
    pen.lineCap = "round";
    scene.arrows.forEach((arrow, place) => {
      const [x, y] = this.center(place);
      if (arrow === "end") {
        pen.strokeRect(x - cell * 0.1, y - cell * 0.1, cell * 0.2, cell * 0.2);
      } else if (arrow) {
        const [down, right] = arrow.map((part) => part * cell * 0.22);
        pen.beginPath();
        pen.moveTo(x - right, y - down);
        pen.lineTo(x + right, y + down);
        pen.lineTo(x + right - (right + down) * 0.6, y + down - (down - right) * 0.6);
        pen.moveTo(x + right, y + down);
        pen.lineTo(x + right - (right - down) * 0.6, y + down - (down + right) * 0.6);
        pen.stroke();
      }
    });
    pen.globalAlpha = 1;
  }

  /** Where a run is at a (fractional) step, in pixels. @param {Run} run @param {number} t @returns {[number, number]} */
  position(run, t) {
    const { world } = this;
    const before = Math.min(Math.floor(t), run.steps);
    const after = Math.min(before + 1, run.steps);
    const [x0, y0] = this.center(world.value(run.states[before], 0));
    const [x1, y1] = this.center(world.value(run.states[after], 0));
    const part = Math.min(t - before, 1);
    const eased = part * part * (3 - 2 * part);
    return [x0 + (x1 - x0) * eased, y0 + (y1 - y0) * eased];
  }

  /** @param {CanvasRenderingContext2D} pen @param {Run} run @param {number} t @param {Object<string, string>} palette */
  drawPath(pen, run, t, palette) {
    const { cell, world } = this;
    const last = Math.min(Math.floor(t), run.steps);
    pen.strokeStyle = palette.way;
    pen.lineWidth = Math.max(cell * 0.09, 1.5);
    pen.lineJoin = pen.lineCap = "round";
    pen.beginPath();
    pen.moveTo(...this.center(world.value(run.states[0], 0)));
    let before = null;
    for (let i = 1; i <= last; i++) {
      const [x0, y0] = this.center(world.value(run.states[i - 1], 0));
      const [x1, y1] = this.center(world.value(run.states[i], 0));
      if (x0 === x1 && y0 === y1) continue;
      // Keep to the right, so that the way back runs beside the way out.
      const aside = [(y0 - y1) * 0.13, (x1 - x0) * 0.13];
      const turns = before && before[0] * aside[0] + before[1] * aside[1] === 0;
      const back = before && before[0] === -aside[0] && before[1] === -aside[1];
      if (back) pen.lineTo(x0 + before[0], y0 + before[1]);
      pen.lineTo(x0 + aside[0] + (turns ? before[0] : 0), y0 + aside[1] + (turns ? before[1] : 0));
      before = aside;
      if (i === last) pen.lineTo(x1 + aside[0], y1 + aside[1]);
    }
    pen.lineTo(...this.position(run, t));
    pen.stroke();
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} place @param {string} color */
  drawRing(pen, place, color) {
    const [x, y] = this.center(place);
    pen.strokeStyle = color;
    pen.lineWidth = Math.max(this.cell * 0.09, 2);
    pen.beginPath();
    pen.arc(x, y, this.cell * 0.5, 0, 7);
    pen.stroke();
  }

  /** @param {Scene} scene */
  draw(scene) {
    this.resize();
    this.drawGround(scene);
    const pen = this.canvas.getContext("2d");
    const { cell, world } = this;
    const { palette, run, t } = scene;
    pen.save();
    pen.drawImage(this.ground, 0, 0);
    for (const place of scene.targets.flatMap((j) => world.map.places[j])) this.drawRing(pen, place, palette.target);
    const [x, y] = this.center(world.value(run.states[0], 0));
    pen.strokeStyle = palette.way;
    pen.lineWidth = Math.max(cell * 0.08, 1.5);
    pen.setLineDash([cell * 0.16, cell * 0.1]);
    pen.strokeRect(x - cell * 0.42, y - cell * 0.42, cell * 0.84, cell * 0.84);
    pen.setLineDash([]);
    this.drawPath(pen, run, t, palette);
    pen.fillStyle = palette.way;
    pen.strokeStyle = "#ffffff";
    pen.lineWidth = Math.max(cell * 0.03, 0.75);
    pen.globalAlpha = 0.4;
    scene.ghosts.forEach((ghost, k) => {
      const [gx, gy] = this.position(ghost, t);
      const turn = k * 2.4;
      const off = cell * 0.26 * Math.sqrt(((k * 7) % 16) / 16);
      pen.beginPath();
      pen.arc(gx + off * Math.cos(turn), gy + off * Math.sin(turn), cell * 0.13, 0, 7);
      pen.fill();
      pen.stroke();
    });
    pen.globalAlpha = 1;
    const [ax, ay] = this.position(run, t);
    drawIcon(pen, this.icons[world.map.agents[world.lookOf[scene.state]]], ax - cell * 0.4, ay - cell * 0.4, cell * 0.8);
    pen.restore();
  }
}
