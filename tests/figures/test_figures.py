from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from probes import RandomWorld, corridor
from skillfocus.errors import UserError
from skillfocus.figures.trajectories import draw_skills, skills_figure


@pytest.fixture(scope="module")
def fetch():
    return sf.discover(
        corridor(slip=0.1), sf.focused(sf.vic()), seed=1, targets={"tool_1": 2},
        learner=sf.Planning(rounds=20),
    )  # fmt: skip


def test_the_likely_path_is_the_one_without_slips(fetch):
    paths = [fetch.likely_path(z, (0, 0)) for z in range(2)]
    assert sorted(paths, key=len) == [
        [(0, 0)], [(0, 0), (1, 0), (2, 1), (1, 1), (0, 1)],
    ]  # fmt: skip


def test_panels_show_the_paths_rows_down_columns_across(fetch):
    figure = skills_figure(fetch, (0, 0))
    longest = max((panel.lines[0] for panel in figure.axes), key=lambda line: len(line.get_xdata()))
    across, down = np.array(longest.get_xdata()), np.array(longest.get_ydata())
    assert np.floor(across).tolist() == [1, 2, 3, 3, 2, 1]  # columns of the map
    assert np.floor(down).tolist() == [1] * 6  # its only free row
    assert {panel.get_title().splitlines()[1] for panel in figure.axes} == {
        "changes tool_1", "changes nothing",
    }  # fmt: skip


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_every_format_is_written(fetch, tmp_path, suffix):
    path = draw_skills(fetch, tmp_path / f"a.{suffix}")
    assert path.stat().st_size > 1000


def test_a_world_without_a_map_is_said(tmp_path):
    world = RandomWorld(0)
    skills = sf.discover(
        world, sf.focused(sf.vic()), seed=0, n_skills=4, learner=sf.Planning(rounds=1)
    )
    with pytest.raises(UserError, match="no map"):
        draw_skills(skills, tmp_path / "a.png")
