"""Figure 2: state coverage of skill chains in FourRooms, and what could be reached.

`Ideal` counts what chains of faultless skills cover. Four skills fetch a tool each and return,
and of the others some do nothing and some end somewhere else than they began:

    same      each always in one cell
    mapped    each in one cell per first cell
    region    each anywhere in a region of its own, at random
    anywhere  anywhere at random
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from skillfocus.core.progress import Progress
from skillfocus.errors import unknown
from skillfocus.experiments.cases import Case, Setup, main_cases, share_of
from skillfocus.experiments.claims import (
    Analysis,
    BySeed,
    Claim,
    Table,
    agent_name,
    aim,
    at_least,
    comparable,
    judged,
    log_ratio,
    mean_of,
    mean_shown,
    n_pairs,
    number,
    ratio,
    values,
    verdict,
    worst_skill,
)
from skillfocus.experiments.presets import FOCUSED, OBJECTIVES, ON_TWO, OURS, SCATTERED
from skillfocus.metrics.coverage import area, chain_coverage
from skillfocus.metrics.reachability import fresh_starts, other_variables
from skillfocus.objectives.targets import N_SKILLS
from skillfocus.runs.discovery_run import cached_mdp
from skillfocus.runs.run import Result, Run

WORLD = "four-rooms"
PAPER = {
    "focused-vic": 1.85, "focused-diayn": 1.69, "focused-lsd": 1.84, "dusdi-vic": 1.74,
    "dusdi-diayn": 1.66, "vic": 0.35, "diayn": 0.62, "lsd": 0.61,
}  # fmt: skip
RATIOS = {"vic": 5.3, "diayn": 2.7, "lsd": 3.0}
LARGEST_EFFECTS = 0.05
AIMS = {SCATTERED: 1.85, SCATTERED + ON_TWO: 2.2}
ENDS = ("same", "mapped", "region", "anywhere")
FRONTIER = {
    "strength": (0.0, 0.5, 1.0, 2.0, 10.0, 40.0), "rounds": (5, 10, 20, 80), "gamma": (0.9, 0.999),
}  # fmt: skip


@dataclass(frozen=True)
class Ideal(Run):
    """What chains of faultless skills cover, eight of which end elsewhere and four do nothing, or
    twelve end elsewhere."""

    ends: str
    position_skills: int = 8
    seed: int = 0

    def __post_init__(self) -> None:
        if self.ends not in ENDS:
            raise unknown("way to end", self.ends, ENDS)

    def execute(self, report: Progress) -> Result:
        report(0.0, "counting")
        table = cached_mdp(WORLD, "{}")
        default_target = table.space.index("position")
        moves = ideal_moves(
            table.values, table.space.sizes, self.ends, self.position_skills,
            np.random.default_rng(self.seed),
        )  # fmt: skip
        starts = fresh_starts(table, other_variables(table, default_target))
        curve = chain_coverage(moves, starts).mean(axis=1)
        rows = [("coverage", n + 1, float(c)) for n, c in enumerate(curve)]
        return Result([*rows, ("auc", None, area(curve))])


def ideal_moves(
    states: np.ndarray,
    sizes: Sequence[int],
    ends: str,
    position_skills: int,
    rng: np.random.Generator,
) -> list[np.ndarray]:
    """[first state, last state] of every skill; states are rows of (cell, tools …)."""
    n, n_cells, n_tools = len(states), sizes[0], len(sizes) - 1
    number_of = {tuple(state): s for s, state in enumerate(states.tolist())}

    def skill(where: np.ndarray, tool: int | None = None) -> np.ndarray:
        """One that ends in cell c with probability where[first cell, c]."""
        move = np.zeros((n, n))
        for s, state in enumerate(states.tolist()):
            for cell in np.flatnonzero(where[state[0]]):
                after = [int(cell), *state[1:]]
                if tool is not None:
                    after[1 + tool] = 1
                move[s, number_of[tuple(after)]] = where[state[0], cell]
        return move

    stays = np.eye(n_cells)
    moves = [skill(stays, tool) for tool in range(n_tools)]
    if n_tools + position_skills < N_SKILLS:
        moves += [skill(stays)]  # several skills that do nothing are as good as one
    everyone = np.ones(n_cells)
    for z in range(position_skills):
        if ends == "same":
            where = np.outer(everyone, np.arange(n_cells) == rng.integers(n_cells))
        elif ends == "mapped":
            where = stays[rng.integers(n_cells, size=n_cells)]
        elif ends == "region":
            mine = np.arange(n_cells) * position_skills // n_cells == z
            where = np.outer(everyone, mine / mine.sum())
        else:
            where = np.full((n_cells, n_cells), 1 / n_cells)
        moves.append(skill(where.astype(float)))
    return moves


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    made = main_cases(setup, [WORLD], OBJECTIVES, seeds)
    if setup.learner == "planning":
        made += (_ideal_and_varied if setup.preset == "paper" else _our_own)(setup, seeds)
    return made


def _our_own(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    made = [
        setup.case(WORLD, agent, seed, **changes)
        for seed in share_of(seeds, 0.2)
        for agent, changes in OURS.items()
    ]
    return made + [
        setup.case(WORLD, SCATTERED, seed, f"strength={x:g}", **(OURS[SCATTERED] | {"strength": x}))
        for seed in _tenth(seeds)
        for x in (0.0, 10.0)
    ]


def _ideal_and_varied(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Ideal skills; and focused ones with other settings, focused VIC's in one seed at least."""
    made = [
        Case(setup.preset, setup.learner, WORLD, "ideal", f"{ends},{n}", 0, Ideal(ends, n))
        for ends in ENDS
        for n in (8, 12)
    ]
    tried = dict.fromkeys(FOCUSED, _tenth(seeds))
    tried["focused-vic"] = _tenth(seeds) or seeds[:1]
    return made + [
        setup.case(WORLD, agent, seed, f"{setting}={value:g}", **{setting: value})
        for agent, mine in tried.items()
        for seed in mine
        for setting, options in FRONTIER.items()
        for value in options
    ]


