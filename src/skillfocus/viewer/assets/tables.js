// Worlds and skill sets as the page's data tells them. The arithmetic is that of Python's
// `simulation`: same tables, same order of random numbers.

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, i32: Int32Array, f32: Float32Array };

async function unpack({ type, data }) {
  const letters = atob(data);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new ARRAYS[type](await new Response(stream).arrayBuffer());
}

class World {
  static async read(data) {
    const world = new World();
    Object.assign(world, data);
    const arrays = ["values", "successors", "lawOf", "marks", "again", "marksIn"];
    const read = await Promise.all(arrays.map((name) => data[name] && unpack(data[name])));
    arrays.forEach((name, i) => (world[name] = read[i]));
    world.nVariables = data.variables.length;
    world.nActions = data.actions.length;
    const perState = world.nActions * world.nOutcomes;
    for (const name of ["successors", "again"])
      if (world[name]) world[name] = world[name].map((step, i) => step + Math.floor(i / perState));
    if (data.map) {
      // Cells are characters as Python counts them, not the halves of which JavaScript makes some.
      world.map = { ...data.map, rows: data.map.rows.map((row) => Array.from(row)) };
      world.lookOf = await unpack(data.map.lookOf);
    }
    world.numbers = new Map();
    for (let s = 0; s < world.nStates; s++) world.numbers.set(world.state(s).join(), s);
    world.numberings = new Map();
    return world;
  }

  // The indices of a state's values.
  state(s) {
    return Array.from(this.values.subarray(s * this.nVariables, (s + 1) * this.nVariables));
  }

  value(s, variable) {
    return this.values[s * this.nVariables + variable];
  }

  label(s, variable) {
    return this.variables[variable].labels[this.value(s, variable)];
  }

  number(values) {
    return this.numbers.get(values.join());
  }

  // The state like s but for one value: where there is none, one that differs in as little else
  // as can be.
  changed(s, variable, value) {
    const wanted = this.state(s);
    wanted[variable] = value;
    const exact = this.number(wanted);
    if (exact !== undefined) return exact;
    let best = s, fewest = Infinity;
    for (let other = 0; other < this.nStates; other++) {
      if (this.value(other, variable) !== value) continue;
      let differ = 0;
      for (let j = 0; j < this.nVariables; j++) if (this.value(other, j) !== wanted[j]) differ++;
      if (differ < fewest) [best, fewest] = [other, differ];
    }
    return best;
  }

  // The variables whose values differ between two states.
  differences(first, last) {
    const places = [];
    for (let j = 0; j < this.nVariables; j++)
      if (this.value(first, j) !== this.value(last, j)) places.push(j);
    return places;
  }

  // Numbers for the combinations of some variables' values that occur, in ascending order.
  numbering(variables) {
    const key = variables.join();
    if (!this.numberings.has(key)) {
      let ofState = new Int32Array(this.nStates);
      for (const j of variables) {
        const size = this.variables[j].labels.length;
        const codes = Float64Array.from(ofState, (number, s) => number * size + this.value(s, j));
        const sorted = Array.from(new Set(codes)).sort((a, b) => a - b);
        const places = new Map(sorted.map((code, i) => [code, i]));
        ofState = Int32Array.from(codes, (code) => places.get(code));
      }
      this.numberings.set(key, { ofState });
    }
    return this.numberings.get(key);
  }

  // Set as many hidden marks as state s shows, at random places.
  drawMarks(s, random) {
    const marked = new Uint8Array(this.nMarks);
    let missing = this.nMarks ? this.marksIn[s] : 0;
    while (missing > 0) {
      const place = Math.floor(random.next() * this.nMarks);
      if (!marked[place]) {
        marked[place] = 1;
        missing--;
      }
    }
    return marked;
  }

  // One move, given its random number; minds the hidden marks.
  move(s, action, marked, u) {
    const row = s * this.nActions + action;
    const law = this.laws[this.lawOf[row]];
    let m = 0;
    while (u >= law[m]) m++;
    const place = row * this.nOutcomes + m;
    const mark = this.nMarks ? this.marks[place] : -1;
    if (mark >= 0) {
      if (marked[mark]) return this.again[place];
      marked[mark] = 1;
    }
    return this.successors[place];
  }

