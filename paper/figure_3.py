"""Figure 3: steps to accomplish a task that is learned with skills.

Every agent learns the task of every world for 20,000 episodes with its skills and the primitive
actions. Claims, with W a world and A a focused agent:

    downstream-W-A     A's steps are the paper's or fewer, and fewer than with primitives alone
    steps-W-A-B        A takes fewer steps than B, its DUSDi or plain counterpart (in FourRooms,
                       about as many as DUSDi)
    fails-W-B          B, which fails in the paper, does not learn the task in most seeds
    aim-W-A            our aim for A's steps, with the preset `best`
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
    aim_at_most,
    at_most,
    comparable,
    count_shown,
    difference_claim,
    judge,
    majority_claim,
    matching,
    numbers_by_world,
)
from paper.drawing import draw_optimum, draw_task_curve
from paper.experiment import Experiment
from paper.formatting import (
    MISSING,
    Table,
    agent_name,
    format_count,
    format_interval,
    format_mean,
    format_number,
    join_words,
)
from paper.results import (
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
from skillfocus.figures.style import label_panel

PAPER = {
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
READING_ERROR = 1.0
FAILURE_SHARE = 0.98
"""An agent of the paper fails if its steps are at least this share of the step limit."""
AIMS = {"four-rooms": 49.0, "forage-world": 32.0, "mud-world": 23.5}


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return the main cases, and plain agents with memory."""
    return main_cases(setup, WORLDS, AGENTS, seeds) + memory_cases(setup, WORLDS, seeds)


def analyze(frame: pl.DataFrame) -> Analysis:
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
            claims += _focused_claim(world, agent, steps)
        for agent in FOCUSED:
            base = agent.removeprefix("focused-")
            claims += _comparison_claim(world, agent, f"dusdi-{base}", steps)
            claims += _comparison_claim(world, agent, base, steps)
        for agent in (*DUSDI, *PLAIN, PRIMITIVES):
            if PAPER[world][agent] >= FAILURE_SHARE * STEP_LIMITS[world]:
                claims += _failure_claim(world, agent, returns[agent])
        for agent in FOCUSED if "best" in frame["preset"] else ():
            if steps[agent]:
                statement = f"{WORLD_NAMES[world]} with {agent_name(agent)} skills: steps, at most"
                name, possible = f"aim-{world}-{agent}", (0, STEP_LIMITS[world])
                claims.append(aim_at_most(name, statement, AIMS[world], steps[agent], *possible))
        tables.append(task_table(frame, world, steps, returns))
    return Analysis(claims, tables)


def _focused_claim(world: str, agent: str, steps: dict[str, SeedValues]) -> list[Claim]:
    """Direction: fewer steps than with primitives alone. Size: no more than the paper's."""
    paper = PAPER[world][agent]
    return difference_claim(
        f"downstream-{world}-{agent}",
        f"{WORLD_NAMES[world]} is learned with {agent_name(agent)} skills: steps, and "
        f"fewer than with primitives alone",
        steps[agent], steps[PRIMITIVES], -1, reference=paper, ours=(0, STEP_LIMITS[world]),
        size=lambda ours: at_most(ours, paper, READING_ERROR),
        paper=paper - PAPER[world][PRIMITIVES],
        evidence="{} steps against primitives alone", digits=1,
    )  # fmt: skip


def _comparison_claim(
    world: str, agent: str, other: str, steps: dict[str, SeedValues]
) -> list[Claim]:
    """Fewer steps than with plain and with DUSDi skills; in FourRooms, as many as with DUSDi's."""
    first, second = steps[agent], steps.get(other, {})
    fewer = mean_difference(first, second)
    if fewer is None:
        return []
    name, paper = f"steps-{world}-{agent}-{other}", PAPER[world][agent] - PAPER[world][other]
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
        reference=paper, size=lambda ours: at_most(ours, paper, READING_ERROR), paper=paper,
        evidence=evidence,
    )  # fmt: skip


def _failure_claim(world: str, agent: str, returns: SeedValues) -> list[Claim]:
    """An agent that fails in the paper: most of its seeds must not accomplish the task."""
    skills = agent_name(agent) if agent == PRIMITIVES else f"{agent_name(agent)} skills"
    statement = (
        f"{WORLD_NAMES[world]} is not learned with {skills}: the share of seeds in which it is"
    )
    return majority_claim(f"fails-{world}-{agent}", statement, returns, learned=False)


def outcome(claims: Sequence[Claim]) -> str:
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
    steps: dict[str, SeedValues],
    returns: dict[str, SeedValues],
) -> Table:
    """Return a table of final steps and successes, an agent per row.

    Args:
        frame: Reduced results of one setup.
        world: Short name of the world.
        steps: Final steps by agent and seed.
        returns: Final returns by agent and seed.
    """
    limit, paper = STEP_LIMITS[world], PAPER[world]
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
    ) + _optimum_note(frame, world)
    return Table(f"{WORLD_NAMES[world]}: the task after 20,000 episodes", columns, rows, note)


def _optimum_note(frame: pl.DataFrame, world: str) -> str:
    """A sentence about the best policy over primitive actions, if it was computed."""
    of = partial(values_by_seed, frame, world=world, agent=PRIMITIVES)
    steps, success = of("optimum/true/steps"), of("optimum/true/success")
    if not steps:
        return ""
    needed, probability = (next(iter(by_seed.values())) for by_seed in (steps, success))
    note = (
        f" The best policy over primitive moves needs {format_number(needed, 1)}"
        f" steps and succeeds with probability {format_number(probability, 3)}."
    )
    if world == "mud-world":
        note += (
            " That is an upper bound: the model that it is computed in takes every tracked "
            "cell for a new one, and agents do a little better."
        )
    return note


def learning_figure(frame: pl.DataFrame) -> Figure:
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


EXPERIMENT = Experiment(
    "downstream",
    "Downstream tasks (Figure 3)",
    cases,
    analyze,
    learning_figure,
    figure_name="figure-3-downstream",
    page="figure-3",
    outcome=outcome,
)
