"""Path distances between values."""

from __future__ import annotations

import pytest

import skillfocus as sf
from probes import Door, corridor
from skillfocus.mdp import relative_path_distances

U_TURN = "#####\n#...#\n###.#\n#...#\n#####"
"""Two cells straight down are six steps apart."""


def test_distances_go_around_walls():
    world = sf.make("four-rooms", drawing=U_TURN.replace("###.#", "###T#"), slip=0.1)
    mdp = sf.tabulate(world)
    cells = world.map.index
    relative = relative_path_distances(mdp, 0)
    assert relative[cells[(1, 1)], cells[(3, 1)]] == 1
    assert relative[cells[(1, 3)], cells[(3, 3)]] == pytest.approx(2 / 6)
    assert relative[cells[(1, 1)], cells[(1, 2)]] == pytest.approx(1 / 6)
    assert (relative == relative.T).all()


def test_there_is_no_way_back_for_good():
    """An unlocked door is never locked again; the tool is never put back."""
    relative = relative_path_distances(sf.tabulate(Door()), 0)
    assert relative.tolist() == [[0, 0.5, 1], [1, 0, 0.5], [1, 0.5, 0]]
    tool = relative_path_distances(sf.tabulate(corridor()), 1)
    assert tool.tolist() == [[0, 1], [1, 0]]
    wall = relative_path_distances(sf.tabulate(Door()), 1)
    assert wall.tolist() == [[0, 1], [1, 0]], "of what never changes, too"