  // A random number that makes a move have its likeliest outcome.
  likeliest(s, action) {
    const law = this.laws[this.lawOf[s * this.nActions + action]];
    let best = 0, most = 0, below = 0;
    for (const sum of law) {
      if (sum - below > most + 1e-12) [best, most] = [below, sum - below];
      below = sum;
    }
    return best;
  }
}

const UNKNOWN = 255;

class SkillSet {
  constructor(data, world, index) {
    Object.assign(this, data);
    this.world = world;
    this.index = index;
    this.nSkills = data.targets.length;
    this.columns = data.targets.map(() => new Map());
    this.loading = [];
  }

  // [skill][first state]: the context; the columns of a policy are numbered by it.
  get contexts() {
    return (this.numbered ??= this.remembered.map((variables) => this.world.numbering(variables).ofState));
  }

  // Unpack a skill's policy; nothing of it can be used before.
  ready(z) {
    this.loading[z] ??= this.load(z);
    return this.loading[z];
  }

  // The policies stand further down the page, which may still be on its way.
  async read() {
    const part = () => document.getElementById(`policies-${this.index}`);
    while (!part()?.nextElementSibling) {
      if (document.readyState === "complete") throw new Error("the file is not whole");
      await new Promise((later) => setTimeout(later, 5));
    }
    return JSON.parse(part().textContent);
  }

  async load(z) {
    this.policies ??= this.read();
    const policy = (await this.policies)[z];
    if (policy.whole) {
      this.columns[z].whole = await unpack(policy.whole);
      return;
    }
    const [actions, counts] = await Promise.all([unpack(policy.actions), unpack(policy.counts)]);
    const begins = new Int32Array(counts.length + 1);
    counts.forEach((count, i) => (begins[i + 1] = begins[i] + count));
    Object.assign(this.columns[z], { actions, begins, limit: policy.limit });
  }

  // Unpack what was learned of the task.
  taskReady() {
    this.taskLoading ??= (async () => {
      const names = ["q", "done", "true"];
      const read = await Promise.all(names.map((name) => unpack(this.task[name])));
      names.forEach((name, i) => (this.task[name] = read[i]));
    })();
    return Promise.all([this.taskLoading, this.readyAll()]);
  }

  readyAll() {
    return Promise.all(this.targets.map((_, z) => this.ready(z)));
  }

  // The column of skill z's policy for a context and mode: an action per state; the number of
  // actions means "terminate", UNKNOWN a state to which the skill hardly ever comes.
  column(z, first, mode) {
    const place = this.contexts[z][first] * this.modes[z] + mode;
    const known = this.columns[z];
    if (!known.has(place)) {
      const n = this.world.nStates;
      known.set(
        place,
        known.whole ? known.whole.subarray(place * n, (place + 1) * n) : this.walk(z, first, place),
      );
    }
    return known.get(place);
  }

  // Walk as `viewer.walks` does, and read off the actions in the order they were noted.
  walk(z, first, place) {
    const { world } = this;
    const { actions, begins, limit } = this.columns[z];
    const found = new Uint8Array(world.nStates).fill(UNKNOWN);
    const queues = Array.from({ length: limit + 1 }, () => []);
    const contexts = this.contexts[z];
    for (let s = 0; s < world.nStates; s++) if (contexts[s] === contexts[first]) queues[0].push(s);
    let next = begins[place];
    for (let cost = 0; cost <= limit; cost++) {
      for (let i = 0; i < queues[cost].length; i++) {
        const s = queues[cost][i];
        if (found[s] !== UNKNOWN) continue;
        const action = actions[next++];
        found[s] = action;
        if (action === world.nActions) continue;
        const row = s * world.nActions + action;
        const costs = world.costs[world.lawOf[row]];
        for (let m = 0; m < world.nOutcomes; m++) {
          const then = cost + costs[m];
          if (then > limit) continue;
          const outcome = row * world.nOutcomes + m;
          queues[then].push(world.successors[outcome]);
          if (world.nMarks && world.marks[outcome] >= 0) queues[then].push(world.again[outcome]);
        }
      }
    }
    return found;
  }
}
