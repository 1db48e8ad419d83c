"""What the weight of VIC's discriminator does where a target cannot be changed from some starts."""

from __future__ import annotations

import pytest

import skillfocus as sf
from skillfocus.cli.commands import Discover

ROOM = "#" + "." * 31 + "#\n"
MAZE = (
    "slip = 0.1\nstep limit = 40\nG = pick-up gem\n\nmap:\n"
    + "#" * 33 + "\n" + 2 * ROOM + "#...G" + "." * 27 + "#\n" + 2 * ROOM
    + "#" * 29 + "...#\n" + 4 * ROOM + "#" * 33 + "\n"
)  # fmt: skip
"""Part of benchmarks/gem-maze.txt: of 281 cells, 88 are near enough to fetch the gem and return."""


@pytest.fixture(scope="module")
def maze(tmp_path_factory):
    path = tmp_path_factory.mktemp("maze") / "maze.txt"
    path.write_text(MAZE)
    return str(path)


def best_of(maze, rate, seed):
    """Return how often the better skill for the gem changes it alone, and how often one could."""
    skills = sf.discover(maze, sf.focused(sf.vic(rate)), seed=seed, targets={"gem": 2})
    effects = sf.metrics.side_effects(skills)
    assert {len(e.starts) for e in effects} == {88}
    return max(e.changes_alone or 0.0 for e in effects), effects[0].best_possible


def test_the_last_runs_do_not_decide(maze):
    """Seed 1: with the paper's 0.7 the last runs seen are those of the fetching skill staying where
    the gem is too far, and it learns to stay."""
    for seed in (0, 1):
        alone, possible = best_of(maze, 0.05, seed)
        assert alone == pytest.approx(possible, abs=0.005)
    assert best_of(maze, 0.7, 1)[0] < 0.5


@pytest.mark.slow
def test_the_command_names_the_way_out(maze, tmp_path, capsys):
    for rate, found in ((0.7, True), (None, False)):
        options = Discover(
            world=maze, objective="focused-vic", targets="gem=2", seed=1, rate=rate, out=tmp_path
        )
        options.run()
        notes = capsys.readouterr().err
        assert ("the skills for gem of seed 1 change it from at most 0.36" in notes) == found
        assert ("try --rate 0.05, another seed, or focused-change" in notes) == found
