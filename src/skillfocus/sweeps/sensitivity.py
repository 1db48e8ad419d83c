"""The sensitivity plot of a sweep: the metric against each setting that was varied."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from skillfocus.figures.saving import save_figure
from skillfocus.sweeps.grid import Axis
from skillfocus.sweeps.scores import Score

COLOUR, FAINT = "#0072B2", "#9a9a9a"


def draw_sensitivity(
    path: Path, title: str, metric: str, axes: Sequence[Axis], scores: Sequence[Score], best: Score
) -> None:
    """Write the sensitivity plot to a .png, .svg or .pdf file; see `sensitivity_figure`."""
    save_figure(sensitivity_figure(title, metric, axes, scores, best), path)


def sensitivity_figure(
    title: str, metric: str, axes: Sequence[Axis], scores: Sequence[Score], best: Score
) -> Figure:
    """Return a figure with a panel per setting: means with 90 % intervals, the best point ringed.

    For a grid, a panel shows the points that differ from the best one in that setting alone, with a
    dot per seed. For a search, it shows all points.

    Args:
        title: Title of the figure.
        metric: Name of the metric, for the vertical axis.
        axes: The settings that were varied.
        scores: All points.
        best: The best one of them.
    """
    searched = any(not axis.values for axis in axes)
    figure = Figure(figsize=(1.2 + 3.1 * len(axes), 3.1), layout="constrained")
    panels = figure.subplots(1, len(axes), squeeze=False, sharey=True)[0]
    for panel, axis in zip(panels, axes, strict=True):
        visible = scores if searched else slice_through(axis, scores, best)
        positions = [_position(axis, score) for score in visible]
        if not searched:
            for position, score in zip(positions, visible, strict=True):
                panel.plot([position] * len(score.values), score.values, ".", color=FAINT, ms=4)
            if not any(isinstance(value, str) for value in axis.values):
                panel.plot(
                    positions, [score.mean for score in visible], "-", color=COLOUR, linewidth=1
                )
        _draw_intervals(panel, positions, visible)
        panel.plot([_position(axis, best)], [best.mean], "o", ms=10, mfc="none", mec="black")
        _label_ticks(panel, axis)
        panel.grid(axis="y", color="#e6e6e6", linewidth=0.6)
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel(metric.replace("_", " "))
    figure.suptitle(title, fontsize=9)
    return figure


def slice_through(axis: Axis, scores: Sequence[Score], best: Score) -> list[Score]:
    """Return the scores that differ from the best in this setting alone, in order of its values."""
    others = {name: value for name, value in best.point.items() if name != axis.setting}
    along = [s for s in scores if all(s.point[name] == value for name, value in others.items())]
    return sorted(along, key=lambda s: axis.values.index(s.point[axis.setting]))


def _position(axis: Axis, score: Score) -> float:
    """Return where a point is on the horizontal axis: values are evenly spaced, ranges are not."""
    value = score.point[axis.setting]
    return axis.values.index(value) if axis.values else float(value)  # pyright: ignore[reportArgumentType]


def _label_ticks(panel: Axes, axis: Axis) -> None:
    panel.set_xlabel(axis.setting)
    if axis.values:
        names = [f"{v:g}" if isinstance(v, float) else str(v) for v in axis.values]
        panel.set_xticks(range(len(names)), names)
        panel.margins(x=0.15)
        return
    panel.set_xlim(axis.low, axis.high)
    if axis.log:
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter("{x:g}")


def _draw_intervals(panel: Axes, positions: Sequence[float], scores: Sequence[Score]) -> None:
    """Draw means and error bars; a point with one seed has no interval."""
    lengths = [
        (s.mean - s.low, s.high - s.mean) if math.isfinite(s.low) else (0.0, 0.0) for s in scores
    ]
    panel.errorbar(
        positions, [s.mean for s in scores], yerr=np.array(lengths).T,
        fmt="o", color=COLOUR, markersize=4, capsize=2, linewidth=0, elinewidth=0.8,
    )  # fmt: skip
