"""Controls: what the benefit of focus must not come from, and how much can be had.

- Random skills: policies drawn at random, with the paper's assignment of targets.
- Permuted targets: the penalty leaves out the wrong variables, so the benefit must vanish.
- Oracle skills: planned for what they are to do, without discovery.
- No strength: lambda = 0 must equal a penalty that is zero, bit for bit.

Claims: `control-…` in `claims.toml`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import product

import numpy as np
import polars as pl

import skillfocus as sf
from paper import formatting as fmt
from paper.agents import Case, Pipeline, Setup
from paper.claims import Analysis, Claim, Experiment, claim, difference_claim, judge
from paper.results import TASK_RETURN, TASK_STEPS, count_successes, values_by_seed
from paper.settings import FOCUSED, STEP_LIMITS, WORLD_NAMES, WORLDS
from skillfocus.discovery import cached_mdp, cached_world
from skillfocus.learners.problem import Learned, Problem
from skillfocus.objectives.objective import FunctionEstimate
from skillfocus.objectives.registry import make_objective
from skillfocus.progress import Progress
from skillfocus.runs import Setting
from skillfocus.skills.policy import TabularPolicy

FOCUS, PERMUTED = "focused-vic", "permuted-focused-vic"
ORACLE, CHANCE = "focused-oracle", "learner=chance"
AGENTS = {
    "focused VIC": (FOCUS, ""),
    "permuted targets": (PERMUTED, ""),
    "random skills": (FOCUS, CHANCE),
    "oracle skills": (ORACLE, ""),
}
"""Rows of the table: agent and variant."""
NEGLIGIBLE_CONTROL = 0.1
"""Control over targets that counts as none."""
NOTE = (
    "An oracle's position skills go to a region that was dealt to them, wherever they start, so "
    "that chains of them come to fewer cells than those of skills that were discovered."
)


# -------------------------------------------------------------------- controls


@dataclass(frozen=True)
class PermutedPenalty(sf.Penalty):
    """A penalty that leaves out the variables after the targets, and watches the targets."""

    def unpenalized(self, targets: Sequence[int], n_variables: int) -> list[int]:
        """Return the variables that a skill with these targets may change for free."""
        return [(i + 1) % n_variables for i in targets]


def permuted(objective: sf.Objective) -> sf.Objective:
    """Return an objective whose penalty is about the wrong variables: whatever focus is good for,
    such skills must not have it."""
    penalty = objective.penalty
    assert penalty is not None
    wrong = PermutedPenalty(penalty.name, penalty.strength, penalty.measure)
    return replace(objective, name=f"permuted-{objective.name}", penalty=wrong)


def owned(params, coordinates, component, start, value):  # noqa: ARG001
    """Whether a component owns a value."""
    return params[component, value, 0]


def assign_values(
    n_components: int, n_starts: int, coordinates: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Assign a variable's V values to its K components in order, V / K to each."""
    del n_starts, rng
    owner = np.arange(len(coordinates)) * n_components // len(coordinates)
    return (owner == np.arange(n_components)[:, None]).astype(np.float32)[:, :, None]


def owns(is_owned):
    """1 if z owns the value of s_T, else 0"""
    return is_owned


def oracle() -> sf.Objective:
    """Return the objective whose skills are told beforehand which values to reach: of a tool's two
    skills one leaves it and one takes it, and each position skill goes to a region."""
    estimate = FunctionEstimate(owned, init=assign_values)
    return sf.Objective("oracle", sf.Reward("oracle", owns, estimate, uses_start=False))


