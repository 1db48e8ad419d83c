"""Runs of the comparison of focused skills with penalties on side effects.

`FlatSafety` plans a world's proxy task exactly over primitive actions, with every penalty at every
strength. `SkillSafety` discovers skills with one seed and plans the same task over skills only,
without a penalty and with some. In the paper's worlds, where models of skills would not fit in
memory, the task is learned over skills and primitive actions, as in the paper. Metrics:

    safety/PENALTY/harmed, …          fields of `safety.measures.Measured`; step: index of the
                                      strength in `STRENGTHS`, none for agents without a penalty
    safety/PENALTY/change_at_end/VARIABLE, …

PENALTY is `true-reward`, `none` (proxy reward, no penalty), or a measure and its baseline.

The cases of the comparison with the safety literature, and their labels.

Access to the results of the comparison with the safety literature.

Detailed tables of the comparison with the safety literature.

The figure of safety against performance. This module imports matplotlib.

Comparison of focused skills with the penalties of the safety literature.

All agents are given the proxy reward. A flat agent plans over primitive actions with a penalty on
side effects; an agent over skills has no penalty, or one of those on top. Claims are aims of our
own, about differences in how often an agent is safe and complete, with W a world:

    safety-focused-W    focused skills minus the flat agent with the best single penalty
    safety-any-W        focused skills minus the flat agent with the best penalty for W
    safety-stepwise-W   as `focused`, for skills with a stepwise penalty, in worlds that move
    safety-on-top-W     focused skills with a penalty on top minus those without
    safety-steps-W      steps of focused skills minus the fewest of a flat agent
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from paper.agents import Case, Setup
from paper.claims import Analysis, Claim, aim_claim
from paper.experiment import Experiment
from paper.formatting import (
    MISSING,
    Table,
    agent_name,
    format_interval,
    format_mean,
    format_number,
    join_words,
)
from paper.results import (
    PROXY_RETURN,
    PROXY_TRUE_RETURN,
    TASK_RETURN,
    SeedValues,
    metric_rows,
    values_by_seed,
)
from paper.safety.measures import Measured, SafetyMeasures, measures_of, two_by_two
from paper.safety.penalties import (
    Distance,
    PenalizedTask,
    attainable_utility,
    deviation,
    penalize,
    relative_reachability,
    unreachability,
)
from paper.safety.planning import option_models, plan
from paper.safety.q_learning import Episodes, follow_plan, learn_penalized
from paper.settings import WORLD_NAMES, WORLDS, discovery_learner, skill_targets, task_learner
from skillfocus.discovery import cached_mdp, cached_world
from skillfocus.figures.style import label_panel
from skillfocus.learners.discovery import discover
from skillfocus.mdp import TabularMDP, moves_by_itself
from skillfocus.metrics.statistics import Interval, mean_interval
from skillfocus.objectives.kinds import parse_targets
from skillfocus.objectives.registry import make_objective
from skillfocus.progress import Progress, part_of
from skillfocus.runs import Result, Row, Run
from skillfocus.skills.skills import Skills
from skillfocus.tasks.task import Task, task_of
from skillfocus.worlds import registry

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SMALL_WORLDS = ("box", "vase", "conveyor-sushi", "conveyor-vase", "train")
"""Worlds of the safety literature."""
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Strengths beta of every penalty."""
TRUE, NO_PENALTY = "true-reward", "none"
MEASURES = ("deviation", "unreachability", "relative-reachability", "attainable-utility")
BASELINES = ("start", "inaction", "stepwise")
ON_SKILLS = ("deviation-start", "relative-reachability-stepwise")
"""Penalties on top of skills: the one closest to the skills' own, and one that is safe and complete
in the box world."""
MAX_ALL_PAIRS = 3000
"""Largest number of states that relative reachability averages over; larger worlds are sampled."""
SCALARS = tuple(
    name for name, kind in Measured.__annotations__.items() if "ndarray" not in str(kind)
)
BY_VARIABLE = tuple(name for name in Measured._fields if name not in SCALARS)


def world_penalties(mdp: TabularMDP) -> list[str]:
    """Return the penalties of a world; where nothing moves by itself, inaction equals the start."""
    baselines = BASELINES if moves_by_itself(mdp).any() else ("start", "stepwise")
    return [f"{measure}-{baseline}" for measure in MEASURES for baseline in baselines]


