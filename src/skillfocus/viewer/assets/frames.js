// A world that its environment draws: the picture of a state, put together from tiles.

/**
 * @import { Scene } from "./map.js"
 * @import { World } from "./world.js"
 */
import { element } from "./dom.js";

export class FramesView {
  /** @param {World} world */
  constructor(world) {
    this.world = world;
    const { width, height } = world.frames;
    this.canvas = element("canvas", { class: "frame", role: "img", width, height });
    this.canvas.style.aspectRatio = `${width} / ${height}`;
    this.element = this.canvas;
    /** @type {Scene | null} */
    this.scene = null;
    this.drawnState = -1;
    world.sheet.addEventListener("load", () => this.scene && this.draw(this.scene));
  }

  /** @param {Scene} scene */
  draw(scene) {
    this.scene = scene;
    const { frames, sheet, tiles } = this.world;
    if (scene.state === this.drawnState || !sheet.complete || !sheet.naturalWidth) return;
    this.drawnState = scene.state;
    const pen = this.canvas.getContext("2d");
    const { tile, columns, rows, sheetColumns } = frames;
    for (let place = 0; place < rows * columns; place++) {
      const number = tiles[scene.state * rows * columns + place];
      const [from, to] = [[number % sheetColumns, Math.floor(number / sheetColumns)], [place % columns, Math.floor(place / columns)]];
      pen.drawImage(sheet, from[0] * tile, from[1] * tile, tile, tile, to[0] * tile, to[1] * tile, tile, tile);
    }
    this.canvas.dataset.state = String(scene.state);
  }
}
