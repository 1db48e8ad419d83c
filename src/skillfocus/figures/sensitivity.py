"""How much a setting matters: a metric against each setting that was varied."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skillfocus.figures.saving import save_figure
from skillfocus.sweeps import Axis, Score

COLOUR, FAINT = "#0072B2", "#9a9a9a"


def draw_sensitivity(
    path: Path, title: str, metric: str, axes: Sequence[Axis], scores: Sequence[Score], best: Score
) -> None:
    """A panel per setting. Lists of values: the mean and its 90 % interval with every seed, all
    other settings as in the best point. Ranges: every trial, the best one marked."""
    figure = Figure(figsize=(1.2 + 3.1 * len(axes), 3.1), layout="constrained")
    panels = figure.subplots(1, len(axes), squeeze=False, sharey=True)[0]
    for panel, axis in zip(panels, axes, strict=True):
        if axis.values:
            _values(panel, axis, scores, best)
        else:
            _range(panel, axis, scores, best)
        panel.set_xlabel(axis.setting)
        panel.grid(axis="y", color="#e6e6e6", linewidth=0.6)
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel(metric.replace("_", " "))
    figure.suptitle(title, fontsize=9)
    save_figure(figure, path)


def slice_through(axis: Axis, scores: Sequence[Score], best: Score) -> list[Score]:
    """The scores that differ from the best in this setting alone, in the order of its values."""
    others = {name: value for name, value in best.point.items() if name != axis.setting}
    along = [s for s in scores if all(s.point[name] == value for name, value in others.items())]
    return sorted(along, key=lambda s: axis.values.index(s.point[axis.setting]))


def _values(panel: Axes, axis: Axis, scores: Sequence[Score], best: Score) -> None:
    along = slice_through(axis, scores, best)
    places = [axis.values.index(score.point[axis.setting]) for score in along]
    for place, score in zip(places, along, strict=True):
        panel.plot([place] * len(score.values), score.values, ".", color=FAINT, markersize=4)
    panel.plot(places, [score.mean for score in along], "-", color=COLOUR, linewidth=1)
    _intervals(panel, places, along)
    _mark(panel, axis.values.index(best.point[axis.setting]), best.mean)
    names = [f"{v:g}" if isinstance(v, float) else str(v) for v in axis.values]
    panel.set_xticks(range(len(names)), names)
    panel.margins(x=0.15)


def _range(panel: Axes, axis: Axis, scores: Sequence[Score], best: Score) -> None:
    def at(score: Score) -> float:
        return float(score.point[axis.setting])  # pyright: ignore[reportArgumentType]

    if axis.log:
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter("{x:g}")
    _intervals(panel, [at(score) for score in scores], scores)
    _mark(panel, at(best), best.mean)


def _intervals(panel: Axes, places: Sequence[float], scores: Sequence[Score]) -> None:
    """Means with their intervals; one seed alone has none."""
    reach = [
        (s.mean - s.low, s.high - s.mean) if math.isfinite(s.low) else (0.0, 0.0) for s in scores
    ]
    panel.errorbar(
        places, [s.mean for s in scores], yerr=np.array(reach).T,
        fmt="o", color=COLOUR, markersize=4, capsize=2, linewidth=0, elinewidth=0.8,
    )  # fmt: skip


def _mark(panel: Axes, x: float, y: float) -> None:
    panel.plot([x], [y], "o", markersize=10, fillstyle="none", color="black", markeredgewidth=1)
