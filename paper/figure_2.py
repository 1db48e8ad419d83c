"""Figure 2: state coverage of skill chains in FourRooms, and what could be reached.

Coverage is the share of states that chains of 1 to 5 skills end in; its area under the curve over
the length of the chain (`auc`) is compared by ratios. With the preset `paper`, ideal skills and
focused skills with other settings are added; with `best`, agents of our own. Claims: `coverage…`
and `aim-coverage` in `claims.toml`.

Ideal skills have one target and do not fail. Four of them fetch a tool each and return. Of the
others, some do nothing and some end in another cell than they began in:

    same      each always in one cell
    mapped    each in one cell per first cell
    region    each anywhere in a region of its own, at random
    anywhere  anywhere, at random
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import skillfocus as sf
from paper import formatting as fmt
from paper.agents import Case, Setup, first_seeds, main_cases, memory_cases
from paper.claims import (
    Analysis,
    Claim,
    Experiment,
    Picture,
    aim_claim,
    claim,
    comparable,
    judge,
    judge_difference,
    matching,
    objectives_of,
    reaches,
)
from paper.results import (
    SeedValues,
    curves_by_seed,
    differences,
    mean_ratio,
    values_by_agent,
    values_by_seed,
    worst_side_effects,
)
from paper.settings import (
    FOCUSED,
    IDEAL,
    MEMORY_AGENTS,
    OBJECTIVES,
    OUR_AGENTS,
    PLAIN,
    SCATTERED,
    load_data,
)
from skillfocus.discovery import cached_mdp, format_settings
from skillfocus.figures import draw_mean_curve, label_panel
from skillfocus.metrics.coverage import area, chain_coverage
from skillfocus.metrics.reachability import fresh_starts, other_variables
from skillfocus.objectives.kinds import N_SKILLS
from skillfocus.progress import Progress

WORLD = "four-rooms"
_NUMBERS = load_data("numbers.toml")
PAPER: dict[str, float] = _NUMBERS["areas"]
"""Area under the coverage curve."""
PAPER_RATIOS: dict[str, float] = _NUMBERS["ratios"]
"""Area of focused skills over that of plain ones."""
MAX_SIDE_EFFECTS = 0.05
"""Side effects of the worst skill that an aim allows."""
FRONTIER = {
    "strength": (0.0, 0.5, 1.0, 2.0, 10.0, 40.0), "rounds": (5, 10, 20, 80), "gamma": (0.9, 0.999),
}  # fmt: skip
"""Settings that focused skills are also learned with, one changed at a time."""

# -------------------------------------------------------------------- ideal skills

ENDS = {
    "same": "always in the same cell", "mapped": "in one cell per first cell",
    "region": "anywhere in a region of its own, at random", "anywhere": "anywhere, at random",
}  # fmt: skip
"""Where position skills end, with the report's wording."""
POSITION_SKILLS = (8, 12)


@dataclass(frozen=True)
class Ideal(sf.Run):
    """The exact coverage of chains of ideal skills.

    With eight position skills, four skills do nothing; with twelve, none does.
    """

    ends: str
    position_skills: int = 8
    seed: int = 0

    def execute(self, progress: Progress) -> sf.Result:
        """Compute `coverage` by chain length (step), and its area `auc`."""
        progress(0.0, "counting")
        mdp = cached_mdp(WORLD, "{}")
        moves = ideal_moves(
            mdp.values, mdp.space.sizes, self.ends, self.position_skills,
            np.random.default_rng(self.seed),
        )  # fmt: skip
        starts = fresh_starts(mdp, other_variables(mdp, mdp.space.index("position")))
        curve = chain_coverage(moves, starts).mean(axis=1)
        rows = [("coverage", n + 1, float(c)) for n, c in enumerate(curve)]
        return sf.Result([*rows, ("auc", None, area(curve))])


