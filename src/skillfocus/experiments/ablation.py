"""Figure 5: MudWorld learned with focused skills of other penalty strengths, 0 included."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from skillfocus.experiments.cases import Case, Setup
from skillfocus.experiments.claims import (
    Analysis,
    BySeed,
    Claim,
    Table,
    agent_name,
    count_shown,
    difference,
    judged,
    majority,
    mean_shown,
    n_pairs,
    number,
    paired,
    successes,
    values,
    worst_skill,
)
from skillfocus.experiments.downstream import STEP_LIMITS, STEPS, SUCCESS
from skillfocus.experiments.presets import FOCUSED
from skillfocus.objectives.registry import make_objective

WORLD = "mud-world"
STRENGTHS = (0.0, 0.5, 1.0, 2.0, 4.0, 10.0, 40.0)


def usual_strength(agent: str) -> float:
    return make_objective(agent).reward.penalty_strength


def variant(agent: str, strength: float) -> str:
    """The usual strength is no variant."""
    return "" if strength == usual_strength(agent) else f"strength={strength:g}"


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    return [
        setup.case(WORLD, agent, seed, variant(agent, strength), strength=strength)
        for seed in seeds
        for agent in FOCUSED
        for strength in STRENGTHS
    ]


def curve(frame: pl.DataFrame, agent: str, metric: str) -> dict[float, BySeed]:
    """A metric by strength and seed, where there is any. Of the usual strength, which has more
    seeds, those that another one has too."""
    found = {s: values(frame, metric, WORLD, agent, variant(agent, s)) for s in STRENGTHS}
    usual = usual_strength(agent)
    seeds = {seed for s, by_seed in found.items() if s != usual for seed in by_seed}
    found[usual] = {seed: v for seed, v in found[usual].items() if seed in seeds}
    return {strength: by_seed for strength, by_seed in found.items() if by_seed}


def analyze(frame: pl.DataFrame) -> Analysis:
    found: list[Claim] = []
    rows = []
    for agent in FOCUSED:
        steps, done = curve(frame, agent, STEPS), curve(frame, agent, SUCCESS)
        if len(steps) < 2:
            continue
        effects = {s: worst_skill(frame, WORLD, agent, variant(agent, s)) for s in steps}
        found += _findings(agent, steps, done)
        rows += [
            [
                agent_name(agent), f"{strength:g}",
                mean_shown(steps[strength], 1, 0, STEP_LIMITS[WORLD]),
                count_shown(done.get(strength, {})),
                mean_shown(effects[strength]),
                str(len(steps[strength])),
            ]
            for strength in steps
        ]  # fmt: skip
    columns = ["agent", "λ", "steps", "seeds that learn it", "side effects, worst skill", "seeds"]
    return Analysis(found, [Table("MudWorld over the penalty's strength", columns, rows)])


def _findings(agent: str, steps: dict[float, BySeed], done: dict[float, BySeed]) -> list[Claim]:
    name, found = agent_name(agent), []
    usual, last = usual_strength(agent), STRENGTHS[-1]
    if done.get(0.0):
        _, n, share = successes(done[0.0])
        found.append(
            Claim(
                f"ablation-zero-{agent}",
                f"Without a penalty, MudWorld is not learned with {name} skills: the share of "
                f"seeds in which it is",
                0.0, share, majority(share, False), n,
                f"learned in {count_shown(done[0.0])} seeds",
            )
        )  # fmt: skip
    compared = (
        ("more", usual, 0.0, f"A penalty makes {name} skills better in MudWorld"),
        ("much", last, usual, f"Too strong a penalty makes {name} skills worse"),
    )
    for kind, first, second, claim in compared:
        mine, other = steps.get(first, {}), steps.get(second, {})
        if (change := difference(mine, other)) is not None:
            sign = -1 if kind == "more" else 1
            a, b = (number(float(values.mean()), 1) for values in paired(mine, other))
            n = n_pairs(mine, other)
            found.append(
                Claim(
                    f"ablation-{kind}-{agent}",
                    f"{claim}: steps at λ = {first:g} less those at λ = {second:g}",
                    None, change, judged(change, sign, True, n), n, f"{a} steps against {b}",
                )
            )  # fmt: skip
    return found
