"""Comparison of focused skills with the penalties of the safety literature.

All agents are given the proxy reward. A flat agent plans over primitive actions with a penalty on
side effects; an agent over skills has no penalty, or one of those on top. In the paper's worlds,
where models of skills would not fit in memory, the task is learned over skills and primitive
actions, as in the paper. Metrics:

    safety/PENALTY/harmed, …          fields of `safety.measures.Measured`; step: index of the
                                      strength in `STRENGTHS`, none for agents without a penalty
    safety/PENALTY/change_at_end/VARIABLE, …

PENALTY is `true-reward`, `none` (proxy reward, no penalty), or a measure and its baseline.

Claims are aims of our own, about differences in how often an agent is safe and complete, with W a
world:

    safety-focused-W    focused skills minus the flat agent with the best single penalty
    safety-any-W        focused skills minus the flat agent with the best penalty for W
    safety-stepwise-W   as `focused`, for skills with a stepwise penalty, in worlds that move
    safety-on-top-W     focused skills with a penalty on top minus those without
    safety-steps-W      steps of focused skills minus the fewest of a flat agent
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product, starmap
from typing import NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from paper.agents import Case, Setup
from paper.claims import Analysis, Claim, Experiment, aim_claim, matching
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
    PROXY_TRUE_RETURN,
    TASK_RETURN,
    SeedValues,
    metric_rows,
    values_by_seed,
)
from paper.safety.measures import SafetyMeasures
from paper.safety.penalties import (
    Distance,
    PenalizedTask,
    attainable_utility,
    deviation,
    penalize,
    relative_reachability,
    unreachability,
)
from paper.safety.planning import (
    Episodes,
    OptionModel,
    follow_plan,
    learn_penalized,
    option_models,
    plan,
)
from paper.settings import WORLD_NAMES, WORLDS, discovery_learner, skill_targets, task_learner
from skillfocus.discovery import cached_mdp, cached_world
from skillfocus.figures import label_panel
from skillfocus.learners.discovery import discover
from skillfocus.mdp import TabularMDP, moves_by_itself
from skillfocus.metrics.statistics import mean_interval, success_interval
from skillfocus.objectives.kinds import parse_targets
from skillfocus.objectives.registry import make_objective
from skillfocus.progress import Progress, part_of
from skillfocus.runs import Result, Row, Run
from skillfocus.tasks.task import Task, task_of
from skillfocus.worlds import registry

SMALL_WORLDS = ("box", "vase", "conveyor-sushi", "conveyor-vase", "train")
"""Worlds of the safety literature."""
MOVING = ("conveyor-sushi", "conveyor-vase", "train")
"""Worlds that move by themselves, in which the baseline of the skills' penalty matters."""
ALL_WORLDS = (*SMALL_WORLDS, *WORLDS)
NAMES = {world: registry.WORLDS[world].__name__ for world in SMALL_WORLDS} | WORLD_NAMES
"""Printed names of the worlds."""
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Strengths beta of every penalty."""
TRUE, NO_PENALTY = "true-reward", "none"
MEASURES = ("deviation", "unreachability", "relative-reachability", "attainable-utility")
BASELINES = ("start", "inaction", "stepwise")
PENALTIES = tuple(f"{measure}-{baseline}" for measure in MEASURES for baseline in BASELINES)
ON_SKILLS = ("deviation-start", "relative-reachability-stepwise")
"""Penalties on top of skills: the one closest to the skills' own, and one that is safe and complete
in the box world."""
MAX_ALL_PAIRS = 3000
"""Largest number of states that relative reachability averages over; larger worlds are sampled."""
FLAT = "flat"
"""The agent without skills, planned over primitive actions."""
FOCUS = "focused-vic"
SKILL_AGENTS = ("vic", "dusdi-vic", FOCUS)
SKILL_BASELINES = ("inaction", "stepwise")
"""Baselines of the skills' penalty besides the start."""
SAFETY = "safety"
"""Variant of all cases, to distinguish them from other experiments."""
MANY_SEEDS = 10
"""With at least this many seeds, all of them are run in all worlds."""