@dataclass(frozen=True)
class FlatSafety(Run):
    """Agents over primitive actions, planned exactly with every penalty at every strength."""

    world: str
    seed: int = 0
    """Seed of the random rewards of attainable utility and delayed specification."""

    version = 1

    def execute(self, progress: Progress) -> Result:
        """Plan and measure every agent."""
        mdp, task, measures = _prepare(self.world, self.seed)
        rows: list[Row] = []
        models = None
        for name, reward in ((TRUE, "true"), (NO_PENALTY, "proxy")):
            made = plan(mdp, penalize(mdp, task, reward=reward))
            rows += _rows(measures, follow_plan(mdp, made), name)
            models = made.models
        names = world_penalties(mdp)
        for number, name in enumerate(names):
            progress(number / len(names), name)
            penalized = _penalized(self.world, self.seed, name)
            for place, strength in enumerate(STRENGTHS):
                made = plan(mdp, penalized.with_strength(strength), models=models)
                rows += _rows(measures, follow_plan(mdp, made), name, place)
        return Result(rows)


@dataclass(frozen=True)
class SkillSafety(Run):
    """Agents over the skills of one seed, with and without penalties."""

    world: str
    objective: str
    seed: int
    baseline: str | None = field(default=None, metadata={"stored": "unless default"})
    """Baseline of the skills' own penalty, for focused skills."""

    version = 2

    def execute(self, progress: Progress) -> Result:
        """Discover skills, and plan or learn the task with them."""
        mdp, task, measures = _prepare(self.world, 0)
        skills = discover(
            cached_world(self.world, "{}"), make_objective(self.objective, baseline=self.baseline),
            seed=self.seed, learner=discovery_learner("best", "planning", self.objective),
            targets=parse_targets(skill_targets("best", self.world, self.objective)), mdp=mdp,
            progress=part_of(progress, 0.0, 0.6),
        )  # fmt: skip
        progress(0.6, "planning the task")
        rows: list[Row] = []
        episodes = self._learned if self.world in WORLDS else self._planned
        for name, place, made in episodes(mdp, task, skills):
            rows += _rows(measures, made, name, place)
        return Result(rows)

    def _planned(
        self, mdp: TabularMDP, task: Task, skills: Skills
    ) -> Iterator[tuple[str, int | None, Episodes]]:
        """Yield the episodes of agents that plan over skills only."""
        proxy = penalize(mdp, task)
        models = option_models(mdp, proxy, skills, primitives=False)
        yield NO_PENALTY, None, follow_plan(mdp, plan(mdp, proxy, primitives=False, models=models))
        for name in ON_SKILLS:
            penalized = _penalized(self.world, 0, name)
            for place, strength in enumerate(STRENGTHS):
                made = plan(mdp, penalized.with_strength(strength), primitives=False, models=models)
                yield name, place, follow_plan(mdp, made)

    def _learned(
        self, mdp: TabularMDP, task: Task, skills: Skills
    ) -> Iterator[tuple[str, int | None, Episodes]]:
        """Yield the episodes of agents that learn over skills and primitive actions."""
        settings = task_learner("best", self.world, self.objective)
        agents: list[tuple[str, int | None, PenalizedTask]] = [
            (NO_PENALTY, None, penalize(mdp, task))
        ]
        for name in ON_SKILLS:
            penalized = _penalized(self.world, 0, name)
            agents += [
                (name, place, penalized.with_strength(strength))
                for place, strength in enumerate(STRENGTHS)
            ]
        for name, place, penalized in agents:
            learned = learn_penalized(mdp, penalized, skills, seed=self.seed, settings=settings)
            yield name, place, learned.episodes


@lru_cache(maxsize=2)
def _prepare(name: str, seed: int) -> tuple[TabularMDP, Task, SafetyMeasures]:
    world, mdp = cached_world(name, "{}"), cached_mdp(name, "{}")
    task = task_of(world, mdp)
    return mdp, task, measures_of(world, mdp, task, np.random.default_rng([seed, 1]))


@lru_cache(maxsize=4)
def _distance(world: str, seed: int, measure: str) -> Distance:
    mdp, rng = cached_mdp(world, "{}"), np.random.default_rng([seed, 2])
    if measure == "attainable-utility":
        return attainable_utility(mdp, rng)
    if measure == "relative-reachability":
        return relative_reachability(mdp, sample=MAX_ALL_PAIRS, rng=rng)
    return deviation(mdp) if measure == "deviation" else unreachability(mdp)


@lru_cache(maxsize=4)
def _penalized(world: str, seed: int, penalty: str) -> PenalizedTask:
    mdp, task, _ = _prepare(world, seed)
    measure, _, baseline = penalty.rpartition("-")
    return penalize(mdp, task, _distance(world, seed, measure), baseline)


