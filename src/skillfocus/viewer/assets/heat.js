// What lies behind a skill, as one number per place of the map: where it ends, and what ending
// there would have paid.

const HEATS = {
  none: "no colouring",
  ends: "where it ends",
  reward: "its reward",
  earned: "its reward less the penalty",
};

class Heat {
  constructor(set) {
    this.set = set;
    this.endings = new Map();
    this.tables = null;
  }

  async ready() {
    const { learned } = this.set;
    if (learned && !this.tables)
      this.tables = await Promise.all(learned.groups.map((group) => unpack(group.tables)));
    if (!learned) await this.set.readyAll();
  }

  // Whether there is a reward to show: a learned one, or a discriminator that follows from where
  // skills end.
  get known() {
    const { learned, objective, learner } = this.set;
    return Boolean(learned) || (/^(vic|diayn)$/.test(objective) && learner !== "chance");
  }

  // Whether its penalty is one the page can compute.
  get penalised() {
    return this.known && ["weighted-norm", "changed-variables"].includes(this.set.penalty) && !/permuted/.test(this.set.objective);
  }

  can(kind) {
    return kind === "ends" || (kind === "earned" ? this.penalised : this.known);
  }

  ends(z, first) {
    const key = z * this.set.world.nStates + first;
    if (this.endings.size > 64) this.endings.clear();
    if (!this.endings.has(key)) this.endings.set(key, lastStates(this.set, z, first));
    return this.endings.get(key);
  }

  // What skill z is rewarded with for ending in s.
  reward(z, mode, first, s) {
    const { learned, world } = this.set;
    if (!learned) return this.posterior(z, first, s);
    let total = 0;
    for (const [place, component, weight] of learned.terms[z][mode]) {
      const group = learned.groups[place];
      const number = (variables, state) => world.numbering(variables).ofState[state];
      const read = (...indices) => {
        const at = indices.reduce((sum, index, i) => sum * group.shape[i] + index, 0);
        return group.low + group.step * this.tables[place][at];
      };
      const now = number(group.variables, s);
      total += weight * (group.separable
        ? read(component, now) - read(component, number(group.variables, first))
        : read(component, now, number(group.startVariables, first)));
    }
    return total;
  }

  // log d(z | first, s) - log nu(z), with d by Bayes' rule from where all skills end.
  posterior(z, first, s) {
    let all = 0;
    for (let other = 0; other < this.set.nSkills; other++) all += this.ends(other, first)[s];
    const own = this.ends(z, first)[s];
    return all > 1e-9 ? Math.max(Math.log((this.set.nSkills * own) / all), -6) : NaN;
  }

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

  // [place]: the number to colour each place of the map with; NaN for none. `now` says what the
  // other variables are.
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
