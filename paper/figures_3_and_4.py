"""Figures 3 and 4: tasks that are learned with skills, from the true reward and from a proxy.

Every agent learns the task of every world for 20,000 episodes with its skills and the primitive
actions. Figure 3 shows the steps that it takes then. In Figure 4 it is trained on a proxy reward
that ignores side effects, and evaluated by the true one, which an agent with focused skills should
earn all the same. Claims: from `downstream` to `aim-proxy` in `claims.toml`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper import formatting as fmt
from paper.agents import Case, Setup, main_cases, memory_cases
from paper.claims import (
    Analysis,
    Claim,
    Experiment,
    aim_claim,
    claim,
    comparable,
    count_shown,
    difference_claim,
    judge,
    majority_claim,
    matching,
    numbers_by_world,
    reaches,
)
from paper.results import (
    PROXY_RETURN,
    PROXY_TRUE_RETURN,
    TASK_RETURN,
    TASK_STEPS,
    SeedValues,
    curves_by_seed,
    differences,
    interquartile_mean_over_seeds,
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
    load_data,
)
from skillfocus.figures import label_panel

ByAgent = dict[str, SeedValues]
"""A metric by agent and seed."""


def task_cases(worlds: Sequence[str], setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return the main cases of some worlds, and plain agents with memory."""
    return main_cases(setup, worlds, AGENTS, seeds) + memory_cases(setup, worlds, seeds)


# -------------------------------------------------------------------- Figure 3: steps

_NUMBERS = load_data("numbers.toml")
PAPER_STEPS: dict[str, dict[str, float]] = _NUMBERS["steps"]
"""Steps after 20,000 episodes."""
STEPS_ERROR = 1.0
FAILURE_SHARE = 0.98
"""An agent of the paper fails if its steps are at least this share of the step limit."""
STEP_AIMS = {"four-rooms": 49.0, "forage-world": 32.0, "mud-world": 23.5}


def analyze_steps(frame: pl.DataFrame) -> Analysis:
    """Compare steps with skills to those with other skills and with primitive actions alone.

    Returns:
        Claims, and a table per world.
    """
    claims, tables = [], []
    for world in WORLDS:
        steps, returns = (
            values_by_agent(frame, metric, world, (*AGENTS, *MEMORY_AGENTS))
            for metric in (TASK_STEPS, TASK_RETURN)
        )
        paper, limit = PAPER_STEPS[world], STEP_LIMITS[world]
        for agent in FOCUSED:
            # Direction: fewer steps than with primitives alone. Size: no more than the paper's.
            number = paper[agent]
            claims += difference_claim(
                "downstream", steps[agent], steps[PRIMITIVES], -1, ours=(0, limit),
                size=partial(reaches, paper=number, sign=-1, reading_error=STEPS_ERROR),
                paper=number - paper[PRIMITIVES], evidence="{} steps against primitives alone",
                digits=1, reference=number, world=world, agent=agent,
            )  # fmt: skip
        for agent in FOCUSED:
            base = agent.removeprefix("focused-")
            claims += _comparison_claim(world, agent, f"dusdi-{base}", steps)
            claims += _comparison_claim(world, agent, base, steps)
        for agent in (*DUSDI, *PLAIN, PRIMITIVES):
            if paper[agent] >= FAILURE_SHARE * limit:
                detail = "fails-primitives" if agent == PRIMITIVES else "fails"
                claims += majority_claim(detail, returns[agent], False, world=world, agent=agent)
        for agent in FOCUSED if "best" in frame["preset"] else ():
            claims += aim_claim(
                "aim-steps", STEP_AIMS[world], steps[agent], -1, possible=(0, limit),
                world=world, agent=agent,
            )  # fmt: skip
        tables.append(_task_table(frame, world, steps, returns))
    return Analysis(claims, tables)