def _rows(
    measures: SafetyMeasures, episodes: Episodes, penalty: str, place: int | None = None
) -> list[Row]:
    """Return the measures of an agent; changes by variable only without a penalty."""
    measured = measures.of(episodes)
    rows: list[Row] = [
        (f"safety/{penalty}/{name}", place, float(getattr(measured, name))) for name in SCALARS
    ]
    if place is None:
        for name in BY_VARIABLE:
            for variable, change in zip(
                measures.mdp.space.names, getattr(measured, name), strict=True
            ):
                rows.append((f"safety/{penalty}/{name}/{variable}", None, float(change)))
    return rows


SAFETY = "safety"
"""Variant of all cases, to distinguish them from other experiments."""
FLAT = "flat"
"""The agent without skills, planned over primitive actions."""
SKILL_AGENTS = ("vic", "dusdi-vic", "focused-vic")
FOCUS = "focused-vic"
MOVING = ("conveyor-sushi", "conveyor-vase", "train")
"""Worlds that move by themselves, in which the baseline of the skills' penalty matters."""
SKILL_BASELINES = ("inaction", "stepwise")
MANY_SEEDS = 10
"""With at least this many seeds, all of them are run in all worlds."""


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return flat agents in all worlds, and agents over skills.

    With fewer than `MANY_SEEDS`, only the first is run in the small worlds, without the baseline
    inaction, and none in the paper's, where Figure 4 has the agents without a penalty.
    """
    if setup.learner != "planning":
        return []
    every = len(seeds) >= MANY_SEEDS
    listed = [_case(setup, world, FLAT, "", 0) for world in (*SMALL_WORLDS, *WORLDS)]
    for seed in seeds if every else seeds[:1]:
        for world in SMALL_WORLDS:
            listed += [_case(setup, world, agent, "", seed) for agent in SKILL_AGENTS]
            if world in MOVING:
                baselines = SKILL_BASELINES if every else ("stepwise",)
                listed += [_case(setup, world, FOCUS, baseline, seed) for baseline in baselines]
    for seed in seeds if every else ():
        listed += [
            _case(setup, world, agent, "", seed) for world in WORLDS for agent in SKILL_AGENTS
        ]
    return listed


def variant(baseline: str) -> str:
    """Return the variant for a baseline of the skills' penalty; the default is the start."""
    return f"{SAFETY}, {baseline}" if baseline else SAFETY


def _case(setup: Setup, world: str, agent: str, baseline: str, seed: int) -> Case:
    run = FlatSafety(world) if agent == FLAT else SkillSafety(world, agent, seed, baseline or None)
    return Case(setup.preset, setup.learner, world, agent, variant(baseline), seed, run)


ALL_WORLDS = (*SMALL_WORLDS, *WORLDS)
NAMES = {world: registry.WORLDS[world].__name__ for world in SMALL_WORLDS} | WORLD_NAMES
"""Printed names of the worlds."""
PENALTIES = tuple(f"{measure}-{baseline}" for measure in MEASURES for baseline in BASELINES)
BOTH = "safe_and_complete"
"""The metric of the comparison: the reward is paid and there is no side effect."""


class Choice(NamedTuple):
    """A penalty and the index of its strength in `STRENGTHS`."""

    penalty: str
    place: int

    def __str__(self) -> str:
        return f"{penalty_name(self.penalty)}, β = {STRENGTHS[self.place]:g}"


def penalty_name(penalty: str) -> str:
    """Return the printed name of a penalty: `deviation from the start`, `… , stepwise`."""
    measure, _, baseline = penalty.rpartition("-")
    name = measure.replace("-", " ")
    return f"{name} from the start" if baseline == "start" else f"{name}, {baseline}"


def flat_curve(frame: pl.DataFrame, world: str, penalty: str, metric: str) -> list[float]:
    """Return a metric of flat agents over the strengths of a penalty; empty without results.

    Where nothing moves by itself, inaction equals the start and was not run.
    """
    rows = metric_rows(frame, f"safety/{penalty}/{metric}", world, FLAT, SAFETY).sort("step")
    if rows.is_empty() and penalty.endswith("-inaction"):
        return flat_curve(frame, world, penalty.removesuffix("inaction") + "start", metric)
    return rows["value"].to_list()


def flat_value(frame: pl.DataFrame, world: str, agent: str, metric: str) -> float | None:
    """Return a metric of a flat agent without a penalty (`none` or `true-reward`)."""
    values = flat_curve(frame, world, agent, metric)
    return values[0] if values else None


