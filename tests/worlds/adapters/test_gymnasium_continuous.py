"""Continuous Gymnasium environments, stepped in batches: Pendulum."""

from __future__ import annotations

import pickle

import gymnasium
import numpy as np
import pytest

import skillfocus as sf
from skillfocus.errors import UserError
from skillfocus.testing import check_world
from skillfocus.worlds.adapters import from_continuous_gymnasium, from_gymnasium

SLICES = {"angle": [0, 2], "velocity": 2}
PENDULUM = "gymnasium:Pendulum-v1"


@pytest.fixture(scope="module")
def world():
    return sf.make(PENDULUM, variables=SLICES)


def test_variables_are_slices_of_the_observation(world):
    assert world.space.names == ("angle", "velocity")
    assert [v.width for v in world.space.variables] == [2, 1]
    assert [v.largest_distance for v in world.space.variables] == [pytest.approx(8**0.5), 16.0]
    assert (world.action_low, world.action_high) == ((-2.0,), (2.0,))
    assert (world.observation_size, world.episode_steps, world.step_limit) == (3, 200, 40)
    observations = np.arange(6.0).reshape(2, 3)
    assert world.values(observations).tolist() == observations.tolist()
    reordered = from_continuous_gymnasium("Pendulum-v1", variables={"velocity": 2, "sine": 1})
    assert reordered.values(observations).tolist() == [[2, 1], [5, 4]]


def test_a_batch_steps_like_single_environments(world):
    batch = world.make_batch(3)
    actions = np.random.default_rng(0).uniform(-2.5, 2.5, (200, 3, 1)).astype(np.float32)
    observations = batch.reset_batch(seed=5)
    single = [gymnasium.make("Pendulum-v1") for _ in range(3)]
    np.testing.assert_array_equal(
        observations, [env.reset(seed=5 + i)[0] for i, env in enumerate(single)]
    )
    for t, given in enumerate(actions):
        step = batch.step_batch(given)
        expected = [env.step(np.clip(a, -2, 2)) for env, a in zip(single, given, strict=True)]
        np.testing.assert_array_equal(step.observations, [e[0] for e in expected])
        assert step.terminated.tolist() == [False] * 3
        assert step.truncated.tolist() == [t == 199] * 3
        if t < 199:
            np.testing.assert_array_equal(step.next_observations, step.observations)
            continue
        # The last observation is kept, and a new episode has begun.
        assert (step.next_observations != step.observations).any(axis=1).all()
    after = batch.step_batch(np.zeros((3, 1), np.float32))
    assert not after.truncated.any()
    batch.close()


def test_equal_seeds_give_equal_steps(world):
    runs = []
    for seed in (1, 1, 2):
        batch = world.make_batch(2)
        first = batch.reset_batch(seed)
        runs.append([first, batch.step_batch(np.ones((2, 1), np.float32)).observations])
        batch.close()
    np.testing.assert_array_equal(runs[0], runs[1])
    assert (np.array(runs[0]) != np.array(runs[2])).all()


def test_it_is_made_again_from_its_settings(world):
    assert world.settings == {"variables": SLICES, "step_limit": 40}
    again = pickle.loads(pickle.dumps(sf.make(world.id, **world.settings)))
    assert (again.space, again.settings, again.id) == (world.space, world.settings, PENDULUM)
    check_world(world)


def test_settings_reach_the_environment():
    heavy = sf.make(PENDULUM, variables=SLICES, g=20.0, step_limit=25)
    assert heavy.settings == {"g": 20.0, "variables": SLICES, "step_limit": 25}
    steps = []
    for made in (heavy, sf.make(PENDULUM, variables=SLICES)):
        batch = made.make_batch(1)
        batch.reset_batch(0)
        steps.append(batch.step_batch(np.zeros((1, 1), np.float32)).observations)
        batch.close()
    assert (steps[0] != steps[1]).any()


@pytest.mark.parametrize("variables", [None, {}, ["x", "y", "speed"]])
def test_variables_must_be_named(variables):
    sentence = (
        r"gymnasium:Pendulum-v1 has continuous observations, 3 numbers that nothing groups: name "
        r"its variables as slices of them, with from_continuous_gymnasium\(…, variables=\{'first'"
    )
    given = {} if variables is None else {"variables": variables}
    with pytest.raises(UserError, match=sentence):
        sf.make(PENDULUM, **given)
    with pytest.raises(UserError, match="name its variables"):
        from_gymnasium("Pendulum-v1")


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"x": 3}, "is 3; it must be an index from 0 to 2, or a pair"),
        ({"x": [0, 4]}, r"is \[0, 4\]; it must be an index"),
        ({"x": [1, 1]}, "it must be an index"),
        ({"x": "first"}, "it must be an index"),
        ({"x": 0, "y": [0, 2]}, "two variables of gymnasium:Pendulum-v1 have number 0"),
    ],
)
def test_wrong_slices_are_refused(variables, reason):
    with pytest.raises(UserError, match=reason):
        sf.make(PENDULUM, variables=variables)


class Endless(gymnasium.Env):
    """Numbers without bounds."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,))
    action_space = gymnasium.spaces.Box(-1, 1, (1,))

    def __init__(self, actions=1.0):
        self.action_space = gymnasium.spaces.Box(-actions, actions, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(2, np.float32), {}

    def step(self, action):
        return np.zeros(2, np.float32), 0.0, False, False, {}


@pytest.fixture
def endless():
    gymnasium.register("Endless-v0", lambda **settings: Endless(**settings))
    yield "Endless-v0"
    del gymnasium.registry["Endless-v0"]


def test_numbers_without_bounds_need_a_scale(endless):
    with pytest.raises(UserError, match=r'write \{"x": \{"at": 0, "scale": …\}\}'):
        from_continuous_gymnasium(endless, variables={"x": 0})
    world = from_continuous_gymnasium(endless, variables={"x": {"at": [0, 2], "scale": 3}})
    assert world.space.variables[0].largest_distance == 3
    assert world.episode_steps == 1000
    with pytest.raises(UserError, match="actions without bounds"):
        from_continuous_gymnasium(endless, variables={"x": {"at": 0, "scale": 1}}, actions=np.inf)


def test_what_has_no_slices_is_refused(endless):
    with pytest.raises(UserError, match="only vectors of real numbers have slices"):
        from_continuous_gymnasium("CartPole-v1", variables={"x": 0})
    with pytest.raises(UserError, match="was not made by gymnasium"):
        from_continuous_gymnasium(Endless(), variables={"x": {"at": 0, "scale": 1}})


def test_what_needs_a_table_refuses_it(world):
    with pytest.raises(UserError, match="no table of its states"):
        sf.discover(world, "focused-vic", seed=0)
