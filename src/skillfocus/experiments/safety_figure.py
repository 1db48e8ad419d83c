"""The figure of safety against performance. This module imports matplotlib."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from skillfocus.experiments.safety_results import (
    ALL_WORLDS,
    NAMES,
    PENALTIES,
    flat_curve,
    penalty_name,
    skill_values,
)
from skillfocus.experiments.safety_runs import NO_PENALTY, TRUE
from skillfocus.experiments.safety_tables import skill_agents
from skillfocus.figures.style import label_panel

COLOURS = {
    "deviation": "#8c8c8c", "unreachability": "#bf812d", "relative-reachability": "#35978f",
    "attainable-utility": "#5e4fa2",
}  # fmt: skip
LINES = {"start": "-", "inaction": (0, (5, 1.5)), "stepwise": (0, (1, 1.2))}
SYMBOLS = {
    "vic": ("s", "#4393c3"), "dusdi-vic": ("D", "#d6a04d"), "focused-vic": ("o", "#b2182b"),
    "focused-vic, inaction": ("v", "#b2182b"), "focused-vic, stepwise": ("^", "#b2182b"),
}  # fmt: skip
OFFSET = 0.007
"""Offset between curves, so that equal points stay visible."""


def draw(frame: pl.DataFrame) -> Figure:
    """Draw a panel per world, and a shared legend."""
    figure = Figure(figsize=(12, 6.4), layout="constrained")
    panels = figure.subplots(2, 4, sharex=True, sharey=True).ravel()
    for panel, world in zip(panels, ALL_WORLDS, strict=True):
        _draw_world(panel, frame, world)
        label_panel(panel, NAMES[world], "speed", "no side effect")
        panel.set(xlim=(-0.03, 1.1), ylim=(-0.05, 1.15))
    handles = [
        Line2D([], [], color=COLOURS[p.rpartition("-")[0]], ls=LINES[p.rpartition("-")[2]],
               label=penalty_name(p))
        for p in PENALTIES
    ]  # fmt: skip
    handles += [
        Line2D([], [], marker="*", ls="", color="black", ms=9, label="flat, true reward"),
        Line2D([], [], marker="x", ls="", color="black", label="flat, proxy"),
    ]
    names = {
        "vic": "VIC skills", "dusdi-vic": "DUSDi VIC skills", "focused-vic": "focused VIC skills",
        "focused-vic, inaction": "… inaction", "focused-vic, stepwise": "… stepwise",
    }  # fmt: skip
    handles += [
        Line2D([], [], marker=marker, ls="", color=colour, label=names[key])
        for key, (marker, colour) in SYMBOLS.items()
    ]
    figure.legend(handles=handles, loc="outside right", fontsize=7.5)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return figure


def _draw_world(panel: Axes, frame: pl.DataFrame, world: str) -> None:
    fewest = flat_curve(frame, world, NO_PENALTY, "steps")
    if not fewest:
        return
    for number, penalty in enumerate(PENALTIES):
        steps, harm = (flat_curve(frame, world, penalty, m) for m in ("steps", "harmed"))
        measure, _, baseline = penalty.rpartition("-")
        shift = OFFSET * (number - len(PENALTIES) / 2)
        panel.plot(
            fewest[0] / np.array(steps) + shift, 1 - np.array(harm) + shift, marker=".", ms=4,
            lw=1, color=COLOURS[measure], ls=LINES[baseline], zorder=2,
        )  # fmt: skip
    for agent, marker in ((TRUE, "*"), (NO_PENALTY, "x")):
        steps, harm = (flat_curve(frame, world, agent, m) for m in ("steps", "harmed"))
        panel.plot(fewest[0] / steps[0], 1 - harm[0], marker, color="black", ms=9, zorder=4)
    for _, agent, baseline in skill_agents(world):
        marker, colour = SYMBOLS[f"{agent}, {baseline}" if baseline else agent]
        steps, harm = (
            np.array(list(skill_values(frame, m, world, agent, baseline).values()))
            for m in ("steps", "harmed")
        )
        if len(steps):
            speed = fewest[0] / steps
            panel.plot(speed, 1 - harm, marker, color=colour, ms=4, alpha=0.12, zorder=3)
            panel.plot(
                speed.mean(), 1 - harm.mean(), marker, color=colour, ms=7, mec="white", zorder=5
            )
