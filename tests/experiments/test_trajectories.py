from __future__ import annotations

from frames import (
    make_results,
)
from skillfocus.experiments import trajectories


def test_trajectories_are_the_paths_that_change_a_goal():
    """State numbers as the table has them; a path that fetches nothing is not shown."""
    from skillfocus.runs.discovery_run import cached_mdp

    table = cached_mdp("four-rooms", "{}")
    fetch = [table.number((cell, tool, 0, 0, 0)) for cell, tool in ((0, 0), (1, 1), (0, 1))]
    stay = [table.number((0, 0, 0, 0, 0))] * 2
    rows = [
        ("four-rooms", "focused-vic", "", f"path/{z}", t, [state])
        for z, path in enumerate((stay, fetch))
        for t, state in enumerate(path)
    ]
    (path,) = trajectories.telling_paths(make_results(rows), "four-rooms", "focused-vic")
    assert path[:, :2].tolist() == [[0, 0], [1, 1], [0, 1]]
    assert len(trajectories.figure(make_results(rows)).axes) == 9
