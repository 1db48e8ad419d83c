// Heat maps: one number per place of the map, where a skill ends or what ending there would have
// paid, and the colors for such numbers.

/** @import { SkillSet } from "./skill_set.js" */
import { element, formatNumber } from "./dom.js";
import { lastStates } from "./simulate.js";
import { unpack } from "./world.js";

/** The heat maps one can choose, by their name in links. */
export const HEATS = {
  none: "no coloring",
  ends: "where it ends",
  reward: "its reward",
  earned: "its reward less the penalty",
};

/** Penalties that the page can compute. */
const PENALTIES = ["weighted-norm", "changed-variables"];
const MAX_CACHED = 64;

/**
 * Numbers over the places of a map, and how to color them.
 * @typedef {object} HeatMap
 * @property {Float64Array} values [place]; NaN for no color.
 * @property {number} low
 * @property {number} high
 * @property {(value: number) => string} color
 * @property {string} [note] For the legend.
 */

/** The heat maps of one skill set. */
export class Heat {
  /** @param {SkillSet} set */
  constructor(set) {
    this.set = set;
    /** @type {Map<number, Float64Array>} */
    this.endings = new Map();
    /** @type {Uint8Array[] | null} */
    this.tables = null;
  }

  /** Unpack what the rewards need. */
  async ready() {
    const { learned } = this.set;
    if (learned && !this.tables)
      this.tables = await Promise.all(learned.groups.map((group) => unpack(group.tables)));
    if (!learned) await this.set.readyAll();
  }

  /** Whether there is a reward: a learned one, or a discriminator that follows from where skills end. */
  get hasReward() {
    const { learned, objective, learner } = this.set;
    return Boolean(learned) || (/^(vic|diayn)$/.test(objective) && learner !== "chance");
  }

  get hasPenalty() {
    return this.hasReward && PENALTIES.includes(this.set.penalty) && !/permuted/.test(this.set.objective);
  }

  /** Whether a heat map can be shown for this set. @param {string} kind */
  has(kind) {
    return kind === "ends" || (kind === "earned" ? this.hasPenalty : this.hasReward);
  }

  /** [state]: how likely a skill ends there. @param {number} z @param {number} first */
  ends(z, first) {
    const key = z * this.set.world.nStates + first;
    if (this.endings.size > MAX_CACHED) this.endings.clear();
    if (!this.endings.has(key)) this.endings.set(key, lastStates(this.set, z, first));
    return this.endings.get(key);
  }

  /**
   * What a skill is rewarded with for ending in a state.
   * @param {number} z @param {number} mode @param {number} first @param {number} s
   */
  reward(z, mode, first, s) {
    const { learned, world } = this.set;
    if (!learned) return this.posterior(z, first, s);
    let total = 0;
    for (const [place, component, weight] of learned.terms[z][mode]) {
      const group = learned.groups[place];
      const index = (/** @type {number[]} */ variables, /** @type {number} */ state) => world.contextOf(variables)[state];
      const read = (/** @type {number[]} */ ...indices) => {
        const at = indices.reduce((sum, each, i) => sum * group.shape[i] + each, 0);
        return group.low + group.step * this.tables[place][at];
      };
      const now = index(group.variables, s);
      total += weight * (group.separable
        ? read(component, now) - read(component, index(group.variables, first))
        : read(component, now, index(group.startVariables, first)));
    }
    return total;
  }

  /**
   * log d(z | first, s) - log nu(z), with d by Bayes' rule from where all skills end.
   * @param {number} z @param {number} first @param {number} s
   */
  posterior(z, first, s) {
    let all = 0;
    for (let other = 0; other < this.set.nSkills; other++) all += this.ends(other, first)[s];
    const own = this.ends(z, first)[s];
    return all > 1e-9 ? Math.max(Math.log((this.set.nSkills * own) / all), -6) : NaN;
  }

  /** @param {number} z @param {number} first @param {number} s */
  penalty(z, first, s) {
    const { world, penalty, strength, targets } = this.set;
    let sum = 0;
    for (let j = 0; j < world.nVariables; j++) {
      const from = world.value(first, j), to = world.value(s, j);
      if (from === to || targets[z].includes(j)) continue;
      const { points, scale } = world.variables[j];
      const distance = points ? Math.hypot(...points[from].map((x, i) => x - points[to][i])) : 1;
      sum += penalty === "changed-variables" ? 1 : (distance / scale) ** 2;
    }
    return strength * (penalty === "changed-variables" ? sum : Math.sqrt(sum));
  }

  /**
   * [place]: the numbers of a heat map.
   * @param {string} kind
   * @param {number} z
   * @param {number} mode
   * @param {number} first The skill's first state.
   * @param {number} now The current state: the other variables are as they are in it.
   */
  over(kind, z, mode, first, now) {
    const { world } = this.set;
    const places = world.map.cells.length;
    const heat = new Float64Array(places).fill(NaN);
    if (kind === "ends") {
      heat.fill(0);
      this.ends(z, first).forEach((p, s) => (heat[world.value(s, 0)] += p));
      return heat.map((p) => (p < 5e-4 ? NaN : p));
    }
    const values = world.state(now);
    for (let place = 0; place < places; place++) {
      values[0] = place;
      const s = world.number(values);
      if (s === undefined) continue;
      heat[place] = this.reward(z, mode, first, s);
      if (kind === "earned") heat[place] -= this.penalty(z, first, s);
    }
    return heat;
  }
}

/**
 * Colors for numbers: shares are darker the larger they are; rewards are amber above 0, blue below.
 * @param {Float64Array} values
 * @param {string} theme
 * @param {boolean} shares
 * @returns {HeatMap}
 */
export function heatMap(values, theme, shares) {
  const finite = Array.from(values).filter((value) => !Number.isNaN(value));
  const high = Math.max(...finite, 0), low = shares ? 0 : Math.min(...finite, 0);
  const most = Math.max(high, -low) || 1;
  const [above, below] = theme === "dark" ? ["255, 190, 60", "90, 150, 255"] : ["214, 96, 20", "40, 90, 200"];
  const color = (/** @type {number} */ value) => {
    const part = Math.abs(value) / most;
    return shares ? `rgba(${above}, ${0.15 + 0.75 * Math.sqrt(part)})` : `rgba(${value < 0 ? below : above}, ${0.75 * part})`;
  };
  return { values, low, high, color };
}

/** The elements of a heat map's legend. @param {HeatMap | null} heat */
export function heatLegend(heat) {
  if (!heat || !(heat.high >= heat.low)) return [];
  const shades = [0, 0.25, 0.5, 0.75, 1].map((part) =>
    element("i", { style: `background: ${heat.color(heat.low + part * (heat.high - heat.low))}` }),
  );
  return [element("span", {}, formatNumber(heat.low)), ...shades, element("span", {}, formatNumber(heat.high)), heat.note ?? ""];
}
