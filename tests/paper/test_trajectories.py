from __future__ import annotations

import numpy as np

from frames import (
    make_results,
)
from paper import figure_1
from paper.agents import Setup
from paper.formatting import GREY
from skillfocus.discovery import cached_mdp


def test_trajectories_are_the_paths_that_change_a_goal():
    """State numbers as the table has them; a path that fetches nothing is not shown."""
    table = cached_mdp("four-rooms", "{}")
    fetch = [table.number((cell, tool, 0, 0, 0)) for cell, tool in ((0, 0), (1, 1), (0, 1))]
    stay = [table.number((0, 0, 0, 0, 0))] * 2
    rows = [
        ("four-rooms", "focused-vic", "", f"path/{z}", t, [state])
        for z, path in enumerate((stay, fetch))
        for t, state in enumerate(path)
    ]
    (path,) = figure_1.telling_paths(make_results(rows), "four-rooms", "focused-vic")
    assert path[:, :2].tolist() == [[0, 0], [1, 1], [0, 1]]
    assert len(figure_1.draw_trajectories(make_results(rows)).axes) == 9


def test_plain_paths_are_sorted_by_how_far_they_end():
    mdp = cached_mdp("four-rooms", "{}")
    cells = mdp.space.variables[0].coordinates
    far = int(np.linalg.norm(cells - cells[0], axis=1).argmax())
    ends = {0: 1, 1: far, 2: 0}
    rows = [
        ("four-rooms", "vic", "", f"path/{z}", t, [mdp.number((cell, 0, 0, 0, 0))])
        for z, end in ends.items()
        for t, cell in enumerate((0, end))
    ]
    paths = figure_1.telling_paths(make_results(rows), "four-rooms", "vic")
    assert [path[-1, 0] for path in paths] == [far, 1, 0]


def test_the_trajectories_figure_draws_two_plain_paths_and_their_last_cells():
    mdp = cached_mdp("four-rooms", "{}")
    rows = [
        ("four-rooms", "vic", "", f"path/{z}", t, [mdp.number((cell, 0, 0, 0, 0))])
        for z, end in enumerate((1, 2, 3))
        for t, cell in enumerate((0, end))
    ]
    figure = figure_1.draw_trajectories(make_results(rows))
    assert figure.axes[0].get_title() == "FourRooms, VIC"
    assert figure.axes[8].get_title() == "MudWorld, LSD"
    lines = figure.axes[0].get_lines()
    assert len(lines) == 4  # two paths, two last cells
    assert [np.size(line.get_xdata()) for line in lines] == [2, 1, 2, 1]
    assert {line.get_color() for line in lines} == {GREY}
    assert not figure.axes[1].get_lines()


def test_one_seed_is_enough():
    made = figure_1.TRAJECTORIES.cases(Setup(), range(3, 8))
    assert {case.seed for case in made} == {3}
    assert len(made) == 24
    assert figure_1.TRAJECTORIES.analyze(make_results([])).claims == []