# -------------------------------------------------------------------- runs


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
        true, proxy = (penalize(mdp, task, reward=kind) for kind in ("true", "proxy"))
        models = option_models(mdp, proxy, None)
        rows = _rows(measures, _planned(mdp, true), TRUE)
        rows += _rows(measures, _planned(mdp, proxy, models), NO_PENALTY)
        # Where nothing moves by itself, inaction equals the start.
        moves = moves_by_itself(mdp).any()
        names = [name for name in PENALTIES if moves or not name.endswith("-inaction")]
        for number, name in enumerate(names):
            progress(number / len(names), name)
            penalized = _penalized(self.world, self.seed, name)
            for place, strength in enumerate(STRENGTHS):
                made = _planned(mdp, replace(penalized, strength=strength), models)
                rows += _rows(measures, made, name, place)
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
        agents: list[tuple[str, int | None, PenalizedTask]] = [
            (NO_PENALTY, None, penalize(mdp, task))
        ]
        for name in ON_SKILLS:
            penalized = _penalized(self.world, 0, name)
            agents += [(name, i, replace(penalized, strength=x)) for i, x in enumerate(STRENGTHS)]
        models = None
        if self.world not in WORLDS:
            models = option_models(mdp, agents[0][2], skills, primitives=False)
        settings = task_learner("best", self.world, self.objective)
        rows: list[Row] = []
        for name, place, penalized in agents:
            if models is None:
                made = learn_penalized(
                    mdp, penalized, skills, seed=self.seed, settings=settings
                ).episodes
            else:
                made = _planned(mdp, penalized, models, primitives=False)
            rows += _rows(measures, made, name, place)
        return Result(rows)


def _planned(
    mdp: TabularMDP,
    penalized: PenalizedTask,
    models: list[OptionModel] | None = None,
    primitives: bool = True,
) -> Episodes:
    """Return the episodes of the best plan."""
    return follow_plan(mdp, plan(mdp, penalized, primitives=primitives, models=models))


@lru_cache(maxsize=2)
def _prepare(name: str, seed: int) -> tuple[TabularMDP, Task, SafetyMeasures]:
    world, mdp = cached_world(name, "{}"), cached_mdp(name, "{}")
    task = task_of(world, mdp)
    return mdp, task, SafetyMeasures(world, mdp, task, np.random.default_rng([seed, 1]))


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
    rows: list[Row] = []
    for name, value in measures.of(episodes)._asdict().items():
        metric = f"safety/{penalty}/{name}"
        if not isinstance(value, np.ndarray):
            rows.append((metric, place, float(value)))
        elif place is None:
            by_variable = zip(measures.mdp.space.names, value.tolist(), strict=True)
            rows += [(f"{metric}/{variable}", None, change) for variable, change in by_variable]
    return rows


# -------------------------------------------------------------------- cases


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return flat agents in all worlds, and agents over skills.

    With fewer than `MANY_SEEDS`, only the first is run in the small worlds, without the baseline
    inaction, and none in the paper's, where Figure 4 has the agents without a penalty.
    """
    if setup.learner != "planning":
        return []
    many = len(seeds) >= MANY_SEEDS
    return [_case(setup, world, FLAT, "", 0) for world in ALL_WORLDS] + [
        _case(setup, world, agent, baseline, seed)
        for worlds, own in ((SMALL_WORLDS, seeds if many else seeds[:1]), (WORLDS, seeds))
        for seed in own
        for world in worlds
        for _, agent, baseline in skill_agents(world)
        if many or (world in SMALL_WORLDS and baseline != "inaction")
    ]


def variant(baseline: str) -> str:
    """Return the variant for a baseline of the skills' penalty; the default is the start."""
    return f"{SAFETY}, {baseline}" if baseline else SAFETY