def _comparison_claim(world: str, agent: str, other: str, steps: ByAgent) -> list[Claim]:
    """Fewer steps than with plain and with DUSDi skills; in FourRooms, as many as with DUSDi's."""
    first, second = steps[agent], steps.get(other, {})
    paper = PAPER_STEPS[world][agent] - PAPER_STEPS[world].get(other, 0)
    names = {
        "world": world, "agent": agent, "other": other, "reference": paper,
        "evidence": f"{fmt.mean(first, 1)} and {fmt.mean(second, 1)} steps",
    }  # fmt: skip
    if world != "four-rooms" or other not in DUSDI:
        size = partial(reaches, paper=paper, sign=-1, reading_error=STEPS_ERROR)
        return difference_claim("steps", first, second, -1, size=size, paper=paper, **names)
    by_seed, ratio = differences(first, second), mean_ratio(first, second)
    if not by_seed:
        return []
    fails = mean_over_seeds(first).estimate >= FAILURE_SHARE * STEP_LIMITS[world]
    holds, n = ratio is not None and comparable(ratio) and not fails, len(by_seed)
    verdict = judge(holds, holds, n)
    return [claim("steps-comparable", mean_over_seeds(by_seed), verdict, n, **names)]


def steps_outcome(claims: Sequence[Claim]) -> str:
    """Return the steps with focused skills by world, and how many agents fail as in the paper."""
    parts = numbers_by_world(claims, r"downstream-{world}-.*", 1, " steps")
    fails = matching(claims, r"fails-.*")
    if not parts:
        return ""
    failing = (
        f"; of {len(fails)} cases that fail in the paper, {count_shown(fails)} are shown to fail"
    )
    return f"With focused skills, tasks take {fmt.join_words(parts)}{failing if fails else ''}."


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


def _task_table(frame: pl.DataFrame, world: str, steps: ByAgent, returns: ByAgent) -> fmt.Table:
    """Final steps and successes, an agent per row."""
    limit, paper = STEP_LIMITS[world], PAPER_STEPS[world]
    rows = [
        {
            "agent": fmt.agent_name(agent),
            "steps, paper": fmt.number(paper[agent], 1) if agent in paper else fmt.MISSING,
            "steps, ours": fmt.mean(by_seed, 1, 0, limit),
            "their interquartile mean": fmt.interval(interquartile_mean_over_seeds(by_seed), 1),
            "success": fmt.mean(returns[agent], 2, 0, 1),
            "seeds that learn it": fmt.count(returns[agent]),
            "episodes to within 10 %": fmt.mean(episodes_needed(frame, world, agent), 0, 0, 20_000),
            "seeds": str(len(by_seed)),
        }
        for agent, by_seed in steps.items()
        if by_seed
    ]
    note = (
        f"The cap is {limit} steps, and counts for a failure. A seed learns the "
        f"task if its final policy accomplishes it in more than half of 1,000 runs; of those "
        f"seeds, the episodes after which three evaluations in a row are within 10 % of the "
        f"final steps."
    )
    of = partial(values_by_seed, frame, world=world, agent=PRIMITIVES)
    if best := of("optimum/true/steps"):
        note += (
            f" The best policy over primitive moves needs {fmt.estimate(best, 1)} steps and "
            f"succeeds with probability {fmt.estimate(of('optimum/true/success'), 3)}."
        )
    if best and world == "mud-world":
        note += (
            " That is an upper bound: the model that it is computed in takes every tracked "
            "cell for a new one, and agents do a little better."
        )
    return fmt.Table.of(f"{WORLD_NAMES[world]}: the task after 20,000 episodes", rows, note)


def draw_steps(frame: pl.DataFrame) -> Figure:
    """Draw steps while the task is learned, a panel per world."""

    def draw(panel: Axes, world: str) -> None:
        for agent in AGENTS:
            fmt.draw_task_curve(panel, frame, TASK_STEPS, world, agent)
        fmt.draw_optimum(panel, frame, "true/steps", world)
        label_panel(panel, WORLD_NAMES[world], "episodes", "steps")
        panel.set_ylim(0, STEP_LIMITS[world] * 1.03)

    figure = fmt.draw_grid(WORLDS, draw, (11, 3.4))
    fmt.add_legend(figure)
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

PAPER_RETURNS: dict[str, dict[str, tuple[float, float]]] = _NUMBERS["returns"]
"""Proxy and true return, in the worlds whose proxy reward differs."""
RETURNS_ERROR = 0.02
LITTLE_MORE = 0.1
"""A true return that exceeds the paper's by no more than this counts as as little."""
RETURN_AIMS = {"forage-world": 0.85, "mud-world": 0.95}