def ideal_moves(
    states: np.ndarray,
    sizes: Sequence[int],
    ends: str,
    position_skills: int,
    rng: np.random.Generator,
) -> list[np.ndarray]:
    """Return the transition matrix of every ideal skill.

    Args:
        states: All states [n_states, n_variables]: the cell, then a flag per tool.
        sizes: Number of values of each variable.
        ends: Where position skills end; a key of `ENDS`.
        position_skills: Number of position skills.
        rng: Draws the cells of position skills.

    Returns:
        Per skill, the probability of each last state by first state [n_states, n_states].
    """
    n, n_cells, n_tools = len(states), sizes[0], len(sizes) - 1
    number = np.empty(sizes, int)
    number[tuple(states.T)] = np.arange(n)

    def skill(cells: np.ndarray, tool: int | None = None) -> np.ndarray:
        """A skill that goes from cell i to cell j with probability cells[i, j]."""
        move, after = np.zeros((n, n)), states.copy()
        if tool is not None:
            after[:, 1 + tool] = 1
        for cell in range(n_cells):
            after[:, 0] = cell
            move[np.arange(n), number[tuple(after.T)]] = cells[states[:, 0], cell]
        return move

    stay = np.eye(n_cells)
    moves = [skill(stay, tool) for tool in range(n_tools)]
    if n_tools + position_skills < N_SKILLS:
        moves += [skill(stay)]  # several skills that do nothing cover as much as one
    from_anywhere = np.ones(n_cells)
    for z in range(position_skills):
        if ends == "same":
            cells = np.outer(from_anywhere, np.arange(n_cells) == rng.integers(n_cells))
        elif ends == "mapped":
            cells = stay[rng.integers(n_cells, size=n_cells)]
        elif ends == "region":
            region = np.arange(n_cells) * position_skills // n_cells == z
            cells = np.outer(from_anywhere, region / region.sum())
        else:
            cells = np.full((n_cells, n_cells), 1 / n_cells)
        moves.append(skill(cells.astype(float)))
    return moves


# -------------------------------------------------------------------- cases


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return the main cases; planned, also ideal and varied skills, or agents of our own."""
    listed = main_cases(setup, [WORLD], OBJECTIVES, seeds) + memory_cases(setup, [WORLD], seeds)
    if setup.learner == "planning":
        few = seeds[: min(2, len(seeds) // 10)]
        listed += (_ideal_and_varied if setup.preset == "paper" else _our_agents)(setup, seeds, few)
    return listed


def _our_agents(setup: Setup, seeds: Sequence[int], few: Sequence[int]) -> list[Case]:
    """Agents of our own, and scattered skills without a penalty and with a strong one; below ten
    seeds, the first of these agents alone."""
    agents = list(OUR_AGENTS)[: None if few else 1]
    return [
        setup.case(WORLD, agent, seed, **OUR_AGENTS[agent]["settings"])
        for seed, agent in product(first_seeds(seeds, 0.1, 1), agents)
    ] + [
        setup.case(
            WORLD,
            SCATTERED,
            seed,
            f"strength={x:g}",
            **{**OUR_AGENTS[SCATTERED]["settings"], "strength": x},
        )
        for seed, x in product(few, (0.0, 10.0))
    ]


def _ideal_and_varied(setup: Setup, seeds: Sequence[int], few: Sequence[int]) -> list[Case]:
    """Ideal skills, and focused ones with other settings; focused VIC's for at least one seed."""
    return [
        Case(setup.preset, setup.learner, WORLD, IDEAL, f"{ends},{n}", 0, Ideal(ends, n))
        for ends, n in product(ENDS, POSITION_SKILLS)
    ] + [
        setup.case(WORLD, agent, seed, f"{setting}={value:g}", **{setting: value})
        for agent in FOCUSED
        for seed in few or (seeds[:1] if agent == "focused-vic" else ())
        for setting, values in FRONTIER.items()
        for value in values
    ]


# -------------------------------------------------------------------- analysis


