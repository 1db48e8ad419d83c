// Curves that draw themselves: one line per skill set.

const CHART = { width: 340, height: 170, left: 44, right: 10, top: 12, bottom: 30 };

// lines: [{points: [[x, y], …], colour, dashed, name}]; the axes reach from `from` to `to` and to
// `top`.
function chart(lines, { from, to, top, across, up, ticks, format }) {
  const { width, height, left, right, bottom } = CHART;
  const x = (value) => left + ((value - from) / Math.max(to - from, 1e-9)) * (width - left - right);
  const y = (value) => height - bottom - (value / (top || 1)) * (height - bottom - CHART.top);
  const marks = [0, top / 2, top].map((value) => [
    drawn("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "rule" }),
    drawn("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, format(value)),
  ]);
  const below = ticks.map((value) =>
    drawn("text", { x: x(value), y: height - bottom + 16, "text-anchor": "middle" }, String(value)),
  );
  const curves = lines.map(({ points, colour, dashed }) =>
    drawn("polyline", {
      points: points.map((point) => `${x(point[0])},${y(point[1])}`).join(" "),
      class: dashed ? "curve dashed" : "curve",
      style: `stroke: ${colour}`,
    }),
  );
  const dots = lines.filter((line) => !line.dashed && line.dots !== false).flatMap(({ points, colour }) =>
    points.map((point) => drawn("circle", { cx: x(point[0]), cy: y(point[1]), r: 3, style: `fill: ${colour}` })),
  );
  const names = lines.filter((line) => line.letter && line.points.length).map(({ points, letter, colour }) =>
    drawn("text", { x: Math.min(x(points.at(-1)[0]) + 3, width - 9), y: y(points.at(-1)[1]) - 5, style: `fill: ${colour}; font-weight: 700` }, letter),
  );
  const said = lines
    .filter((line) => line.points.length)
    .map((line) => `${line.name}: ${format(line.points.at(-1)[1])}`);
  return drawn(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": `${up} over ${across}. ${said.join("; ")}` },
    marks.flat(),
    below,
    drawn("text", { x: (left + width - right) / 2, y: height - 2, "text-anchor": "middle" }, across),
    curves,
    dots,
    names,
  );
}
