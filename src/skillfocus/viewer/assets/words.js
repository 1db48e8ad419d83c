// What a run has done, in words. Verdicts are those of Python's `Trajectory.verdict`.

/**
 * @import { Moment } from "./model.js"
 * @import { Run } from "./simulate.js"
 * @import { SkillSet } from "./skill_set.js"
 * @import { World } from "./world.js"
 */
import { formatNumber, joinNames } from "./dom.js";

/**
 * @typedef {object} Verdict
 * @property {"going" | "plain" | "good" | "bad"} kind
 * @property {string} sign
 * @property {string} text
 */

/** @param {World} world @param {number[]} variables */
export function variableNames(world, variables) {
  return joinNames(variables.map((j) => world.variables[j].name));
}

/**
 * What a run that is under way says, or one that the page cannot follow; null once it is over.
 * @param {SkillSet} set @param {Run} run @param {number} step @param {Moment} moment
 * @param {string} doing What stands before the step.
 * @returns {Verdict | null}
 */
export function unfinishedVerdict(set, run, step, moment, doing = "") {
  const { world } = set;
  if (step < run.steps) {
    const changed = world.differences(run.states[0], run.states[step]);
    const next = world.real ? "" : `, next: ${world.actions[set.column(moment.z, moment.first, moment.mode)[run.states[step]]]}`;
    const soFar = changed.length ? `changed so far: ${variableNames(world, changed)}` : "nothing is changed so far";
    return { kind: "going", sign: "…", text: `${doing}step ${step} of ${run.steps}${next}; ${soFar}` };
  }
  if (run.end === "unknown")
    return { kind: "plain", sign: "?", text: `It reached a state that this page does not know, after ${run.steps} steps.` };
  return null;
}

/**
 * What a skill does on average, beside the one run that is shown.
 * @param {SkillSet} set @param {number} z
 */
export function averageWords(set, z) {
  const { changesTarget, sideEffects, exact } = set.effects[z] ?? {};
  if (sideEffects == null) return "";
  const target = changesTarget == null ? "" : `target changed ${formatNumber(changesTarget)}, `;
  const starts = set.world.starts ? "starts that the world draws" : "all starts within reach";
  const told = set.reaches[z] == null ? "" : `It is told to reach ${set.reaches[z]}. `;
  return `${told}Over ${starts}${exact ? ", exact" : ""}: ${target}side effects ${formatNumber(sideEffects, 3)}.`;
}

/**
 * How many of the ghosts changed the target, and how many had side effects.
 * @param {SkillSet} set @param {Run[]} ghosts @param {number} step @param {number[]} targets
 */
export function ghostWords(set, ghosts, step, targets) {
  if (!ghosts.length) return "";
  let done = 0, side = 0, running = 0;
  for (const ghost of ghosts) {
    const at = Math.min(step, ghost.steps);
    if (at < ghost.steps) running++;
    const changed = set.world.differences(ghost.states[0], ghost.states[at]);
    if (targets.every((j) => changed.includes(j))) done++;
    if (changed.some((j) => !targets.includes(j))) side++;
  }
  const count = `${ghosts.length} ghosts`;
  if (running) return `${count}, ${running} still under way`;
  if (!targets.length) return count;
  return `Of ${count}, ${done} changed the target; ${side} had side effects.`;
}

/**
 * What an agent chose, or a queue holds: "skill 3, tool_1" or "move up".
 * @param {SkillSet} set @param {number} choice A skill, or the number of skills plus an action.
 */
export function choiceName(set, choice) {
  const { world } = set;
  if (choice >= set.nSkills) return `move ${world.actions[choice - set.nSkills]}`;
  const names = set.targets[choice].map((j) => world.variables[j].name);
  const aim = set.reaches[choice] ?? names.join("+");
  return `skill ${choice}${aim ? `, ${aim}` : ""}`;
}
