"""Drawing that figures share: mean curves with intervals, axis labels, and paths on a map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from skillfocus.metrics.statistics import mean_interval

GRID_COLOUR = "#dddddd"


def draw_mean_curve(
    panel: Axes,
    x: np.ndarray,
    curves: np.ndarray,
    style: Mapping[str, Any],
    label: str,
    upper: float,
    markers: bool = False,
) -> None:
    """Draw the mean of several curves, its 90 % interval as a band, and every curve faintly.

    Args:
        panel: Axes to draw on.
        x: Positions of the points [n_points].
        curves: Values [n_seeds, n_points], between 0 and `upper`.
        style: Line properties of the mean, with its `color`.
        label: Label of the mean.
        upper: Largest possible value; the band is clipped to it.
        markers: Whether to mark the points of the mean.
    """
    for curve in curves:
        panel.plot(x, curve, color=style["color"], lw=0.5, alpha=0.15, zorder=1)
    intervals = np.array([mean_interval(values) for values in curves.T])
    if len(curves) > 1:
        band = {"color": style["color"], "alpha": 0.18, "lw": 0, "zorder": 2}
        low, high = np.clip(intervals[:, 1:].T, 0, upper)
        panel.fill_between(x, low, high, **band)
    panel.plot(
        x, intervals[:, 0], label=label, lw=1.8, zorder=3, marker="o" if markers else None, ms=3,
        **style,
    )  # fmt: skip


def label_panel(panel: Axes, title: str, x_label: str, y_label: str) -> None:
    """Set the title and the axis labels of a panel, and draw a light grid behind the data."""
    panel.set_title(title, fontsize=10)
    panel.set_xlabel(x_label)
    panel.set_ylabel(y_label)
    panel.grid(color=GRID_COLOUR, linewidth=0.6)
    panel.set_axisbelow(True)


def turned(cells: np.ndarray, aside: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a path on a map as x and y, with the way back drawn beside the way out.

    The path turns at the cell that is farthest from its first; both halves pass through it.

    Args:
        cells: Rows and columns [n_steps, 2].
        aside: Offset of either half from the middle of the cells.
    """
    turn = int(np.abs(cells - cells[0]).sum(axis=1).argmax())
    out, back = cells[: turn + 1] + 0.5 - aside, cells[turn:] + 0.5 + aside
    both = np.concatenate([out, back]) if turn < len(cells) - 1 else out
    return both[:, 1], both[:, 0]
