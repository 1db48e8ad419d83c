"""Figures of what skills do: one panel per skill, its path from one start if nothing slips.

Panels are measured in cells: x is the column, y the row, downwards.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL.Image import Image

from skillfocus.errors import UserError
from skillfocus.figures.saving import check_path, save_figure
from skillfocus.figures.style import turned
from skillfocus.render.icons import PALETTES, SHADES
from skillfocus.render.raster import Canvas
from skillfocus.render.scene import Stage
from skillfocus.skills.skills import Skills
from skillfocus.spaces import State
from skillfocus.world import World
from skillfocus.worlds.grid import GridWorld

PALETTE = PALETTES["light"]
START, PATH, END = PALETTE["start"], PALETTE["way"], SHADES["skin edge"]
"""Colours of the first cell, the path and the last cell."""
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