def analyze_returns(frame: pl.DataFrame) -> Analysis:
    """Compare true returns: focused with plain skills, and all others with their proxy return.

    Returns:
        Claims, and a table per world.
    """
    claims, tables = [], []
    for world, paper in PAPER_RETURNS.items():
        true, proxy = (
            values_by_agent(frame, metric, world, (*AGENTS, *MEMORY_AGENTS))
            for metric in (PROXY_TRUE_RETURN, PROXY_RETURN)
        )
        for agent in (*FOCUSED, *DUSDI, *PLAIN):
            number = paper[agent][1]
            names = {"reference": number, "world": world, "agent": agent}
            if agent in FOCUSED:  # direction: more than the plain objective's; size: the paper's
                plain = agent.removeprefix("focused-")
                claims += difference_claim(
                    "proxy", true[agent], true[plain], 1, ours=(0, 1),
                    size=partial(reaches, paper=number, reading_error=RETURNS_ERROR),
                    paper=number - paper[plain][1], evidence="{} more than plain", **names,
                )  # fmt: skip
            else:  # direction: less than the proxy's; size: as little as in the paper
                claims += difference_claim(
                    "proxy-other", true[agent], proxy[agent], -1, ours=(0, 1),
                    size=partial(operator.ge, number + LITTLE_MORE),
                    evidence="true minus proxy return {}", **names,
                )  # fmt: skip
        # The aim is one for all focused agents: the best of them must reach it in the mean.
        means = {a: mean_over_seeds(true[a]).estimate for a in FOCUSED if true[a]}
        if means:
            best = max(means, key=lambda agent: means[agent])
            names = {"possible": (0, 1), "world": world, "agent": best}
            claims += aim_claim("aim-proxy", RETURN_AIMS[world], true[best], **names)
        tables.append(_return_table(world, true, proxy))
    return Analysis(claims, tables)


def _return_table(world: str, true: ByAgent, proxy: ByAgent) -> fmt.Table:
    paper = {
        agent: [fmt.number(value) for value in pair] for agent, pair in PAPER_RETURNS[world].items()
    }
    rows = [
        {
            "agent": fmt.agent_name(agent),
            "proxy, paper": paper.get(agent, [fmt.MISSING])[0],
            "proxy, ours": fmt.mean(proxy[agent], 2, 0, 1),
            "true, paper": paper.get(agent, [fmt.MISSING])[-1],
            "true, ours": fmt.mean(by_seed, 2, 0, 1),
            "true − proxy": fmt.mean(differences(by_seed, proxy[agent])),
            "seeds": str(len(by_seed)),
        }
        for agent, by_seed in true.items()
        if by_seed
    ]
    return fmt.Table.of(f"{WORLD_NAMES[world]}: returns after 20,000 episodes of the proxy", rows)


def returns_outcome(claims: Sequence[Claim]) -> str:
    """Return the true returns of agents with focused skills and of the others, by world."""
    focused = numbers_by_world(claims, r"proxy-{world}-focused-.*")
    others = numbers_by_world(claims, r"proxy-{world}-(?!focused).*")
    if not focused:
        return ""
    sentence = (
        f"Trained on the proxy, focused skills earn a true return of {fmt.join_words(focused)}"
    )
    return f"{sentence}; others earn {fmt.join_words(others)}." if others else f"{sentence}."


def draw_returns(frame: pl.DataFrame) -> Figure:
    """Draw proxy and true return while the proxy is learned, two panels per world."""

    def draw(panel: Axes, content: tuple[str, str]) -> None:
        world, kind = content
        for agent in AGENTS:
            metric = PROXY_RETURN if kind == "proxy" else PROXY_TRUE_RETURN
            fmt.draw_task_curve(panel, frame, metric, world, agent)
        fmt.draw_optimum(panel, frame, f"{kind}/return", world)
        title = f"{WORLD_NAMES[world]}: {kind} return"
        label_panel(panel, title, "episodes of the proxy", "return")
        panel.set_ylim(0, 1.02)

    contents = list(product(PAPER_RETURNS, ("proxy", "true")))
    figure = fmt.draw_grid(contents, draw, (11, 3.2), sharey=True)
    fmt.add_legend(figure)
    return figure


UNDERSPECIFIED = Experiment(
    "underspecified",
    "Under-specified goals (Figure 4)",
    partial(task_cases, tuple(PAPER_RETURNS)),
    analyze_returns,
    draw_returns,
    figure_name="figure-4-underspecified",
    page="figure-4",
    outcome=returns_outcome,
)
