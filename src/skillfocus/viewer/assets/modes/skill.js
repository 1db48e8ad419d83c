// One skill per set, judged by its targets. The skill is chosen by its number, or by the variable one
// wants to see changed.

/**
 * @import { Model } from "../model.js"
 * @import { SkillSet } from "../skill_set.js"
 * @import { Mode } from "./mode.js"
 */
import { element } from "../dom.js";
import { averageWords, unfinishedVerdict, variableNames } from "../words.js";
import { baseMode } from "./mode.js";

/** @type {Mode} */
export const skillMode = {
  ...baseMode,
  name: "skill",
  label: "One skill",
  choosesGoal: true,

  lead({ world, starts }) {
    if (world.real)
      return [`Recorded rollouts: what each skill does from ${starts.length} starts. Changes are shares of a variable's scale; side effects above ${world.real.threshold} are red.`];
    return [
      "A ", element("b", {}, "focused"), " skill changes its ", element("span", { class: "target" }, "target"),
      ", and leaves everything else as it was. What else it changes is a ",
      element("span", { class: "effect" }, "side effect"), ".",
    ];
  },

  async prepare(model, set, isCurrent) {
    await pickPlainSkill(model, set, isCurrent);
    await baseMode.prepare.call(this, model, set, isCurrent);
  },

  isPressed(model, set, z) {
    return model.shows(set, z);
  },

  // A skill without targets is judged by the variable that is being watched.
  targets(model, set, z) {
    return set.targets[z].length || model.goal === null ? set.targets[z] : [model.goal];
  },

  verdict(set, run, step, moment, targets) {
    const unfinished = unfinishedVerdict(set, run, step, moment);
    if (unfinished) return unfinished;
    const { world } = set;
    const changed = world.differences(run.states[0], run.states[step]);
    const changedNames = variableNames(world, changed);
    const tail = run.end === "limit" ? " (its steps are used up)" : "";
    if (!targets.length)
      return { kind: "plain", sign: "•", text: `Changed ${changedNames || "nothing"}${tail}. This skill has no target.` };
    const sideEffects = changed.filter((j) => !targets.includes(j));
    const missed = targets.filter((j) => !changed.includes(j));
    const target = variableNames(world, targets);
    const plain = set.targets[moment.z].length ? "" : " A plain skill has no target.";
    if (!missed.length && !sideEffects.length)
      return { kind: "good", sign: "✓", text: `${plain ? "It" : "Focused: it"} changed ${target}, and everything else is as it was.${plain}` };
    if (!missed.length)
      return { kind: "bad", sign: "✗", text: `It changed ${target}, and as side effects ${variableNames(world, sideEffects)}${tail}.${plain}` };
    if (changed.length)
      return { kind: "bad", sign: "✗", text: `It did not change ${variableNames(world, missed)}, but ${changedNames}${tail}.${plain}` };
    const unchanged = targets.length > 1 ? "are as they were" : "is as it was";
    return { kind: "plain", sign: "○", text: `It changed nothing: ${target} ${unchanged}${tail}.${plain}` };
  },

  average(set, z) {
    return averageWords(set, z);
  },
};

/**
 * In a set whose skills have no targets, choose the skill that most likely changes the watched
 * variable from this start.
 * @param {Model} model @param {SkillSet} set @param {() => boolean} isCurrent
 */
async function pickPlainSkill(model, set, isCurrent) {
  const { goal, start, world } = model;
  if (goal === null || set.targets.some((targets) => targets.length)) return;
  await set.readyAll();
  if (!isCurrent()) return;
  const heat = model.heats[set.index];
  const before = world.value(start, goal);
  const shares = set.targets.map((_, z) =>
    heat.ends(z, start).reduce((sum, p, s) => sum + (world.value(s, goal) === before ? 0 : p), 0),
  );
  model.skill[set.index] = shares.indexOf(Math.max(...shares));
}
