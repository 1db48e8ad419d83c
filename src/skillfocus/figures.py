"""Figures: files, panels with mean curves, and maps with the paths of skills.

Maps are measured in cells: x is the column, y the row, downwards. A panel of `skills_figure` shows
one skill, its path from one start if nothing slips. Experiments draw their own figures with this.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL.Image import Image

from skillfocus.errors import UserError
from skillfocus.files import check_file_path, shorten, write_atomically
from skillfocus.metrics.statistics import mean_interval
from skillfocus.render.icons import PALETTES, SHADES
from skillfocus.render.raster import Canvas
from skillfocus.render.scene import Stage, turned
from skillfocus.skills.skills import Skills
from skillfocus.spaces import State
from skillfocus.world import World
from skillfocus.worlds.grid import GridWorld

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
DPI, PRINT_DPI = 130, 300
"""Pixels per inch of a .png, and of the bitmaps inside the other formats."""


def check_path(path: Path) -> None:
    """Check, before anything is drawn, that `save_figure` will be able to write there.

    Raises:
        UserError: If the suffix is not one of `SUFFIXES`, or the folder is missing or read-only.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(
            f"cannot draw {shorten(path.name)}: the name must end in .png, .svg or .pdf"
        )
    check_file_path(path)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure atomically. SVG files carry no date, so that equal figures are equal files.

    Raises:
        UserError: See `check_path`.
    """
    check_path(path)
    write_atomically(path, figure_bytes(figure, path.suffix.lower()))


def figure_bytes(figure: Figure, suffix: str) -> bytes:
    """Return the contents of a figure's file; `suffix` is one of `SUFFIXES`."""
    buffer = io.BytesIO()
    metadata = {"Date": None} if suffix == ".svg" else None
    dpi = DPI if suffix == ".png" else PRINT_DPI
    figure.savefig(buffer, format=suffix.removeprefix("."), dpi=dpi, metadata=metadata)
    return buffer.getvalue()


# -------------------- Mean curves

GRID_COLOR = "#dddddd"


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
    panel.grid(color=GRID_COLOR, linewidth=0.6)
    panel.set_axisbelow(True)


# -------------------- Paths of skills on maps

PALETTE = PALETTES["light"]
START, PATH, END = PALETTE["start"], PALETTE["way"], SHADES["skin edge"]
"""Colors of the first cell, the path and the last cell."""
PANELS_PER_ROW = 8
PIXELS = 3.0
"""Pixels per unit of a map's scene: cells are 72 pixels wide, for figures in print."""


def check_drawable(world: World, path: Path) -> None:
    """Raise the error that `draw_skills` would, before the skills are discovered.

    Raises:
        UserError: The world has no map, or no figure can be written to `path`.
    """
    _grid(world)
    check_path(path)


def _grid(world: World) -> GridWorld:
    """Return a world that has a map."""
    if not isinstance(world, GridWorld):
        raise UserError(f"{world.id} has no map to draw on; `skillfocus view` shows its variables")
    return world


def draw_skills(skills: Skills, path: Path, start: State | None = None) -> Path:
    """Write a figure of all skills.

    Args:
        skills: The skills of a world with a map.
        path: The file; its suffix (.png, .svg, .pdf) says the format.
        start: The state that all skills start from; by default the world's showcase.

    Returns:
        The path.

    Raises:
        UserError: The world has no map, or the file cannot be written.
    """
    save_figure(skills_figure(skills, start), path)
    return path


def skills_figure(skills: Skills, start: State | None = None) -> Figure:
    """Return a figure with one panel per skill: its likely path, and what it changes.

    Args:
        skills: The skills of a world with a map. Skills with several modes show one faint path
            for each.
        start: The state that all skills start from; by default the world's showcase.

    Raises:
        UserError: The world has no map.
    """
    world = _grid(skills.world)
    start = start or world.showcase
    from matplotlib.figure import Figure

    columns = min(len(skills), PANELS_PER_ROW)
    rows = -(-len(skills) // columns)
    figure = Figure(figsize=(2.2 * columns, 2.45 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for panel in panels.flat[len(skills) :]:
        panel.axis("off")
    for z, panel in enumerate(panels.flat[: len(skills)]):
        _draw_skill(panel, world, skills, z, start)
    return figure


def draw_map(panel: Axes, world: GridWorld, state: State) -> None:
    """Draw the map in a state, without the agent, and make the panel as large as the map."""
    height, width = len(world.map.rows), len(world.map.rows[0])
    panel.imshow(map_image(world, state), extent=(0, width, height, 0), zorder=0.5)
    panel.set(xticks=[], yticks=[])


@lru_cache(1)  # all panels of a figure show the same state
def map_image(world: GridWorld, state: State) -> Image:
    """Return the picture of a map in a state."""
    stage = Stage(world, cards=False)
    canvas = Canvas(stage.width, stage.height, PIXELS, "light")
    canvas.paint(stage.items(state))
    return canvas.image()


def _draw_skill(panel: Axes, world: GridWorld, skills: Skills, z: int, start: State) -> None:
    """Draw the paths of one skill on the map, and say in the title what it changes."""
    from matplotlib.patches import Rectangle

    draw_map(panel, world, start)
    r, c = world.map.cells[start[0]]
    panel.add_patch(Rectangle((c, r), 1, 1, color=START, lw=0))
    n_modes = int(skills.n_modes[z])
    paths = [skills.likely_path(z, start, mode) for mode in range(n_modes)]
    alpha, line, size = (0.35, 1.0, 3) if n_modes > 1 else (1.0, 1.8, 5)
    for states in paths:
        cells = np.array([world.map.cells[state[0]] for state in states], dtype=float)
        _, across, down = turned(cells, 0.13)  # the way back beside the way out
        panel.plot(across, down, color=PATH, lw=line, alpha=alpha, solid_joinstyle="miter")
        panel.plot(across[-1], down[-1], "o", color=END, ms=size)
    changed = [
        name
        for j, name in enumerate(skills.mdp.space.names)
        if any(states[0][j] != states[-1][j] for states in paths)
    ]
    target = " + ".join(skills.targets[z]) or "any"
    panel.set_title(
        f"skill {z} for {target}\nchanges {', '.join(changed) or 'nothing'}",
        fontsize=7.5,
        parse_math=False,
    )
