"""Figure 4: trained on a proxy reward that forgets the side effects, judged by the true one."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from skillfocus.experiments.cases import Case, Setup, main_cases
from skillfocus.experiments.claims import (
    Analysis,
    BySeed,
    Claim,
    Table,
    agent_name,
    aim,
    at_least,
    difference,
    judged,
    mean_of,
    mean_shown,
    n_pairs,
    number,
    shown,
    values,
)
from skillfocus.experiments.downstream import NAMES
from skillfocus.experiments.presets import AGENTS, DUSDI, FOCUSED, PLAIN

WORLDS = ("forage-world", "mud-world")
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
READING = 0.02
NEAR = 0.1
"""A true return that is no more than this above the paper's is as little."""
AIMS = {"forage-world": 0.85, "mud-world": 0.95}
TRUE, PROXY = "task/proxy/true_return", "task/proxy/proxy_return"


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    return main_cases(setup, WORLDS, AGENTS, seeds)


def analyze(frame: pl.DataFrame) -> Analysis:
    found, tables = [], []
    for world in WORLDS:
        true = {agent: values(frame, TRUE, world, agent) for agent in AGENTS}
        proxy = {agent: values(frame, PROXY, world, agent) for agent in AGENTS}
        found += [*_focused(world, true), *_others(world, true, proxy), *_aims(world, true)]
        tables.append(_table(world, true, proxy))
    return Analysis(found, tables)


def _focused(world: str, true: dict[str, BySeed]) -> list[Claim]:
    """The direction: more than the plain objective's. The size: at least the paper's."""
    found = []
    for agent in FOCUSED:
        more = difference(true[agent], true[agent.removeprefix("focused-")])
        if more is None:
            continue
        ours, paper = mean_of(true[agent], 0, 1), PAPER[world][agent][1]
        n = n_pairs(true[agent], true[agent.removeprefix("focused-")])
        size = at_least(ours.estimate, paper, READING)
        found.append(
            Claim(
                f"proxy-{world}-{agent}",
                f"{NAMES[world]}, told the proxy: {agent_name(agent)} skills earn the true return, "
                f"and more of it than plain ones",
                paper, ours, judged(more, 1, size, n, paper - _plain(world, agent)), n,
                f"{shown(more)} more than plain",
            )
        )  # fmt: skip
    return found


def _plain(world: str, agent: str) -> float:
    return PAPER[world][agent.removeprefix("focused-")][1]


def _others(world: str, true: dict[str, BySeed], proxy: dict[str, BySeed]) -> list[Claim]:
    """The direction: less true than proxy return. The size: as little as in the paper."""
    found = []
    for agent in (*DUSDI, *PLAIN):
        less = difference(true[agent], proxy[agent])
        if less is None:
            continue
        ours, paper, n = mean_of(true[agent], 0, 1), PAPER[world][agent][1], len(true[agent])
        size = ours.estimate <= paper + NEAR
        found.append(
            Claim(
                f"proxy-{world}-{agent}",
                f"{NAMES[world]}, told the proxy: {agent_name(agent)} skills earn the proxy at the "
                f"expense of the true return",
                paper, ours, judged(less, -1, size, n), n,
                f"true minus proxy return {shown(less)}",
            )
        )  # fmt: skip
    return found


def _aims(world: str, true: dict[str, BySeed]) -> list[Claim]:
    means = {agent: mean_of(true[agent], 0, 1) for agent in FOCUSED if true[agent]}
    if not means:
        return []
    agent = max(means, key=lambda name: means[name].estimate)
    statement = (
        f"{NAMES[world]}, told the proxy: true return of the best focused skills "
        f"({agent_name(agent)}), at least"
    )
    holds = means[agent].estimate >= AIMS[world]
    n = len(true[agent])
    return [aim(f"aim-proxy-{world}", statement, AIMS[world], means[agent], holds, n)]


def _table(world: str, true: dict[str, BySeed], proxy: dict[str, BySeed]) -> Table:
    rows = []
    for agent in AGENTS:
        if true[agent]:
            papers = [number(x) for x in PAPER[world].get(agent, ())] or ["–", "–"]
            rows.append(
                [
                    agent_name(agent), papers[0], mean_shown(proxy[agent], 2, 0, 1), papers[1],
                    mean_shown(true[agent], 2, 0, 1), shown(difference(true[agent], proxy[agent])),
                    str(len(true[agent])),
                ]
            )  # fmt: skip
    columns = [
        "agent", "proxy, paper", "proxy, ours", "true, paper", "true, ours", "true − proxy",
        "seeds",
    ]  # fmt: skip
    return Table(f"{NAMES[world]}: returns after 20,000 episodes of the proxy", columns, rows)
