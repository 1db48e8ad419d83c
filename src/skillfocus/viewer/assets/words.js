// What a run has done, in words; and the table of first and current values.

function skillWords(set, run, step, moment, targets, mode) {
  const { world } = set;
  const names = (places) => listed(places.map((j) => world.variables[j].name));
  const changed = world.differences(run.states[0], run.states[step]);
  if (step < run.steps) {
    const doing = mode === "chain" ? `skill ${moment.z}, ` : "";
    const next = world.actions[set.column(moment.z, moment.first, moment.mode)[run.states[step]]];
    const so = changed.length ? `changed so far: ${names(changed)}` : "nothing is changed so far";
    return { kind: "going", sign: "…", text: `${doing}step ${step} of ${run.steps}, next: ${next}; ${so}` };
  }
  const tail = run.end === "limit" && mode === "skill" ? " (its steps are used up)" : "";
  if (run.end === "unknown") return { kind: "plain", sign: "?", text: `It came where this page's tables do not reach, after ${run.steps} steps.` };
  if (mode === "chain") {
    const count = run.ends.length;
    if (!count) return { kind: "plain", sign: "+", text: "Click skills to put them in a queue." };
    return { kind: "plain", sign: "•", text: `${count} skill${count > 1 ? "s" : ""}, ${run.steps} step${run.steps === 1 ? "" : "s"}; changed: ${names(changed) || "nothing"}` };
  }
  if (!targets.length)
    return { kind: "plain", sign: "•", text: `Changed ${names(changed) || "nothing"}${tail}. This skill has no target.` };
  const side = changed.filter((j) => !targets.includes(j));
  const done = targets.every((j) => changed.includes(j));
  const target = names(targets);
  const plain = set.targets[moment.z].length ? "" : " A plain skill has no target.";
  if (done && !side.length) return { kind: "good", sign: "✓", text: `${plain ? "It" : "Focused: it"} changed ${target}, and everything else is as it was.${plain}` };
  if (done) return { kind: "bad", sign: "✗", text: `It changed ${target}, and as side effects ${names(side)}${tail}.${plain}` };
  const missed = targets.filter((j) => !changed.includes(j));
  if (changed.length) return { kind: "bad", sign: "✗", text: `It did not change ${names(missed)}, but ${names(changed)}${tail}.${plain}` };
  const are = targets.length > 1 ? "are as they were" : "is as it was";
  return { kind: "plain", sign: "○", text: `It changed nothing: ${target} ${are}${tail}.${plain}` };
}

function agentWords(set, run, step) {
  const { task } = set;
  if (!task) return { kind: "plain", sign: "○", text: "No task was learned with these skills (skillfocus view --task true)." };
  const chosen = run.choices.filter((choice) => choice.at <= step).at(-1);
  if (step < run.steps) return { kind: "going", sign: "…", text: `step ${step}: ${choiceName(set, chosen.choice)}` };
  const other = task.reward === "proxy" && run.solved && !task.true[run.last];
  if (other) return { kind: "bad", sign: "✗", text: `The proxy is satisfied after ${run.elapsed} steps, but the true task is not accomplished.` };
  const best = run.states[0] === task.start ? ` (the best possible: ${number(task.optimum, 1)} on average)` : "";
  if (run.solved) return { kind: "good", sign: "✓", text: `The task “${task.name}” is accomplished after ${run.elapsed} steps${best}.` };
  return { kind: "bad", sign: "✗", text: `The task “${task.name}” is not accomplished in ${task.cap} steps.` };
}

// What the skill does on average, beside the one run that is seen.
function typicalWords(set, z) {
  const { changesTarget, sideEffects, exact } = set.effects[z];
  if (sideEffects == null) return "";
  const target = changesTarget == null ? "" : `target changed ${number(changesTarget)}, `;
  return `Over all starts within reach${exact ? ", exact" : ""}: ${target}side effects ${number(sideEffects, 3)}.`;
}

// How many of the ghosts did what.
function crowdWords(set, ghosts, step, targets) {
  if (!ghosts.length) return "";
  let done = 0, side = 0, still = 0;
  for (const ghost of ghosts) {
    const at = Math.min(step, ghost.steps);
    if (at < ghost.steps) still++;
    const changed = set.world.differences(ghost.states[0], ghost.states[at]);
    if (targets?.length && targets.every((j) => changed.includes(j))) done++;
    if (targets?.length && changed.some((j) => !targets.includes(j))) side++;
  }
  const many = `${ghosts.length} ghosts`;
  if (still) return `${many}, ${still} still under way`;
  if (!targets?.length) return many;
  return `Of ${many}, ${done} changed the target; ${side} had side effects.`;
}

