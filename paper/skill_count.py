"""The appendix: FourRooms with 8 skills (tools alone) and 24 (16 for the position).

Claims, with A an agent and N a number of skills other than the default 16:

    skills-N-A   A, if focused or DUSDi, learns the task in most seeds; if plain, it does not
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from paper.agents import Case, Setup
from paper.claims import Analysis, Claim, judge_majority
from paper.experiment import Experiment
from paper.formatting import Table, agent_name, format_count, format_mean
from paper.results import TASK_RETURN, TASK_STEPS, SeedValues, count_successes, values_by_seed
from paper.settings import OBJECTIVES, PLAIN, STEP_LIMITS
from skillfocus.objectives.kinds import N_SKILLS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WORLD = "four-rooms"
COUNTS = (8, N_SKILLS, 24)


def variant(count: int) -> str:
    """Return the variant of a number of skills; the default number is none."""
    return "" if count == N_SKILLS else f"skills={count}"


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return every agent with every number of skills; planned alone."""
    if setup.learner != "planning":
        return []
    return [
        setup.case(WORLD, agent, seed, variant(n), skills=n)
        for seed in seeds
        for agent in OBJECTIVES
        for n in COUNTS
    ]


def analyze(frame: pl.DataFrame) -> Analysis:
    """Check that focused and DUSDi skills learn the task with 8 and 24 skills, and plain ones fail.

    Args:
        frame: Reduced results of one setup.

    Returns:
        Claims (see the module), and a table of agents and numbers of skills.
    """
    rows, claims = [], []
    for agent in OBJECTIVES:
        steps, returns, areas = (
            {n: values_by_seed(frame, metric, WORLD, agent, variant(n)) for n in COUNTS}
            for metric in (TASK_STEPS, TASK_RETURN, "auc")
        )
        if not steps[8] and not steps[24]:
            continue
        # The default count has more seeds than the others: keep those that another count has.
        seeds = steps[8].keys() | steps[24].keys()
        for values in (steps, returns):
            by_seed = values[N_SKILLS]
            values[N_SKILLS] = {s: value for s, value in by_seed.items() if s in seeds}
        rows += [
            [
                agent_name(agent), str(n), format_mean(steps[n], 1, 0, STEP_LIMITS[WORLD]),
                format_count(returns[n]), format_mean(areas[n]), str(len(steps[n])),
            ]
            for n in COUNTS
            if steps[n]
        ]  # fmt: skip
        claims += [_claim(agent, count, returns[count]) for count in (8, 24) if returns[count]]
    columns = ["agent", "skills", "steps", "seeds that learn it", "area of coverage", "seeds"]
    return Analysis(claims, [Table("FourRooms over the number of skills", columns, rows)])


def _claim(agent: str, count: int, returns: SeedValues) -> Claim:
    """Direction: more (or fewer) than half of the seeds. Size: all (or none)."""
    _, n, share = count_successes(returns)
    fails = agent in PLAIN
    return Claim(
        f"skills-{count}-{agent}",
        f"With {count} {agent_name(agent)} skills FourRooms is {'not ' if fails else ''}learned: "
        f"the share of seeds in which it is",
        0.0 if fails else 1.0, share, judge_majority(share, not fails), n,
        f"learned in {format_count(returns)} seeds",
    )  # fmt: skip


def figure(frame: pl.DataFrame) -> Figure:
    """Draw steps over the number of skills, and the optimum as a line.

    Args:
        frame: Reduced results of one setup.
    """
    from matplotlib.figure import Figure

    from paper.drawing import draw_optimum, draw_setting_curve
    from skillfocus.figures.style import label_panel

    figure = Figure(figsize=(5.2, 3.2), layout="constrained")
    panel = figure.subplots()
    for agent in OBJECTIVES:
        steps = {n: values_by_seed(frame, TASK_STEPS, WORLD, agent, variant(n)) for n in COUNTS}
        draw_setting_curve(panel, agent, steps, STEP_LIMITS[WORLD])
    panel.set_xticks(COUNTS)
    panel.set_ylim(0, STEP_LIMITS[WORLD] * 1.03)
    draw_optimum(panel, frame, "true/steps", WORLD)
    label_panel(panel, "FourRooms", "number of skills", "steps after 20,000 episodes")
    if len(panel.get_lines()):
        figure.legend(loc="outside right", fontsize=7.5)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return figure


EXPERIMENT = Experiment(
    "skill-count",
    "The number of skills (appendix)",
    cases,
    analyze,
    figure,
    presets=("paper",),
    seed_share=0.1,
    least_seeds=0,
    page="appendix",
)
