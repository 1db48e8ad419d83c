"""Figure 2: state coverage of skill chains in FourRooms, and what could be reached.

Coverage is the share of states that chains of 1 to 5 skills end in; its area under the curve over
the length of the chain (`auc`) is compared by ratios. With the preset `paper`, ideal skills and
focused skills with other settings are added (see `ideal_skills`, `coverage_figures`); with `best`,
agents of our own. Claims, with B an objective:

    coverage-B               focused B covers more than plain B, as many times as in the paper
    coverage-dusdi-B         focused B and DUSDi over B cover comparable shares
    coverage-scattered-vic   scattered focused VIC covers more than VIC (preset `best`)
    aim-A                    our aim for an agent of our own, with few side effects (preset `best`)
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import polars as pl

from skillfocus.experiments.by_seed import (
    SeedValues,
    count_pairs,
    mean_log_ratio,
    mean_over_seeds,
    mean_ratio,
    values_by_seed,
    worst_side_effects,
)
from skillfocus.experiments.cases import Case, Setup, first_seeds, main_cases, memory_cases
from skillfocus.experiments.claims import (
    Analysis,
    Claim,
    aim_claim,
    at_least,
    comparable,
    judge,
    judge_difference,
)
from skillfocus.experiments.coverage_figures import coverage_figure, frontier_blocks
from skillfocus.experiments.experiment import Experiment
from skillfocus.experiments.formatting import MISSING, agent_name, format_mean, format_number
from skillfocus.experiments.ideal_skills import ENDS, POSITION_SKILLS, WORLD, Ideal
from skillfocus.experiments.outcomes import coverage_outcome
from skillfocus.experiments.presets import (
    FOCUSED,
    IDEAL,
    MEMORY_AGENTS,
    OBJECTIVES,
    OUR_AGENTS,
    SCATTERED,
    SCATTERED_DIAYN,
    SCATTERED_LSD,
    TWO_TARGETS,
)
from skillfocus.report.document import Table
from skillfocus.runs.discovery_run import format_settings

PAPER = {
    "focused-vic": 1.85, "focused-diayn": 1.69, "focused-lsd": 1.84, "dusdi-vic": 1.74,
    "dusdi-diayn": 1.66, "vic": 0.35, "diayn": 0.62, "lsd": 0.61,
}  # fmt: skip
"""Area under the coverage curve."""
PAPER_RATIOS = {"vic": 5.3, "diayn": 2.7, "lsd": 3.0}
"""Area of focused skills over that of plain ones."""
AIMS = {
    SCATTERED: 1.85, SCATTERED_DIAYN: 1.85, SCATTERED_LSD: 1.85, SCATTERED + TWO_TARGETS: 2.2,
}  # fmt: skip
"""Areas that agents of our own should reach."""
MAX_SIDE_EFFECTS = 0.05
"""Side effects of the worst skill that an aim allows."""
FRONTIER = {
    "strength": (0.0, 0.5, 1.0, 2.0, 10.0, 40.0), "rounds": (5, 10, 20, 80), "gamma": (0.9, 0.999),
}  # fmt: skip
"""Settings that focused skills are also learned with, one changed at a time."""


# -------------------------------------------------------------------- cases


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return the main cases; planned, also ideal and varied skills, or agents of our own."""
    listed = main_cases(setup, [WORLD], OBJECTIVES, seeds) + memory_cases(setup, [WORLD], seeds)
    if setup.learner == "planning":
        listed += (_ideal_and_varied if setup.preset == "paper" else _our_agents)(setup, seeds)
    return listed


