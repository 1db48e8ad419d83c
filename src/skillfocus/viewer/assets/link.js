// The exact view as a link: everything that was chosen, after the # of the page's address.

/** @import { Model } from "./model.js" */
import { HEATS } from "./heat.js";
import { MAX_SHOWN, SPEEDS } from "./model.js";
import { findMode } from "./modes/index.js";

const MAX_GHOSTS = 1000;

/** @param {Model} model */
export function toFragment(model) {
  /** @type {Object<string, any>} */
  const parts = {
    world: model.worlds.indexOf(model.world),
    sets: model.shown.join("."),
    mode: model.mode,
    skills: model.shown.map((i) => model.skill[i]).join("."),
    start: model.world.real ? model.start : model.world.state(model.start).join("."),
    seed: model.seed,
    t: Math.round(model.t * 100) / 100,
    ...model.activeMode.toLink(model),
  };
  if (!model.slips) parts.slips = "none";
  if (model.goal !== null) parts.goal = model.goal;
  if (model.ghosts) parts.ghosts = model.ghosts;
  if (model.arrows) parts.arrows = 1;
  if (model.heat !== "none") parts.heat = model.heat;
  if (model.alone && model.world.real) parts.alone = 1;
  if (!model.others) parts.others = "none";
  if (model.speed !== model.usualSpeed) parts.speed = model.speed;
  return new URLSearchParams(parts).toString();
}

/** A whole number from 0 up to a limit; null if the text is something else. @param {string | null} text @param {number} below */
function wholeNumber(text, below) {
  const value = Number(text);
  return /^\d+$/.test(text ?? "") && value < below ? value : null;
}

/** @param {string | null} text */
function split(text) {
  return text ? text.split(".") : [];
}

/**
 * Take what a fragment says, as far as it makes sense on this page.
 * @param {Model} model
 * @param {string} fragment
 * @returns {boolean} Whether it described a view.
 */
export function fromFragment(model, fragment) {
  const parts = new URLSearchParams(fragment);
  if (!["world", "sets", "skills", "start", "mode", "t"].some((name) => parts.has(name))) return false;
  const world = wholeNumber(parts.get("world"), model.worlds.length);
  if (world !== null) model.enterWorld(world);
  const sets = split(parts.get("sets"))
    .map((text) => wholeNumber(text, model.sets.length))
    .filter((i) => i !== null && model.sets[i].world === model.world)
    .slice(0, MAX_SHOWN);
  if (sets.length) model.shown = [...new Set(sets)];
  const skills = split(parts.get("skills"));
  const goal = wholeNumber(parts.get("goal"), model.world.nVariables);
  if (skills.length || goal !== null) model.goal = model.goals().includes(goal) ? goal : null;
  model.shown.forEach((i, place) => {
    model.skill[i] = wholeNumber(skills[place], model.sets[i].nSkills) ?? model.skill[i];
  });
  model.mode = findMode(parts.get("mode"))?.name ?? model.mode;
  model.activeMode.fromLink(model, parts);
  const numbers = split(parts.get("start")).map(Number);
  const start = (model.world.real ? numbers[0] : model.world.number(numbers)) ?? model.start;
  if (!model.world.starts || model.starts.includes(start)) model.start = start;
  model.alone = parts.get("alone") === "1";
  model.others = parts.get("others") !== "none";
  model.slips = parts.get("slips") !== "none";
  model.seed = wholeNumber(parts.get("seed"), 2 ** 32) ?? model.seed;
  model.ghosts = wholeNumber(parts.get("ghosts"), MAX_GHOSTS + 1) ?? 0;
  model.arrows = parts.get("arrows") === "1";
  model.heat = Object.hasOwn(HEATS, parts.get("heat") ?? "") ? parts.get("heat") : "none";
  const speed = Number(parts.get("speed"));
  if (SPEEDS.includes(speed)) model.speed = speed;
  const t = Number(parts.get("t"));
  if (t >= 0) model.t = t;
  return true;
}
