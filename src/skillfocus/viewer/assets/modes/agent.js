// An agent that has learned a task with the skills, and what it thinks its choices are worth.

/**
 * @import { Model } from "../model.js"
 * @import { Run } from "../simulate.js"
 * @import { SkillSet } from "../skill_set.js"
 * @import { Mode } from "./mode.js"
 */
import { element, formatNumber } from "../dom.js";
import { runAgent } from "../simulate.js";
import { choiceName } from "../words.js";
import { baseMode } from "./mode.js";

/** Choices listed. */
const MAX_CHOICES = 5;

/** @type {Mode} */
export const agentMode = {
  ...baseMode,
  name: "agent",
  label: "Agent",
  choosesSkills: false,
  hasLayers: false,

  isAvailable(model) {
    return model.sets.some((set) => set.task);
  },

  lead(model) {
    const task = shownTask(model);
    if (!task) return [];
    const proxy = task.reward === "proxy" ? ", from a proxy of the true reward" : "";
    return [`An agent has learned the task “${task.name}” with these skills and single moves${proxy}. At every step it chooses one of them.`];
  },

  enter(model) {
    model.start = this.usualStart(model);
  },

  usualStart(model) {
    return shownTask(model)?.start ?? model.start;
  },

  async prepare(model, set, isCurrent) {
    if (set.task) await set.taskReady();
    else await baseMode.prepare.call(this, model, set, isCurrent);
  },

  run(model, set, ghost) {
    return set.task ? runAgent(set, model.start, model.chance, ghost) : baseMode.run.call(this, model, set, ghost);
  },

  currentSkill() {
    return null;
  },

  verdict(set, run, step) {
    const { task } = set;
    if (!task) return { kind: "plain", sign: "○", text: "No task was learned with these skills (skillfocus view --task true)." };
    if (step < run.steps) return { kind: "going", sign: "…", text: `step ${step}: ${choiceName(set, choiceAt(run, step).choice)}` };
    if (task.reward === "proxy" && run.solved && !task.true[run.last])
      return { kind: "bad", sign: "✗", text: `The proxy is satisfied after ${run.elapsed} steps, but the true task is not accomplished.` };
    const best = run.states[0] === task.start ? ` (the best possible: ${formatNumber(task.optimum, 1)} on average)` : "";
    if (run.solved) return { kind: "good", sign: "✓", text: `The task “${task.name}” is accomplished after ${run.elapsed} steps${best}.` };
    return { kind: "bad", sign: "✗", text: `The task “${task.name}” is not accomplished in ${task.maxSteps} steps.` };
  },

  isDimmed(set) {
    return !set.task;
  },

  details(set, run, step) {
    return set.task ? [choiceTable(set, run, step)] : [];
  },

  fromLink(model) {
    this.enter(model);
  },
};

/** The task of the first shown set that has one. @param {Model} model */
function shownTask(model) {
  return model.shown.map((i) => model.sets[i].task).find(Boolean);
}

/** What the agent is doing at a step. @param {Run} run @param {number} step */
function choiceAt(run, step) {
  return run.choices.filter((choice) => choice.at <= step).at(-1) ?? { at: 0, choice: 0 };
}

/**
 * The agent's best choices where it last chose, the one it made first.
 * @param {SkillSet} set @param {Run} run @param {number} step
 */
function choiceTable(set, run, step) {
  const { world, task } = set;
  const { at, choice } = choiceAt(run, step);
  const n = set.nSkills + world.nActions;
  /** @type {number[]} */
  const values = Array.from(task.q.subarray(run.states[at] * n, (run.states[at] + 1) * n));
  const order = values
    .map((_, o) => o)
    .sort((a, b) => Number(b === choice) - Number(a === choice) || values[b] - values[a])
    .slice(0, MAX_CHOICES);
  const most = Math.max(...values, 1e-9);
  const rows = order.map((o) =>
    element(
      "tr",
      { class: o === choice ? "chosen" : "", "aria-current": o === choice ? "true" : null },
      element("th", { scope: "row" }, `${o === choice ? "▸ " : ""}${choiceName(set, o)}`),
      element("td", {}, element("span", { class: "bar", style: `--share: ${Math.max(values[o] / most, 0)}` })),
      element("td", {}, formatNumber(values[o], 3)),
    ),
  );
  return element("table", {}, element("caption", {}, "The agent's choice, by learned value"), element("tbody", {}, rows));
}
