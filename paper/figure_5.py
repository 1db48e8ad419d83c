"""Figure 5: MudWorld learned with focused skills of other penalty strengths, 0 included; and the
appendix: FourRooms with 8 skills (tools alone) and 24 (16 for the position).

Claims: `ablation-…` and `skills…` in `claims.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from paper import formatting as fmt
from paper.agents import Case, Setup
from paper.claims import (
    Analysis,
    Claim,
    Experiment,
    difference_claim,
    majority_claim,
    matching,
    objectives_of,
)
from paper.results import TASK_RETURN, TASK_STEPS, SeedValues, values_by_seed, worst_side_effects
from paper.settings import FOCUSED, OBJECTIVES, PLAIN, STEP_LIMITS, WORLD_NAMES
from skillfocus.figures import draw_mean_curve, label_panel
from skillfocus.objectives.kinds import N_SKILLS
from skillfocus.objectives.registry import make_objective

Variants = Mapping[float, str]
"""The variant of each value of a setting; that of the default is empty."""


@dataclass(frozen=True)
class Sweep:
    """A task that agents learn with skills, one setting of which has several values."""

    world: str
    agents: Sequence[str]
    variants: Callable[[str], Variants]
    """The variants of an agent."""
    setting: str
    """The setting in words."""

    def values(self, frame: pl.DataFrame, agent: str, metric: str) -> dict[float, SeedValues]:
        """Return a metric by the setting's value and by seed; values without seeds are left out.

        The default has more seeds than the other values: those that no other has are dropped.
        """
        variants = self.variants(agent)
        values = {
            x: values_by_seed(frame, metric, self.world, agent, v) for x, v in variants.items()
        }
        others = {seed for x, by_seed in values.items() if variants[x] for seed in by_seed}
        kept = {
            x: {seed: value for seed, value in by_seed.items() if seed in others}
            for x, by_seed in values.items()
        }
        return {x: by_seed for x, by_seed in kept.items() if by_seed}

    def table(
        self,
        frame: pl.DataFrame,
        title: str,
        symbol: str,
        further: tuple[str, Callable[[str, str], SeedValues]],
    ) -> fmt.Table:
        """Return a table with a row per agent and value.

        Args:
            frame: Reduced results of one setup.
            title: Title of the table.
            symbol: Title of the setting's column.
            further: Title of one more column, and its metric by agent and variant.
        """
        rows = [
            {
                "agent": fmt.agent_name(agent),
                symbol: f"{x:g}",
                "steps": fmt.mean(steps, 1, 0, STEP_LIMITS[self.world]),
                "seeds that learn it": fmt.count(self.values(frame, agent, TASK_RETURN).get(x, {})),
                further[0]: fmt.mean(further[1](agent, self.variants(agent)[x])),
                "seeds": str(len(steps)),
            }
            for agent in self.agents
            for x, steps in self.values(frame, agent, TASK_STEPS).items()
        ]
        return fmt.Table.of(title, rows)

    def draw(self, frame: pl.DataFrame, place: Callable[[float], float] = float) -> Figure:
        """Draw steps over the setting, for seeds that all its values have, and the optimum."""
        figure = Figure(figsize=(5.2, 3.2), layout="constrained")
        panel, limit = figure.subplots(), STEP_LIMITS[self.world]
        for agent in self.agents:
            steps = self.values(frame, agent, TASK_STEPS)
            seeds = sorted(set.intersection(*map(set, steps.values()))) if steps else []
            if seeds:
                curves = np.array([[values[seed] for values in steps.values()] for seed in seeds])
                x, style = np.array([place(value) for value in steps]), fmt.agent_style(agent)
                draw_mean_curve(panel, x, curves, style, fmt.agent_name(agent), limit, markers=True)
        panel.set_ylim(0, limit * 1.03)
        fmt.draw_optimum(panel, frame, "true/steps", self.world)
        label_panel(panel, WORLD_NAMES[self.world], self.setting, "steps after 20,000 episodes")
        return figure


# -------------------------------------------------------------------- the penalty's strength

STRENGTHS = (0.0, 0.5, 1.0, 2.0, 4.0, 10.0, 40.0)
"""Penalty strengths λ; the defaults (4, and 2 for LSD) are among them."""
EXTREMES = (0.0, 40.0)
"""The strengths besides the default that few seeds, and slow learners, are run with."""


def default_strength(agent: str) -> float:
    """Return the strength that an agent has in all other experiments."""
    return make_objective(agent).reward.penalty_strength


def strengths(agent: str) -> Variants:
    """Return the variants of the strengths."""
    default = default_strength(agent)
    return {x: "" if x == default else f"strength={x:g}" for x in STRENGTHS}


STRENGTH = Sweep("mud-world", FOCUSED, strengths, "strength λ of the penalty")


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return every focused agent with every strength, or with none, the default and the largest."""
    few = len(seeds) < 5 or setup.learner != "planning"
    return [
        setup.case("mud-world", agent, seed, variant, strength=strength)
        for seed in seeds
        for agent in FOCUSED
        for strength, variant in strengths(agent).items()
        if not few or strength in EXTREMES or not variant
    ]


