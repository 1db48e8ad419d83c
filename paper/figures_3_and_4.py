"""Figures 3 and 4: tasks that are learned with skills, from the true reward and from a proxy.

Every agent learns the task of every world for 20,000 episodes with its skills and the primitive
actions. Figure 3 shows the steps that it takes then. In Figure 4 it is trained on a proxy reward
that ignores side effects, and evaluated by the true one, which an agent with focused skills should
earn all the same. Claims, with W a world and A a focused agent:

    downstream-W-A     A's steps are the paper's or fewer, and fewer than with primitives alone
    steps-W-A-B        A takes fewer steps than B, its DUSDi or plain counterpart (in FourRooms,
                       about as many as DUSDi)
    fails-W-B          B, which fails in the paper, does not learn the task in most seeds
    aim-W-A            our aim for A's steps, with the preset `best`
    proxy-W-A          the true return is at least the paper's, and more than plain skills earn
    proxy-W-B          B another agent: the true return is less than the proxy's, and as little as
                       in the paper
    aim-proxy-W        our aim for the true return of the best focused agent
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from paper.agents import Case, Setup, main_cases, memory_cases
from paper.claims import (
    Analysis,
    Claim,
    Experiment,
    aim_at_least,
    aim_at_most,
    at_least,
    at_most,
    comparable,
    count_shown,
    difference_claim,
    judge,
    majority_claim,
    matching,
    numbers_by_world,
)
from paper.formatting import (
    MISSING,
    Table,
    agent_name,
    draw_optimum,
    draw_task_curve,
    format_count,
    format_interval,
    format_mean,
    format_number,
    join_words,
)
from paper.results import (
    PROXY_RETURN,
    PROXY_TRUE_RETURN,
    TASK_RETURN,
    TASK_STEPS,
    SeedValues,
    count_pairs,
    curves_by_seed,
    interquartile_mean_over_seeds,
    mean_difference,
    mean_over_seeds,
    mean_ratio,
    values_by_agent,
    values_by_seed,
)
from paper.settings import (
    AGENTS,
    DUSDI,
    FOCUSED,
    MEMORY_AGENTS,
    PLAIN,
    PRIMITIVES,
    STEP_LIMITS,
    WORLD_NAMES,
    WORLDS,
)
from skillfocus.figures import label_panel

ByAgent = dict[str, SeedValues]
"""A metric by agent and seed."""


def task_cases(worlds: Sequence[str], setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return the main cases of some worlds, and plain agents with memory."""
    return main_cases(setup, worlds, AGENTS, seeds) + memory_cases(setup, worlds, seeds)


# -------------------------------------------------------------------- Figure 3: steps

PAPER_STEPS = {
    "four-rooms": {
        "focused-vic": 93, "focused-diayn": 106, "focused-lsd": 105, "dusdi-vic": 145,
        "dusdi-diayn": 100, "vic": 320, "diayn": 320, "lsd": 320, PRIMITIVES: 320,
    },
    "forage-world": {
        "focused-vic": 37, "focused-diayn": 32.4, "focused-lsd": 37.8, "dusdi-vic": 60,
        "dusdi-diayn": 52.5, "vic": 60, "diayn": 59.7, "lsd": 51, PRIMITIVES: 60,
    },
    "mud-world": {
        "focused-vic": 30, "focused-diayn": 24.3, "focused-lsd": 23.8, "dusdi-vic": 60,
        "dusdi-diayn": 59.8, "vic": 60, "diayn": 60, "lsd": 60, PRIMITIVES: 60,
    },
}  # fmt: skip
"""Steps after 20,000 episodes, read from Figure 3."""
STEPS_ERROR = 1.0
FAILURE_SHARE = 0.98
"""An agent of the paper fails if its steps are at least this share of the step limit."""
STEP_AIMS = {"four-rooms": 49.0, "forage-world": 32.0, "mud-world": 23.5}


