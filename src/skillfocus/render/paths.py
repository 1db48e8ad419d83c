"""What pictures know of a run on a map: the line along its cells, and the tracks it left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skillfocus.core.factored import State
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.world import World
from skillfocus.render.scene import Stage
from skillfocus.worlds.grid import Cell, GridWorld

OFFSET = 0.11
"""How far beside the cells' centres a path runs, in cells, so that the way back shows."""
MAX_PLACES = 4
"""A variable that changes in more cells of a map than these has no place to be marked."""
PATH_WIDTH = 2.6
"""Stroke width of a path, in units of a picture."""


def path_points(stage: Stage, cells: Sequence[Cell]) -> list[tuple[int, float, float]]:
    """Return the corners of the line along a path, the way back a little beside the way out.

    Args:
        stage: The layout of the picture.
        cells: The cell at each time.

    Returns:
        (time, x, y) of each corner. Both ways pass through the farthest cell, which therefore
        occurs twice.
    """
    distances = [abs(cell[0] - cells[0][0]) + abs(cell[1] - cells[0][1]) for cell in cells]
    turn = distances.index(max(distances))
    out = [(t, cell, -OFFSET) for t, cell in enumerate(cells[: turn + 1])]
    back = [(t, cell, OFFSET) for t, cell in enumerate(cells) if t >= turn] if turn else []
    both = out + (back if len(back) > 1 else [])
    return [(t, *stage.centre((r + offset, c + offset))) for t, (r, c), offset in both]


def path_data(stage: Stage, cells: Sequence[Cell]) -> str:
    """Return the same line as path data; empty if the path stays in one place."""
    corners = [f"{x:g} {y:g}" for _, x, y in path_points(stage, cells)]
    return f"M{'L'.join(corners)}" if len(set(corners)) > 1 else ""


def observed_tracks(world: World, states: Sequence[State]) -> list[frozenset[Cell]]:
    """Return the cells known to have a hidden mark (tracks, on a map) after each step of a run.

    Variables only count the marks, so those of the first state are known to lie in a cell only
    once the agent has entered it.

    Returns:
        One set per state; all empty for worlds without hidden marks or without a map.
    """
    tracks: list[frozenset[Cell]] = [frozenset()] * len(states)
    if not isinstance(world, GridWorld) or not world.n_marks:
        return tracks
    for t in range(1, len(states)):
        before, now = tuple(states[t - 1]), tuple(states[t])
        outcomes = (o for a in range(len(world.actions)) for o in world.transition(before, a))
        arrived = any(o.mark >= 0 and now in (o.state, o.again) for o in outcomes)
        tracks[t] = tracks[t - 1] | ({world.map.cells[now[0]]} if arrived else frozenset())
    return tracks


def mark_of_cell(world: GridWorld, mdp: TabularMDP) -> dict[Cell, int]:
    """Return the index of the hidden mark of each cell that can get one."""
    source, action, slot = np.nonzero(mdp.marks >= 0)
    positions = mdp.values[mdp.successors[source, action, slot], 0]
    marks = mdp.marks[source, action, slot]
    pairs = np.unique(np.stack([positions, marks], axis=1), axis=0)
    return {world.map.cells[position]: mark for position, mark in pairs.tolist()}


def changing_places(before: np.ndarray, after: np.ndarray) -> list[list[int]]:
    """Return per variable the positions in which it changes; none if there are many.

    Pages and pictures ring these places for the targets of the current skill.

    Args:
        before: int [n, n_variables]: value indices before each possible step.
        after: int [n, n_variables]: and after it.
    """
    changed = before != after
    places = [np.unique(after[changed[:, j], 0]) for j in range(before.shape[1])]
    places[0] = places[0][:0]
    return [each.tolist() if len(each) <= MAX_PLACES else [] for each in places]


def places_in_table(mdp: TabularMDP) -> list[list[int]]:
    """Return `changing_places` of a map whose states `mdp` numbers."""
    source, action, slot = np.nonzero(mdp.probabilities > 0)
    return changing_places(mdp.values[source], mdp.values[mdp.successors[source, action, slot]])