def analyze(frame: pl.DataFrame) -> Analysis:
    """Compare the default strength with none and with the largest.

    Returns:
        Claims, and a table of agents and strengths; both are empty for an agent that has the
        default strength alone. Of differences, directions alone are claimed: no number of the paper
        is compared with.
    """
    claims: list[Claim] = []
    for agent in FOCUSED:
        returns = STRENGTH.values(frame, agent, TASK_RETURN).get(0.0, {})
        claims += majority_claim("ablation-zero", returns, False, agent=agent)
        steps, default = STRENGTH.values(frame, agent, TASK_STEPS), default_strength(agent)
        for kind, x, y, sign in (("more", default, 0.0, -1), ("much", STRENGTHS[-1], default, 1)):
            first, second = steps.get(x, {}), steps.get(y, {})
            common = [seed for seed in first if seed in second]
            means = [fmt.estimate({s: v[s] for s in common}, 1) for v in (first, second)]
            claims += difference_claim(
                f"ablation-{kind}", first, second, sign, evidence=" steps against ".join(means),
                agent=agent, x=x, y=y,
            )  # fmt: skip
    worst = "side effects, worst skill", partial(worst_side_effects, frame, STRENGTH.world)
    return Analysis(
        claims, [STRENGTH.table(frame, "MudWorld over the penalty's strength", "λ", worst)]
    )


def figure(frame: pl.DataFrame) -> Figure:
    """Draw steps over the strength, spaced evenly, and the optimum as a line."""
    drawn = STRENGTH.draw(frame, STRENGTHS.index)
    panel = drawn.axes[0]
    panel.set_xticks(range(len(STRENGTHS)), [f"{s:g}" for s in STRENGTHS])
    if panel.get_legend_handles_labels()[0]:
        panel.legend(fontsize=7.5, framealpha=0.8)
    return drawn


def outcome(claims: Sequence[Claim]) -> str:
    """Return the shares of seeds that learn the task without a penalty."""
    zero = matching(claims, r"ablation-zero-.*")
    if not zero:
        return ""
    shares = fmt.join_words([f"{claim.ours.estimate:.0%}" for claim in zero])
    return (
        f"Without the penalty, the MudWorld task is learned with focused {objectives_of(zero)} in "
        f"{shares} of the seeds (the paper: none)."
    )


EXPERIMENT = Experiment(
    "ablation",
    "The penalty's strength (Figure 5)",
    cases,
    analyze,
    figure,
    figure_name="figure-5-ablation",
    presets=("paper",),
    seed_share=0.1,
    page="figure-5",
    outcome=outcome,
)

# -------------------------------------------------------------------- the number of skills

COUNTS: Variants = {8: "skills=8", N_SKILLS: "", 24: "skills=24"}
COUNT = Sweep("four-rooms", OBJECTIVES, lambda _: COUNTS, "number of skills")


def count_cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return every agent with every number of skills; planned alone."""
    if setup.learner != "planning":
        return []
    return [
        setup.case("four-rooms", agent, seed, variant, skills=n)
        for seed in seeds
        for agent in OBJECTIVES
        for n, variant in COUNTS.items()
    ]


def analyze_counts(frame: pl.DataFrame) -> Analysis:
    """Check that focused and DUSDi skills learn the task with 8 and 24 skills, and plain ones fail.

    Returns:
        Claims, and a table of agents and numbers of skills.
    """
    claims: list[Claim] = []
    for agent, n in product(OBJECTIVES, (8, 24)):
        returns = COUNT.values(frame, agent, TASK_RETURN).get(n, {})
        learned = agent not in PLAIN
        detail = "skills" if learned else "skills-plain"
        claims += majority_claim(detail, returns, learned, n=n, agent=agent)
    area = "area of coverage", partial(values_by_seed, frame, "auc", COUNT.world)
    return Analysis(
        claims, [COUNT.table(frame, "FourRooms over the number of skills", "skills", area)]
    )


def draw_counts(frame: pl.DataFrame) -> Figure:
    """Draw steps over the number of skills, and the optimum as a line."""
    drawn = COUNT.draw(frame)
    drawn.axes[0].set_xticks(list(COUNTS))
    fmt.add_legend(drawn)
    return drawn


SKILL_COUNT = Experiment(
    "skill-count",
    "The number of skills (appendix)",
    count_cases,
    analyze_counts,
    draw_counts,
    presets=("paper",),
    seed_share=0.1,
    least_seeds=0,
    page="appendix",
)
