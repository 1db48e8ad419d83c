"""Figure 5: MudWorld learned with focused skills of other penalty strengths, 0 included."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from skillfocus.experiments.cases import Case, Setup
from skillfocus.experiments.downstream import STEPS, SUCCESS
from skillfocus.experiments.findings import (
    Analysis,
    BySeed,
    Finding,
    Table,
    agent_name,
    count_shown,
    difference,
    majority,
    mean_of,
    mean_shown,
    number,
    shown,
    successes,
    values,
    verdict,
)
from skillfocus.experiments.presets import FOCUSED
from skillfocus.objectives.registry import named

WORLD = "mud-world"
STRENGTHS = (0.0, 0.5, 1.0, 2.0, 4.0, 10.0, 40.0)


def variant(agent: str, strength: float) -> str:
    """The usual strength is no variant."""
    penalty = named(agent).penalty
    return "" if penalty and penalty.strength == strength else f"strength={strength:g}"


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    return [
        setup.case(WORLD, agent, seed, variant(agent, strength), strength=strength)
        for seed in seeds
        for agent in FOCUSED
        for strength in STRENGTHS
    ]


def curve(frame: pl.DataFrame, agent: str, metric: str) -> dict[float, BySeed]:
    """A metric by strength and seed, where there is any."""
    found = {s: values(frame, metric, WORLD, agent, variant(agent, s)) for s in STRENGTHS}
    return {strength: by_seed for strength, by_seed in found.items() if by_seed}


def analyse(frame: pl.DataFrame) -> Analysis:
    found: list[Finding] = []
    rows = []
    for agent in FOCUSED:
        steps, done = curve(frame, agent, STEPS), curve(frame, agent, SUCCESS)
        effects = curve(frame, agent, "goal/worst/side_effects")
        found += _findings(agent, steps, done)
        rows += [
            [
                agent_name(agent), f"{strength:g}", mean_shown(steps[strength], 1),
                count_shown(done.get(strength, {})),
                mean_shown(effects.get(strength, {})),
                str(len(steps[strength])),
            ]
            for strength in steps
        ]  # fmt: skip
    columns = ["agent", "λ", "steps", "seeds that learn it", "side effects, worst skill", "seeds"]
    return Analysis(found, [Table("MudWorld over the penalty's strength", columns, rows)])


def _findings(agent: str, steps: dict[float, BySeed], done: dict[float, BySeed]) -> list[Finding]:
    if not steps or min(steps) > 0 or len(steps) < 3:
        return []
    means = {strength: mean_of(found).estimate for strength, found in steps.items()}
    best = min(means, key=lambda strength: means[strength])
    _, n, share = successes(done[0.0])
    gain, last = difference(steps[best], steps[0.0]), max(steps)
    loss = difference(steps[last], steps[best])
    assert gain is not None
    name = agent_name(agent)
    found = [
        Finding(
            f"ablation-zero-{agent}",
            f"Without a penalty, {name} skills do not learn MudWorld: the share of seeds that do",
            0.0, share, majority(share, False, n), n,
            f"learned in {count_shown(done[0.0])} seeds",
        ),
        Finding(
            f"ablation-more-{agent}",
            f"A penalty makes {name} skills better in MudWorld: steps at the best strength (λ = "
            f"{best:g}) less those at 0",
            None, gain, verdict(gain.high < 0, gain.high < 0, n), n,
            f"{number(means[best], 1)} steps against {number(means[0.0], 1)}",
        ),
    ]  # fmt: skip
    if loss is not None:
        worse = loss.low > 0
        found.append(
            Finding(
                f"ablation-much-{agent}",
                f"Too strong a penalty makes {name} skills slightly worse: steps at λ = {last:g} "
                f"less those at the best",
                None, loss, verdict(worse, worse, n), n,
                f"{number(means[last], 1)} steps against {shown(mean_of(steps[best]), 1)}",
            )
        )  # fmt: skip
    return found
