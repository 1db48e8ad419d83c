// The exact view as a link: everything that was chosen, after the # of the page's address.

function toFragment(model) {
  const parts = {
    world: model.worlds.indexOf(model.world),
    sets: model.shown.join("."),
    mode: model.mode,
    skills: model.shown.map((i) => model.skill[i]).join("."),
    start: model.world.state(model.start).join("."),
    seed: model.slips ? model.seed : "none",
    t: Math.round(model.t * 100) / 100,
  };
  if (model.mode === "chain") parts.queue = model.shown.map((i) => model.queue[i].join(".")).join("_");
  if (model.ghosts) parts.ghosts = model.ghosts;
  if (model.arrows) parts.arrows = 1;
  if (model.heat !== "none") parts.heat = model.heat;
  if (model.speed !== 4) parts.speed = model.speed;
  return new URLSearchParams(parts).toString();
}

const whole = (text, below) => {
  const value = Number(text);
  return /^\d+$/.test(text ?? "") && value < below ? value : null;
};

// Take what a fragment says, as far as it makes sense here. Whether it said anything.
function fromFragment(model, fragment) {
  const parts = new URLSearchParams(fragment);
  if (![...parts.keys()].length) return false;
  const world = whole(parts.get("world"), model.worlds.length);
  if (world !== null) model.enter(world);
  const among = (text) => (text ? text.split(".") : []);
  const sets = among(parts.get("sets"))
    .map((text) => whole(text, model.sets.length))
    .filter((i) => i !== null && model.sets[i].world === model.world)
    .slice(0, MOST_SHOWN);
  if (sets.length) model.shown = [...new Set(sets)];
  const skills = among(parts.get("skills"));
  if (skills.length) model.goal = null;
  const queues = (parts.get("queue") ?? "").split("_");
  model.shown.forEach((i, place) => {
    const below = model.sets[i].nSkills;
    model.skill[i] = whole(skills[place], below) ?? model.skill[i];
    model.queue[i] = among(queues[place]).map((text) => whole(text, below)).filter((z) => z !== null);
  });
  if (Object.hasOwn(MODES, parts.get("mode") ?? "")) model.mode = parts.get("mode");
  if (model.mode === "agent") model.start = model.taskStart();
  const start = model.world.number(among(parts.get("start")).map(Number));
  if (start !== undefined) model.start = start;
  if (parts.get("seed") === "none") model.slips = false;
  else {
    model.slips = true;
    model.seed = whole(parts.get("seed"), 2 ** 32) ?? model.seed;
  }
  model.ghosts = whole(parts.get("ghosts"), 1001) ?? 0;
  model.arrows = parts.get("arrows") === "1";
  model.heat = Object.hasOwn(HEATS, parts.get("heat") ?? "") ? parts.get("heat") : "none";
  if (SPEEDS.includes(Number(parts.get("speed")))) model.speed = Number(parts.get("speed"));
  const t = Number(parts.get("t"));
  if (t >= 0) model.t = t;
  return true;
}
