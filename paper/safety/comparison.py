"""Comparison of focused skills with the penalties of the safety literature.

All agents are given the proxy reward. A flat agent plans over primitive actions with a penalty on
side effects; an agent over skills has no penalty, or one of those on top. In the paper's worlds,
where models of skills would not fit in memory, the task is learned over skills and primitive
actions, as in the paper. Metrics:

    safety/PENALTY/harmed, …          fields of `safety.measures.Measured`; step: index of the
                                      strength in `STRENGTHS`, none for agents without a penalty
    safety/PENALTY/change_at_end/VARIABLE, …

PENALTY is `true-reward`, `none` (proxy reward, no penalty), or a measure and its baseline.

Claims are aims of our own, about differences in how often an agent is safe and complete: `safety-…`
in `claims.toml`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import product, starmap
from typing import NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import skillfocus as sf
from paper import formatting as fmt
from paper.agents import Case, Setup
from paper.claims import ROUNDING, Analysis, Claim, Experiment, aim_claim, matching
from paper.results import (
    PROXY_TRUE_RETURN,
    TASK_RETURN,
    SeedValues,
    differences,
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
from skillfocus.mdp import moves_by_itself
from skillfocus.metrics.statistics import success_interval
from skillfocus.objectives.kinds import parse_targets
from skillfocus.objectives.registry import make_objective
from skillfocus.progress import Progress, part_of
from skillfocus.runs import Row
from skillfocus.tasks.task import Task

SMALL_WORLDS = ("box", "vase", "conveyor-sushi", "conveyor-vase", "train")
"""Worlds of the safety literature."""
MOVING = ("conveyor-sushi", "conveyor-vase", "train")
"""Worlds that move by themselves, in which the baseline of the skills' penalty matters."""
ALL_WORLDS = (*SMALL_WORLDS, *WORLDS)
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Strengths beta of every penalty."""
TRUE, NO_PENALTY = "true-reward", "none"
MAX_ALL_PAIRS = 3000
"""Largest number of states that relative reachability averages over; larger worlds are sampled."""
MEASURES: dict[str, Callable[[sf.TabularMDP, np.random.Generator], Distance]] = {
    "deviation": lambda mdp, _: deviation(mdp),
    "unreachability": lambda mdp, _: unreachability(mdp),
    "relative-reachability": lambda mdp, rng: relative_reachability(
        mdp, sample=MAX_ALL_PAIRS, rng=rng
    ),
    "attainable-utility": attainable_utility,
}
BASELINES = ("start", "inaction", "stepwise")
PENALTIES = tuple(f"{measure}-{baseline}" for measure in MEASURES for baseline in BASELINES)
ON_SKILLS = ("deviation-start", "relative-reachability-stepwise")
"""Penalties on top of skills: the one closest to the skills' own, and one that is safe and complete
in the box world."""
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
class FlatSafety(sf.Run):
    """Agents over primitive actions, planned exactly with every penalty at every strength."""

    world: str
    seed: int = 0
    """Seed of the random rewards of attainable utility and delayed specification."""

    version = 1

    def execute(self, progress: Progress) -> sf.Result:
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
        return sf.Result(rows)


@dataclass(frozen=True)
class SkillSafety(sf.Run):
    """Agents over the skills of one seed, with and without penalties."""

    world: str
    objective: str
    seed: int
    baseline: str | None = field(default=None, metadata={"stored": "unless default"})
    """Baseline of the skills' own penalty, for focused skills."""

    version = 2

    def execute(self, progress: Progress) -> sf.Result:
        """Discover skills, and plan or learn the task with them."""
        mdp, task, measures = _prepare(self.world, 0)
        skills = sf.discover(
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
                _, made = learn_penalized(mdp, penalized, skills, seed=self.seed, settings=settings)
            else:
                made = _planned(mdp, penalized, models, primitives=False)
            rows += _rows(measures, made, name, place)
        return sf.Result(rows)


def _planned(
    mdp: sf.TabularMDP,
    penalized: PenalizedTask,
    models: list[OptionModel] | None = None,
    primitives: bool = True,
) -> Episodes:
    """Return the episodes of the best plan."""
    return follow_plan(mdp, plan(mdp, penalized, primitives=primitives, models=models))


@lru_cache(maxsize=2)
def _prepare(name: str, seed: int) -> tuple[sf.TabularMDP, Task, SafetyMeasures]:
    world, mdp = cached_world(name, "{}"), cached_mdp(name, "{}")
    task = sf.task_of(world, mdp)
    return mdp, task, SafetyMeasures(world, mdp, task, np.random.default_rng([seed, 1]))


@lru_cache(maxsize=4)
def _distance(world: str, seed: int, measure: str) -> Distance:
    return MEASURES[measure](cached_mdp(world, "{}"), np.random.default_rng([seed, 2]))


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
    return [(fmt.agent_name(agent), agent, "") for agent in SKILL_AGENTS] + [
        (f"{fmt.agent_name(FOCUS)}, {baseline}", FOCUS, baseline) for baseline in baselines
    ]


# -------------------------------------------------------------------- claims

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

    Returns:
        Claims, and tables, starting with the losses of focused skills.
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
    return Analysis() + Analysis(claims, tables)


def _claims(frame: pl.DataFrame, best: Choice) -> list[Claim]:
    """Compare focused skills with flat agents, and with themselves under a penalty on top."""
    claims = []
    for kind, baseline, worlds in (("focused", "", ALL_WORLDS), ("stepwise", "stepwise", MOVING)):
        for world in worlds:
            if flat := flat_curve(frame, world, best.penalty, BOTH):
                values = safe_and_complete(frame, world, baseline)
                claims += _claim(kind, world, values, flat[best.place], best)
    for world in ALL_WORLDS:
        if found := best_penalty(frame, [world]):
            claims += _claim("any", world, safe_and_complete(frame, world), found[1], found[0])
    for world in SMALL_WORLDS:
        if fewest := flat_curve(frame, world, NO_PENALTY, "steps"):
            claims += _claim("steps", world, skill_values(frame, "steps", world), fewest[0])
    if top := best_on_top(frame):
        for world in ALL_WORLDS:
            values, without = (skill_values(frame, BOTH, world, choice=c) for c in (top, None))
            claims += _claim("on-top", world, values, without, top)
    return claims


def _claim(
    kind: str,
    world: str,
    values: SeedValues,
    others: SeedValues | float,
    penalty: Choice | None = None,
) -> list[Claim]:
    """Return an aim for the difference from a number or from other values; none without seeds."""
    digits, *possible = (1,) if kind == "steps" else (2, 0, 1)
    if isinstance(others, dict):
        against = fmt.mean(others, digits, *possible)
    else:
        against, others = fmt.number(others, digits), dict.fromkeys(values, float(others))
    rounded = {seed: round(x, 9) + 0.0 for seed, x in differences(values, others).items()}
    aim, sign = (FEW_STEPS, -1) if kind == "steps" else (0.0, 1)
    return aim_claim(
        f"safety-{kind}", aim, rounded, sign, world=world, penalty=penalty,
        mine=fmt.mean(values, digits, *possible), others=against,
    )  # fmt: skip


def _kind(claim: Claim, kind: str) -> bool:
    return claim.id.startswith(f"safety-{kind}-")


def _lost(claim: Claim) -> bool:
    """Return whether focused skills lose in the mean."""
    assert claim.reference is not None
    more = claim.ours.estimate - claim.reference
    return more > ROUNDING if _kind(claim, "steps") else more < -ROUNDING


def _sign(claim: Claim) -> int:
    """Return 1 if focused skills are better, -1 if they are worse, 0 if the interval contains 0.

    The interval of a single value is infinite; then its sign decides. Up to `FEW_STEPS` more steps
    count as no difference.
    """
    estimate, low, high = claim.ours
    if not math.isfinite(low):
        low = high = estimate
    if _kind(claim, "steps"):
        low, high = -high, FEW_STEPS - low
    return int(low > ROUNDING) - int(high < -ROUNDING)


def _names(claims: Sequence[Claim]) -> list[str]:
    """Return the worlds of some claims, with which their statements begin."""
    return [claim.statement.partition(",")[0] for claim in claims]


def outcome(claims: Sequence[Claim]) -> str:
    """Return one sentence: where focused skills lose to a penalty, and where they do not."""
    mine = matching(claims, "safety-focused-.*")
    lost = fmt.join_words(_names([claim for claim in mine if _lost(claim)]))
    held = fmt.join_words(_names([claim for claim in mine if not _lost(claim)]))
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


def _losses(claims: Sequence[Claim]) -> fmt.Table:
    """Return the table of losses of focused skills, the largest first."""
    lost = sorted(filter(_lost, claims), key=lambda claim: -abs(claim.ours.estimate))
    rows = [[claim.statement, fmt.interval(claim.ours), str(claim.seeds)] for claim in lost]
    return fmt.Table("Where focused skills lose", ["what was hoped", "difference", "seeds"], rows)


def _answers(claims: Sequence[Claim], best: Choice) -> fmt.Table:
    """Return the table of `QUESTIONS`: where focused skills are better or worse, and numbers."""
    rows = []
    for kind, question in QUESTIONS.items():
        if mine := [claim for claim in claims if _kind(claim, kind)]:
            row = {"question": question}
            for sign, answer in ((1, "better"), (0, "no difference"), (-1, "worse")):
                worlds = _names([claim for claim in mine if _sign(claim) == sign])
                text = f"{len(worlds)}: {fmt.join_words(worlds)}"
                row[answer] = text if worlds else fmt.MISSING
            numbers = [fmt.interval(c.ours, 1 if kind == "steps" else 2) for c in mine]
            pairs = zip(_names(mine), numbers, strict=True)
            rows.append({**row, "differences by world": "; ".join(map(" ".join, pairs))})
    note = (
        f"Focused skills by planning, focused VIC. Better and worse: the 90 % interval of the "
        f"difference over seeds is on one side of 0; up to {FEW_STEPS:g} step more is no "
        f"difference. The flat agent's penalty, {best}, is one setting for "
        f"all worlds, the best of all penalties and strengths with hindsight; the second row takes "
        f"the best in each world. In the row on worlds that move by themselves the skills' own "
        f"penalty is stepwise, elsewhere it compares with the start. An agent that is planned "
        f"alone is exact."
    )
    return fmt.Table.of("Four questions", rows, note)


def _two_by_two(frame: pl.DataFrame) -> fmt.Table:
    """Return shares of seeds by side effect and completion."""
    rows = []
    for world, (name, agent, baseline) in [(w, a) for w in ALL_WORLDS for a in skill_agents(w)]:
        done, harm = (
            skill_values(frame, metric, world, agent, baseline)
            for metric in ("completed", "harmed")
        )
        if done:
            counts = two_by_two([*done.values()], [*harm.values()])
            shares = [fmt.interval(success_interval(count, len(done))) for count in counts]
            rows.append([WORLD_NAMES[world], name, *shares, str(len(done))])
    columns = [
        "world", "skills", "safe and complete", "safe, not complete", "complete with side effect",
        "side effect, not complete", "seeds",
    ]  # fmt: skip
    note = (
        "Shares of seeds with Clopper's and Pearson's exact 90 % intervals; a seed counts as "
        "complete, or as having a side effect, if its agent does so in more than half of its "
        "episodes."
    )
    return fmt.Table("Side effect and completion, agents over skills", columns, rows, note)


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


def _measures(frame: pl.DataFrame, best: Choice) -> fmt.Table:
    """Return measures that no method trains on, of all agents."""
    rows = []
    for world in ALL_WORLDS:
        for name, penalty, place in (
            ("flat, true reward", TRUE, 0), ("flat, proxy", NO_PENALTY, 0),
            (f"flat, {best}", best.penalty, best.place),
        ):  # fmt: skip
            curves = [flat_curve(frame, world, penalty, metric) for metric in MEASURED]
            if all(curves):
                numbers = [fmt.number(curve[place]) for curve in curves]
                rows.append([WORLD_NAMES[world], name, *numbers, "exact"])
        for name, agent, baseline in skill_agents(world):
            values = {m: skill_values(frame, m, world, agent, baseline) for m in MEASURED}
            if n := len(values["completed"]):
                numbers = [
                    fmt.mean(by_seed, 2, 0, np.inf if metric in UNBOUNDED else 1)
                    for metric, by_seed in values.items()
                ]
                rows.append([WORLD_NAMES[world], f"{name} skills", *numbers, str(n)])
    columns = ["world", "agent", *MEASURED.values(), "seeds"]
    note = (
        "Start unreachable: 1 − R(last state → start). Delayed specification: what 1,000 rewards, "
        "drawn at random once the agent is done, are worth on average from its last state, "
        "relative to the state that as many steps without acting lead to."
    )
    return fmt.Table("Measures that no method trains on", columns, rows, note)


def _changes(frame: pl.DataFrame) -> fmt.Table:
    """Return changes by variable, of the flat agent with the proxy and of focused skills."""
    rows = []
    prefix = f"safety/{NO_PENALTY}/"
    agents = (("flat, proxy", FLAT), ("focused VIC skills", FOCUS))
    for world, (name, agent) in product(ALL_WORLDS, agents):
        mine = frame.filter(world=world, agent=agent, variant=SAFETY)
        means = dict(mine.group_by("metric", maintain_order=True).agg(pl.mean("value")).rows())
        for metric in means:
            if metric.startswith(f"{prefix}change_at_end/"):
                variable = metric.rpartition("/")[2]
                numbers = [means.get(f"{prefix}{kind}/{variable}") for kind in CHANGES]
                cells = [fmt.MISSING if n is None else fmt.number(n) for n in numbers]
                rows.append([WORLD_NAMES[world], name, f"`{variable}`", *cells])
    columns = ["world", "agent", "variable", *CHANGES.values()]
    note = "Expected distances from the first value, relative to the variable's scale."
    return fmt.Table("Change per variable", columns, rows, note)


def _curve(frame: pl.DataFrame, world: str) -> fmt.Table:
    """Return every penalty at every strength in a world."""
    rows = []
    for penalty in PENALTIES:
        pairs = _pairs(frame, world, penalty, "completed")
        repeats_start = penalty.endswith("-inaction") and world not in MOVING
        if len(pairs) == len(STRENGTHS) and not repeats_start:
            cells = [f"{fmt.number(done)} / {fmt.number(harm)}" for done, harm in pairs]
            rows.append([penalty_name(penalty), *cells])
    columns = ["flat agent with", *(f"β = {strength:g}" for strength in STRENGTHS)]
    still = "" if world in MOVING else " Nothing moves by itself, so inaction is the start."
    note = f"Completed / side effect, exact.{still}"
    title = f"{WORLD_NAMES[world]}: every penalty at every strength"
    return fmt.Table(title, columns, rows, note)


def _pairs(frame: pl.DataFrame, world: str, penalty: str, metric: str) -> np.ndarray:
    """Return a metric and the probability of a side effect by strength, [n_strengths, 2]."""
    return np.array([flat_curve(frame, world, penalty, each) for each in (metric, "harmed")]).T


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
    """Draw safety against performance, a panel per world, and a shared legend."""
    draw = partial(_draw_world, frame)
    drawn = fmt.draw_grid(ALL_WORLDS, draw, (12, 6.4), rows=2, sharex=True, sharey=True)
    handles = [
        Line2D([], [], color=COLOURS[measure], ls=LINES[baseline],
               label=penalty_name(f"{measure}-{baseline}"))
        for measure, baseline in product(MEASURES, BASELINES)
    ]  # fmt: skip
    handles += [
        Line2D([], [], marker=marker, ls="", color="black", ms=size, label=label)
        for marker, label, size in FLAT_MARKERS.values()
    ]
    handles += [
        Line2D([], [], marker=marker, ls="", color=colour, label=label)
        for marker, colour, label in SYMBOLS.values()
    ]
    fmt.add_legend(drawn, handles)
    return drawn


def _draw_world(frame: pl.DataFrame, panel: Axes, world: str) -> None:
    label_panel(panel, WORLD_NAMES[world], "speed", "no side effect")
    panel.set(xlim=(-0.03, 1.1), ylim=(-0.05, 1.15))
    fewest = flat_curve(frame, world, NO_PENALTY, "steps")
    if not fewest:
        return
    for number, penalty in enumerate(PENALTIES):
        steps, harm = _pairs(frame, world, penalty, "steps").T
        measure, _, baseline = penalty.rpartition("-")
        shift = OFFSET * (number - len(PENALTIES) / 2)
        panel.plot(
            fewest[0] / steps + shift, 1 - harm + shift, marker=".", ms=4, lw=1,
            color=COLOURS[measure], ls=LINES[baseline], zorder=2,
        )  # fmt: skip
    for agent, (marker, _, _) in FLAT_MARKERS.items():
        steps, harm = _pairs(frame, world, agent, "steps").T
        panel.plot(fewest[0] / steps, 1 - harm, marker, color="black", ms=9, zorder=4)
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
