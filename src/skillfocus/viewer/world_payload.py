"""What a page knows of a world: its variables, transitions and map as compact tables.

The page simulates with these tables exactly as `core.rollout` does: same outcomes in the same
order, same cumulative probabilities, same hidden marks. `assets/data.js` documents the fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from skillfocus.core.factored import State
from skillfocus.core.indexing import index_values
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.world import World
from skillfocus.render.icons import (
    GROUNDS,
    ICONS,
    TRACKED,
    agent_icon_name,
    glyph_icon,
    ground_glyphs,
)
from skillfocus.render.paths import changing_places, mark_of_cell, places_in_table
from skillfocus.viewer.frames import frames_data, missing_frames_note
from skillfocus.viewer.packing import pack_array
from skillfocus.viewer.recordings import RecordedWorld
from skillfocus.viewer.walks import outcome_costs
from skillfocus.worlds.grid import Cell, GridWorld


def world_data(world: World, mdp: TabularMDP) -> dict[str, object]:
    """Return the page's data of a world.

    Successor states are stored relative to their source, and equal rows of probabilities once:
    both compress far better.

    Args:
        world: The world.
        mdp: Its tables.

    Returns:
        `WorldData` of `assets/data.js`, without the start.
    """
    width = mdp.successors.shape[2]
    both = np.concatenate([mdp.cumulative, outcome_costs(mdp.probabilities)], axis=2)
    laws, law_of = np.unique(both.reshape(-1, 2 * width), axis=0, return_inverse=True)
    source = np.arange(mdp.n_states, dtype=np.int32)[:, None, None]
    hidden_marks = (
        {
            "marks": pack_array(mdp.marks),
            "again": pack_array(mdp.again - source),
            "marksIn": pack_array(mdp.marks_in),
        }
        if mdp.n_marks
        else {}
    )
    return {
        **_common_data(world, mdp.values),
        "nOutcomes": width,
        "nMarks": mdp.n_marks,
        "successors": pack_array(mdp.successors - source),
        "lawOf": pack_array(law_of.ravel().astype(np.int32)),
        "laws": laws[:, :width].tolist(),
        "costs": laws[:, width:].astype(int).tolist(),
        **hidden_marks,
        "map": _tabular_map(world, mdp) if isinstance(world, GridWorld) else None,
        "frames": None if isinstance(world, GridWorld) else frames_data(world, mdp),
        "noFrames": "" if isinstance(world, GridWorld) else missing_frames_note(world, mdp),
    }


def recorded_world_data(world: World, recorded: RecordedWorld) -> dict[str, object]:
    """Return the page's data of a world without a table: the states that occur in recordings."""
    map_data = None
    if isinstance(world, GridWorld):
        _, example, look_of = np.unique(
            recorded.values[:, 1:], axis=0, return_index=True, return_inverse=True
        )
        states = [tuple(row) for row in recorded.values[example].tolist()]
        look_of = look_of.reshape(-1).astype(np.int32)
        before, after = recorded.values[recorded.moves[:, 0]], recorded.values[recorded.moves[:, 1]]
        map_data = _map_data(world, states, look_of, {}, changing_places(before, after))
    return {
        **_common_data(world, recorded.values),
        "nOutcomes": 1,
        "nMarks": 0,
        "laws": [],
        "costs": [],
        "starts": list(range(recorded.n_starts)),
        "start": 0,
        "map": map_data,
    }


def _common_data(world: World, values: np.ndarray) -> dict[str, object]:
    """Return what pages know of any world, with or without a table."""
    return {
        "id": world.id,
        "nStates": len(values),
        "actions": list(world.actions),
        "variables": [
            {
                "name": variable.name,
                "labels": [str(value) for value in variable.values],
                "points": value_points(variable.coordinates),
                "scale": variable.largest_distance,
            }
            for variable in world.space.variables
        ],
        "defaultTarget": world.space.index(world.default_target),
        "values": pack_array(values),
    }


def value_points(coordinates: np.ndarray) -> list | None:
    """Return where a variable's values lie; None for values that are all equally far apart.

    Args:
        coordinates: [n_values, n_dimensions]
    """
    n = len(coordinates)
    apart = coordinates.shape == (n, n) and np.array_equal(coordinates, np.eye(n) / np.sqrt(2))
    return None if apart else coordinates.tolist()


def _tabular_map(world: GridWorld, mdp: TabularMDP) -> dict[str, object]:
    """Return the map of a world with a table."""
    others = index_values(mdp, range(1, len(mdp.space)))
    states = [mdp.state(s) for s in others.example]
    marks, places = mark_of_cell(world, mdp), places_in_table(mdp)
    return _map_data(world, states, others.of_state, marks, places)


def _map_data(
    world: GridWorld,
    states: Sequence[State],
    look_of: np.ndarray,
    marks: Mapping[Cell, int],
    places: list[list[int]],
) -> dict[str, object]:
    """Return how the cells look, which depends on every variable but the agent's position.

    States that agree in those variables share a *look*; cells whose glyph differs between looks
    are listed with one glyph per look.

    Args:
        world: The world.
        states: A state of each look.
        look_of: int32 [n_states]: the look of each state.
        marks: The hidden marks of cells.
        places: See `changing_places`.
    """
    looks = {}
    for place, cell in enumerate(world.map.cells):
        glyphs = [world.glyph_now(cell, state) for state in states]
        if set(glyphs) != {world.map.glyph(cell)}:
            looks[place] = glyphs
    return {
        "rows": world.map.rows,
        "cells": [list(cell) for cell in world.map.cells],
        "lookOf": pack_array(look_of),
        "looks": looks,
        "tracked": [marks.get(cell, -1) for cell in world.map.cells],
        "places": places,
        "looksLike": {
            TRACKED: (ICONS["tracks"], ""),
            **{glyph: glyph_icon(world, glyph) for glyph in world.legend},
        },
        "under": {world.map.index[cell]: glyph for cell, glyph in ground_glyphs(world).items()},
        "grounds": [glyph for glyph, kind in world.legend.items() if kind in GROUNDS],
        "agents": [agent_icon_name(world, state) for state in states],
    }