def analyze_steps(frame: pl.DataFrame) -> Analysis:
    """Compare steps with skills to those with other skills and with primitive actions alone.

    Args:
        frame: Reduced results of one setup.

    Returns:
        Claims (see the module), and a table per world.
    """
    claims, tables = [], []
    for world in WORLDS:
        steps, returns = (
            values_by_agent(frame, metric, world, (*AGENTS, *MEMORY_AGENTS))
            for metric in (TASK_STEPS, TASK_RETURN)
        )
        for agent in FOCUSED:
            claims += _few_steps_claim(world, agent, steps)
        for agent in FOCUSED:
            base = agent.removeprefix("focused-")
            claims += _comparison_claim(world, agent, f"dusdi-{base}", steps)
            claims += _comparison_claim(world, agent, base, steps)
        for agent in (*DUSDI, *PLAIN, PRIMITIVES):
            if PAPER_STEPS[world][agent] >= FAILURE_SHARE * STEP_LIMITS[world]:
                claims += _failure_claim(world, agent, returns[agent])
        for agent in FOCUSED if "best" in frame["preset"] else ():
            if steps[agent]:
                statement = f"{WORLD_NAMES[world]} with {agent_name(agent)} skills: steps, at most"
                name, aim, limit = f"aim-{world}-{agent}", STEP_AIMS[world], STEP_LIMITS[world]
                claims.append(aim_at_most(name, statement, aim, steps[agent], 0, limit))
        tables.append(task_table(frame, world, steps, returns))
    return Analysis(claims, tables)


def _few_steps_claim(world: str, agent: str, steps: ByAgent) -> list[Claim]:
    """Direction: fewer steps than with primitives alone. Size: no more than the paper's."""
    paper = PAPER_STEPS[world][agent]
    return difference_claim(
        f"downstream-{world}-{agent}",
        f"{WORLD_NAMES[world]} is learned with {agent_name(agent)} skills: steps, and "
        f"fewer than with primitives alone",
        steps[agent], steps[PRIMITIVES], -1, reference=paper, ours=(0, STEP_LIMITS[world]),
        size=lambda ours: at_most(ours, paper, STEPS_ERROR),
        paper=paper - PAPER_STEPS[world][PRIMITIVES],
        evidence="{} steps against primitives alone", digits=1,
    )  # fmt: skip


def _comparison_claim(world: str, agent: str, other: str, steps: ByAgent) -> list[Claim]:
    """Fewer steps than with plain and with DUSDi skills; in FourRooms, as many as with DUSDi's."""
    first, second = steps[agent], steps.get(other, {})
    fewer = mean_difference(first, second)
    if fewer is None:
        return []
    name, numbers = f"steps-{world}-{agent}-{other}", PAPER_STEPS[world]
    paper = numbers[agent] - numbers[other]
    skills = f"{WORLD_NAMES[world]}: {agent_name(agent)} and {agent_name(other)} skills"
    evidence = f"{format_mean(first, 1)} and {format_mean(second, 1)} steps"
    if world == "four-rooms" and other in DUSDI:
        ratio, n = mean_ratio(first, second), count_pairs(first, second)
        fails = mean_over_seeds(first).estimate >= FAILURE_SHARE * STEP_LIMITS[world]
        holds = ratio is not None and comparable(ratio) and not fails
        statement = f"{skills} are comparable: steps, the difference"
        return [Claim(name, statement, paper, fewer, judge(holds, holds, n), n, evidence)]
    return difference_claim(
        name, f"{skills}, fewer with the first: steps, the difference", first, second, -1,
        reference=paper, size=lambda ours: at_most(ours, paper, STEPS_ERROR), paper=paper,
        evidence=evidence,
    )  # fmt: skip


def _failure_claim(world: str, agent: str, returns: SeedValues) -> list[Claim]:
    """An agent that fails in the paper: most of its seeds must not accomplish the task."""
    skills = agent_name(agent) if agent == PRIMITIVES else f"{agent_name(agent)} skills"
    statement = (
        f"{WORLD_NAMES[world]} is not learned with {skills}: the share of seeds in which it is"
    )
    return majority_claim(f"fails-{world}-{agent}", statement, returns, learned=False)


def steps_outcome(claims: Sequence[Claim]) -> str:
    """Return the steps with focused skills by world, and how many agents fail as in the paper."""
    parts = numbers_by_world(claims, r"downstream-{world}-.*", 1, " steps")
    fails = matching(claims, r"fails-.*")
    if not parts:
        return ""
    failing = (
        f"; of {len(fails)} cases that fail in the paper, {count_shown(fails)} are shown to fail"
    )
    return f"With focused skills, tasks take {join_words(parts)}{failing if fails else ''}."


