"""Figures of what skills do: one panel per skill, its path from one start if nothing slips.

The map is the scene of `render.scene` as vector paths, so that figures print at any size. Panels
are measured in cells: x is the column, y the row, downwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.path import Path as VectorPath

from skillfocus.errors import UserError
from skillfocus.figures.saving import check_path, save_figure
from skillfocus.figures.style import turned
from skillfocus.render.icons import BOX, PALETTES, SHADES, parse_path
from skillfocus.render.scene import PlacedShape, Stage, TextLine
from skillfocus.render.svg import FAINT_OPACITY
from skillfocus.skills.skills import Skills
from skillfocus.spaces import State
from skillfocus.world import World
from skillfocus.worlds.grid import GridWorld

PALETTE = PALETTES["light"]
START, PATH, END = PALETTE["start"], PALETTE["way"], SHADES["skin edge"]
"""Colours of the first cell, the path and the last cell."""
PANELS_PER_ROW = 8
CODES = {
    "M": [VectorPath.MOVETO],
    "L": [VectorPath.LINETO],
    "C": [VectorPath.CURVE4] * 3,
    "Z": [VectorPath.CLOSEPOLY],
}
"""Matplotlib's codes for the commands of path data."""


def check_drawable(world: World, path: Path) -> None:
    """Raise the error that `draw_skills` would, before the skills are discovered.

    Raises:
        UserError: The world has no map, or no figure can be written to `path`.
    """
    if not isinstance(world, GridWorld):
        raise UserError(f"{world.id} has no map to draw on; `skillfocus view` shows its variables")
    check_path(path)


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
    check_drawable(skills.world, path)
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
    world = skills.world
    if not isinstance(world, GridWorld):
        raise UserError(f"{world.id} has no map to draw on; `skillfocus view` shows its variables")
    start = start or world.showcase
    columns = min(len(skills), PANELS_PER_ROW)
    rows = -(-len(skills) // columns)
    figure = Figure(figsize=(2.2 * columns, 2.45 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for panel in panels.flat[len(skills) :]:
        panel.axis("off")
    for z, panel in enumerate(panels.flat[: len(skills)]):
        _draw_skill(panel, world, skills, z, start)
    return figure


class SceneShapes(PathCollection):
    """Shapes of a scene as one artist whose strokes scale with the panel.

    Matplotlib measures line widths in points; a scene measures them in the same units as its
    shapes. The conversion is known only when the figure is drawn.
    """

    def __init__(self, shapes: Sequence[PlacedShape]) -> None:
        """Convert shapes, in their order, to paths in cells and theme colours to RGBA."""
        self.widths = np.array([item.shape.width / BOX for item in shapes])
        super().__init__(
            [vector_path(item) for item in shapes],
            facecolors=[_rgba(item.shape.fill, item.faint) for item in shapes],
            edgecolors=[_rgba(item.shape.stroke, item.faint) for item in shapes],
            linewidths=self.widths,
            linestyles=[(0, (2, 2)) if item.faint else "solid" for item in shapes],
            capstyle="round",
            joinstyle="round",
            zorder=0.5,
        )

    def draw(self, renderer: Any) -> None:
        """Draw the shapes with strokes as wide as the panel's cells ask for."""
        axes, figure = self.axes, self.get_figure()
        assert axes is not None
        assert figure is not None
        (x0, _), (x1, _) = axes.transData.transform([(0, 0), (1, 0)])
        self.set_linewidth(list(self.widths * abs(x1 - x0) * 72 / figure.dpi))
        super().draw(renderer)


def vector_path(item: PlacedShape) -> VectorPath:
    """Return a placed shape as a matplotlib path in cells; curves stay curves."""
    points, codes = [], []
    for command, ends in parse_path(item.shape.path):
        # CLOSEPOLY takes a point that is ignored.
        points += ends or [points[-1]]
        codes += CODES[command]
    return VectorPath(np.add(points, (item.x, item.y)) / BOX, codes)


def _rgba(colour: str, faint: bool) -> tuple[float, float, float, float]:
    if not colour:
        return (0.0, 0.0, 0.0, 0.0)
    return to_rgba(PALETTE.get(colour, colour), FAINT_OPACITY if faint else 1.0)


def draw_map(panel: Axes, world: GridWorld, state: State) -> None:
    """Draw the map in a state, without the agent, and make the panel as large as the map."""
    items = Stage(world, cards=False).items(state)
    panel.add_collection(SceneShapes([i for i in items if isinstance(i, PlacedShape)]))
    _write_letters(panel, (item for item in items if isinstance(item, TextLine)))
    height, width = len(world.map.rows), len(world.map.rows[0])
    panel.set(xlim=(0, width), ylim=(height, 0), aspect="equal", xticks=[], yticks=[])


def _write_letters(panel: Axes, lines: Iterable[TextLine]) -> None:
    """Write the letters of things without an icon; names are text even if they look like TeX."""
    for line in lines:
        panel.text(
            line.x / BOX, line.y / BOX, line.text, color=line.colour, fontsize=6, weight="bold",
            ha="center", va="baseline", parse_math=False,
        )  # fmt: skip


def _draw_path(panel: Axes, world: GridWorld, states: list[State], faint: bool) -> None:
    """Draw the line along a path, the way back beside the way out, and a dot at its end."""
    cells = np.array([world.map.cells[state[0]] for state in states], dtype=float)
    across, down = turned(cells, 0.13)
    alpha, line = (0.35, 1.0) if faint else (1.0, 1.8)
    panel.plot(across, down, color=PATH, lw=line, alpha=alpha, solid_joinstyle="miter")
    panel.plot(across[-1], down[-1], "o", color=END, ms=3 if faint else 5)


def _draw_skill(panel: Axes, world: GridWorld, skills: Skills, z: int, start: State) -> None:
    """Draw the paths of one skill on the map, and say in the title what it changes."""
    draw_map(panel, world, start)
    r, c = world.map.cells[start[0]]
    panel.add_patch(Rectangle((c, r), 1, 1, color=START, lw=0))
    n_modes = int(skills.n_modes[z])
    paths = [skills.likely_path(z, start, mode) for mode in range(n_modes)]
    for states in paths:
        _draw_path(panel, world, states, faint=n_modes > 1)
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