def analyze(frame: pl.DataFrame) -> Analysis:
    """Compare areas of coverage.

    With the preset `paper`: focused with plain and with DUSDi skills. With `best`: agents of our
    own with VIC and with our aims.

    Returns:
        Claims, a table of all agents, and one of ideal skills if they were run.
    """
    agents = (*OBJECTIVES, *MEMORY_AGENTS, *OUR_AGENTS)
    areas = values_by_agent(frame, "auc", WORLD, agents)
    worst = {agent: worst_side_effects(frame, WORLD, agent) for agent in agents}
    claims = []
    if "best" in frame["preset"]:
        claims += _plain_claim("scattered-vic", SCATTERED, "vic", areas) + _aims(areas, worst)
    else:
        for base in PAPER_RATIOS:
            claims += _plain_claim(base, f"focused-{base}", base, areas)
        for base in ("vic", "diayn"):
            claims += _dusdi_claim(base, areas[f"focused-{base}"], areas[f"dusdi-{base}"])
    return Analysis(claims, [_coverage_table(frame, areas, worst), *_ideal_tables(frame)])


def _plain_claim(name: str, agent: str, base: str, areas: dict[str, SeedValues]) -> list[Claim]:
    """Direction: more than the plain objective's area. Size: the paper's ratio."""
    pair, paper = (areas[agent], areas[base]), PAPER_RATIOS[base]
    ratio, logs = mean_ratio(*pair), mean_ratio(*pair, log=True)
    if ratio is None or logs is None:
        return []
    n, size = len(differences(*pair)), reaches(ratio.estimate, paper)
    verdict = judge_difference(logs, 1, size, n, float(np.log(paper)))
    names = {"name": name, "agent": agent, "other": base, "evidence": _areas(*pair)}
    return [claim("coverage", ratio, verdict, n, reference=paper, **names)]


def _dusdi_claim(base: str, *pair: SeedValues) -> list[Claim]:
    """Direction and size: a ratio near 1."""
    if (ratio := mean_ratio(*pair)) is None:
        return []
    paper = round(PAPER[f"focused-{base}"] / PAPER[f"dusdi-{base}"], 2)
    n, holds, areas = len(differences(*pair)), comparable(ratio), _areas(*pair)
    verdict = judge(holds, holds, n)
    names = {"agent": base, "evidence": areas}
    return [claim("coverage-dusdi", ratio, verdict, n, reference=paper, **names)]


def _areas(*pair: SeedValues) -> str:
    return f"areas {' and '.join(map(fmt.mean, pair))}"


def _aims(areas: dict[str, SeedValues], worst: dict[str, SeedValues]) -> list[Claim]:
    """An aim needs the area in the mean, and few side effects of every skill in every seed."""
    claims = []
    for agent, data in OUR_AGENTS.items():
        if "aim" in data and worst[agent]:
            effects = max(worst[agent].values())
            claims += aim_claim(
                "aim-coverage", data["aim"], areas[agent], allowed=effects <= MAX_SIDE_EFFECTS,
                agent=agent, most=MAX_SIDE_EFFECTS, effects=fmt.number(effects, 3),
            )  # fmt: skip
    return claims


def outcome(claims: Sequence[Claim]) -> str:
    """Return the ratios of the areas of focused skills to those of plain and of DUSDi ones."""
    parts = []
    for pattern, words in (
        (r"coverage-(vic|diayn|lsd)", "the area of plain"),
        (r"coverage-dusdi-.*", "that of DUSDi over"),
    ):
        if mine := matching(claims, pattern):
            ratios = fmt.join_words([fmt.number(claim.ours.estimate) for claim in mine])
            paper = fmt.join_words(list(dict.fromkeys(f"{claim.reference:g}" for claim in mine)))
            parts.append(f"{ratios} times {words} {objectives_of(mine)} (the paper: {paper})")
    return f"Focused skills cover {', and '.join(parts)}." if parts else ""