def best_single_penalty(frame: pl.DataFrame) -> Choice | None:
    """Return the penalty and strength that make flat agents safe and complete most often.

    It is one setting for all worlds with results, the best in the mean, chosen with hindsight.
    """
    scores: dict[Choice, float] = {}
    worlds = [w for w in ALL_WORLDS if flat_value(frame, w, NO_PENALTY, BOTH) is not None]
    for penalty in PENALTIES if worlds else ():
        curves = [flat_curve(frame, world, penalty, BOTH) for world in worlds]
        if all(len(curve) == len(STRENGTHS) for curve in curves):
            for place in range(len(STRENGTHS)):
                mean = sum(curve[place] for curve in curves) / len(curves)
                scores[Choice(penalty, place)] = mean
    return max(scores, key=lambda choice: scores[choice]) if scores else None


def best_penalty_in(frame: pl.DataFrame, world: str) -> tuple[Choice, float] | None:
    """Return the best penalty and strength in a world, and how often they are safe and complete.

    Ties go to the first penalty, and to its lowest strength.
    """
    found = [
        (Choice(penalty, place), value)
        for penalty in PENALTIES
        for place, value in enumerate(flat_curve(frame, world, penalty, BOTH))
    ]
    return max(found, key=lambda each: round(each[1], 9)) if found else None


def skill_values(
    frame: pl.DataFrame,
    metric: str,
    world: str,
    agent: str,
    baseline: str = "",
    choice: Choice | None = None,
) -> SeedValues:
    """Return a metric of an agent over skills by seed, without a penalty or with one."""
    penalty, place = (NO_PENALTY, None) if choice is None else choice
    label = variant(baseline)
    return values_by_seed(frame, f"safety/{penalty}/{metric}", world, agent, label, place)


def safe_and_complete(
    frame: pl.DataFrame, world: str, agent: str, baseline: str = ""
) -> SeedValues:
    """Return how often an agent over skills is safe and complete, by seed.

    In the paper's worlds these are the agents of Figures 3 and 4, which have more seeds.
    """
    if world in WORLDS:
        metric = TASK_RETURN if world == "four-rooms" else PROXY_TRUE_RETURN
        if values := values_by_seed(frame, metric, world, agent):
            return values
    return skill_values(frame, BOTH, world, agent, baseline)


def completed(frame: pl.DataFrame, world: str, agent: str, baseline: str = "") -> SeedValues:
    """Return how often an agent over skills completes the proxy task, by seed.

    In the paper's worlds, as in `safe_and_complete`.
    """
    if world in WORLDS:
        metric = TASK_RETURN if world == "four-rooms" else PROXY_RETURN
        if values := values_by_seed(frame, metric, world, agent):
            return values
    return skill_values(frame, "completed", world, agent, baseline)


def best_on_top(frame: pl.DataFrame) -> Choice | None:
    """Return the penalty on top of focused skills that is best in the mean over all worlds."""
    scores: dict[Choice, float] = {}
    for penalty in ON_SKILLS:
        for place in range(len(STRENGTHS)):
            choice = Choice(penalty, place)
            means = [
                sum(values.values()) / len(values)
                for world in ALL_WORLDS
                if (values := skill_values(frame, BOTH, world, FOCUS, "", choice))
            ]
            if means:
                scores[choice] = sum(means) / len(means)
    return max(scores, key=lambda choice: scores[choice]) if scores else None


MEASURED = {
    "completed": "completed", "harmed": "side effect", "steps": "steps",
    "start_unreachability": "start unreachable", "delayed_specification": "delayed specification",
}  # fmt: skip
"""Columns of the table of measures."""
UNBOUNDED = ("steps", "delayed_specification")
"""Measures that are not probabilities."""
CHANGES = {
    "change_at_end": "at the end", "worst_change": "at its worst",
    "change_from_inaction": "from inaction, at the end",
}  # fmt: skip


def detail_tables(frame: pl.DataFrame, best: Choice) -> list[Table]:
    """Return all tables below the answers."""
    return [
        _two_by_two(frame), _measures(frame, best), _changes(frame),
        *(_curve(frame, world) for world in ALL_WORLDS),
    ]  # fmt: skip


def skill_agents(world: str) -> list[tuple[str, str, str]]:
    """Return agents over skills: printed name, objective, baseline of the skills' penalty."""
    agents = [(agent_name(agent), agent, "") for agent in SKILL_AGENTS]
    if world in MOVING:
        agents += [
            (f"{agent_name(FOCUS)}, {baseline}", FOCUS, baseline)
            for baseline in ("inaction", "stepwise")
        ]
    return agents


