// A world's map on a canvas: floor, walls and things as they are in a state, the way a run has
// gone, its ghosts and the agent.

const BOX = 24;
const paths = new Map();

function path2d(data) {
  if (!paths.has(data)) paths.set(data, new Path2D(data));
  return paths.get(data);
}

// Icons are lists of [path, fill, stroke, width] on a box of 24 by 24.
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

class MapView {
  constructor(world, icons) {
    this.world = world;
    this.icons = icons;
    this.canvas = element("canvas", { class: "map", tabindex: "0", role: "application" });
    this.ground = document.createElement("canvas");
    this.drawn = "";
    const { rows } = world.map;
    this.height = rows.length;
    this.width = rows[0].length;
    this.canvas.style.aspectRatio = `${this.width} / ${this.height}`;
    this.places = new Map(world.map.cells.map((cell, place) => [cell.join(), place]));
  }

  // The place of the map under a pointer, if it is no wall.
  placeAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * this.width);
    const row = Math.floor(((event.clientY - box.top) / box.height) * this.height);
    return this.places.get([row, column].join());
  }

  // The place next to one, or the same if that is a wall.
  beside(place, [down, right]) {
    const [row, column] = this.world.map.cells[place];
    return this.places.get([row + down, column + right].join()) ?? place;
  }

  middle(place) {
    const [row, column] = this.world.map.cells[place];
    return [(column + 0.5) * this.cell, (row + 0.5) * this.cell];
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const wide = Math.max(Math.round(this.canvas.clientWidth * ratio), this.width);
    this.cell = wide / this.width;
    const high = Math.round(this.cell * this.height);
    if (this.canvas.width === wide && this.canvas.height === high) return;
    this.canvas.width = this.ground.width = wide;
    this.canvas.height = this.ground.height = high;
    this.drawn = "";
  }

  // scene: {state, marked, palette, theme, heat, arrows}, and `behind`, which differs where the last
  // two do
  drawGround(scene) {
    const marks = scene.marked ? scene.marked.join("") : "";
    const { world } = this;
    const key = [world.lookOf[scene.state], marks, scene.theme, scene.behind].join("|");
    if (key === this.drawn) return;
    this.drawn = key;
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
      pen.fillStyle = scene.heat.colour(scene.heat.values[place]);
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
        pen.fillStyle = "#1b1b1b";
        pen.font = `600 ${cell * 0.5}px system-ui, sans-serif`;
        pen.textAlign = "center";
        pen.textBaseline = "middle";
        pen.fillText(shapes[1], x + cell / 2, y + cell * 0.53);
      }
    }
  }

  // scene.arrows: [place] -> a direction [down, right], "end" or nothing
  drawArrows(pen, scene) {
    const { cell } = this;
    pen.strokeStyle = pen.fillStyle = scene.palette.ink;
    pen.globalAlpha = 0.65;
    pen.lineWidth = Math.max(cell * 0.06, 1);
    pen.lineCap = "round";
    scene.arrows.forEach((arrow, place) => {
      const [x, y] = this.middle(place);
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

  // Where a run is at a (fractional) step.
  at(run, t) {
    const { world } = this;
    const before = Math.min(Math.floor(t), run.steps);
    const after = Math.min(before + 1, run.steps);
    const [x0, y0] = this.middle(world.value(run.states[before], 0));
    const [x1, y1] = this.middle(world.value(run.states[after], 0));
    const part = Math.min(t - before, 1);
    const eased = part * part * (3 - 2 * part);
    return [x0 + (x1 - x0) * eased, y0 + (y1 - y0) * eased];
  }

  drawWay(pen, run, t, palette) {
    const { cell, world } = this;
    const last = Math.min(Math.floor(t), run.steps);
    pen.strokeStyle = palette.way;
    pen.lineWidth = Math.max(cell * 0.09, 1.5);
    pen.lineJoin = pen.lineCap = "round";
    pen.beginPath();
    pen.moveTo(...this.middle(world.value(run.states[0], 0)));
    let before = null;
    for (let i = 1; i <= last; i++) {
      const [x0, y0] = this.middle(world.value(run.states[i - 1], 0));
      const [x1, y1] = this.middle(world.value(run.states[i], 0));
      if (x0 === x1 && y0 === y1) continue;
      // To the right of where it is going, so that the way back lies beside the way there.
      const aside = [(y0 - y1) * 0.13, (x1 - x0) * 0.13];
      const turns = before && before[0] * aside[0] + before[1] * aside[1] === 0;
      const back = before && before[0] === -aside[0] && before[1] === -aside[1];
      if (back) pen.lineTo(x0 + before[0], y0 + before[1]);
      pen.lineTo(x0 + aside[0] + (turns ? before[0] : 0), y0 + aside[1] + (turns ? before[1] : 0));
      before = aside;
      if (i === last) pen.lineTo(x1 + aside[0], y1 + aside[1]);
    }
    pen.lineTo(...this.at(run, t));
    pen.stroke();
  }

  drawRing(pen, place, colour) {
    const [x, y] = this.middle(place);
    pen.strokeStyle = colour;
    pen.lineWidth = Math.max(this.cell * 0.09, 2);
    pen.beginPath();
    pen.arc(x, y, this.cell * 0.5, 0, 7);
    pen.stroke();
  }

  // scene: as in drawGround, and {run, ghosts, t, targets}
  draw(scene) {
    this.resize();
    this.drawGround(scene);
    const pen = this.canvas.getContext("2d");
    const { cell, world } = this;
    const { palette, run, t } = scene;
    pen.save();
    pen.drawImage(this.ground, 0, 0);
    for (const place of scene.targets.flatMap((j) => world.map.places[j])) this.drawRing(pen, place, palette.target);
    const [x, y] = this.middle(world.value(run.states[0], 0));
    pen.strokeStyle = palette.way;
    pen.lineWidth = Math.max(cell * 0.08, 1.5);
    pen.setLineDash([cell * 0.16, cell * 0.1]);
    pen.strokeRect(x - cell * 0.42, y - cell * 0.42, cell * 0.84, cell * 0.84);
    pen.setLineDash([]);
    this.drawWay(pen, run, t, palette);
    pen.fillStyle = palette.way;
    pen.strokeStyle = "#ffffff";
    pen.lineWidth = Math.max(cell * 0.03, 0.75);
    pen.globalAlpha = 0.4;
    scene.ghosts.forEach((ghost, k) => {
      const [gx, gy] = this.at(ghost, t);
      const turn = k * 2.4;
      const off = cell * 0.26 * Math.sqrt(((k * 7) % 16) / 16);
      pen.beginPath();
      pen.arc(gx + off * Math.cos(turn), gy + off * Math.sin(turn), cell * 0.13, 0, 7);
      pen.fill();
      pen.stroke();
    });
    pen.globalAlpha = 1;
    const [ax, ay] = this.at(run, t);
    drawIcon(pen, this.icons[world.map.agents[world.lookOf[scene.state]]], ax - cell * 0.4, ay - cell * 0.4, cell * 0.8);
    pen.restore();
  }
}