def _coverage_table(
    frame: pl.DataFrame, areas: dict[str, SeedValues], worst: dict[str, SeedValues]
) -> fmt.Table:
    curves = {
        agent: [values_by_seed(frame, "coverage", WORLD, agent, step=n) for n in range(1, 6)]
        for agent in areas
    }
    rows = [
        {
            "agent": fmt.agent_name(agent),
            "area, paper": f"{PAPER[agent]:.2f}" if agent in PAPER else fmt.MISSING,
            "area, ours": fmt.mean(by_seed),
            **{f"length {n}": fmt.estimate(v, 3) for n, v in enumerate(curves[agent], 1)},
            "side effects, worst skill": fmt.mean(worst[agent], 3),
            "seeds": str(len(by_seed)),
        }
        for agent, by_seed in areas.items()
        if by_seed
    ]
    notes = [
        f"{fmt.agent_name(agent).capitalize()} has {', '.join(format_settings(data['settings']))}."
        for agent, data in OUR_AGENTS.items()
        if data["settings"] and areas[agent]
    ]
    title = "State coverage in FourRooms, and exact side effects"
    return fmt.Table.of(title, rows, " ".join(notes))


def _ideal_tables(frame: pl.DataFrame) -> list[fmt.Table]:
    """The areas of ideal skills by where position skills end; no table without results."""
    rows = []
    for ends, description in ENDS.items():
        areas = [values_by_seed(frame, "auc", WORLD, IDEAL, f"{ends},{n}") for n in POSITION_SKILLS]
        if all(areas):
            rows.append([description, *(fmt.number(area[0]) for area in areas)])
    if not rows:
        return []
    columns = ["position skills end", "8 of them, others do nothing", "12 of them"]
    note = "Faultless skills without slips: four fetch a tool each and return."
    return [fmt.Table("What ideal single-target skills could cover (area)", columns, rows, note)]


# -------------------------------------------------------------------- figures


def coverage_figure(frame: pl.DataFrame) -> Figure:
    """Draw coverage over the length of chains, a panel per objective.

    Agents of our own are drawn in the panel of their objective.
    """

    def draw(panel: Axes, base: str) -> None:
        ours = [agent for agent in OUR_AGENTS if f"focused-{base}" in agent]
        for agent in (f"focused-{base}", f"dusdi-{base}", base, *ours):
            _, lengths, curves = curves_by_seed(frame, "coverage", WORLD, agent)
            if len(curves):
                reached = fmt.estimate(values_by_seed(frame, "auc", WORLD, agent))
                style = fmt.agent_style(agent)
                style["color"] = fmt.OUR_COLOURS.get(agent, style["color"])
                label = f"{fmt.agent_name(agent)} (area {reached})"
                draw_mean_curve(panel, lengths, curves, style, label, 1.0, markers=True)
        title = fmt.agent_name(base)
        label_panel(panel, title, "length of the chain", "share of states covered")
        panel.set(ylim=(0, 1), xlim=(1, 5), xticks=range(1, 6))
        if len(panel.get_lines()):
            panel.legend(fontsize=7.5, loc="upper center", bbox_to_anchor=(0.5, -0.2))

    return fmt.draw_grid(PLAIN, draw, (11, 4.2), sharey=True)


WHAT_COULD_BE_REACHED = (
    "Let every tool's skill fetch its tool and return, faultlessly, and count the states "
    "that chains of up to five end in (the table of ideal skills, exactly, by the same "
    "recursion as for learned ones). What is left open is where position skills end. If "
    "each ends in one cell, whatever the first, chains of any length come to no more "
    "cells than the first and one per position skill. If each ends in one cell per first "
    "cell, chains multiply cells, but a chain of five that spends four links on tools has "
    "one left for the position. If each ends anywhere in a region, that one link is worth "
    "the whole region, since each of the many chains that take it draws its own cell. It "
    "costs no side effects, because the position is their target. Skills with a tool and "
    "a position as targets need no link of their own to move, and go beyond the table."
)
FRONTIER_CAPTION = (
    "Area of coverage against exact side effects, the mean over skills, for all settings and "
    "seeds. Hollow: DUSDi and plain. Small: Q-learning."
)
MARKERS = {
    "": ("o", "as the preset has it"), "strength": ("^", "other λ"),
    "rounds": ("s", "other rounds"), "gamma": ("D", "other γ"),
}  # fmt: skip
"""Markers of the frontier and their labels, by the setting that a variant changes."""
SMALLEST_EFFECTS = 1e-3
"""Side effects below this are drawn here: the axis is logarithmic."""