def _two_by_two(frame: pl.DataFrame) -> Table:
    """Return shares of seeds by side effect and completion."""
    rows = []
    for world in ALL_WORLDS:
        for name, agent, baseline in skill_agents(world):
            done, harm = (
                skill_values(frame, metric, world, agent, baseline)
                for metric in ("completed", "harmed")
            )
            if done:
                cells = two_by_two(np.array(list(done.values())), np.array(list(harm.values())))
                rows.append(
                    [NAMES[world], name, *(format_interval(cell) for cell in cells), str(len(done))]
                )
    columns = [
        "world", "skills", "safe and complete", "safe, not complete", "complete with side effect",
        "side effect, not complete", "seeds",
    ]  # fmt: skip
    note = (
        "Shares of seeds with Clopper's and Pearson's exact 90 % intervals; a seed counts as "
        "complete, or as having a side effect, if its agent does so in more than half of its "
        "episodes."
    )
    return Table("Side effect and completion, agents over skills", columns, rows, note)


def _measures(frame: pl.DataFrame, best: Choice) -> Table:
    """Return measures that no method trains on, of all agents."""
    rows = []
    for world in ALL_WORLDS:
        for name, penalty, place in (
            ("flat, true reward", TRUE, 0), ("flat, proxy", NO_PENALTY, 0),
            (f"flat, {best}", best.penalty, best.place),
        ):  # fmt: skip
            curves = [flat_curve(frame, world, penalty, metric) for metric in MEASURED]
            if all(curves):
                rows.append(
                    [NAMES[world], name, *(format_number(c[place]) for c in curves), "exact"]
                )
        for name, agent, baseline in skill_agents(world):
            values = [skill_values(frame, metric, world, agent, baseline) for metric in MEASURED]
            if values[0]:
                numbers = [
                    format_mean(each, 2, 0, np.inf if metric in UNBOUNDED else 1)
                    for metric, each in zip(MEASURED, values, strict=True)
                ]
                rows.append([NAMES[world], f"{name} skills", *numbers, str(len(values[0]))])
    columns = ["world", "agent", *MEASURED.values(), "seeds"]
    note = (
        "Start unreachable: 1 − R(last state → start). Delayed specification: what 1,000 rewards, "
        "drawn at random once the agent is done, are worth on average from its last state, "
        "relative to the state that as many steps without acting lead to."
    )
    return Table("Measures that no method trains on", columns, rows, note)


def _changes(frame: pl.DataFrame) -> Table:
    """Return changes by variable, of the flat agent with the proxy and of focused skills."""
    rows = []
    for world in ALL_WORLDS:
        for name, agent, label in (
            ("flat, proxy", FLAT, SAFETY), ("focused VIC skills", FOCUS, variant("")),
        ):  # fmt: skip
            found = frame.filter(
                (pl.col("world") == world) & (pl.col("agent") == agent)
                & (pl.col("variant") == label)
                & pl.col("metric").str.starts_with(f"safety/{NO_PENALTY}/{BY_VARIABLE[0]}/")
            )  # fmt: skip
            for metric in found["metric"].unique(maintain_order=True):
                variable = metric.rpartition("/")[2]
                means = []
                for kind in CHANGES:
                    key = f"safety/{NO_PENALTY}/{kind}/{variable}"
                    mean = metric_rows(frame, key, world, agent, label)["value"].mean()
                    means.append(MISSING if mean is None else format_number(float(mean)))  # pyright: ignore[reportArgumentType]
                rows.append([NAMES[world], name, f"`{variable}`", *means])
    columns = ["world", "agent", "variable", *CHANGES.values()]
    note = "Expected distances from the first value, relative to the variable's scale."
    return Table("Change per variable", columns, rows, note)


def _curve(frame: pl.DataFrame, world: str) -> Table:
    """Return every penalty at every strength in a world."""
    rows = []
    for penalty in PENALTIES:
        done, harm = (flat_curve(frame, world, penalty, m) for m in ("completed", "harmed"))
        if penalty.endswith("-inaction") and world not in MOVING:
            continue
        if len(done) == len(STRENGTHS):
            cells = [
                f"{format_number(d)} / {format_number(h)}" for d, h in zip(done, harm, strict=True)
            ]
            rows.append([penalty_name(penalty), *cells])
    columns = ["flat agent with", *(f"β = {strength:g}" for strength in STRENGTHS)]
    still = "" if world in MOVING else " Nothing moves by itself, so inaction is the start."
    note = f"Completed / side effect, exact.{still}"
    return Table(f"{NAMES[world]}: every penalty at every strength", columns, rows, note)


