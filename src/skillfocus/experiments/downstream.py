"""Figure 3: steps to accomplish a task, learned with skills; and with how many episodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from skillfocus.experiments.cases import Case, Setup, main_cases
from skillfocus.experiments.claims import (
    Analysis,
    BySeed,
    Claim,
    Table,
    agent_name,
    aim,
    at_most,
    comparable,
    count_shown,
    curves,
    difference,
    judged,
    majority,
    mean_of,
    mean_shown,
    middle_of,
    n_pairs,
    number,
    ratio,
    shown,
    successes,
    values,
    verdict,
)
from skillfocus.experiments.presets import AGENTS, DUSDI, FOCUSED, PLAIN, PRIMITIVES, WORLDS
from skillfocus.tasks import task as tasks
from skillfocus.worlds import registry

STEP_LIMITS = {
    world: tasks.TASKS[kind.id].max_episode_steps for world, kind in registry.WORLDS.items()
}
NAMES = {world: kind.__name__ for world, kind in registry.WORLDS.items()}
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
READING = 1.0
FAILS = 0.98
"""An agent fails, in the paper's figure, if its steps are at least this share of the cap."""
AIMS = {"four-rooms": 49.0, "forage-world": 32.0, "mud-world": 23.5}
STEPS, SUCCESS = "task/true/steps", "task/true/true_return"


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    return main_cases(setup, WORLDS, AGENTS, seeds)


def analyze(frame: pl.DataFrame) -> Analysis:
    found, tables = [], []
    best = "best" in frame["preset"]
    for world in WORLDS:
        steps = {agent: values(frame, STEPS, world, agent) for agent in AGENTS}
        done = {agent: values(frame, SUCCESS, world, agent) for agent in AGENTS}
        found += [*_focused(world, steps), *_others(world, steps), *_failures(world, done)]
        found += _aims(world, steps) if best else []
        tables.append(_table(frame, world, steps, done))
    return Analysis(found, tables)


def _focused(world: str, steps: dict[str, BySeed]) -> list[Claim]:
    """The direction: fewer steps than with primitives alone. The size: no more than the paper's."""
    found = []
    for agent in FOCUSED:
        fewer = difference(steps[agent], steps[PRIMITIVES])
        if fewer is None:
            continue
        ours, paper = mean_of(steps[agent], 0, STEP_LIMITS[world]), PAPER[world][agent]
        n = n_pairs(steps[agent], steps[PRIMITIVES])
        size = at_most(ours.estimate, paper, READING)
        found.append(
            Claim(
                f"downstream-{world}-{agent}",
                f"{NAMES[world]} is learned with {agent_name(agent)} skills: steps, and fewer than "
                f"with primitives alone",
                paper, ours, judged(fewer, -1, size, n, paper - PAPER[world][PRIMITIVES]), n,
                f"{shown(fewer, 1)} steps against primitives alone",
            )
        )  # fmt: skip
    return found


def _others(world: str, steps: dict[str, BySeed]) -> list[Claim]:
    """Fewer steps than with plain skills and, but for FourRooms, than with DUSDi's; there about as
    many."""
    found = []
    for agent in FOCUSED:
        base = agent.removeprefix("focused-")
        for other in (f"dusdi-{base}", base):
            fewer = difference(steps[agent], steps.get(other, {}))
            if fewer is None:
                continue
            n = n_pairs(steps[agent], steps[other])
            paper = PAPER[world][agent] - PAPER[world][other]
            alike = world == "four-rooms" and other in DUSDI
            names = f"{agent_name(agent)} and {agent_name(other)} skills"
            if alike:
                times = ratio(steps[agent], steps[other])
                holds = times is not None and comparable(times)
                statement = f"{NAMES[world]}: {names} are comparable: steps, the difference"
                result = verdict(holds, holds, n)
            else:
                statement = f"{NAMES[world]}: {names}, fewer with the first: steps, the difference"
                size = at_most(fewer.estimate, paper, READING)
                result = judged(fewer, -1, size, n, paper)
            evidence = f"{mean_shown(steps[agent], 1)} and {mean_shown(steps[other], 1)} steps"
            name = f"steps-{world}-{agent}-{other}"
            found.append(Claim(name, statement, paper, fewer, result, n, evidence))
    return found


