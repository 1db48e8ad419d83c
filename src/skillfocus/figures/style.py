"""What the figures share: a colour per method, a line per variant, means with their intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from skillfocus.experiments.presets import ON_TWO
from skillfocus.metrics.statistics import mean_interval

COLOURS = {"vic": "#4393c3", "diayn": "#35978f", "lsd": "#5e4fa2"}
LINES = {"focused": "-", "dusdi": (0, (5, 1.5)), "": (0, (1, 1.2))}
GREY = "#8c8c8c"


def style_of(agent: str) -> dict[str, Any]:
    """Solid for focused, dashed for DUSDi, dotted for plain; grey for no skills at all."""
    variant, _, base = agent.removesuffix(ON_TWO).rpartition("-")
    if base not in COLOURS:
        return {"color": GREY, "linestyle": "-"}
    line = LINES[variant.removeprefix("scattered-").removeprefix("permuted-")]
    return {"color": COLOURS[base], "linestyle": line}


def draw_curve(
    panel: Axes,
    at: np.ndarray,
    curves: np.ndarray,
    style: dict,
    label: str,
    most: float,
    markers: bool = False,
) -> None:
    """The mean of curves [seed, point], its 90 % interval as a band, every seed faintly. Values lie
    between 0 and `most`, and so does the band."""
    for curve in curves:
        panel.plot(at, curve, color=style["color"], lw=0.5, alpha=0.15, zorder=1)
    intervals = np.array([mean_interval(values) for values in curves.T])
    if len(curves) > 1:
        band = {"color": style["color"], "alpha": 0.18, "lw": 0, "zorder": 2}
        low, high = np.clip(intervals[:, 1:].T, 0, most)
        panel.fill_between(at, low, high, **band)
    panel.plot(
        at, intervals[:, 0], label=label, lw=1.8, zorder=3, marker="o" if markers else None, ms=3,
        **style,
    )  # fmt: skip


def turned(cells: np.ndarray, aside: float) -> tuple[np.ndarray, np.ndarray]:
    """A path of cells [time, (row, column)] as x and y, the way back a little beside the way out:
    both pass through the farthest cell."""
    away = int(np.abs(cells - cells[0]).sum(axis=1).argmax())
    out, back = cells[: away + 1] + 0.5 - aside, cells[away:] + 0.5 + aside
    both = np.concatenate([out, back]) if away < len(cells) - 1 else out
    return both[:, 1], both[:, 0]


def tidy(panel: Axes, title: str, across: str, up: str) -> None:
    panel.set_title(title, fontsize=10)
    panel.set_xlabel(across)
    panel.set_ylabel(up)
    panel.grid(color="#dddddd", linewidth=0.6)
    panel.set_axisbelow(True)
