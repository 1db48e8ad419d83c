"""Skills with several targets begin by wanting the same of each."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from paper.settings import skill_targets
from probes import Button
from skillfocus.learners.planning.problem import tabular_problem
from skillfocus.learners.problem import make_problem
from skillfocus.objectives.kinds import parse_targets
from skillfocus.worlds.maps import read_map

KEY_AND_DOOR = """
slip = 0.0
step limit = 40
K = pick-up key
O = pick-up opened
D = door needs key

map:
#########
#....#..#
#.@..D.O#
#....#..#
#..K.#..#
#########
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    file = tmp_path_factory.mktemp("maps") / "house.txt"
    file.write_text(KEY_AND_DOOR)
    world = read_map(file)
    return world, sf.tabulate(world)


@pytest.mark.parametrize("base", [sf.vic(), sf.diayn(), sf.lsd()], ids=lambda o: o.name)
def test_the_door_is_opened_with_every_seed(house, base):
    """Behind the door, to which the key belongs: no skill can open it and leave the key. Without
    alignment, two to four of ten seeds deal one skill just that."""
    world, mdp = house
    for seed in range(10):
        skills = sf.discover(world, sf.focused(base), seed=seed, targets={"key+opened": 2}, mdp=mdp)
        both, none = sorted(
            (effects.alone.mean() for effects in sf.metrics.side_effects(skills)), reverse=True
        )
        assert (both, none) == pytest.approx((1.0, 0.0), abs=0.01), f"seed {seed}"


def test_pairs_that_share_a_variable_are_not_starved(house):
    world, mdp = house
    for seed in range(4):
        skills = sf.discover(
            world, sf.focused(sf.vic()), seed=seed, mdp=mdp,
            targets={"key+opened": 2, "key": 2, "position": 2},
        )  # fmt: skip
        effects = sf.metrics.side_effects(skills)
        best = [max(e.alone.mean() for e in pair) for pair in (effects[:2], effects[2:4])]
        assert best == pytest.approx([1.0, 1.0], abs=0.01), f"seed {seed}"


@pytest.mark.parametrize("base", [sf.vic(), sf.diayn(), sf.lsd()], ids=lambda o: o.name)
def test_components_agree_after_the_swap(base):
    """Both targets' rewards are dealt at random; with the same skill staying in both."""
    problem = make_problem(
        Three(), sf.focused(base), targets=[{"lamp": 0, "dial": 1}, {"lamp": 1, "dial": 0}]
    )
    tabular, swapped = tabular_problem(problem), 0
    places = [term.group for term in tabular.skills[0].terms]
    for seed in range(8):
        params = tabular.initial_params(np.random.default_rng(seed))
        rng = np.random.default_rng(seed)
        drawn = [
            tabular.estimator.init(g.n_components, g.starts.size, g.coordinates, rng)
            for g in tabular.groups
        ]
        lamp, dial = (
            tabular.staying_component(params, place, components)
            for place, components in zip(places, ([0, 1], [1, 0]), strict=True)
        )
        assert lamp == dial
        np.testing.assert_array_equal(params[places[0]], drawn[places[0]].astype(np.float32))
        swapped += not np.array_equal(params[places[1]], drawn[places[1]].astype(np.float32))
    assert 0 < swapped < 8


class Three(sf.World):
    """The button, with a third variable, as targets must not be all there are."""

    id, actions = "Three-v0", Button.actions
    space = sf.Space((*Button.space.variables, sf.Variable("other", (0, 1))))

    def states(self):
        return [(0, dial, 0) for dial in range(3)]

    def transition(self, state, action):
        return [
            sf.Outcome(each.probability, (*each.state, state[2]))
            for each in Button().transition(state[:2], action)
        ]


@pytest.mark.parametrize("name", ["focused-vic", "scattered-focused-vic"])
def test_skills_that_share_components_begin_as_before(name):
    """The experiments' agents with two targets keep their stored results, bit for bit."""
    from skillfocus.objectives.registry import make_objective

    targets = parse_targets(skill_targets("paper", "four-rooms", f"{name}-on-two"))
    assert targets == {f"tool_{i}+position": 4 for i in (1, 2, 3, 4)}
    problem = make_problem(sf.make("four-rooms"), make_objective(name), targets=targets)
    assert [dict(skill) for skill in problem.kinds.skills[:1]] == [{1: 0, 0: 0}]
    tabular = tabular_problem(problem)
    params = tabular.initial_params(np.random.default_rng(0))
    rng = np.random.default_rng(0)
    for group, held in zip(tabular.groups, params, strict=True):
        drawn = tabular.estimator.init(
            group.n_components, group.starts.size, group.coordinates, rng
        )
        np.testing.assert_array_equal(held, drawn)
