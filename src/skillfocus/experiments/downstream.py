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

import polars as pl

from skillfocus.experiments.by_seed import (
    SeedValues,
    count_pairs,
    count_successes,
    mean_difference,
    mean_over_seeds,
    mean_ratio,
    values_by_seed,
)
from skillfocus.experiments.cases import Case, Setup, main_cases, memory_cases
from skillfocus.experiments.claims import (
    Analysis,
    Claim,
    aim_claim,
    at_most,
    comparable,
    judge,
    judge_difference,
    judge_majority,
)
from skillfocus.experiments.downstream_results import learning_figure, task_table
from skillfocus.experiments.experiment import Experiment
from skillfocus.experiments.formatting import (
    agent_name,
    format_count,
    format_interval,
    format_mean,
)
from skillfocus.experiments.outcomes import downstream_outcome
from skillfocus.experiments.presets import (
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
from skillfocus.experiments.reduce import TASK_RETURN, TASK_STEPS

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
    best = "best" in frame["preset"]
    for world in WORLDS:
        steps, returns = (
            {
                agent: values_by_seed(frame, metric, world, agent)
                for agent in (*AGENTS, *MEMORY_AGENTS)
            }
            for metric in (TASK_STEPS, TASK_RETURN)
        )
        claims += [
            *_focused_claims(world, steps), *_comparison_claims(world, steps),
            *_failure_claims(world, returns), *(_aims(world, steps) if best else []),
        ]  # fmt: skip
        tables.append(task_table(frame, world, PAPER[world], steps, returns))
    return Analysis(claims, tables)


def _focused_claims(world: str, steps: dict[str, SeedValues]) -> list[Claim]:
    """Direction: fewer steps than with primitives alone. Size: no more than the paper's."""
    claims = []
    for agent in FOCUSED:
        fewer = mean_difference(steps[agent], steps[PRIMITIVES])
        if fewer is None:
            continue
        ours, paper = mean_over_seeds(steps[agent], 0, STEP_LIMITS[world]), PAPER[world][agent]
        n = count_pairs(steps[agent], steps[PRIMITIVES])
        size = at_most(ours.estimate, paper, READING_ERROR)
        verdict = judge_difference(fewer, -1, size, n, paper - PAPER[world][PRIMITIVES])
        claims.append(
            Claim(
                f"downstream-{world}-{agent}",
                f"{WORLD_NAMES[world]} is learned with {agent_name(agent)} skills: steps, and "
                f"fewer than with primitives alone",
                paper, ours, verdict, n,
                f"{format_interval(fewer, 1)} steps against primitives alone",
            )
        )  # fmt: skip
    return claims


def _comparison_claims(world: str, steps: dict[str, SeedValues]) -> list[Claim]:
    """Fewer steps than with plain and with DUSDi skills; in FourRooms, as many as with DUSDi's."""
    claims = []
    for agent in FOCUSED:
        base = agent.removeprefix("focused-")
        for other in (f"dusdi-{base}", base):
            fewer = mean_difference(steps[agent], steps.get(other, {}))
            if fewer is None:
                continue
            n = count_pairs(steps[agent], steps[other])
            paper = PAPER[world][agent] - PAPER[world][other]
            names = f"{WORLD_NAMES[world]}: {agent_name(agent)} and {agent_name(other)} skills"
            if world == "four-rooms" and other in DUSDI:
                ratio = mean_ratio(steps[agent], steps[other])
                fails = mean_over_seeds(steps[agent]).estimate >= FAILURE_SHARE * STEP_LIMITS[world]
                holds = ratio is not None and comparable(ratio) and not fails
                statement = f"{names} are comparable: steps, the difference"
                verdict = judge(holds, holds, n)
            else:
                statement = f"{names}, fewer with the first: steps, the difference"
                size = at_most(fewer.estimate, paper, READING_ERROR)
                verdict = judge_difference(fewer, -1, size, n, paper)
            evidence = f"{format_mean(steps[agent], 1)} and {format_mean(steps[other], 1)} steps"
            name = f"steps-{world}-{agent}-{other}"
            claims.append(Claim(name, statement, paper, fewer, verdict, n, evidence))
    return claims


def _failure_claims(world: str, returns: dict[str, SeedValues]) -> list[Claim]:
    """Agents that fail in the paper: most of their seeds must not accomplish the task."""
    claims = []
    for agent in (*DUSDI, *PLAIN, PRIMITIVES):
        fails = PAPER[world][agent] >= FAILURE_SHARE * STEP_LIMITS[world]
        if not fails or not returns[agent]:
            continue
        _, n, share = count_successes(returns[agent])
        skills = agent_name(agent) if agent == PRIMITIVES else f"{agent_name(agent)} skills"
        claims.append(
            Claim(
                f"fails-{world}-{agent}",
                f"{WORLD_NAMES[world]} is not learned with {skills}: the share of seeds in which "
                f"it is",
                0.0, share, judge_majority(share, False), n,
                f"learned in {format_count(returns[agent])} seeds",
            )
        )  # fmt: skip
    return claims


def _aims(world: str, steps: dict[str, SeedValues]) -> list[Claim]:
    """An aim needs at most so many steps in the mean."""
    claims = []
    for agent in FOCUSED:
        if steps[agent]:
            ours = mean_over_seeds(steps[agent], 0, STEP_LIMITS[world])
            statement = f"{WORLD_NAMES[world]} with {agent_name(agent)} skills: steps, at most"
            holds = ours.estimate <= AIMS[world]
            name, n = f"aim-{world}-{agent}", len(steps[agent])
            claims.append(aim_claim(name, statement, AIMS[world], ours, holds, n))
    return claims


EXPERIMENT = Experiment(
    "downstream",
    "Downstream tasks (Figure 3)",
    cases,
    analyze,
    learning_figure,
    figure_name="figure-3-downstream",
    page="figure-3",
    outcome=downstream_outcome,
)