def _case(setup: Setup, world: str, agent: str, baseline: str, seed: int) -> Case:
    run = FlatSafety(world) if agent == FLAT else SkillSafety(world, agent, seed, baseline or None)
    return Case(setup.preset, setup.learner, world, agent, variant(baseline), seed, run)


# -------------------------------------------------------------------- reading results

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


def best_penalty(frame: pl.DataFrame, worlds: Sequence[str]) -> tuple[Choice, float] | None:
    """Return the penalty and strength that make flat agents safe and complete most often.

    It is one setting for all of these worlds that have results, chosen with hindsight. Ties go to
    the first penalty, and to its lowest strength.

    Returns:
        The choice, and how often it is safe and complete, the mean over worlds.
    """
    worlds = [world for world in worlds if flat_curve(frame, world, NO_PENALTY, BOTH)]
    scores: dict[Choice, float] = {}
    for penalty in PENALTIES if worlds else ():
        curves = [flat_curve(frame, world, penalty, BOTH) for world in worlds]
        for place, values in enumerate(zip(*curves, strict=True) if all(curves) else ()):
            scores[Choice(penalty, place)] = sum(values) / len(values)
    return max(scores.items(), key=lambda item: round(item[1], 9)) if scores else None


def skill_values(
    frame: pl.DataFrame,
    metric: str,
    world: str,
    agent: str = FOCUS,
    baseline: str = "",
    choice: Choice | None = None,
) -> SeedValues:
    """Return a metric of an agent over skills by seed, without a penalty or with one."""
    penalty, place = (NO_PENALTY, None) if choice is None else choice
    label = variant(baseline)
    return values_by_seed(frame, f"safety/{penalty}/{metric}", world, agent, label, place)


def safe_and_complete(frame: pl.DataFrame, world: str, baseline: str = "") -> SeedValues:
    """Return how often an agent over focused skills is safe and complete, by seed.

    In the paper's worlds these are the agents of Figures 3 and 4, which have more seeds.
    """
    if world in WORLDS:
        metric = TASK_RETURN if world == "four-rooms" else PROXY_TRUE_RETURN
        if values := values_by_seed(frame, metric, world, FOCUS):
            return values
    return skill_values(frame, BOTH, world, FOCUS, baseline)


def best_on_top(frame: pl.DataFrame) -> Choice | None:
    """Return the penalty on top of focused skills that is best in the mean over all worlds."""
    scores: dict[Choice, float] = {}
    for choice in starmap(Choice, product(ON_SKILLS, range(len(STRENGTHS)))):
        found = (skill_values(frame, BOTH, world, choice=choice) for world in ALL_WORLDS)
        if means := [sum(values.values()) / len(values) for values in found if values]:
            scores[choice] = sum(means) / len(means)
    return max(scores, key=lambda choice: scores[choice]) if scores else None


def skill_agents(world: str) -> list[tuple[str, str, str]]:
    """Return agents over skills: printed name, objective, baseline of the skills' penalty."""
    baselines = SKILL_BASELINES if world in MOVING else ()
    return [(agent_name(agent), agent, "") for agent in SKILL_AGENTS] + [
        (f"{agent_name(FOCUS)}, {baseline}", FOCUS, baseline) for baseline in baselines
    ]


# -------------------------------------------------------------------- claims

FEW_STEPS = 1.0
"""Number of additional steps that count as no difference."""
TINY = 1e-6
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
    found = best_penalty(frame, ALL_WORLDS)
    if found is None:
        return Analysis()
    best, _ = found
    claims = _claims(frame, best)
    tables = [
        _losses(claims), _answers(claims, best), _two_by_two(frame), _measures(frame, best),
        _changes(frame), *(_curve(frame, world) for world in ALL_WORLDS),
    ]  # fmt: skip
    return Analysis(claims, [table for table in tables if table.rows])


