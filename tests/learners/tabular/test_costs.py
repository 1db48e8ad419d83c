"""Penalties as arrays, above all with the baselines of worlds that move by themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import skillfocus as sf
from probes import RandomWorld, corridor
from skillfocus.discovery import Discovery
from skillfocus.errors import UserError
from skillfocus.learners.planning.problem import (
    against_inaction,
    inaction_reaches,
    of_outcomes,
    split_penalty,
    tabular_problem,
)
from skillfocus.learners.problem import make_problem
from skillfocus.mdp import after_inaction
from skillfocus.objectives.variants import StatePenalty, weighted_norm

POSITION, TRAIN, SIGNAL, PARCEL = range(4)
WATCHED = np.array([True, True, True, False])  # a skill for the parcel


@pytest.fixture(scope="module")
def train():
    return sf.tabulate(sf.make("train"))


def penalty(baseline):
    return replace(weighted_norm(1.0), baseline=baseline)


def indices(mask):
    return np.flatnonzero(mask).tolist()


def test_when_which_variable_is_charged(train):
    """The train only moves on, so by default each of its moves is charged. Position and signal can
    be changed back: they are compared at the end."""
    start = split_penalty(train, penalty("start"), WATCHED)
    assert [indices(part) for part in start] == [[0, 2], [0, 2], [1]]
    stepwise = split_penalty(train, penalty("stepwise"), WATCHED)
    assert [indices(part) for part in stepwise] == [[0, 2], [0, 2], [1]]
    inaction = split_penalty(train, penalty("inaction"), WATCHED)
    assert [indices(part) for part in inaction] == [[0, 1, 2, 3], [0, 1, 2], []]


def test_stepwise_charges_what_does_not_happen_by_itself(train):
    world = sf.make("train")
    only_train = np.arange(4) == TRAIN

    def costs(baseline, action, **labels):
        s = train.number(world.space.state(**labels))
        return of_outcomes(train, penalty(baseline), only_train)[s, action, 0]

    running = {"position": (1, 3), "train": (3, 2)}
    stay, right = 4, 1
    assert costs("start", stay, **running) == pytest.approx(1 / 7)
    assert costs("stepwise", stay, **running) == 0.0
    assert costs("start", right, **running) == 0.0, "over the signal: the train stops"
    assert costs("stepwise", right, **running) == pytest.approx(1 / 7)
    assert costs("stepwise", stay, position=(1, 1), train=(3, 2), signal=1) == 0.0


def test_inaction_compares_with_the_nearest_state_on_the_way(train):
    world = sf.make("train")
    table = against_inaction(train, penalty("inaction"), np.isin(np.arange(4), [TRAIN, SIGNAL]))

    def cost(end, start):
        return table[tuple(train.number(world.space.state(**each)) for each in (end, start))]

    first = {"position": (1, 1), "train": (3, 3)}
    assert cost({"position": (2, 2), "train": (3, 6)}, first) == 0.0, "it has driven on"
    assert cost({"position": (2, 2), "train": (3, 3)}, first) == 0.0, "it may still be there"
    assert cost({"position": (1, 1), "train": (3, 1)}, first) == pytest.approx(2 / 7)
    red = {"position": (1, 1), "train": (3, 3), "signal": 1}
    assert cost(red | {"train": (3, 6)}, red) == pytest.approx(3 / 7), "red holds it here"
    nearest = np.sqrt(1 + (1 / 7) ** 2)
    assert cost(red | {"train": (3, 2)}, first) == pytest.approx(nearest)


@pytest.mark.parametrize("seed", range(5))
def test_what_inaction_reaches_is_what_it_reaches_with_any_chance(seed):
    world = RandomWorld(seed, sizes=(3, 3), n_actions=2)
    world.actions = ("go", "wait")
    mdp = sf.tabulate(world)
    reached = inaction_reaches(mdp)
    for start in range(mdp.n_states):
        ever = after_inaction(mdp, start, 50).sum(axis=0) > 0
        np.testing.assert_array_equal(reached[start], ever)


@pytest.mark.parametrize("baseline", ["inaction", "stepwise"])
def test_where_nothing_moves_by_itself_all_baselines_are_the_same_bit_for_bit(baseline):
    learner = sf.Planning(rounds=3, rollouts=50)
    for world in (corridor(slip=0.1), sf.make("vase")):
        sets = [
            sf.discover(world, sf.focused(sf.vic(), baseline=each), seed=0, learner=learner)
            for each in ("start", baseline)
        ]
        first, second = (skills.tabular.flat_actions for skills in sets)
        np.testing.assert_array_equal(first, second)


def lag(skills, z):
    """How many cells the train is behind where it would be, and whether the agent came home."""
    world, mdp = skills.world, skills.mdp
    path = skills.likely_path(z, world.showcase)
    alone = after_inaction(mdp, mdp.number(path[0]), len(path) - 1)[-1].argmax()
    return mdp.values[alone, TRAIN] - path[-1][TRAIN], path[-1][POSITION] == path[0][POSITION]


@pytest.mark.parametrize(
    ("baseline", "behind", "home"),
    [("start", 4, False), ("inaction", 1, True), ("stepwise", 0, True)],
)
def test_skills_hold_the_train_only_if_they_are_compared_with_the_start(baseline, behind, home):
    """The skill that fetches the parcel, from the map's first state. Compared with the start, it
    stops the train on the way there, and does not come home, since the train would drive on."""
    objective = sf.focused(sf.vic(), baseline=baseline)
    skills = sf.discover(sf.make("train"), objective, seed=0, targets={"parcel": 2, "position": 2})
    fetching = [z for z in (0, 1) if skills.likely_path(z, skills.world.showcase)[-1][PARCEL]]
    assert len(fetching) == 1
    assert lag(skills, fetching[0]) == (behind, home)


def test_all_tabular_learners_get_these_costs(train):
    objective = sf.focused(sf.vic(), strength=1.0, baseline="stepwise")
    problem = make_problem(sf.make("train"), objective, targets={"parcel": 2}, mdp=train)
    for use_context in (True, False):
        skill = tabular_problem(problem, use_context=use_context).skills[0]
        expected = of_outcomes(train, penalty("stepwise"), np.arange(4) == TRAIN)
        np.testing.assert_array_equal(skill.event_cost, expected)


def test_runs_with_the_default_baseline_are_the_same_runs():
    runs = [Discovery("train", "focused-vic", 0, baseline=each) for each in (None, "start")]
    assert runs[0].id == runs[1].id
    other = Discovery("train", "focused-vic", 0, baseline="stepwise")
    assert other.id != runs[0].id
    assert other.non_default_settings() == {"baseline": "stepwise"}


def test_baselines_without_meaning_are_refused(train):
    with pytest.raises(UserError, match="unknown baseline 'begin'"):
        sf.focused(sf.vic(), baseline="begin")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UserError, match="vic takes no baseline; try"):
        Discovery("train", "vic", 0, baseline="inaction")
    whole = StatePenalty("whole", 1.0, lambda *_: np.zeros(1), baseline="stepwise")
    with pytest.raises(UserError, match="use baseline='inaction'"):
        split_penalty(train, whole, WATCHED)
    with pytest.raises(UserError, match="the baseline 'inaction' needs a table of states"):
        sf.discover(
            sf.make("train"), sf.focused(sf.vic(), baseline="inaction"), seed=0, learner=sf.Neural()
        )


def test_the_penalty_itself_is_unchanged():
    assert weighted_norm(2.0).baseline == "start"