def _tenth(seeds: Sequence[int]) -> Sequence[int]:
    return seeds[: len(seeds) // 10]


def analyze(frame: pl.DataFrame) -> Analysis:
    auc = {agent: values(frame, "auc", WORLD, agent) for agent in (*OBJECTIVES, *OURS)}
    worst = {agent: worst_skill(frame, WORLD, agent) for agent in auc}
    if "best" in frame["preset"]:
        scattered = _ratio("coverage-scattered-vic", SCATTERED, "vic", RATIOS["vic"], auc)
        found = [*scattered, *_aims(auc, worst)]
    else:
        ratios = [
            _ratio(f"coverage-{base}", f"focused-{base}", base, paper, auc)
            for base, paper in RATIOS.items()
        ]
        found = [*itertools.chain(*ratios), *_dusdi(auc)]
    return Analysis(found, [_table(frame, auc, worst), *_ideals(frame)])


def _ratio(name: str, agent: str, plain: str, paper: float, auc: dict[str, BySeed]) -> list[Claim]:
    times, logs = ratio(auc[agent], auc[plain]), log_ratio(auc[agent], auc[plain])
    if times is None or logs is None:
        return []
    n = n_pairs(auc[agent], auc[plain])
    size = at_least(times.estimate, paper)
    statement = (
        f"Chains of {agent_name(agent)} skills cover more states than those of "
        f"{agent_name(plain)}: the ratio of the areas"
    )
    evidence = f"areas {mean_shown(auc[agent])} and {mean_shown(auc[plain])}"
    result = judged(logs, 1, size, n, float(np.log(paper)))
    return [Claim(name, statement, paper, times, result, n, evidence)]


def _dusdi(auc: dict[str, BySeed]) -> list[Claim]:
    found = []
    for base in ("vic", "diayn"):
        focused, other = auc[f"focused-{base}"], auc[f"dusdi-{base}"]
        if (times := ratio(focused, other)) is None:
            continue
        n, near = n_pairs(focused, other), comparable(times)
        paper = PAPER[f"focused-{base}"] / PAPER[f"dusdi-{base}"]
        found.append(
            Claim(
                f"coverage-dusdi-{base}",
                f"Focused and DUSDi {agent_name(base)} cover comparable shares: the ratio of "
                f"their areas",
                round(paper, 2), times, verdict(near, near, n), n,
                f"areas {mean_shown(focused)} and {mean_shown(other)}",
            )
        )  # fmt: skip
    return found


def _aims(auc: dict[str, BySeed], worst: dict[str, BySeed]) -> list[Claim]:
    found = []
    for agent, aimed in AIMS.items():
        if auc[agent] and worst[agent]:
            area_, effects = mean_of(auc[agent]), max(worst[agent].values())
            holds = area_.estimate >= aimed and effects <= LARGEST_EFFECTS
            statement = (
                f"{agent_name(agent)}: the area, with side effects of the worst skill at most "
                f"{LARGEST_EFFECTS} (they are {number(effects, 3)})"
            )
            found.append(aim(f"aim-{agent}", statement, aimed, area_, holds, len(auc[agent])))
    return found


def _table(frame: pl.DataFrame, auc: dict[str, BySeed], worst: dict[str, BySeed]) -> Table:
    rows = []
    for agent, found in auc.items():
        if found:
            curve = [values(frame, "coverage", WORLD, agent, step=n) for n in range(1, 6)]
            rows.append(
                [
                    agent_name(agent), f"{PAPER[agent]:.2f}" if agent in PAPER else "–",
                    mean_shown(found),
                    *(number(mean_of(at).estimate, 3) if at else "–" for at in curve),
                    mean_shown(worst[agent], 3), str(len(found)),
                ]
            )  # fmt: skip
    lengths = [f"length {n}" for n in range(1, 6)]
    columns = ["agent", "area, paper", "area, ours", *lengths, "side effects, worst skill", "seeds"]
    tuned = ", ".join(f"{name} {value:g}" for name, value in OURS[SCATTERED].items())
    note = f"{agent_name(SCATTERED).capitalize()} has {tuned}." if auc[SCATTERED] else ""
    return Table("State coverage in FourRooms, and exact side effects", columns, rows, note)


def _ideals(frame: pl.DataFrame) -> list[Table]:
    rows = []
    for ends in ENDS:
        areas = [values(frame, "auc", WORLD, "ideal", f"{ends},{n}") for n in (8, 12)]
        if all(areas):
            rows.append([_ENDS[ends], *(number(area[0]) for area in areas)])
    if not rows:
        return []
    columns = ["position skills end", "8 of them, others do nothing", "12 of them"]
    note = "Faultless skills without slips: four fetch a tool each and return."
    return [Table("What ideal single-target skills could cover (area)", columns, rows, note)]


_ENDS = {
    "same": "always in the same cell", "mapped": "in one cell per first cell",
    "region": "anywhere in a region of its own, at random", "anywhere": "anywhere, at random",
}  # fmt: skip
