// The picture of a world of real-valued variables at one step: shapes whose places are entries of the
// observation.

/**
 * @import { Coordinate, ShapeData } from "./data.js"
 * @import { World } from "./world.js"
 */

/** @param {Coordinate} coordinate @param {Float32Array} observation @returns {number} */
function resolve(coordinate, observation) {
  return typeof coordinate === "number" ? coordinate : observation[coordinate.observation];
}

export class Drawing {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {World} world
   */
  constructor(canvas, world) {
    this.canvas = canvas;
    this.world = world;
    /** The color of scenery. */
    this.faint = "";
    /** Pixels per unit of the world. */
    this.scale = 1;
  }

  /** The color of a variable, or of scenery. @param {string | null} name */
  colorOf(name) {
    const j = this.world.variables.findIndex((variable) => variable.name === name);
    return j < 0 ? this.faint : this.world.color(j);
  }

  /**
   * Draw a run at a step: where everything is, and where it has been.
   * @param {Int32Array} states
   * @param {Int32Array[]} others Runs that only leave trails.
   * @param {number} t
   * @param {string} faint The color of scenery.
   */
  draw(states, others, t, faint) {
    this.faint = faint;
    const [left, bottom, right, top] = this.world.real.drawing.bounds;
    const margin = 0.03 * Math.max(right - left, top - bottom);
    const wide = right - left + 2 * margin, high = top - bottom + 2 * margin;
    const pixels = Math.max(Math.round((this.canvas.clientWidth || 320) * devicePixelRatio), 1);
    this.canvas.width = pixels;
    this.canvas.height = Math.round((pixels * high) / wide);
    this.scale = pixels / wide;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(this.scale, 0, 0, -this.scale, (margin - left) * this.scale, (top + margin) * this.scale);
    pen.lineWidth = 1.5 / this.scale;
    pen.strokeStyle = faint;
    pen.strokeRect(left, bottom, right - left, top - bottom);
    for (const other of others) this.trails(pen, other, t, 0.18);
    this.trails(pen, states, t, 0.8);
    const observation = this.world.observation(states[t]);
    for (const shape of this.world.real.drawing.shapes) this.shape(pen, shape, observation);
  }

  /** @param {CanvasRenderingContext2D} pen @param {Int32Array} states @param {number} t @param {number} opacity */
  trails(pen, states, t, opacity) {
    pen.globalAlpha = opacity;
    for (const shape of this.world.real.drawing.shapes.filter((each) => each.trail)) {
      pen.strokeStyle = this.colorOf(shape.variable);
      pen.beginPath();
      for (const s of states.subarray(0, t + 1)) {
        const observation = this.world.observation(s);
        pen.lineTo(resolve(shape.at[0], observation), resolve(shape.at[1], observation));
      }
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  /** @param {CanvasRenderingContext2D} pen @param {ShapeData} shape @param {Float32Array} observation */
  shape(pen, shape, observation) {
    const point = (/** @type {[Coordinate, Coordinate]} */ at) => [resolve(at[0], observation), resolve(at[1], observation)];
    const color = this.colorOf(shape.variable ?? null);
    pen.strokeStyle = pen.fillStyle = color;
    if (shape.kind === "circle") {
      const [x, y] = point(shape.at);
      pen.beginPath();
      if (shape.square) pen.rect(x - shape.radius, y - shape.radius, 2 * shape.radius, 2 * shape.radius);
      else pen.arc(x, y, shape.radius, 0, 2 * Math.PI);
      if (!shape.hollow) {
        const [number, empty, full] = shape.filling ?? [0, 1, 1];
        pen.globalAlpha = empty + (full - empty) * Math.min(Math.max(resolve(number, observation), 0), 1);
        pen.fill();
        pen.globalAlpha = 1;
      }
      if (shape.hollow || shape.filling) pen.stroke();
    } else if (shape.kind === "line") {
      const [from, to] = [point(shape.start), point(shape.end)];
      const usual = pen.lineWidth;
      if (shape.width) pen.lineWidth = shape.width;
      else pen.globalAlpha = 0.4;
      this.line(pen, from, to);
      pen.lineWidth = usual;
      pen.globalAlpha = 1;
    } else if (shape.kind === "arrow") {
      const [x, y] = point(shape.at);
      const angle = resolve(shape.angle, observation);
      const end = [x + shape.length * Math.sin(angle), y + shape.length * Math.cos(angle)];
      this.line(pen, [x, y], end);
      for (const side of [-2.6, 2.6]) {
        const head = angle + side;
        this.line(pen, end, [end[0] + 0.25 * shape.length * Math.sin(head), end[1] + 0.25 * shape.length * Math.cos(head)]);
      }
    } else {
      const [x, y] = point(shape.at);
      pen.save();
      pen.translate(x, y);
      pen.scale(1 / this.scale, -1 / this.scale); // text would be upside down
      pen.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.fillText(shape.text, 0, 0);
      pen.restore();
    }
  }

  /** @param {CanvasRenderingContext2D} pen @param {number[]} from @param {number[]} to */
  line(pen, from, to) {
    pen.beginPath();
    pen.moveTo(from[0], from[1]);
    pen.lineTo(to[0], to[1]);
    pen.stroke();
  }
}