def frontier_blocks(frame: pl.DataFrame) -> list[str | Picture]:
    """Return the report's blocks about the frontier of coverage and side effects.

    Args:
        frame: Reduced results of all setups.

    Returns:
        A heading, an explanation and the figure; nothing without ideal skills to compare with.
    """
    if frame.filter(pl.col("agent") == IDEAL).is_empty():
        return []
    picture = Picture("frontier", FRONTIER_CAPTION, frontier_figure(frame))
    return ["### What could be reached", WHAT_COULD_BE_REACHED, picture]


def frontier_figure(frame: pl.DataFrame) -> Figure:
    """Draw area of coverage against exact side effects in FourRooms, a point per case.

    Colours tell objectives apart, markers the setting that was changed; hollow points are DUSDi
    and plain agents, small ones were learned by Q-learning. Lines are the paper's areas and those
    of ideal skills.

    Args:
        frame: Reduced results of all setups.
    """
    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    panel = figure.subplots()
    handles: list[Line2D] = []

    def explain(label: str, color: str = "black", **style: str) -> None:
        handles.append(Line2D([], [], color=color, label=label, **style))  # pyright: ignore[reportArgumentType]

    for agent, color in (fmt.COLOURS | fmt.OUR_COLOURS).items():
        explain(fmt.agent_name(agent), color)
    for marker, label in MARKERS.values():
        explain(label, ls="", marker=marker)
    for name, line in zip(("focused", "DUSDi", "plain"), fmt.LINES.values(), strict=True):
        explain(f"the paper's, {name}", fmt.GREY, ls=line)
    case = ["learner", "agent", "variant", "seed"]
    areas, effects = (
        frame.filter(world=WORLD, metric=metric).select(
            "preset", *case, pl.col("value").alias(metric)
        )
        for metric in ("auc", "mean_side_effects")
    )
    # Runs that two presets share are one point.
    points = areas.join(effects, on=["preset", *case]).drop("preset").unique().sort(case)
    for learner, agent, variant, _, reached, effect in points.iter_rows():
        setting = variant.partition("=")[0]
        if setting in MARKERS and agent in (*OBJECTIVES, *OUR_AGENTS):
            color = fmt.OUR_COLOURS.get(agent, fmt.agent_style(agent)["color"])
            filled = agent in FOCUSED or agent in fmt.OUR_COLOURS
            panel.plot(
                max(effect, SMALLEST_EFFECTS), reached, MARKERS[setting][0],
                ms=6 if learner == "planning" else 3.5,
                mec=color, mfc=color if filled else "none", alpha=0.75,
            )  # fmt: skip
    for agent, reached in PAPER.items():
        panel.axhline(reached, lw=0.9, alpha=0.7, **fmt.agent_style(agent))
    for n, line in zip(POSITION_SKILLS, (":", "-."), strict=True):
        if ideal := values_by_seed(frame, "auc", WORLD, IDEAL, f"region,{n}"):
            panel.axhline(ideal[0], color="black", lw=0.9, ls=line)
            explain(f"ideal, {n} position skills", ls=line)
    panel.set_xscale("log")
    label_panel(panel, "FourRooms", "side effects per skill (exact; at least 0.001 drawn)", "area")
    fmt.add_legend(figure, handles, fontsize=7)
    return figure


EXPERIMENT = Experiment(
    "coverage",
    "State coverage (Figure 2)",
    cases,
    analyze,
    coverage_figure,
    figure_name="figure-2-coverage",
    closing=frontier_blocks,
    page="figure-2",
    outcome=outcome,
)
