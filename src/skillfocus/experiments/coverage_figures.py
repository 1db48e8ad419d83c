"""The figures of state coverage: Figure 2, and coverage against side effects (the frontier)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillfocus.experiments.by_seed import curves_by_seed, mean_over_seeds, values_by_seed
from skillfocus.experiments.formatting import agent_name
from skillfocus.experiments.ideal_skills import WORLD
from skillfocus.experiments.presets import FOCUSED, IDEAL, OBJECTIVES, OUR_AGENTS, PLAIN
from skillfocus.report.document import Block, Heading, Paragraph, Picture

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

MARKERS = {"": "o", "strength": "^", "rounds": "s", "gamma": "D"}
"""Markers of the frontier, by the setting that a variant changes."""
MARKER_LABELS = ("as the preset has it", "other λ", "other rounds", "other γ")
SMALLEST_EFFECTS = 1e-3
"""Side effects below this are drawn here: the axis is logarithmic."""


def coverage_figure(frame: pl.DataFrame) -> Figure:
    """Draw coverage over the length of chains, a panel per objective.

    Agents of our own are drawn in the panel of their objective.

    Args:
        frame: Reduced results of one setup.
    """
    from matplotlib.figure import Figure

    from skillfocus.experiments.drawing import OUR_COLOURS, agent_style
    from skillfocus.figures.style import draw_mean_curve, label_panel

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    for panel, base in zip(figure.subplots(1, 3, sharey=True), PLAIN, strict=True):
        ours = [agent for agent in OUR_AGENTS if f"focused-{base}" in agent]
        for agent in (f"focused-{base}", f"dusdi-{base}", base, *ours):
            _, lengths, curves = curves_by_seed(frame, "coverage", WORLD, agent)
            if len(curves):
                area = mean_over_seeds(values_by_seed(frame, "auc", WORLD, agent)).estimate
                style = agent_style(agent)
                if agent in ours:
                    style["color"] = OUR_COLOURS[agent]
                label = f"{agent_name(agent)} (area {area:.2f})"
                draw_mean_curve(panel, lengths, curves, style, label, 1.0, markers=True)
        label_panel(panel, agent_name(base), "length of the chain", "share of states covered")
        panel.set(ylim=(0, 1), xlim=(1, 5), xticks=range(1, 6))
        if len(panel.get_lines()):
            panel.legend(fontsize=7.5, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    return figure


def frontier_blocks(frame: pl.DataFrame, paper: Mapping[str, float]) -> list[Block]:
    """Return the report's blocks about the frontier of coverage and side effects.

    Args:
        frame: Reduced results of all setups.
        paper: The paper's area by agent.

    Returns:
        A heading, an explanation and the figure; nothing without ideal skills to compare with.
    """
    if frame.filter(pl.col("agent") == IDEAL).is_empty():
        return []
    return [
        Heading("What could be reached", 3),
        Paragraph(
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
        ),
        Picture("frontier", "Area of coverage against exact side effects, the mean over skills, "
                "for all settings and seeds. Hollow: DUSDi and plain. Small: Q-learning.",
                frontier_figure(frame, paper)),
    ]  # fmt: skip


def frontier_figure(frame: pl.DataFrame, paper: Mapping[str, float]) -> Figure:
    """Draw area of coverage against exact side effects in FourRooms, a point per case.

    Colours tell objectives apart, markers the setting that was changed; hollow points are DUSDi
    and plain agents, small ones were learned by Q-learning.

    Args:
        frame: Reduced results of all setups.
        paper: The paper's area by agent, drawn as lines.
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from skillfocus.experiments.drawing import COLOURS, GREY, LINES, OUR_COLOURS, agent_style
    from skillfocus.figures.style import label_panel

    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    panel = figure.subplots()
    for learner, agent, variant, _, area, effects in _frontier_points(frame).iter_rows():
        setting = variant.partition("=")[0]
        if setting not in MARKERS or agent not in (*OBJECTIVES, *OUR_AGENTS):
            continue
        colour = OUR_COLOURS.get(agent, agent_style(agent)["color"])
        filled = agent in FOCUSED or agent in OUR_COLOURS
        panel.plot(
            max(effects, SMALLEST_EFFECTS), area, MARKERS[setting],
            ms=6 if learner == "planning" else 3.5,
            mec=colour, mfc=colour if filled else "none", alpha=0.75,
        )  # fmt: skip
    for agent, area in paper.items():
        panel.axhline(area, lw=0.9, alpha=0.7, **agent_style(agent))
    ideal_handles = []
    for n, line in ((8, ":"), (12, "-.")):
        ideal = values_by_seed(frame, "auc", WORLD, IDEAL, f"region,{n}")
        if ideal:
            panel.axhline(ideal[0], color="black", lw=0.9, ls=line)
            label = f"ideal, {n} position skills"
            ideal_handles.append(Line2D([], [], color="black", ls=line, label=label))
    panel.set_xscale("log")
    label_panel(panel, "FourRooms", "side effects per skill (exact; at least 0.001 drawn)", "area")
    colours = {**COLOURS, **OUR_COLOURS}
    handles = [Line2D([], [], color=c, label=agent_name(a)) for a, c in colours.items()]
    handles += [
        Line2D([], [], color="black", ls="", marker=marker, label=label)
        for label, marker in zip(MARKER_LABELS, MARKERS.values(), strict=True)
    ]
    handles += [
        Line2D([], [], color=GREY, ls=line, label=f"the paper's, {name}")
        for name, line in zip(("focused", "DUSDi", "plain"), LINES.values(), strict=True)
    ]
    figure.legend(handles=handles + ideal_handles, loc="outside right", fontsize=7)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return figure


def _frontier_points(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns learner, agent, variant, seed, auc, mean_side_effects; runs of two presets once."""
    case = ["preset", "learner", "agent", "variant", "seed"]
    here = frame.filter(pl.col("world") == WORLD)
    areas, effects = (
        here.filter(pl.col("metric") == metric).select(*case, pl.col("value").alias(metric))
        for metric in ("auc", "mean_side_effects")
    )
    return areas.join(effects, on=case).drop("preset").unique().sort(case[1:])