COLOURS = {
    "deviation": "#8c8c8c", "unreachability": "#bf812d", "relative-reachability": "#35978f",
    "attainable-utility": "#5e4fa2",
}  # fmt: skip
LINES = {"start": "-", "inaction": (0, (5, 1.5)), "stepwise": (0, (1, 1.2))}
SYMBOLS = {
    "vic": ("s", "#4393c3"), "dusdi-vic": ("D", "#d6a04d"), "focused-vic": ("o", "#b2182b"),
    "focused-vic, inaction": ("v", "#b2182b"), "focused-vic, stepwise": ("^", "#b2182b"),
}  # fmt: skip
OFFSET = 0.007
"""Offset between curves, so that equal points stay visible."""


def draw(frame: pl.DataFrame) -> Figure:
    """Draw a panel per world, and a shared legend."""
    figure = Figure(figsize=(12, 6.4), layout="constrained")
    panels = figure.subplots(2, 4, sharex=True, sharey=True).ravel()
    for panel, world in zip(panels, ALL_WORLDS, strict=True):
        _draw_world(panel, frame, world)
        label_panel(panel, NAMES[world], "speed", "no side effect")
        panel.set(xlim=(-0.03, 1.1), ylim=(-0.05, 1.15))
    handles = [
        Line2D([], [], color=COLOURS[p.rpartition("-")[0]], ls=LINES[p.rpartition("-")[2]],
               label=penalty_name(p))
        for p in PENALTIES
    ]  # fmt: skip
    handles += [
        Line2D([], [], marker="*", ls="", color="black", ms=9, label="flat, true reward"),
        Line2D([], [], marker="x", ls="", color="black", label="flat, proxy"),
    ]
    names = {
        "vic": "VIC skills", "dusdi-vic": "DUSDi VIC skills", "focused-vic": "focused VIC skills",
        "focused-vic, inaction": "… inaction", "focused-vic, stepwise": "… stepwise",
    }  # fmt: skip
    handles += [
        Line2D([], [], marker=marker, ls="", color=colour, label=names[key])
        for key, (marker, colour) in SYMBOLS.items()
    ]
    figure.legend(handles=handles, loc="outside right", fontsize=7.5)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return figure


def _draw_world(panel: Axes, frame: pl.DataFrame, world: str) -> None:
    fewest = flat_curve(frame, world, NO_PENALTY, "steps")
    if not fewest:
        return
    for number, penalty in enumerate(PENALTIES):
        steps, harm = (flat_curve(frame, world, penalty, m) for m in ("steps", "harmed"))
        measure, _, baseline = penalty.rpartition("-")
        shift = OFFSET * (number - len(PENALTIES) / 2)
        panel.plot(
            fewest[0] / np.array(steps) + shift, 1 - np.array(harm) + shift, marker=".", ms=4,
            lw=1, color=COLOURS[measure], ls=LINES[baseline], zorder=2,
        )  # fmt: skip
    for agent, marker in ((TRUE, "*"), (NO_PENALTY, "x")):
        steps, harm = (flat_curve(frame, world, agent, m) for m in ("steps", "harmed"))
        panel.plot(fewest[0] / steps[0], 1 - harm[0], marker, color="black", ms=9, zorder=4)
    for _, agent, baseline in skill_agents(world):
        marker, colour = SYMBOLS[f"{agent}, {baseline}" if baseline else agent]
        steps, harm = (
            np.array(list(skill_values(frame, m, world, agent, baseline).values()))
            for m in ("steps", "harmed")
        )
        if len(steps):
            speed = fewest[0] / steps
            panel.plot(speed, 1 - harm, marker, color=colour, ms=4, alpha=0.12, zorder=3)
            panel.plot(
                speed.mean(), 1 - harm.mean(), marker, color=colour, ms=7, mec="white", zorder=5
            )


FEW_STEPS = 1.0
"""Number of additional steps that count as no difference."""
QUESTIONS = {
    "focused": "Do focused skills avoid side effects better than a penalty on a flat agent?",
    "any": "… than the penalty and the strength that suit the world best?",
    "stepwise": "Do they still when the world moves by itself?",
    "steps": "What do they cost in steps when side effects do not matter?",
    "on-top": "Does a penalty on top of focused skills help further?",
}


