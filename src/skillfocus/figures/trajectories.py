"""What skills do, drawn: one panel per skill, its path from one first state if nothing slips."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from skillfocus.core.factored import State
from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.figures.saving import check_path, save_figure
from skillfocus.figures.style import turned
from skillfocus.render.palette import colours_of, lettered
from skillfocus.skills.skills import Skills
from skillfocus.worlds.grid import FREE, WALL, GridWorld

START, PATH, HOME = "#b3c4de", "#2f7fb8", "#0b3954"


def check_drawable(world: World, path: Path) -> None:
    """Say now what would stop `draw_skills` later."""
    if not isinstance(world, GridWorld):
        raise UserError(f"{world.id} has no map to draw on")
    check_path(path)


def draw_skills(skills: Skills, path: Path, start: State | None = None) -> Path:
    """Write a figure (the suffix says which format) of all skills, each from one first state
    (default: the world's showcase)."""
    check_drawable(skills.world, path)
    save_figure(skills_figure(skills, start), path)
    return path


def skills_figure(skills: Skills, start: State | None = None) -> Figure:
    world = skills.world
    if not isinstance(world, GridWorld):
        raise UserError(f"{world.id} has no map to draw on")
    start = start or world.showcase
    columns = min(len(skills), 8)
    rows = -(-len(skills) // columns)
    figure = Figure(figsize=(2.2 * columns, 2.45 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for panel in panels.flat[len(skills) :]:
        panel.axis("off")
    for z, panel in enumerate(panels.flat[: len(skills)]):
        _panel(panel, world, skills, z, start)
    return figure


def draw_map(panel: Axes, world: GridWorld, state: State) -> None:
    height, width = len(world.map.rows), len(world.map.rows[0])
    colours = colours_of(world)
    for r in range(height):
        for c in range(width):
            glyph = world.glyph_now((r, c), state) if (r, c) in world.map.index else WALL
            if glyph != FREE:
                panel.add_patch(Rectangle((c, r), 1, 1, color=colours[glyph], lw=0))
            if lettered(world, glyph):
                panel.text(
                    c + 0.5, r + 0.5, glyph, fontsize=6, ha="center", va="center", parse_math=False
                )
    panel.set(xlim=(0, width), ylim=(height, 0), aspect="equal", xticks=[], yticks=[])


def _path(panel: Axes, world: GridWorld, states: list[State], faint: bool) -> None:
    cells = np.array([world.map.cells[state[0]] for state in states], dtype=float)
    across, down = turned(cells, 0.13)
    alpha, line = (0.35, 1.0) if faint else (1.0, 1.8)
    panel.plot(across, down, color=PATH, lw=line, alpha=alpha, solid_joinstyle="miter")
    panel.plot(across[-1], down[-1], "o", color=HOME, ms=3 if faint else 5)


def _panel(panel: Axes, world: GridWorld, skills: Skills, z: int, start: State) -> None:
    draw_map(panel, world, start)
    r, c = world.map.cells[start[0]]
    panel.add_patch(Rectangle((c, r), 1, 1, color=START, lw=0))
    n_modes = int(skills.n_modes[z])
    paths = [skills.likely_path(z, start, mode) for mode in range(n_modes)]
    for states in paths:
        _path(panel, world, states, faint=n_modes > 1)
    names = skills.mdp.space.names
    changes = [
        name
        for j, name in enumerate(names)
        if any(states[0][j] != states[-1][j] for states in paths)
    ]
    target = " + ".join(skills.targets[z]) or "any"
    panel.set_title(
        f"skill {z} for {target}\nchanges {', '.join(changes) or 'nothing'}",
        fontsize=7.5,
        parse_math=False,
    )