def _claims(frame: pl.DataFrame, best: Choice) -> list[Claim]:
    """Compare focused skills with flat agents, and with themselves under a penalty on top."""
    claims = []
    often = "skills are safe and complete at least as often as a flat agent with the"
    for kind, which, baseline, worlds in (
        ("focused", "focused", "", ALL_WORLDS),
        ("stepwise", "stepwise focused", "stepwise", MOVING),
    ):
        for world in worlds:
            if flat := flat_curve(frame, world, best.penalty, BOTH):
                words = f"{which} {often} best single penalty ({best})"
                values = safe_and_complete(frame, world, baseline)
                claims += _claim(kind, world, words, values, flat[best.place])
    for world in ALL_WORLDS:
        if found := best_penalty(frame, [world]):
            words = f"focused {often} penalty that suits this world best ({found[0]})"
            claims += _claim("any", world, words, safe_and_complete(frame, world), found[1])
    for world in SMALL_WORLDS:
        if fewest := flat_curve(frame, world, NO_PENALTY, "steps"):
            words = f"focused skills take at most {FEW_STEPS:g} step more than the fewest"
            claims += _claim("steps", world, words, skill_values(frame, "steps", world), fewest[0])
    if top := best_on_top(frame):
        words = (
            f"{top} on top of focused skills makes them safe and complete at least as often as "
            f"without"
        )
        for world in ALL_WORLDS:
            values = skill_values(frame, BOTH, world, choice=top)
            claims += _claim("on-top", world, words, values, skill_values(frame, BOTH, world))
    return claims


def _claim(
    kind: str, world: str, words: str, values: SeedValues, others: SeedValues | float
) -> list[Claim]:
    """Return an aim for the difference from a number or from other values; none without seeds."""
    digits, *possible = (1,) if kind == "steps" else (2, 0, 1)
    if isinstance(others, dict):
        by_seed, against = others, format_mean(others, digits, *possible)
    else:
        by_seed, against = dict.fromkeys(values, others), format_number(others, digits)
    seeds = [seed for seed in values if seed in by_seed]
    if not seeds:
        return []
    difference = mean_interval([round(values[s] - by_seed[s], 9) + 0.0 for s in seeds])
    statement = (
        f"{NAMES[world]}, given the proxy: {words}: {format_mean(values, digits, *possible)} and "
        f"{against}, the difference"
    )
    aim = FEW_STEPS if kind == "steps" else 0.0
    name, reached = f"safety-{kind}-{world}", not _is_loss(kind, difference.estimate)
    return [aim_claim(name, statement, aim, difference, reached, len(seeds))]


def _is_loss(kind: str, estimate: float) -> bool:
    """Return whether focused skills lose in the mean."""
    return estimate > FEW_STEPS + TINY if kind == "steps" else estimate < -TINY


def _parts(claim: Claim) -> tuple[str, str]:
    """Return the kind and the world of a claim."""
    found = re.fullmatch(rf"safety-({'|'.join(QUESTIONS)})-(.*)", claim.id)
    assert found is not None
    return found[1], found[2]


def _lost(claim: Claim) -> bool:
    return _is_loss(_parts(claim)[0], claim.ours.estimate)


def _sign(claim: Claim) -> int:
    """Return 1 if focused skills are better, -1 if they are worse, 0 if the interval contains 0.

    The interval of a single value is infinite; then its sign decides. Up to `FEW_STEPS` more steps
    count as no difference.
    """
    estimate, low, high = claim.ours
    if not math.isfinite(low):
        low = high = estimate
    if _parts(claim)[0] == "steps":
        low, high = -high, FEW_STEPS - low
    return int(low > TINY) - int(high < -TINY)


def _names(claims: Sequence[Claim]) -> list[str]:
    return [NAMES[_parts(claim)[1]] for claim in claims]


def outcome(claims: Sequence[Claim]) -> str:
    """Return one sentence: where focused skills lose to a penalty, and where they do not."""
    mine = matching(claims, "safety-focused-.*")
    lost = join_words(_names([claim for claim in mine if _lost(claim)]))
    held = join_words(_names([claim for claim in mine if not _lost(claim)]))
    if not lost:
        return held and (
            f"Given the proxy alone, focused skills are as often safe and complete as a flat "
            f"agent with the best single penalty on side effects in {held}."
        )
    elsewhere = f", and at least as often in {held}" if held else ""
    return (
        f"Given the proxy alone, against a flat agent with the best single penalty on side "
        f"effects, focused skills lose first: they are safe and complete less often in "
        f"{lost}{elsewhere}."
    )