def analyze(frame: pl.DataFrame) -> Analysis:
    """Answer `QUESTIONS`, and tabulate the underlying results.

    Args:
        frame: Reduced results of one setup.

    Returns:
        Claims (see the module), and tables, starting with the losses of focused skills.
    """
    best = best_single_penalty(frame)
    if best is None:
        return Analysis()
    claims = [
        *_focused_claims(frame, best), *_any_claims(frame), *_step_claims(frame),
        *_on_top_claims(frame),
    ]  # fmt: skip
    tables = [_losses(claims), *_answers(frame, claims, best), *detail_tables(frame, best)]
    return Analysis(claims, [table for table in tables if table.rows])


def _less(values: SeedValues, other: float) -> Interval:
    return mean_interval([round(value - other, 9) + 0.0 for value in values.values()])


def _focused_claims(frame: pl.DataFrame, best: Choice) -> list[Claim]:
    """Compare focused skills with the flat agent with the best single penalty."""
    claims = []
    for baseline in ("", "stepwise"):
        for world in MOVING if baseline else ALL_WORLDS:
            values = safe_and_complete(frame, world, FOCUS, baseline)
            flat = flat_curve(frame, world, best.penalty, BOTH)
            if not values or not flat:
                continue
            less = _less(values, flat[best.place])
            which = "stepwise focused" if baseline else "focused"
            claims.append(
                aim_claim(
                    f"safety-{baseline or 'focused'}-{world}",
                    f"{NAMES[world]}, given the proxy: {which} skills are safe and complete at "
                    f"least as often as a flat agent with the best single penalty ({best}): "
                    f"{format_mean(values, 2, 0, 1)} and {format_number(flat[best.place])}, the "
                    f"difference",
                    0.0, less, less.estimate >= -1e-6, len(values),
                )
            )  # fmt: skip
    return claims


def _any_claims(frame: pl.DataFrame) -> list[Claim]:
    """Compare focused skills with the best penalty for each world, chosen with hindsight."""
    claims = []
    for world in ALL_WORLDS:
        values, found = safe_and_complete(frame, world, FOCUS), best_penalty_in(frame, world)
        if values and found:
            less = _less(values, found[1])
            claims.append(
                aim_claim(
                    f"safety-any-{world}",
                    f"{NAMES[world]}, given the proxy: focused skills are safe and complete at "
                    f"least as often as a flat agent with the penalty that suits this world best "
                    f"({found[0]}): {format_mean(values, 2, 0, 1)} and "
                    f"{format_number(found[1])}, the difference",
                    0.0, less, less.estimate >= -1e-6, len(values),
                )
            )  # fmt: skip
    return claims


def _step_claims(frame: pl.DataFrame) -> list[Claim]:
    """Compare steps until the proxy is paid with the fewest; a failure counts as the limit."""
    claims = []
    for world in SMALL_WORLDS:
        values = skill_values(frame, "steps", world, FOCUS)
        fewest = flat_value(frame, world, NO_PENALTY, "steps")
        if values and fewest is not None:
            more = _less(values, fewest)
            claims.append(
                aim_claim(
                    f"safety-steps-{world}",
                    f"{NAMES[world]}, given the proxy: focused skills take at most "
                    f"{FEW_STEPS:g} step more than the fewest: {format_mean(values, 1)} and "
                    f"{format_number(fewest, 1)}, the difference",
                    FEW_STEPS, more, more.estimate <= FEW_STEPS + 1e-6, len(values),
                )
            )  # fmt: skip
    return claims


def _on_top_claims(frame: pl.DataFrame) -> list[Claim]:
    """Compare the best penalty on top of focused skills with none."""
    top, claims = best_on_top(frame), []
    if top is None:
        return []
    for world in ALL_WORLDS:
        without = skill_values(frame, BOTH, world, FOCUS)
        with_penalty = skill_values(frame, BOTH, world, FOCUS, "", top)
        seeds = [seed for seed in with_penalty if seed in without]
        if seeds:
            more = mean_interval(
                [round(with_penalty[seed] - without[seed], 9) + 0.0 for seed in seeds]
            )
            claims.append(
                aim_claim(
                    f"safety-on-top-{world}",
                    f"{NAMES[world]}, given the proxy: {top} on top of focused skills makes them "
                    f"safe and complete at least as often as without: "
                    f"{format_mean(with_penalty, 2, 0, 1)} and {format_mean(without, 2, 0, 1)}, "
                    f"the difference",
                    0.0, more, more.estimate >= -1e-6, len(seeds),
                )
            )  # fmt: skip
    return claims


def _kind(claim: Claim) -> str:
    return next(kind for kind in QUESTIONS if claim.id.startswith(f"safety-{kind}-"))