def episodes_needed(frame: pl.DataFrame, world: str, agent: str) -> SeedValues:
    """Return the number of episodes until the steps are close to the final ones.

    Close means that three evaluations in a row are within 10 % of the last.

    Returns:
        Episodes by seed, of the seeds that learn the task.
    """
    returns = values_by_seed(frame, TASK_RETURN, world, agent)
    seeds, episodes, steps = curves_by_seed(frame, TASK_STEPS, world, agent)
    needed = {}
    for seed, curve in zip(seeds, steps, strict=True):
        if returns.get(seed, 0.0) > 0.5:
            close = curve <= 1.1 * curve[-1]
            three = close[:-2] & close[1:-1] & close[2:]
            needed[seed] = float(episodes[np.argmax(three) if three.any() else -1])
    return needed


def task_table(
    frame: pl.DataFrame,
    world: str,
    steps: ByAgent,
    returns: ByAgent,
) -> Table:
    """Return a table of final steps and successes, an agent per row.

    Args:
        frame: Reduced results of one setup.
        world: Short name of the world.
        steps: Final steps by agent and seed.
        returns: Final returns by agent and seed.
    """
    limit, paper = STEP_LIMITS[world], PAPER_STEPS[world]
    rows = [
        [
            agent_name(agent),
            format_number(paper[agent], 1) if agent in paper else MISSING,
            format_mean(steps[agent], 1, 0, limit),
            format_interval(interquartile_mean_over_seeds(steps[agent]), 1),
            format_mean(returns[agent], 2, 0, 1), format_count(returns[agent]),
            format_mean(episodes_needed(frame, world, agent), 0, 0, 20_000),
            str(len(steps[agent])),
        ]
        for agent in steps
        if steps[agent]
    ]  # fmt: skip
    columns = [
        "agent", "steps, paper", "steps, ours", "their interquartile mean", "success",
        "seeds that learn it", "episodes to within 10 %", "seeds",
    ]  # fmt: skip
    note = (
        f"The cap is {limit} steps, and counts for a failure. A seed learns the "
        f"task if its final policy accomplishes it in more than half of 1,000 runs; of those "
        f"seeds, the episodes after which three evaluations in a row are within 10 % of the "
        f"final steps."
    )
    of = partial(values_by_seed, frame, world=world, agent=PRIMITIVES)
    if best := of("optimum/true/steps"):
        needed, success = (next(iter(x.values())) for x in (best, of("optimum/true/success")))
        note += (
            f" The best policy over primitive moves needs {format_number(needed, 1)} steps and "
            f"succeeds with probability {format_number(success, 3)}."
        )
    if best and world == "mud-world":
        note += (
            " That is an upper bound: the model that it is computed in takes every tracked "
            "cell for a new one, and agents do a little better."
        )
    return Table(f"{WORLD_NAMES[world]}: the task after 20,000 episodes", columns, rows, note)


def draw_steps(frame: pl.DataFrame) -> Figure:
    """Draw steps while the task is learned, a panel per world.

    Args:
        frame: Reduced results of one setup.
    """
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    panels = figure.subplots(1, 3)
    for panel, world in zip(panels, WORLDS, strict=True):
        for agent in AGENTS:
            draw_task_curve(panel, frame, TASK_STEPS, world, agent)
        draw_optimum(panel, frame, "true/steps", world)
        label_panel(panel, WORLD_NAMES[world], "episodes", "steps")
        panel.set_ylim(0, STEP_LIMITS[world] * 1.03)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right", fontsize=7.5)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return figure


DOWNSTREAM = Experiment(
    "downstream",
    "Downstream tasks (Figure 3)",
    partial(task_cases, WORLDS),
    analyze_steps,
    draw_steps,
    figure_name="figure-3-downstream",
    page="figure-3",
    outcome=steps_outcome,
)


# -------------------------------------------------------------------- Figure 4: returns