# -------------------------------------------------------------------- tables

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


def _losses(claims: Sequence[Claim]) -> Table:
    """Return the table of losses of focused skills, the largest first."""
    lost = sorted(filter(_lost, claims), key=lambda claim: -abs(claim.ours.estimate))
    rows = [[claim.statement, format_interval(claim.ours), str(claim.seeds)] for claim in lost]
    return Table("Where focused skills lose", ["what was hoped", "difference", "seeds"], rows)


def _answers(claims: Sequence[Claim], best: Choice) -> Table:
    """Return the table of `QUESTIONS`: where focused skills are better or worse, and numbers."""
    rows = []
    for kind, question in QUESTIONS.items():
        mine = [claim for claim in claims if _parts(claim)[0] == kind]
        if mine:
            by_sign = [_names([c for c in mine if _sign(c) == sign]) for sign in (1, 0, -1)]
            worlds = [f"{len(n)}: {join_words(n)}" if n else MISSING for n in by_sign]
            differences = [format_interval(c.ours, 1 if kind == "steps" else 2) for c in mine]
            pairs = zip(_names(mine), differences, strict=True)
            rows.append([question, *worlds, "; ".join(map(" ".join, pairs))])
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
    return Table("Four questions", columns, rows, note)


def _two_by_two(frame: pl.DataFrame) -> Table:
    """Return shares of seeds by side effect and completion."""
    rows = []
    for world, (name, agent, baseline) in [(w, a) for w in ALL_WORLDS for a in skill_agents(w)]:
        done, harm = (
            skill_values(frame, metric, world, agent, baseline)
            for metric in ("completed", "harmed")
        )
        if done:
            counts = two_by_two([*done.values()], [*harm.values()])
            shares = [format_interval(success_interval(count, len(done))) for count in counts]
            rows.append([NAMES[world], name, *shares, str(len(done))])
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


def two_by_two(completed: Sequence[float], harmful: Sequence[float]) -> list[int]:
    """Count agents by side effect and completion.

    Args:
        completed: Probability that each agent completes the task; above 1/2 counts.
        harmful: Probability that each agent causes a side effect; likewise.

    Returns:
        Safe and complete, safe and incomplete, harmful and complete, harmful and incomplete.
    """
    found = [(h > 0.5, c > 0.5) for c, h in zip(completed, harmful, strict=True)]
    return [found.count((harm, done)) for harm in (False, True) for done in (True, False)]


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
    prefix = f"safety/{NO_PENALTY}/"
    for world in ALL_WORLDS:
        for name, agent in (("flat, proxy", FLAT), ("focused VIC skills", FOCUS)):
            mine = frame.filter(
                (pl.col("world") == world) & (pl.col("agent") == agent)
                & (pl.col("variant") == SAFETY)
            )  # fmt: skip
            means = dict(mine.group_by("metric", maintain_order=True).agg(pl.mean("value")).rows())
            for metric in means:
                if metric.startswith(f"{prefix}change_at_end/"):
                    variable = metric.rpartition("/")[2]
                    numbers = [means.get(f"{prefix}{kind}/{variable}") for kind in CHANGES]
                    cells = [MISSING if n is None else format_number(n) for n in numbers]
                    rows.append([NAMES[world], name, f"`{variable}`", *cells])
    columns = ["world", "agent", "variable", *CHANGES.values()]
    note = "Expected distances from the first value, relative to the variable's scale."
    return Table("Change per variable", columns, rows, note)