def _our_agents(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Agents of our own, and scattered skills without a penalty and with a strong one; below ten
    seeds, the first of these agents alone."""
    agents = list(OUR_AGENTS)[: None if _first_tenth(seeds) else 1]
    usual = [
        setup.case(WORLD, agent, seed, **OUR_AGENTS[agent])
        for seed in first_seeds(seeds, 0.1, 1)
        for agent in agents
    ]
    return usual + [
        setup.case(
            WORLD, SCATTERED, seed, f"strength={x:g}", **(OUR_AGENTS[SCATTERED] | {"strength": x})
        )
        for seed in _first_tenth(seeds)
        for x in (0.0, 10.0)
    ]


def _ideal_and_varied(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Ideal skills, and focused ones with other settings; focused VIC's for at least one seed."""
    ideal = [
        Case(setup.preset, setup.learner, WORLD, IDEAL, f"{ends},{n}", 0, Ideal(ends, n))
        for ends in ENDS
        for n in POSITION_SKILLS
    ]
    seeds_of = dict.fromkeys(FOCUSED, _first_tenth(seeds))
    seeds_of["focused-vic"] = _first_tenth(seeds) or seeds[:1]
    return ideal + [
        setup.case(WORLD, agent, seed, f"{setting}={value:g}", **{setting: value})
        for agent, own_seeds in seeds_of.items()
        for seed in own_seeds
        for setting, values in FRONTIER.items()
        for value in values
    ]


def _first_tenth(seeds: Sequence[int]) -> Sequence[int]:
    return seeds[: min(2, len(seeds) // 10)]


# -------------------------------------------------------------------- analysis


def analyze(frame: pl.DataFrame) -> Analysis:
    """Compare areas of coverage.

    With the preset `paper`: focused with plain and with DUSDi skills. With `best`: agents of our
    own with VIC and with our aims.

    Args:
        frame: Reduced results of one setup.

    Returns:
        Claims, a table of all agents, and one of ideal skills if they were run.
    """
    agents = (*OBJECTIVES, *MEMORY_AGENTS, *OUR_AGENTS)
    areas = {a: values_by_seed(frame, "auc", WORLD, a) for a in agents}
    worst = {agent: worst_side_effects(frame, WORLD, agent) for agent in areas}
    if "best" in frame["preset"]:
        ratio = PAPER_RATIOS["vic"]
        scattered = _ratio_claim("coverage-scattered-vic", SCATTERED, "vic", ratio, areas)
        claims = [*scattered, *_aims(areas, worst)]
    else:
        ratios = [
            _ratio_claim(f"coverage-{base}", f"focused-{base}", base, paper, areas)
            for base, paper in PAPER_RATIOS.items()
        ]
        claims = [*itertools.chain(*ratios), *_dusdi_claims(areas)]
    return Analysis(claims, [_coverage_table(frame, areas, worst), *_ideal_tables(frame)])


def _ratio_claim(
    name: str, agent: str, plain: str, paper: float, areas: dict[str, SeedValues]
) -> list[Claim]:
    """Direction: more than the plain objective's area. Size: the paper's ratio."""
    pair = areas[agent], areas[plain]
    ratio, logs = mean_ratio(*pair), mean_log_ratio(*pair)
    if ratio is None or logs is None:
        return []
    n = count_pairs(*pair)
    size = at_least(ratio.estimate, paper)
    statement = (
        f"Chains of {agent_name(agent)} skills cover more states than those of "
        f"{agent_name(plain)}: the ratio of the areas"
    )
    evidence = f"areas {format_mean(areas[agent])} and {format_mean(areas[plain])}"
    verdict = judge_difference(logs, 1, size, n, float(np.log(paper)))
    return [Claim(name, statement, paper, ratio, verdict, n, evidence)]


def _dusdi_claims(areas: dict[str, SeedValues]) -> list[Claim]:
    """Direction and size: a ratio near 1."""
    claims = []
    for base in ("vic", "diayn"):
        focused, dusdi = areas[f"focused-{base}"], areas[f"dusdi-{base}"]
        if (ratio := mean_ratio(focused, dusdi)) is None:
            continue
        n, holds = count_pairs(focused, dusdi), comparable(ratio)
        paper = PAPER[f"focused-{base}"] / PAPER[f"dusdi-{base}"]
        claims.append(
            Claim(
                f"coverage-dusdi-{base}",
                f"Focused and DUSDi {agent_name(base)} cover comparable shares: the ratio of "
                f"their areas",
                round(paper, 2), ratio, judge(holds, holds, n), n,
                f"areas {format_mean(focused)} and {format_mean(dusdi)}",
            )
        )  # fmt: skip
    return claims


def _aims(areas: dict[str, SeedValues], worst: dict[str, SeedValues]) -> list[Claim]:
    """An aim needs the area in the mean, and few side effects of every skill in every seed."""
    claims = []
    for agent, aim in AIMS.items():
        if areas[agent] and worst[agent]:
            area, effects = mean_over_seeds(areas[agent]), max(worst[agent].values())
            holds = area.estimate >= aim and effects <= MAX_SIDE_EFFECTS
            statement = (
                f"{agent_name(agent)}: the area, with side effects of the worst skill at most "
                f"{MAX_SIDE_EFFECTS} (they are {format_number(effects, 3)})"
            )
            n = len(areas[agent])
            claims.append(aim_claim(f"aim-{agent}", statement, aim, area, holds, n))
    return claims


def _coverage_table(
    frame: pl.DataFrame, areas: dict[str, SeedValues], worst: dict[str, SeedValues]
) -> Table:
    lengths = range(1, 6)
    rows = []
    for agent, by_seed in areas.items():
        if by_seed:
            curve = [values_by_seed(frame, "coverage", WORLD, agent, step=n) for n in lengths]
            means = [format_number(mean_over_seeds(c).estimate, 3) if c else MISSING for c in curve]
            rows.append(
                [
                    agent_name(agent), f"{PAPER[agent]:.2f}" if agent in PAPER else MISSING,
                    format_mean(by_seed), *means, format_mean(worst[agent], 3), str(len(by_seed)),
                ]
            )  # fmt: skip
    columns = [
        "agent", "area, paper", "area, ours", *(f"length {n}" for n in lengths),
        "side effects, worst skill", "seeds",
    ]  # fmt: skip
    notes = [
        f"{agent_name(agent).capitalize()} has {', '.join(format_settings(settings))}."
        for agent, settings in OUR_AGENTS.items()
        if settings and areas[agent]
    ]
    title = "State coverage in FourRooms, and exact side effects"
    return Table(title, columns, rows, " ".join(notes))


def _ideal_tables(frame: pl.DataFrame) -> list[Table]:
    """The areas of ideal skills by where position skills end; no table without results."""
    rows = []
    for ends, description in ENDS.items():
        areas = [values_by_seed(frame, "auc", WORLD, IDEAL, f"{ends},{n}") for n in POSITION_SKILLS]
        if all(areas):
            rows.append([description, *(format_number(area[0]) for area in areas)])
    if not rows:
        return []
    columns = ["position skills end", "8 of them, others do nothing", "12 of them"]
    note = "Faultless skills without slips: four fetch a tool each and return."
    return [Table("What ideal single-target skills could cover (area)", columns, rows, note)]


EXPERIMENT = Experiment(
    "coverage",
    "State coverage (Figure 2)",
    cases,
    analyze,
    coverage_figure,
    figure_name="figure-2-coverage",
    closing=lambda frame: frontier_blocks(frame, PAPER),
    page="figure-2",
    outcome=coverage_outcome,
)
