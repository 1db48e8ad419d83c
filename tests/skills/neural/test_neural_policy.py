"""Skills of networks, in worlds with a table and without one."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

pytest.importorskip("jax")

import skillfocus as sf
from neural_skills import Tableless, neural_skills, small_room
from probes import corridor
from skillfocus import mdp as tabulation
from skillfocus.errors import UserError
from skillfocus.skills.network import NeuralPolicy
from skillfocus.skills.policy import Policy
from skillfocus.worlds.four_rooms import FourRooms


@pytest.fixture(scope="module")
def skills():
    return neural_skills(small_room())


@pytest.fixture(autouse=True)
def no_enumeration(monkeypatch, request):
    """Nothing tabulates a world without a table."""
    if "finite" not in request.node.name:
        monkeypatch.setattr(
            tabulation, "enumerate_states", lambda *_, **__: pytest.fail("tabulated")
        )


def test_a_rollout_takes_the_policys_actions(skills, rng):
    world = skills.world
    for z in range(len(skills)):
        start = world.state(position=(1, 1))
        path = skills.rollout(z, start, rng)
        assert path[0] == start
        assert path.skill == z
        assert path.targets == skills.targets[z]
        assert len(path) - 1 <= skills.step_limit
        if len(path) - 1 < skills.step_limit:
            assert skills.action(z, start, path[-1]) is None
        for now, then in itertools.pairwise(path):
            assert skills.action(z, start, now) in world.actions
            cell, after = (world.map.cells[state[0]] for state in (now, then))
            assert abs(cell[0] - after[0]) + abs(cell[1] - after[1]) <= 1
            assert all(a <= b for a, b in zip(now[1:], then[1:], strict=True))
    assert any(len(skills.rollout(z, world.state(position=(1, 1)), rng)) > 1 for z in range(5))


def test_equal_generators_give_equal_rollouts_alone_and_in_a_batch(skills):
    start = skills.world.state(position=(1, 1))
    again = [skills.rollout(3, start, np.random.default_rng(7)) for _ in "12"]
    assert again[0] == again[1]
    starts, z = np.array([start] * 100), np.full(100, 3)
    done = skills.run(z, starts, np.random.default_rng(7))
    paths, steps = done.values, done.steps
    assert paths.shape == (100, steps.max() + 1, 3)
    assert len({tuple(map(tuple, path)) for path in paths.tolist()}) > 1
    for path, n in zip(paths, steps, strict=True):
        assert (path[n:] == path[n]).all()


def test_a_skill_is_a_function_of_the_state(skills):
    policy, start = skills.policy(0), skills.world.state(position=(1, 1))
    action = policy(start)
    name = skills.action(0, start, start)
    assert name == (None if action is None else skills.world.actions[action])


def test_what_needs_a_table_says_so(skills, rng):
    start = skills.world.state(position=(1, 1))
    for use in (
        lambda: skills.mdp, lambda: skills.tabular, lambda: skills.contexts,
        lambda: skills.likely_path(0, start), lambda: skills.policy_of(0),
    ):  # fmt: skip
        with pytest.raises(UserError, match="Rooms-v0 has no table of its states"):
            use()
    with pytest.raises(UserError, match=r"states must be integers \[n, 3\]"):
        skills.run(np.array([0]), np.array([0]), rng)


@pytest.mark.parametrize("state", [(0, 0), (11, 0, 0), (-1, 0, 0)])
def test_states_that_are_none_are_refused(skills, rng, state):
    with pytest.raises(UserError, match="is not a state: a state has 3 value indices"):
        skills.rollout(0, state, rng)
    with pytest.raises(UserError, match="is not a state"):
        skills.action(0, state, state)


def test_unknown_skills_are_refused(skills, rng):
    with pytest.raises(UserError, match="there is no skill 5"):
        skills.rollout(5, (0, 0, 0), rng)


def test_equality_and_pickling(skills, rng):
    skills.rollout(0, (0, 0, 0), rng)  # leaves compiled functions behind
    skills.policies.all_actions(np.zeros((100, 3), int), np.zeros((100, 3), int))
    copy = pickle.loads(pickle.dumps(skills))
    assert copy == skills
    assert copy.rollout(1, (0, 0, 0), np.random.default_rng(1)) == skills.rollout(
        1, (0, 0, 0), np.random.default_rng(1)
    )
    assert neural_skills(small_room(), seed=1) != skills
    assert neural_skills(small_room(step_limit=9)) != skills
    assert repr(skills) == "<5 focused-vic skills in Rooms-v0, seed 0>"
    assert len(skills) == 5


def test_modes_are_drawn(rng):
    skills = neural_skills(small_room(), sf.scattered(sf.focused(sf.vic())))
    assert skills.n_modes.tolist() == [1, 1, 3, 3, 3]
    steps = skills.run(np.full(200, 4), np.zeros((200, 3), int), rng).steps
    by_mode = [skills.action(4, (0, 0, 0), (0, 0, 0), mode) for mode in range(3)]
    assert len(set(by_mode)) > 1 or steps.std() > 0


def test_policies_of_any_kind_are_run(rng):
    """A policy of one's own needs no network."""

    class Right(Policy):
        context_variables = ((), ())

        def actions(self, skill, starts, states, mode=0):
            return np.full(len(states), 4 if skill else 1)

    skills = sf.Skills(small_room(), Right(), (("position",), ("position",)), 3)
    assert skills.rollout(1, (0, 0, 0), rng) == [(0, 0, 0)]
    steps = skills.run(np.array([0, 1, 0]), np.zeros((3, 3), int), rng).steps
    assert steps.tolist() == [3, 0, 3]


