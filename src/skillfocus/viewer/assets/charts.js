// Line charts as SVG: one line per skill set.

import { svgElement } from "./dom.js";

const CHART = { width: 340, height: 170, left: 44, right: 10, top: 12, bottom: 30 };

/**
 * @typedef {object} Line
 * @property {number[][]} points [x, y] of each.
 * @property {string} color
 * @property {string} name
 * @property {string} [letter] Written at its end, for readers who cannot tell the colors apart.
 * @property {boolean} [dashed]
 * @property {boolean} [dots] false for none.
 */

/**
 * @typedef {object} Axes
 * @property {number} from Where the horizontal axis begins, and
 * @property {number} to where it ends.
 * @property {number} top Where the vertical axis ends; it begins at 0.
 * @property {string} across What the horizontal axis shows.
 * @property {string} up What the vertical axis shows.
 * @property {number[]} ticks
 * @property {(value: number) => string} format
 */

/** @param {Line[]} lines @param {Axes} axes */
export function chart(lines, { from, to, top, across, up, ticks, format }) {
  const { width, height, left, right, bottom } = CHART;
  const x = (/** @type {number} */ value) => left + ((value - from) / Math.max(to - from, 1e-9)) * (width - left - right);
  const y = (/** @type {number} */ value) => height - bottom - (value / (top || 1)) * (height - bottom - CHART.top);
  const rules = [0, top / 2, top].map((value) => [
    svgElement("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "rule" }),
    svgElement("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, format(value)),
  ]);
  const below = ticks.map((value) =>
    svgElement("text", { x: x(value), y: height - bottom + 16, "text-anchor": "middle" }, String(value)),
  );
  const curves = lines.map(({ points, color, dashed }) =>
    svgElement("polyline", {
      points: points.map((point) => `${x(point[0])},${y(point[1])}`).join(" "),
      class: dashed ? "curve dashed" : "curve",
      style: `stroke: ${color}`,
    }),
  );
  const dots = lines.filter((line) => !line.dashed && line.dots !== false).flatMap(({ points, color }) =>
    points.map((point) => svgElement("circle", { cx: x(point[0]), cy: y(point[1]), r: 3, style: `fill: ${color}` })),
  );
  const letters = lines.filter((line) => line.letter && line.points.length).map(({ points, letter, color }) => {
    const [endX, endY] = points.at(-1);
    return svgElement("text", { x: Math.min(x(endX) + 3, width - 9), y: y(endY) - 5, style: `fill: ${color}; font-weight: 700` }, letter);
  });
  const ends = lines
    .filter((line) => line.points.length)
    .map((line) => `${line.name}: ${format(line.points.at(-1)[1])}`);
  return svgElement(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": `${up} over ${across}. ${ends.join("; ")}` },
    rules.flat(),
    below,
    svgElement("text", { x: (left + width - right) / 2, y: height - 2, "text-anchor": "middle" }, across),
    curves,
    dots,
    letters,
  );
}
