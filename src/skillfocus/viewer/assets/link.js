// The exact view as a link: everything that was chosen, after the # of the page's address.

function toFragment(model) {
  const parts = {
    world: model.worlds.indexOf(model.world),
    sets: model.shown.join("."),
    mode: model.mode,
    skills: model.shown.map((i) => model.skill[i]).join("."),
    start: model.world.state(model.start).join("."),
    seed: model.seed,
    t: Math.round(model.t * 100) / 100,
  };
  if (model.mode === "chain") parts.queue = model.shown.map((i) => model.queue[i].join(".")).join("_");
  if (!model.slips) parts.slips = "none";
  if (model.goal !== null) parts.goal = model.goal;
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
  if (!["world", "sets", "skills", "start", "mode", "t"].some((name) => parts.has(name))) return false;
  const world = whole(parts.get("world"), model.worlds.length);
  if (world !== null) model.enter(world);
  const among = (text) => (text ? text.split(".") : []);
  const sets = among(parts.get("sets"))
    .map((text) => whole(text, model.sets.length))
    .filter((i) => i !== null && model.sets[i].world === model.world)
    .slice(0, MOST_SHOWN);
  if (sets.length) model.shown = [...new Set(sets)];
  const skills = among(parts.get("skills"));
  const goal = whole(parts.get("goal"), model.world.nVariables);
  if (skills.length || goal !== null) model.goal = goal;
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
  model.slips = parts.get("slips") !== "none";
  model.seed = whole(parts.get("seed"), 2 ** 32) ?? model.seed;
  model.ghosts = whole(parts.get("ghosts"), 1001) ?? 0;
  model.arrows = parts.get("arrows") === "1";
  model.heat = Object.hasOwn(HEATS, parts.get("heat") ?? "") ? parts.get("heat") : "none";
  if (SPEEDS.includes(Number(parts.get("speed")))) model.speed = Number(parts.get("speed"));
  const t = Number(parts.get("t"));
  if (t >= 0) model.t = t;
  return true;
}