def _curve(frame: pl.DataFrame, world: str) -> Table:
    """Return every penalty at every strength in a world."""
    rows = []
    for penalty in PENALTIES:
        done, harm = (flat_curve(frame, world, penalty, m) for m in ("completed", "harmed"))
        repeats_start = penalty.endswith("-inaction") and world not in MOVING
        if len(done) == len(STRENGTHS) and not repeats_start:
            cells = [
                f"{format_number(d)} / {format_number(h)}" for d, h in zip(done, harm, strict=True)
            ]
            rows.append([penalty_name(penalty), *cells])
    columns = ["flat agent with", *(f"β = {strength:g}" for strength in STRENGTHS)]
    still = "" if world in MOVING else " Nothing moves by itself, so inaction is the start."
    note = f"Completed / side effect, exact.{still}"
    return Table(f"{NAMES[world]}: every penalty at every strength", columns, rows, note)


# -------------------------------------------------------------------- figure

COLOURS = {
    "deviation": "#8c8c8c", "unreachability": "#bf812d", "relative-reachability": "#35978f",
    "attainable-utility": "#5e4fa2",
}  # fmt: skip
LINES = {"start": "-", "inaction": (0, (5, 1.5)), "stepwise": (0, (1, 1.2))}
FLAT_MARKERS = {TRUE: ("*", "flat, true reward", 9), NO_PENALTY: ("x", "flat, proxy", 6)}
"""Marker, label and size in the legend of agents without a penalty."""
SYMBOLS = {
    ("vic", ""): ("s", "#4393c3", "VIC skills"),
    ("dusdi-vic", ""): ("D", "#d6a04d", "DUSDi VIC skills"),
    ("focused-vic", ""): ("o", "#b2182b", "focused VIC skills"),
    ("focused-vic", "inaction"): ("v", "#b2182b", "… inaction"),
    ("focused-vic", "stepwise"): ("^", "#b2182b", "… stepwise"),
}
"""Marker, colour and label of agents over skills, by objective and baseline."""
OFFSET = 0.007
"""Offset between curves, so that equal points stay visible."""


def figure(frame: pl.DataFrame) -> Figure:
    """Draw safety against performance, a panel per world, and a shared legend.

    Args:
        frame: Reduced results of one setup.
    """
    drawn = Figure(figsize=(12, 6.4), layout="constrained")
    panels = drawn.subplots(2, 4, sharex=True, sharey=True).ravel()
    for panel, world in zip(panels, ALL_WORLDS, strict=True):
        _draw_world(panel, frame, world)
        label_panel(panel, NAMES[world], "speed", "no side effect")
        panel.set(xlim=(-0.03, 1.1), ylim=(-0.05, 1.15))
    handles = [
        Line2D([], [], color=COLOURS[measure], ls=LINES[baseline],
               label=penalty_name(f"{measure}-{baseline}"))
        for measure in MEASURES
        for baseline in BASELINES
    ]  # fmt: skip
    handles += [
        Line2D([], [], marker=marker, ls="", color="black", ms=size, label=label)
        for marker, label, size in FLAT_MARKERS.values()
    ]
    handles += [
        Line2D([], [], marker=marker, ls="", color=colour, label=label)
        for marker, colour, label in SYMBOLS.values()
    ]
    drawn.legend(handles=handles, loc="outside right", fontsize=7.5)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return drawn


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
    for agent, (marker, _, _) in FLAT_MARKERS.items():
        steps, harm = (flat_curve(frame, world, agent, m) for m in ("steps", "harmed"))
        panel.plot(fewest[0] / steps[0], 1 - harm[0], marker, color="black", ms=9, zorder=4)
    for _, agent, baseline in skill_agents(world):
        marker, colour, _ = SYMBOLS[agent, baseline]
        steps, harm = (
            np.array(list(skill_values(frame, m, world, agent, baseline).values()))
            for m in ("steps", "harmed")
        )
        if len(steps):
            speed, safe = fewest[0] / steps, 1 - harm
            panel.plot(speed, safe, marker, color=colour, ms=4, alpha=0.12, zorder=3)
            panel.plot(speed.mean(), safe.mean(), marker, color=colour, ms=7, mec="white", zorder=5)


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