def test_numpy_and_jax_agree_on_finite_worlds():
    skills = neural_skills(corridor())
    values = skills.mdp.values
    starts, states = np.repeat(values, 6, axis=0), np.tile(values, (6, 1))
    policies = skills.policies
    assert isinstance(policies, NeuralPolicy)
    one_by_one = policies.all_actions(starts, states)  # 36 rows: NumPy
    together = policies.all_actions(np.tile(starts, (3, 1)), np.tile(states, (3, 1)))
    assert policies._compiled is not None
    assert (np.tile(one_by_one, (3, 1)) == together).all()


@pytest.mark.parametrize("without_jax", [False, True])
def test_finite_worlds_are_tabulated_as_state_by_state(monkeypatch, without_jax):
    skills = neural_skills(FourRooms("######\n#...T#\n#.#..#\n#T...#\n######", step_limit=8))
    if without_jax:
        monkeypatch.setattr(NeuralPolicy, "_compiled", None)
    plain = Policy.tabulate(skills.policies, skills.mdp)
    assert (skills.tabular.flat_actions == plain.flat_actions).all()
    path = skills.rollout(0, (0, 0, 0), np.random.default_rng(0))
    assert path[0] == (0, 0, 0)


def test_finite_worlds_without_their_table_are_run_alike():
    """Where nothing is drawn, the table and JAX give the same rollouts."""
    world = corridor()
    finite = neural_skills(world)
    hidden = sf.Skills(
        Tableless(world, finite.mdp),
        NeuralPolicy(finite.policies.model, finite.policies.weights, (1,) * 5),
        finite.targets, finite.step_limit,
    )  # fmt: skip
    assert not hidden.has_table
    for z in range(len(finite)):
        for start in finite.mdp.values.tolist():
            paths = [s.rollout(z, tuple(start), np.random.default_rng(0)) for s in (finite, hidden)]
            assert paths[0] == paths[1]


def test_joined_networks_run_and_are_picked_from(rng):
    one, other = neural_skills(small_room(), seed=1), neural_skills(small_room(), seed=2)
    joined = one + other
    starts = np.tile(one.world.state(position=(1, 1)), (40, 1))
    picked = joined[[0, 6]]
    for skills, z, original, number in ((joined, 6, other, 1), (picked, 1, other, 1)):
        found = skills.run(z, starts, np.random.default_rng(3))
        expected = original.run(number, starts, np.random.default_rng(3))
        assert (found.values == expected.values).all()
    assert len(picked.run(np.array([0, 1]), starts[:2], rng).steps) == 2
