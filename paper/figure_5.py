"""Figure 5: MudWorld learned with focused skills of other penalty strengths, 0 included.

Claims, with A a focused agent:

    ablation-zero-A   without a penalty, the task is not learned in most seeds
    ablation-more-A   the default strength takes fewer steps than none
    ablation-much-A   the largest strength takes more steps than the default
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from paper.agents import Case, Setup
from paper.claims import Analysis, Claim, judge_difference, judge_majority
from paper.experiment import Experiment
from paper.formatting import Table, agent_name, format_count, format_mean, format_number
from paper.outcomes import ablation_outcome
from paper.results import (
    TASK_RETURN,
    TASK_STEPS,
    SeedValues,
    count_pairs,
    count_successes,
    mean_difference,
    paired_values,
    values_by_seed,
    worst_side_effects,
)
from paper.settings import FOCUSED, STEP_LIMITS
from skillfocus.objectives.registry import make_objective

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WORLD = "mud-world"
STRENGTHS = (0.0, 0.5, 1.0, 2.0, 4.0, 10.0, 40.0)
"""Penalty strengths λ; the defaults (4, and 2 for LSD) are among them."""
EXTREMES = (0.0, 40.0)
"""The strengths besides the default that few seeds, and slow learners, are run with."""


def default_strength(agent: str) -> float:
    """Return the strength that an agent has in all other experiments."""
    return make_objective(agent).reward.penalty_strength


def variant(agent: str, strength: float) -> str:
    """Return the variant of a strength; the default strength is none."""
    return "" if strength == default_strength(agent) else f"strength={strength:g}"


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return every focused agent with every strength, or with none, the default and the largest."""
    few = len(seeds) < 5 or setup.learner != "planning"
    return [
        setup.case(WORLD, agent, seed, variant(agent, strength), strength=strength)
        for seed in seeds
        for agent in FOCUSED
        for strength in STRENGTHS
        if not few or strength in (*EXTREMES, default_strength(agent))
    ]


def values_by_strength(frame: pl.DataFrame, agent: str, metric: str) -> dict[float, SeedValues]:
    """Return a metric by strength and seed; strengths without values are left out.

    The default strength has more seeds than the others: those that no other has are dropped.
    """
    values = {s: values_by_seed(frame, metric, WORLD, agent, variant(agent, s)) for s in STRENGTHS}
    default = default_strength(agent)
    seeds = {seed for s, by_seed in values.items() if s != default for seed in by_seed}
    values[default] = {seed: v for seed, v in values[default].items() if seed in seeds}
    return {strength: by_seed for strength, by_seed in values.items() if by_seed}


def analyze(frame: pl.DataFrame) -> Analysis:
    """Compare the default strength with none and with the largest.

    Args:
        frame: Reduced results of one setup.

    Returns:
        Claims (see the module), and a table of agents and strengths; both are empty for an agent
        that has one strength alone.
    """
    claims: list[Claim] = []
    rows = []
    for agent in FOCUSED:
        steps = values_by_strength(frame, agent, TASK_STEPS)
        returns = values_by_strength(frame, agent, TASK_RETURN)
        if len(steps) < 2:
            continue
        claims += [*_unpenalized_claim(agent, returns), *_strength_claims(agent, steps)]
        rows += [
            [
                agent_name(agent), f"{strength:g}",
                format_mean(by_seed, 1, 0, STEP_LIMITS[WORLD]),
                format_count(returns.get(strength, {})),
                format_mean(worst_side_effects(frame, WORLD, agent, variant(agent, strength))),
                str(len(by_seed)),
            ]
            for strength, by_seed in steps.items()
        ]  # fmt: skip
    columns = ["agent", "λ", "steps", "seeds that learn it", "side effects, worst skill", "seeds"]
    return Analysis(claims, [Table("MudWorld over the penalty's strength", columns, rows)])


def _unpenalized_claim(agent: str, returns: dict[float, SeedValues]) -> list[Claim]:
    """Direction: fewer than half of the seeds learn the task. Size: none does."""
    if not returns.get(0.0):
        return []
    _, n, share = count_successes(returns[0.0])
    return [
        Claim(
            f"ablation-zero-{agent}",
            f"Without a penalty, MudWorld is not learned with {agent_name(agent)} skills: the "
            f"share of seeds in which it is",
            0.0, share, judge_majority(share, False), n,
            f"learned in {format_count(returns[0.0])} seeds",
        )
    ]  # fmt: skip


def _strength_claims(agent: str, steps: dict[float, SeedValues]) -> list[Claim]:
    """Directions alone: no number of the paper is compared with."""
    name, claims = agent_name(agent), []
    default, largest = default_strength(agent), STRENGTHS[-1]
    comparisons = (
        ("more", default, 0.0, -1, f"A penalty makes {name} skills better in MudWorld"),
        ("much", largest, default, 1, f"Too strong a penalty makes {name} skills worse"),
    )
    for kind, first, second, sign, statement in comparisons:
        pair = steps.get(first, {}), steps.get(second, {})
        if (change := mean_difference(*pair)) is not None:
            a, b = (format_number(float(values.mean()), 1) for values in paired_values(*pair))
            n = count_pairs(*pair)
            claims.append(
                Claim(
                    f"ablation-{kind}-{agent}",
                    f"{statement}: steps at λ = {first:g} less those at λ = {second:g}",
                    None, change, judge_difference(change, sign, True, n), n,
                    f"{a} steps against {b}",
                )
            )  # fmt: skip
    return claims


def figure(frame: pl.DataFrame) -> Figure:
    """Draw steps over the strength, spaced evenly, and the optimum as a line.

    Args:
        frame: Reduced results of one setup.
    """
    from matplotlib.figure import Figure

    from paper.drawing import draw_optimum, draw_setting_curve
    from skillfocus.figures.style import label_panel

    figure = Figure(figsize=(5.2, 3.2), layout="constrained")
    panel = figure.subplots()
    for agent in FOCUSED:
        steps = values_by_strength(frame, agent, TASK_STEPS)
        by_place = {STRENGTHS.index(strength): values for strength, values in steps.items()}
        draw_setting_curve(panel, agent, by_place, STEP_LIMITS[WORLD])
    panel.set_xticks(range(len(STRENGTHS)), [f"{s:g}" for s in STRENGTHS])
    panel.set_ylim(0, STEP_LIMITS[WORLD] * 1.03)
    draw_optimum(panel, frame, "true/steps", WORLD)
    label_panel(panel, "MudWorld", "strength λ of the penalty", "steps after 20,000 episodes")
    if panel.get_legend_handles_labels()[0]:
        panel.legend(fontsize=7.5, framealpha=0.8)
    return figure


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
    outcome=ablation_outcome,
)