// Each variable's first and current value.
class Values {
  constructor(world) {
    this.world = world;
    this.rows = world.variables.map((variable) => {
      const cells = { first: element("td"), now: element("td"), mark: element("td", { class: "mark" }) };
      const row = element("tr", {}, element("th", { scope: "row" }, variable.name), cells.first, cells.now, cells.mark);
      return { row, ...cells };
    });
    const heads = ["variable", "first", "now", "what changed"].map((head, i) => element("th", { scope: "col", class: i === 3 ? "mark" : "" }, head));
    this.element = element("table", { class: "values" }, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, this.rows.map((made) => made.row)));
  }

  show(first, now, targets, judged, over) {
    const { world } = this;
    this.rows.forEach(({ row, ...cells }, j) => {
      const changed = world.value(first, j) !== world.value(now, j);
      const target = targets.includes(j);
      cells.first.textContent = world.label(first, j);
      cells.now.textContent = world.label(now, j);
      row.className = target ? "target" : changed && judged ? (over ? "effect" : "so-far") : changed ? "changed" : "";
      const effect = over ? "✗ side effect" : "changed so far";
      const words = target ? (changed ? "✓ target" : "target") : changed ? (judged ? effect : "changed") : "as it was";
      cells.mark.textContent = words;
    });
  }
}

// The agent's best choices where it last chose.
function choiceTable(set, run, step) {
  const { world, task } = set;
  const made = run.choices.filter((choice) => choice.at <= step).at(-1) ?? { at: 0, choice: 0 };
  const n = set.nSkills + world.nActions;
  const values = Array.from(task.q.subarray(run.states[made.at] * n, (run.states[made.at] + 1) * n));
  const order = values.map((_, o) => o).sort((a, b) => (b === made.choice) - (a === made.choice) || values[b] - values[a]).slice(0, 5);
  const most = Math.max(...values, 1e-9);
  const rows = order.map((o) =>
    element(
      "tr",
      { class: o === made.choice ? "chosen" : "", "aria-current": o === made.choice ? "true" : null },
      element("th", { scope: "row" }, `${o === made.choice ? "▸ " : ""}${choiceName(set, o)}`),
      element("td", {}, element("span", { class: "bar", style: `--share: ${Math.max(values[o] / most, 0)}` })),
      element("td", {}, number(values[o], 3)),
    ),
  );
  return element("table", {}, element("caption", {}, "The agent's choice, by learned value"), element("tbody", {}, rows));
}

function choiceName(set, o) {
  const { world } = set;
  if (o >= set.nSkills) return `move ${world.actions[o - set.nSkills]}`;
  const names = set.targets[o].map((j) => world.variables[j].name);
  return `skill ${o}${names.length ? `, ${names.join("+")}` : ""}`;
}

// Colours for numbers: the stronger the more, for shares and probabilities; for rewards, amber
// above 0 and blue below.
function heatColours(values, theme, shares) {
  const finite = Array.from(values).filter((value) => !Number.isNaN(value));
  const high = Math.max(...finite, 0), low = shares ? 0 : Math.min(...finite, 0);
  const most = Math.max(high, -low) || 1;
  const [above, below] = theme === "dark" ? ["255, 190, 60", "90, 150, 255"] : ["214, 96, 20", "40, 90, 200"];
  const colour = (value) => {
    const part = Math.abs(value) / most;
    return shares ? `rgba(${above}, ${0.15 + 0.75 * Math.sqrt(part)})` : `rgba(${value < 0 ? below : above}, ${0.75 * part})`;
  };
  return { low, high, colour };
}

function heatLegend(heat) {
  if (!heat || !(heat.high >= heat.low)) return [];
  const shades = [0, 0.25, 0.5, 0.75, 1].map((part) => element("i", { style: `background: ${heat.colour(heat.low + part * (heat.high - heat.low))}` }));
  return [element("span", {}, number(heat.low)), ...shades, element("span", {}, number(heat.high)), heat.note ?? ""];
}