def _failures(world: str, done: dict[str, BySeed]) -> list[Claim]:
    """That an agent fails: most of its seeds do not accomplish the task in most runs."""
    found = []
    for agent in (*DUSDI, *PLAIN, PRIMITIVES):
        if PAPER[world][agent] < FAILS * STEP_LIMITS[world] or not done[agent]:
            continue
        _, n, share = successes(done[agent])
        who = agent_name(agent) if agent == PRIMITIVES else f"{agent_name(agent)} skills"
        found.append(
            Claim(
                f"fails-{world}-{agent}",
                f"{NAMES[world]} is not learned with {who}: the share of seeds in which it is",
                0.0, share, majority(share, False), n,
                f"learned in {count_shown(done[agent])} seeds",
            )
        )  # fmt: skip
    return found


def _aims(world: str, steps: dict[str, BySeed]) -> list[Claim]:
    found = []
    for agent in FOCUSED:
        if steps[agent]:
            ours = mean_of(steps[agent], 0, STEP_LIMITS[world])
            statement = f"{NAMES[world]} with {agent_name(agent)} skills: steps, at most"
            holds = ours.estimate <= AIMS[world]
            name = f"aim-{world}-{agent}"
            found.append(aim(name, statement, AIMS[world], ours, holds, len(steps[agent])))
    return found


def episodes_needed(frame: pl.DataFrame, world: str, agent: str) -> BySeed:
    """Episodes after which three evaluations in a row are within 10 % of where the steps end, of
    the seeds that learn the task."""
    done = values(frame, SUCCESS, world, agent)
    seeds, episodes, steps = curves(frame, STEPS, world, agent)
    needed = {}
    for seed, curve in zip(seeds, steps, strict=True):
        if done.get(seed, 0.0) > 0.5:
            near = curve <= 1.1 * curve[-1]
            held = near[:-2] & near[1:-1] & near[2:]
            needed[seed] = float(episodes[np.argmax(held) if held.any() else -1])
    return needed


def _table(
    frame: pl.DataFrame, world: str, steps: dict[str, BySeed], done: dict[str, BySeed]
) -> Table:
    rows = [
        [
            agent_name(agent), number(PAPER[world][agent], 1),
            mean_shown(steps[agent], 1, 0, STEP_LIMITS[world]), shown(middle_of(steps[agent]), 1),
            mean_shown(done[agent], 2, 0, 1), count_shown(done[agent]),
            mean_shown(episodes_needed(frame, world, agent), 0, 0, 20_000),
            str(len(steps[agent])),
        ]
        for agent in AGENTS
        if steps[agent]
    ]  # fmt: skip
    optimum = values(frame, "optimum/true/steps", world, PRIMITIVES)
    note = (
        f"The cap is {STEP_LIMITS[world]} steps, and counts for a failure. A seed learns the "
        f"task if its final policy accomplishes it in more than half of 1,000 runs; of those "
        f"seeds, the episodes after which three evaluations in a row are within 10 % of the "
        f"final steps."
    )
    if optimum:
        success = values(frame, "optimum/true/success", world, PRIMITIVES)
        note += (
            f" The best policy over primitive moves needs {number(next(iter(optimum.values())), 1)}"
            f" steps and succeeds with probability {number(next(iter(success.values())), 3)}."
        )
        if world == "mud-world":
            note += (
                " That is an upper bound: the model that it is computed in takes every tracked "
                "cell for a new one, and agents do a little better."
            )
    columns = [
        "agent", "steps, paper", "steps, ours", "their interquartile mean", "success",
        "seeds that learn it",
        "episodes to within 10 %", "seeds",
    ]  # fmt: skip
    return Table(f"{NAMES[world]}: the task after 20,000 episodes", columns, rows, note)