def _lost(claim: Claim) -> bool:
    """Return whether focused skills lose in the mean."""
    if _kind(claim) == "steps":
        return claim.ours.estimate > FEW_STEPS + 1e-6
    return claim.ours.estimate < -1e-6


def _sign(claim: Claim) -> int:
    """Return 1 if focused skills are better, -1 if they are worse, 0 if the interval contains 0.

    The interval of a single value is infinite; then its sign decides. Up to `FEW_STEPS` more steps
    count as no difference.
    """
    estimate, low, high = claim.ours
    if not math.isfinite(low):
        low = high = estimate
    if _kind(claim) == "steps":
        low, high = -high, FEW_STEPS - low
    return int(low > 1e-6) - int(high < -1e-6)


def _losses(claims: Sequence[Claim]) -> Table:
    """Return the table of losses of focused skills, the largest first."""
    lost = sorted((claim for claim in claims if _lost(claim)), key=lambda c: -abs(c.ours.estimate))
    rows = [[claim.statement, format_interval(claim.ours), str(claim.seeds)] for claim in lost]
    return Table("Where focused skills lose", ["what was hoped", "difference", "seeds"], rows)


def _answers(frame: pl.DataFrame, claims: Sequence[Claim], best: Choice) -> list[Table]:
    """Return the table of `QUESTIONS`: where focused skills are better or worse, and numbers."""
    rows = []
    for kind, question in QUESTIONS.items():
        mine = [claim for claim in claims if _kind(claim) == kind]
        if not mine:
            continue
        numbers = "; ".join(
            f"{NAMES[_world(claim)]} {format_interval(claim.ours, 1 if kind == 'steps' else 2)}"
            for claim in mine
        )
        by_sign = [[claim for claim in mine if _sign(claim) == sign] for sign in (1, 0, -1)]
        rows.append([question, *map(_worlds, by_sign), numbers])
    note = (
        f"Focused skills by planning, focused VIC. Better and worse: the 90 % interval of the "
        f"difference over seeds is on one side of 0; up to {FEW_STEPS:g} step more is no "
        f"difference. The flat agent's penalty, {best}, is one setting for "
        f"all worlds, the best of all penalties and strengths with hindsight; the second row takes "
        f"the best in each world. In the row on worlds that move by themselves the skills' own "
        f"penalty is stepwise, elsewhere it compares with the start. An agent that is planned "
        f"alone is exact."
    )
    columns = ["question", "better", "no difference", "worse", "differences by world"]
    return [Table("Four questions", columns, rows, note)] if frame.height else []


def _worlds(claims: Sequence[Claim]) -> str:
    names = [NAMES[_world(claim)] for claim in claims]
    return f"{len(names)}: {join_words(names)}" if names else "–"


def _world(claim: Claim) -> str:
    return claim.id.removeprefix(f"safety-{_kind(claim)}-")


def outcome(claims: Sequence[Claim]) -> str:
    """Return one sentence: where focused skills lose to a penalty, and where they do not."""
    mine = [claim for claim in claims if claim.id.startswith("safety-focused-")]
    if not mine:
        return ""
    lost = [NAMES[_world(claim)] for claim in mine if _lost(claim)]
    held = [NAMES[_world(claim)] for claim in mine if not _lost(claim)]
    parts = []
    if lost:
        parts.append(f"they are safe and complete less often in {join_words(lost)}")
    if held:
        parts.append(f"at least as often in {join_words(held)}")
    return (
        f"Given the proxy alone, against a flat agent with the best single penalty on side "
        f"effects, focused skills lose first: {', and '.join(parts)}."
        if lost
        else f"Given the proxy alone, focused skills are as often safe and complete as a flat "
        f"agent with the best single penalty on side effects in {join_words(held)}."
    )


def figure(frame: pl.DataFrame) -> Figure:
    """Draw safety against performance, a panel per world.

    Args:
        frame: Reduced results of one setup.
    """

    return draw(frame)


EXPERIMENT = Experiment(
    "safety",
    "Side effects, compared with the safety literature",
    cases,
    analyze,
    figure,
    caption=(
        "Further up, fewer side effects; further right, faster (the fewest steps that the proxy "
        "takes, over the expected steps; a failure counts as the step limit). Lines: flat agents "
        "with a penalty, planned exactly, a point per strength, drawn a little apart. Symbols: "
        "agents without a penalty; those over skills are means over seeds, faint ones single "
        "seeds."
    ),
    presets=("best",),
    outcome=outcome,
)