@dataclass(frozen=True)
class RandomLearner(sf.Learner):
    """In every state a skill takes an action that was drawn for it; it never terminates."""

    name: str = "chance"

    def learn(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Learned:
        """Draw an action for every state; see `Learner.learn`."""
        del progress
        mdp, n = problem.mdp, len(problem.kinds)
        actions = rng.integers(mdp.n_actions, size=n * mdp.n_states, dtype=np.uint8)
        return Learned(TabularPolicy(mdp, ((),) * n, actions))


@dataclass(frozen=True)
class Control(Pipeline):
    """A pipeline with an objective of this file in place of focused VIC."""

    control: str = FOCUS

    def make_objective(self) -> sf.Objective:
        """Return the objective of the control."""
        focused = super().make_objective()
        if self.control == PERMUTED:
            return permuted(focused)
        return sf.focused(oracle()) if self.control == ORACLE else focused

    def settings(self) -> dict[str, Setting]:
        """Return the settings of the run, with the control."""
        return {**super().settings(), "control": self.control}


def _zero_penalty(space: object, start: np.ndarray, end: np.ndarray, watched: object) -> np.ndarray:
    del space, end, watched
    return np.zeros(len(start))


@dataclass(frozen=True)
class NoStrength(sf.Run):
    """Whether strength 0 and a penalty that is zero give the same policies (`identical`)."""

    world: str
    objective: str
    seed: int
    rounds: int = 10

    version = 6

    def execute(self, progress: Progress) -> sf.Result:
        """Discover skills twice and compare their policies, bit for bit."""
        without = make_objective(self.objective, strength=0.0)
        zero = replace(without, penalty=sf.Penalty("nothing", 1.0, _zero_penalty))
        policies = []
        for objective in (without, zero):
            progress(len(policies) / 2, "learning without a penalty")
            skills = sf.discover(
                cached_world(self.world), objective, seed=self.seed,
                learner=sf.Planning(rounds=self.rounds), mdp=cached_mdp(self.world),
            )  # fmt: skip
            policies.append(skills.tabular.flat_actions)
        return sf.Result([("identical", None, float(np.array_equal(*policies)))])


# -------------------------------------------------------------------- cases


def _control(setup: Setup, world: str, agent: str, variant: str, seed: int) -> Case:
    """Return the case of a control: focused VIC's, with another objective or learner."""
    case = setup.case(world, FOCUS, seed, variant)
    assert isinstance(case.run, Pipeline)
    run = case.run
    if variant == CHANCE:
        run = replace(run, learner=RandomLearner())
    elif agent != FOCUS:
        shared = {field.name: getattr(run, field.name) for field in fields(run)}
        run = Control(**shared, control=agent)
    return replace(case, agent=agent, run=run)


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return every control in every world, and `NoStrength` for the first seed; planned alone."""
    if setup.learner != "planning":
        return []
    listed = [
        _control(setup, world, agent, variant, seed)
        for seed in seeds
        for world in WORLDS
        for agent, variant in AGENTS.values()
    ]
    return listed + [
        Case(setup.preset, setup.learner, world, agent, "no strength", seeds[0],
             NoStrength(world, agent, seeds[0]))
        for world in WORLDS
        for agent in FOCUSED
    ]  # fmt: skip


def analyze(frame: pl.DataFrame) -> Analysis:
    """Check that the benefit vanishes with permuted targets, and that strength 0 is no penalty.

    Returns:
        Claims, and a table of worlds and controls if there are results.
    """
    control = pl.col("agent").is_in([PERMUTED, ORACLE]) | (pl.col("variant") == CHANCE)
    if frame.filter(control | (pl.col("metric") == "identical")).is_empty():
        return Analysis()
    claims = [each for world in WORLDS for each in _permuted_claims(frame, world)]
    table = fmt.Table.of("Controls of focused VIC", _rows(frame), NOTE)
    return Analysis(claims + _identical_claim(frame), [table] if table.rows else [])


def _rows(frame: pl.DataFrame) -> Iterator[dict[str, str]]:
    for world, (name, (agent, variant)) in product(WORLDS, AGENTS.items()):
        of = partial(values_by_seed, frame, world=world, agent=agent, variant=variant)
        if steps := of(TASK_STEPS):
            yield {
                "world": WORLD_NAMES[world],
                "skills": name,
                "a goal's best skill changes it": fmt.mean(of("goal/control"), 3, 0, 1),
                "side effects per skill": fmt.mean(of("mean_side_effects"), 3),
                "area of coverage": fmt.mean(of("auc")),
                "steps": fmt.mean(steps, 1, 0, STEP_LIMITS[world]),
                "seeds that learn the task": fmt.count(of(TASK_RETURN)),
                "seeds": str(len(steps)),
            }


def _permuted_claims(frame: pl.DataFrame, world: str) -> list[Claim]:
    """With permuted targets, control over goals is gone, and with it the benefit for the task."""
    permuted, focused, slow, usual = (
        values_by_seed(frame, metric, world, agent)
        for metric in ("goal/control", TASK_STEPS)
        for agent in (PERMUTED, FOCUS)
    )
    return difference_claim(
        "control-permuted", permuted, focused, -1,
        size=lambda _: max(permuted.values()) <= NEGLIGIBLE_CONTROL, world=world,
        evidence=f"{fmt.mean(permuted, 3)} and {fmt.mean(focused, 3)}", source="control",
    ) + difference_claim(
        "control-benefit", slow, usual, 1, world=world,
        evidence=f"{fmt.mean(slow, 1)} and {fmt.mean(usual, 1)} steps", source="control",
    )  # fmt: skip


def _identical_claim(frame: pl.DataFrame) -> list[Claim]:
    """All pairs of policies must be identical; worlds and objectives count as seeds."""
    rows = frame.filter(metric="identical")
    if rows.is_empty():
        return []
    _, n, share = count_successes(dict(enumerate(rows["value"].to_list())))
    verdict, evidence = judge(share.estimate == 1, True, n), f"{n} pairs of policies"
    return [claim("control-zero", share, verdict, n, evidence=evidence, source="control")]


EXPERIMENT = Experiment(
    "controls",
    "Controls",
    cases,
    analyze,
    presets=("paper",),
    seed_share=0.1,
    least_seeds=1,
)