PROXY_WORLDS = ("forage-world", "mud-world")
"""The worlds whose proxy reward differs from the true one."""
PAPER_RETURNS = {
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
RETURNS_ERROR = 0.02
LITTLE_MORE = 0.1
"""A true return that exceeds the paper's by no more than this counts as as little."""
RETURN_AIMS = {"forage-world": 0.85, "mud-world": 0.95}


def analyze_returns(frame: pl.DataFrame) -> Analysis:
    """Compare true returns: focused with plain skills, and all others with their proxy return.

    Args:
        frame: Reduced results of one setup.

    Returns:
        Claims (see the module), and a table per world.
    """
    claims, tables = [], []
    for world in PROXY_WORLDS:
        true, proxy = (
            values_by_agent(frame, metric, world, (*AGENTS, *MEMORY_AGENTS))
            for metric in (PROXY_TRUE_RETURN, PROXY_RETURN)
        )
        for agent in FOCUSED:
            claims += _true_return_claim(world, agent, true)
        for agent in (*DUSDI, *PLAIN):
            claims += _other_claim(world, agent, true, proxy)
        claims += _aim(world, true)
        tables.append(_return_table(world, true, proxy))
    return Analysis(claims, tables)


def _true_return_claim(world: str, agent: str, true: ByAgent) -> list[Claim]:
    """Direction: more than the plain objective's. Size: at least the paper's."""
    plain, paper = agent.removeprefix("focused-"), PAPER_RETURNS[world][agent][1]
    return difference_claim(
        f"proxy-{world}-{agent}",
        f"{WORLD_NAMES[world]}, told the proxy: {agent_name(agent)} skills earn the true "
        f"return, and more of it than plain ones",
        true[agent], true[plain], 1, reference=paper, ours=(0, 1),
        size=lambda ours: at_least(ours, paper, RETURNS_ERROR),
        paper=paper - PAPER_RETURNS[world][plain][1], evidence="{} more than plain",
    )  # fmt: skip


def _other_claim(world: str, agent: str, true: ByAgent, proxy: ByAgent) -> list[Claim]:
    """Direction: less true than proxy return. Size: as little as in the paper."""
    paper = PAPER_RETURNS[world][agent][1]
    return difference_claim(
        f"proxy-{world}-{agent}",
        f"{WORLD_NAMES[world]}, told the proxy: {agent_name(agent)} skills earn the proxy "
        f"at the expense of the true return",
        true[agent], proxy[agent], -1, reference=paper, ours=(0, 1),
        size=lambda ours: ours <= paper + LITTLE_MORE, evidence="true minus proxy return {}",
    )  # fmt: skip


def _aim(world: str, true: ByAgent) -> list[Claim]:
    """The aim is one for all focused agents: the best of them must reach it in the mean."""
    means = {a: mean_over_seeds(true[a]).estimate for a in FOCUSED if true[a]}
    if not means:
        return []
    agent = max(means, key=lambda name: means[name])
    statement = (
        f"{WORLD_NAMES[world]}, told the proxy: true return of the best focused skills "
        f"({agent_name(agent)}), at least"
    )
    return [aim_at_least(f"aim-proxy-{world}", statement, RETURN_AIMS[world], true[agent], 0, 1)]


def _return_table(world: str, true: ByAgent, proxy: ByAgent) -> Table:
    rows = []
    for agent in true:
        if true[agent]:
            numbers = PAPER_RETURNS[world].get(agent)
            paper = [MISSING] * 2 if numbers is None else list(map(format_number, numbers))
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


def returns_outcome(claims: Sequence[Claim]) -> str:
    """Return the true returns of agents with focused skills and of the others, by world."""
    focused = numbers_by_world(claims, r"proxy-{world}-focused-.*")
    others = numbers_by_world(claims, r"proxy-{world}-(?!focused).*")
    if not focused:
        return ""
    sentence = f"Trained on the proxy, focused skills earn a true return of {join_words(focused)}"
    return f"{sentence}; others earn {join_words(others)}." if others else f"{sentence}."


def draw_returns(frame: pl.DataFrame) -> Figure:
    """Draw proxy and true return while the proxy is learned, two panels per world.

    Args:
        frame: Reduced results of one setup.
    """
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    panels = figure.subplots(1, 4, sharey=True)
    kinds = (("proxy", PROXY_RETURN), ("true", PROXY_TRUE_RETURN))
    contents = [(world, kind, metric) for world in PROXY_WORLDS for kind, metric in kinds]
    for panel, (world, kind, metric) in zip(panels, contents, strict=True):
        for agent in AGENTS:
            draw_task_curve(panel, frame, metric, world, agent)
        draw_optimum(panel, frame, f"{kind}/return", world)
        title = f"{WORLD_NAMES[world]}: {kind} return"
        label_panel(panel, title, "episodes of the proxy", "return")
        panel.set_ylim(0, 1.02)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right", fontsize=7.5)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return figure


UNDERSPECIFIED = Experiment(
    "underspecified",
    "Under-specified goals (Figure 4)",
    partial(task_cases, PROXY_WORLDS),
    analyze_returns,
    draw_returns,
    figure_name="figure-4-underspecified",
    page="figure-4",
    outcome=returns_outcome,
)
