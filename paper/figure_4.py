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

import polars as pl
from matplotlib.figure import Figure

from paper.agents import Case, Setup, main_cases, memory_cases
from paper.claims import (
    Analysis,
    Claim,
    aim_at_least,
    at_least,
    difference_claim,
    numbers_by_world,
)
from paper.drawing import draw_optimum, draw_task_curve
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
    SeedValues,
    mean_difference,
    mean_over_seeds,
    values_by_agent,
)
from paper.settings import AGENTS, DUSDI, FOCUSED, MEMORY_AGENTS, PLAIN, WORLD_NAMES
from skillfocus.figures.style import label_panel

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
            values_by_agent(frame, metric, world, (*AGENTS, *MEMORY_AGENTS))
            for metric in (PROXY_TRUE_RETURN, PROXY_RETURN)
        )
        for agent in FOCUSED:
            claims += _focused_claim(world, agent, true)
        for agent in (*DUSDI, *PLAIN):
            claims += _other_claim(world, agent, true, proxy)
        claims += _aim(world, true)
        tables.append(_table(world, true, proxy))
    return Analysis(claims, tables)


def _focused_claim(world: str, agent: str, true: dict[str, SeedValues]) -> list[Claim]:
    """Direction: more than the plain objective's. Size: at least the paper's."""
    plain, paper = agent.removeprefix("focused-"), PAPER[world][agent][1]
    return difference_claim(
        f"proxy-{world}-{agent}",
        f"{WORLD_NAMES[world]}, told the proxy: {agent_name(agent)} skills earn the true "
        f"return, and more of it than plain ones",
        true[agent], true[plain], 1, reference=paper, ours=(0, 1),
        size=lambda ours: at_least(ours, paper, READING_ERROR),
        paper=paper - PAPER[world][plain][1], evidence="{} more than plain",
    )  # fmt: skip


def _other_claim(
    world: str, agent: str, true: dict[str, SeedValues], proxy: dict[str, SeedValues]
) -> list[Claim]:
    """Direction: less true than proxy return. Size: as little as in the paper."""
    paper = PAPER[world][agent][1]
    return difference_claim(
        f"proxy-{world}-{agent}",
        f"{WORLD_NAMES[world]}, told the proxy: {agent_name(agent)} skills earn the proxy "
        f"at the expense of the true return",
        true[agent], proxy[agent], -1, reference=paper, ours=(0, 1),
        size=lambda ours: ours <= paper + LITTLE_MORE, evidence="true minus proxy return {}",
    )  # fmt: skip


def _aim(world: str, true: dict[str, SeedValues]) -> list[Claim]:
    """The aim is one for all focused agents: the best of them must reach it in the mean."""
    means = {a: mean_over_seeds(true[a]).estimate for a in FOCUSED if true[a]}
    if not means:
        return []
    agent = max(means, key=lambda name: means[name])
    statement = (
        f"{WORLD_NAMES[world]}, told the proxy: true return of the best focused skills "
        f"({agent_name(agent)}), at least"
    )
    return [aim_at_least(f"aim-proxy-{world}", statement, AIMS[world], true[agent], 0, 1)]


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


def outcome(claims: Sequence[Claim]) -> str:
    """Return the true returns of agents with focused skills and of the others, by world."""
    focused = numbers_by_world(claims, r"proxy-{world}-focused-.*")
    others = numbers_by_world(claims, r"proxy-{world}-(?!focused).*")
    if not focused:
        return ""
    sentence = f"Trained on the proxy, focused skills earn a true return of {join_words(focused)}"
    return f"{sentence}; others earn {join_words(others)}." if others else f"{sentence}."


def figure(frame: pl.DataFrame) -> Figure:
    """Draw proxy and true return while the proxy is learned, two panels per world.

    Args:
        frame: Reduced results of one setup.
    """
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
    outcome=outcome,
)
