"""What the replay buffer stores and overwrites, and how often it samples events."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf

jax = pytest.importorskip("jax")

from skillfocus.learners.cost_network.training import Replay, Transitions, is_deterministic
from skillfocus.worlds.jax.world import JaxWorld

SETTINGS = sf.Neural(environments=4, batch=400, memory=32, event_share=0.5)


class Switches(JaxWorld):
    """Two switches; the third variable counts steps and is no goal. Optionally a switch may fail."""

    id = "Switches-v0"
    actions = ("one", "two", "wait")
    space = sf.Space(
        (
            sf.Variable("one", (0, 1)),
            sf.Variable("two", (0, 1)),
            sf.Variable("time", tuple(range(5))),
        )
    )

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails

    @property
    def goals(self):
        return ("one", "two")

    def reset(self, key):
        return jax.numpy.zeros(3, jax.numpy.int32)

    def step(self, key, state, action):
        works = jax.random.uniform(key) < 0.5 if self.fails else True
        pressed = (jax.numpy.arange(3) == action) & (action < 2) & works
        state = jax.numpy.where(pressed, 1 - state, state)
        return state.at[2].set((state[2] + 1) % 5)


def transitions(*moves: tuple[list[int], list[int]]) -> Transitions:
    now, then = (jax.numpy.array(each) for each in zip(*moves, strict=True))
    starts = jax.numpy.stack([now, now], axis=1)
    return Transitions(now, jax.numpy.zeros(len(now), int), then, starts)


def filled(replay: Replay, *updates: Transitions):
    buffer = replay.init()
    for number, new in enumerate(updates):
        buffer = replay.add(buffer, new, jax.numpy.int32(number))
    return buffer


WAITS, ONE, TWO = ([0, 0, 0], [0, 0, 1]), ([0, 0, 1], [1, 0, 2]), ([0, 0, 2], [0, 1, 3])


def test_a_world_is_deterministic_if_its_steps_ignore_the_key():
    assert is_deterministic(Switches())
    assert not is_deterministic(Switches(fails=True))


def test_the_oldest_transitions_are_overwritten():
    replay = Replay(Switches(), SETTINGS)
    assert replay.kept_updates == 8  # 32 transitions, 4 at a time
    buffer = filled(replay, *[transitions(*[([0, 0, i % 5], [0, 0, 0])] * 4) for i in range(9)])
    assert buffer.latest.state[:, 2].reshape(8, 4)[:, 0].tolist() == [3, 1, 2, 3, 4, 0, 1, 2]


def test_only_filled_rows_are_sampled():
    replay = Replay(Switches(fails=True), SETTINGS)
    buffer = filled(replay, transitions(*[ONE] * 4))
    sampled = replay.sample(jax.random.key(0), buffer, jax.numpy.int32(0))
    assert sampled.next_state.shape == (400, 3)
    assert (np.asarray(sampled.next_state) == ONE[1]).all()


def test_the_latest_events_of_every_goal_are_kept():
    replay = Replay(Switches(), SETTINGS)
    assert replay.kept_events == 4  # a quarter of the capacity, for two goals
    ones = [([0, 0, i], [1, 0, i + 1]) for i in range(4)]
    two = ([1, 0, 3], [1, 1, 4])
    buffer = filled(
        replay, transitions(WAITS, ones[0], two, WAITS), transitions(*ones[1:], ones[0])
    )
    assert buffer.n_events.tolist() == [5, 1]
    assert buffer.events is not None
    assert buffer.events.state[0].tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 0, 3]]
    assert buffer.events.next_state[1, 0].tolist() == [1, 1, 4]


def test_half_of_a_batch_are_events_uniformly_over_goals():
    replay = Replay(Switches(), SETTINGS)
    buffer = filled(replay, transitions(WAITS, ONE, ONE, WAITS), *[transitions(*[WAITS] * 4)] * 7)
    quiet = buffer._replace(latest=filled(replay, *[transitions(*[WAITS] * 4)] * 8).latest)
    changed = changes(replay.sample(jax.random.key(1), quiet, jax.numpy.int32(7)))
    # the second goal has not changed yet: its share is sampled from all transitions
    assert 70 <= changed[:, 0].sum() <= 130
    assert changed[:, 1].sum() == 0
    assert not changed[200:].any()
    buffer = replay.add(quiet, transitions(TWO, WAITS, WAITS, WAITS), jax.numpy.int32(8))
    changed = changes(replay.sample(jax.random.key(1), buffer, jax.numpy.int32(8)))
    assert changed[:200].sum() == 200
    assert 70 <= changed[:200, 1].sum() <= 130


def changes(sampled: Transitions) -> np.ndarray:
    return np.asarray(sampled.state != sampled.next_state)[:, :2]


def test_stochastic_worlds_have_no_event_replay():
    replay = Replay(Switches(fails=True), SETTINGS)
    assert replay.init().events is None
    assert replay.sampled_events == 0
