"""What is remembered, what is overwritten, and how often changes of goals are drawn."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf

jax = pytest.importorskip("jax")

from skillfocus.learners.neural.replay import Replay, Transitions, is_certain
from skillfocus.worlds.jax.world import JaxWorld

SETTINGS = sf.Neural(environments=4, batch=400, memory=32, event_share=0.5)


class Switches(JaxWorld):
    """Two switches; the third variable counts steps and is no goal. Optionally a switch may fail."""

    id = "Switches-v0"
    actions = ("one", "two", "wait")
    space = sf.FactoredSpace(
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
    memory = replay.empty()
    for number, new in enumerate(updates):
        memory = replay.add(memory, new, jax.numpy.int32(number))
    return memory


WAITS, ONE, TWO = ([0, 0, 0], [0, 0, 1]), ([0, 0, 1], [1, 0, 2]), ([0, 0, 2], [0, 1, 3])


def test_a_world_is_certain_if_its_steps_draw_nothing():
    assert is_certain(Switches())
    assert not is_certain(Switches(fails=True))


def test_the_oldest_transitions_are_overwritten():
    replay = Replay(Switches(), SETTINGS)
    assert replay.kept_updates == 8  # 32 transitions, 4 at a time
    memory = filled(replay, *[transitions(*[([0, 0, i % 5], [0, 0, 0])] * 4) for i in range(9)])
    assert memory.latest.now[:, 2].reshape(8, 4)[:, 0].tolist() == [3, 1, 2, 3, 4, 0, 1, 2]


def test_before_memory_is_full_only_what_is_there_is_drawn():
    replay = Replay(Switches(fails=True), SETTINGS)
    memory = filled(replay, transitions(*[ONE] * 4))
    drawn = replay.draw(jax.random.key(0), memory, jax.numpy.int32(0))
    assert drawn.then.shape == (400, 3)
    assert (np.asarray(drawn.then) == ONE[1]).all()


def test_the_newest_changes_of_every_goal_are_kept():
    replay = Replay(Switches(), SETTINGS)
    assert replay.kept_events == 4  # a quarter of the memory, for two goals
    ones = [([0, 0, i], [1, 0, i + 1]) for i in range(4)]
    two = ([1, 0, 3], [1, 1, 4])
    memory = filled(
        replay, transitions(WAITS, ones[0], two, WAITS), transitions(*ones[1:], ones[0])
    )
    assert memory.n_events.tolist() == [5, 1]
    assert memory.events is not None
    assert memory.events.now[0].tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 0, 3]]
    assert memory.events.then[1, 0].tolist() == [1, 1, 4]


def test_half_of_a_batch_are_changes_each_goal_as_often():
    replay = Replay(Switches(), SETTINGS)
    memory = filled(replay, transitions(WAITS, ONE, ONE, WAITS), *[transitions(*[WAITS] * 4)] * 7)
    quiet = memory._replace(latest=filled(replay, *[transitions(*[WAITS] * 4)] * 8).latest)
    changed = changes(replay.draw(jax.random.key(1), quiet, jax.numpy.int32(7)))
    # the second goal has not changed yet: its share is drawn from all transitions
    assert 70 <= changed[:, 0].sum() <= 130
    assert changed[:, 1].sum() == 0
    assert not changed[200:].any()
    memory = replay.add(quiet, transitions(TWO, WAITS, WAITS, WAITS), jax.numpy.int32(8))
    changed = changes(replay.draw(jax.random.key(1), memory, jax.numpy.int32(8)))
    assert changed[:200].sum() == 200
    assert 70 <= changed[:200, 1].sum() <= 130


def changes(drawn: Transitions) -> np.ndarray:
    return np.asarray(drawn.now != drawn.then)[:, :2]


def test_with_chance_nothing_is_chosen_by_what_happened():
    replay = Replay(Switches(fails=True), SETTINGS)
    assert replay.empty().events is None
    assert replay.drawn_events == 0
