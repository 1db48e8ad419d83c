"""Figure 4: trained on a proxy reward that ignores side effects, evaluated by the true one.

An agent that uses focused skills should earn the true return though it learns from the proxy.
Claims, with W a world and A an agent:

    proxy-W-A     A focused: the true return is at least the paper's, and more than plain skills
                  earn; A another: the true return is less than the proxy's, and as little as in
                  the paper
    aim-proxy-W   our aim for the true return of the best focused agent
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from paper.agents import Case, Setup, main_cases, memory_cases
from paper.claims import Analysis, Claim, aim_claim, at_least, judge_difference
from paper.experiment import Experiment
from paper.formatting import (
    MISSING,
    Table,
    agent_name,
    format_interval,
    format_mean,
    format_number,
)
from paper.outcomes import underspecified_outcome
from paper.results import (
    PROXY_RETURN,
    PROXY_TRUE_RETURN,
    SeedValues,
    count_pairs,
    mean_difference,
    mean_over_seeds,
    values_by_seed,
)
from paper.settings import AGENTS, DUSDI, FOCUSED, MEMORY_AGENTS, PLAIN, WORLD_NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WORLDS = ("forage-world", "mud-world")
"""The worlds whose proxy reward differs from the true one."""
PAPER = {
    "forage-world": {
        "focused-vic": (0.89, 0.81), "focused-diayn": (0.92, 0.90), "focused-lsd": (0.96, 0.86),
        "dusdi-vic": (0.66, 0.51), "dusdi-diayn": (0.78, 0.01),
        "vic": (0.82, 0.01), "diayn": (0.51, 0.01), "lsd": (0.62, 0.11),
    },
    "mud-world": {
        "focused-vic": (0.97, 0.97), "focused-diayn": (0.81, 0.81), "focused-lsd": (0.96, 0.96),
        "dusdi-vic": (0.98, 0.0), "dusdi-diayn": (0.96, 0.0),
        "vic": (0.91, 0.0), "diayn": (0.70, 0.0), "lsd": (0.61, 0.05),
    },
}  # fmt: skip
"""Proxy and true return, read from Figure 4."""
READING_ERROR = 0.02
LITTLE_MORE = 0.1
"""A true return that exceeds the paper's by no more than this counts as as little."""
AIMS = {"forage-world": 0.85, "mud-world": 0.95}


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return the main cases of the worlds that have a proxy reward, and agents with memory."""
    return main_cases(setup, WORLDS, AGENTS, seeds) + memory_cases(setup, WORLDS, seeds)


def analyze(frame: pl.DataFrame) -> Analysis:
    """Compare true returns: focused with plain skills, and all others with their proxy return.

    Args:
        frame: Reduced results of one setup.

    Returns:
        Claims (see the module), and a table per world.
    """
    claims, tables = [], []
    for world in WORLDS:
        true, proxy = (
            {
                agent: values_by_seed(frame, metric, world, agent)
                for agent in (*AGENTS, *MEMORY_AGENTS)
            }
            for metric in (PROXY_TRUE_RETURN, PROXY_RETURN)
        )
        claims += [
            *_focused_claims(world, true), *_other_claims(world, true, proxy), *_aim(world, true),
        ]  # fmt: skip
        tables.append(_table(world, true, proxy))
    return Analysis(claims, tables)


def _focused_claims(world: str, true: dict[str, SeedValues]) -> list[Claim]:
    """Direction: more than the plain objective's. Size: at least the paper's."""
    claims = []
    for agent in FOCUSED:
        plain = agent.removeprefix("focused-")
        more = mean_difference(true[agent], true[plain])
        if more is None:
            continue
        ours, paper = mean_over_seeds(true[agent], 0, 1), PAPER[world][agent][1]
        n = count_pairs(true[agent], true[plain])
        size = at_least(ours.estimate, paper, READING_ERROR)
        verdict = judge_difference(more, 1, size, n, paper - PAPER[world][plain][1])
        claims.append(
            Claim(
                f"proxy-{world}-{agent}",
                f"{WORLD_NAMES[world]}, told the proxy: {agent_name(agent)} skills earn the true "
                f"return, and more of it than plain ones",
                paper, ours, verdict, n, f"{format_interval(more)} more than plain",
            )
        )  # fmt: skip
    return claims


def _other_claims(
    world: str, true: dict[str, SeedValues], proxy: dict[str, SeedValues]
) -> list[Claim]:
    """Direction: less true than proxy return. Size: as little as in the paper."""
    claims = []
    for agent in (*DUSDI, *PLAIN):
        less = mean_difference(true[agent], proxy[agent])
        if less is None:
            continue
        ours, paper, n = (
            mean_over_seeds(true[agent], 0, 1),
            PAPER[world][agent][1],
            len(true[agent]),
        )
        size = ours.estimate <= paper + LITTLE_MORE
        claims.append(
            Claim(
                f"proxy-{world}-{agent}",
                f"{WORLD_NAMES[world]}, told the proxy: {agent_name(agent)} skills earn the proxy "
                f"at the expense of the true return",
                paper, ours, judge_difference(less, -1, size, n), n,
                f"true minus proxy return {format_interval(less)}",
            )
        )  # fmt: skip
    return claims


def _aim(world: str, true: dict[str, SeedValues]) -> list[Claim]:
    """The aim is one for all focused agents: the best of them must reach it in the mean."""
    means = {agent: mean_over_seeds(true[agent], 0, 1) for agent in FOCUSED if true[agent]}
    if not means:
        return []
    agent = max(means, key=lambda name: means[name].estimate)
    statement = (
        f"{WORLD_NAMES[world]}, told the proxy: true return of the best focused skills "
        f"({agent_name(agent)}), at least"
    )
    holds = means[agent].estimate >= AIMS[world]
    n = len(true[agent])
    return [aim_claim(f"aim-proxy-{world}", statement, AIMS[world], means[agent], holds, n)]


def _table(world: str, true: dict[str, SeedValues], proxy: dict[str, SeedValues]) -> Table:
    rows = []
    for agent in true:
        if true[agent]:
            paper = [format_number(x) for x in PAPER[world].get(agent, ())] or [MISSING, MISSING]
            rows.append(
                [
                    agent_name(agent), paper[0], format_mean(proxy[agent], 2, 0, 1), paper[1],
                    format_mean(true[agent], 2, 0, 1),
                    format_interval(mean_difference(true[agent], proxy[agent])),
                    str(len(true[agent])),
                ]
            )  # fmt: skip
    columns = [
        "agent", "proxy, paper", "proxy, ours", "true, paper", "true, ours", "true − proxy",
        "seeds",
    ]  # fmt: skip
    return Table(f"{WORLD_NAMES[world]}: returns after 20,000 episodes of the proxy", columns, rows)


def figure(frame: pl.DataFrame) -> Figure:
    """Draw proxy and true return while the proxy is learned, two panels per world.

    Args:
        frame: Reduced results of one setup.
    """
    from matplotlib.figure import Figure

    from paper.drawing import draw_optimum, draw_task_curve
    from skillfocus.figures.style import label_panel

    figure = Figure(figsize=(11, 3.2), layout="constrained")
    panels = figure.subplots(1, 4, sharey=True)
    kinds = (("proxy", PROXY_RETURN), ("true", PROXY_TRUE_RETURN))
    contents = [(world, kind, metric) for world in WORLDS for kind, metric in kinds]
    for panel, (world, kind, metric) in zip(panels, contents, strict=True):
        for agent in AGENTS:
            draw_task_curve(panel, frame, metric, world, agent)
        draw_optimum(panel, frame, f"{kind}/return", world)
        title = f"{WORLD_NAMES[world]}: {kind} return"
        label_panel(panel, title, "episodes of the proxy", "return")
        panel.set_ylim(0, 1.02)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right", fontsize=7.5)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return figure


EXPERIMENT = Experiment(
    "underspecified",
    "Under-specified goals (Figure 4)",
    cases,
    analyze,
    figure,
    figure_name="figure-4-underspecified",
    page="figure-4",
    outcome=underspecified_outcome,
)
