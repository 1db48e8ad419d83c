"""Strengths that are found."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

import skillfocus as sf
from commands import command
from skillfocus.discovery import StrengthCurve, search_strength
from skillfocus.errors import UserError
from skillfocus.metrics.summary import origin
from skillfocus.objectives.registry import make_objective

WIDTH = 40
HAIRPIN = "\n".join(
    ["#" * (WIDTH + 2), "#T" + "." * (WIDTH - 1) + "#", "#" * WIDTH + ".#",
     "#" + "." * WIDTH + "#", "#" * (WIDTH + 2)]
)  # fmt: skip
"""Two corridors that meet at the far end: see tests/objectives/test_path_norm.py."""


def records(alone, effects, avoidable):
    """One skill that does something, one that does nothing and has no side effects."""
    active = {"targets": ["tool"], "starts": 3, "changes_alone": alone,
              "side_effects": effects, "avoidable": avoidable}  # fmt: skip
    idle = {**active, "changes_alone": 0.0, "side_effects": 0.0, "avoidable": 0.0}
    without = {**active, "starts": 0, "changes_alone": None}
    return [active, idle, without]


def search(*answers):
    """Search with scripted answers; return the curve."""
    given = iter(answers)
    return search_strength(lambda strength: [records(*next(given))], 4.0)


def test_averages_by_hand():
    """Two seeds: the best skill changes the tool alone in 0.5 and in 0.7, 0.6 in the mean; side
    effects of four skills are 0.4, 0, 0.2 and 0."""
    curve = search_strength(lambda _: [records(0.5, 0.4, 0.0), records(0.7, 0.2, 0.0)], 4.0)
    assert len(curve.points) == 1
    assert asdict(curve.points[0]) == pytest.approx(
        {"strength": 4.0, "changes_alone": 0.6, "side_effects": 0.15, "avoidable": 0.0}
    )


def test_it_stops_where_nothing_is_avoidable():
    curve = search((0.7, 0.3, 0.3), (1.0, 0.0, 0.0))
    assert [point.strength for point in curve.points] == [4.0, 16.0]
    assert curve.chosen.strength == 16.0
    assert search((1.0, 0.02, 0.0)).chosen.strength == 4.0, "the first is good enough"


def test_it_stops_where_targets_suffer():
    """The third strength has fewer side effects because its skills do less."""
    curve = search((0.9, 0.3, 0.2), (0.95, 0.2, 0.1), (0.5, 0.1, 0.05))
    assert len(curve.points) == 3
    assert curve.chosen.strength == 16.0


def test_it_stops_where_side_effects_fall_no_further():
    curve = search((0.9, 0.3, 0.2), (0.9, 0.3, 0.2), (0.9, 0.3, 0.2))
    assert len(curve.points) == 3
    assert curve.chosen.strength == 4.0, "the lowest that is as good"


def test_it_stops_in_the_end():
    falling = [(0.9, 0.5, 0.5 - 0.05 * n) for n in range(9)]
    curve = search(*falling)
    assert len(curve.points) == 6
    assert curve.chosen == curve.points[-1]
    assert StrengthCurve(curve.points[:5]).is_over is False


def test_it_finds_what_brings_skills_home():
    world = sf.make("four-rooms", drawing=HAIRPIN, slip=0.0, step_limit=200)
    seen = []
    found = sf.find_strength(
        world, sf.focused(sf.reach()), seed=0, targets={"tool_1": 2},
        progress=lambda fraction, _: seen.append(fraction),
    )  # fmt: skip
    first, second = found.curve.points
    assert first.avoidable > 0.05
    assert second.avoidable == second.side_effects == 0.0
    assert found.strength == 16.0
    assert origin(found.skills)["strength"] == 16.0
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("penalty", [None, sf.weighted_norm(1.0)])
def test_discover_finds_it(penalty, tmp_path):
    """The same skills as with the strength that is found, and the curve in their file."""
    world = sf.make("four-rooms", drawing=HAIRPIN, slip=0.0, step_limit=200)
    targets = {"tool_1": 2}
    auto = sf.focused(sf.reach(), strength="auto", penalty=penalty)
    skills = sf.discover(world, auto, seed=0, targets=targets)
    found = sf.discover(world, sf.focused(sf.reach(), strength=16.0), seed=0, targets=targets)
    np.testing.assert_array_equal(skills.tabular.flat_actions, found.tabular.flat_actions)
    search = sf.Skills.load(skills.save(tmp_path / "auto.skills")).info["strength_search"]
    assert isinstance(search, dict)
    assert search["strength"] == origin(skills)["strength"] == 16.0
    tried = [point["strength"] for point in search["points"]]
    assert tried == ([4.0, 16.0] if penalty is None else [1.0, 4.0, 16.0])


def test_auto_by_name():
    for penalty in (None, "path-norm"):
        made = make_objective("focused-lsd", strength="auto", penalty=penalty).penalty
        assert made is not None
        assert (made.auto, made.strength) == (True, 2.0)
    assert sf.focused(sf.vic(), strength=3.0).penalty == sf.weighted_norm(3.0)


def test_what_has_no_strength_to_find():
    with pytest.raises(UserError, match="vic has no penalty whose strength could be found"):
        sf.find_strength("four-rooms", sf.vic(), seed=0)
    with pytest.raises(UserError, match="strength must be a number or 'auto', got 'high'"):
        sf.focused(sf.vic(), strength="high")  # pyright: ignore[reportArgumentType]
    stepwise = sf.focused(sf.vic(), strength="auto", baseline="stepwise")
    with pytest.raises(
        UserError, match="against the start, and the baseline is 'stepwise'; give a"
    ):
        sf.discover("train", stepwise, seed=0)
    pytest.importorskip("jax")
    with pytest.raises(UserError, match="has no table, so what is avoidable there is unknown"):
        sf.find_strength("tool-rooms", "focused-vic", seed=0)


@pytest.mark.slow
def test_the_command_finds_it_and_points_out_what_is_avoidable(tmp_path):
    (tmp_path / "hairpin.txt").write_text(
        "slip = 0\nstep limit = 200\nT = pick-up tool\n\nmap:\n"
        + HAIRPIN.replace("#....", "#@...", 2).replace("#T@", "#T.")
    )
    options = ("hairpin.txt", "focused-reach", "--targets", "tool=2", "--out", "out")
    plain = command("discover", *options, cwd=tmp_path)
    assert "skills have side effects that can be avoided" in plain.stderr
    walls = command("discover", *options, "--penalty", "path-norm", cwd=tmp_path)
    assert "avoided" not in walls.stderr
    found = command("discover", *options, "--strength", "auto", "--json", cwd=tmp_path)
    document = json.loads(found.stdout)
    search = document["strength_search"]
    assert [point["strength"] for point in search["points"]] == [4.0, 16.0]
    assert search["strength"] == document["runs"][0]["strength"] == 16.0
    shown = command("discover", *options, "--strength", "auto", cwd=tmp_path)
    assert "Strengths tried" in shown.stdout
    assert "found in out" in shown.stderr, "every strength is stored"
