"""Transitions that changed a goal are kept apart, where worlds have no chance."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf

jax = pytest.importorskip("jax")

from skillfocus.learners.discovery import make_problem
from skillfocus.learners.neural.train import make_model
from skillfocus.learners.neural.training import Trainer, is_certain
from skillfocus.learners.neural.training_state import Memory
from skillfocus.skills.neural.network import init_network
from skillfocus.worlds.jax.world import JaxWorld

SETTINGS = sf.Neural(environments=4, batch=400, memory=32, hidden=4, event_share=0.5)


class Switches(JaxWorld):
    """Two switches; the third variable counts steps and is no goal. Optionally a switch may fail."""

    id = "Switches-v0"
    actions = ("one", "two", "wait")
    space = sf.FactoredSpace(
        (sf.Variable("one", (0, 1)), sf.Variable("two", (0, 1)), sf.Variable("time", range(5)))
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


def start(world: JaxWorld):
    problem = make_problem(world, sf.focused(sf.vic()), targets={"one": 2, "two": 2})
    model = make_model(problem)
    trainer = Trainer(world, model, SETTINGS, 5)
    costs = init_network([model.n_inputs, 4, 4, model.n_outputs], np.random.default_rng(0))
    return trainer, trainer.start(jax.random.key(0), costs, {})


def transitions(*moves: tuple[list[int], list[int]]) -> Memory:
    now, then = (jax.numpy.array(each) for each in zip(*moves, strict=True))
    starts = jax.numpy.stack([now, now], axis=1)
    return Memory(now, jax.numpy.zeros(len(now), int), then, starts)


def test_a_world_is_certain_if_its_steps_draw_nothing():
    assert is_certain(Switches())
    assert not is_certain(Switches(fails=True))


def test_the_newest_changes_of_every_goal_are_kept():
    trainer, carry = start(Switches())
    assert trainer.kept_events == 4  # a quarter of the memory, for two goals
    waits, ones = ([0, 0, 0], [0, 0, 1]), [([0, 0, i], [1, 0, i + 1]) for i in range(4)]
    two = ([1, 0, 3], [1, 1, 4])
    for new in (transitions(waits, ones[0], two, waits), transitions(*ones[1:], ones[0])):
        events, n_events = trainer._remember_events(carry, new)
        carry = carry._replace(events=events, n_events=n_events)
    assert carry.n_events.tolist() == [5, 1]
    assert carry.events.now[0].tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 0, 3]]
    assert carry.events.then[1, 0].tolist() == [1, 1, 4]


def test_half_of_a_batch_are_changes_each_goal_as_often():
    trainer, carry = start(Switches())
    waits, one, two = ([0, 0, 0], [0, 0, 1]), ([0, 0, 1], [1, 0, 2]), ([0, 0, 2], [0, 1, 3])
    new = transitions(waits, one, one, waits)
    carry = carry._replace(memory=trainer._remember(carry, transitions(*[waits] * 4)))
    events, n_events = trainer._remember_events(carry, new)
    carry = carry._replace(events=events, n_events=n_events)
    drawn = trainer._draw(jax.random.key(1), carry)
    changed = np.asarray(drawn.now != drawn.then)[:, :2]
    # the second goal has not changed yet: its share is drawn from all transitions
    assert 70 <= changed[:, 0].sum() <= 130
    assert changed[:, 1].sum() == 0
    assert not changed[200:].any()
    events, n_events = trainer._remember_events(carry, transitions(two, waits, waits, waits))
    drawn = trainer._draw(jax.random.key(1), carry._replace(events=events, n_events=n_events))
    changed = np.asarray(drawn.now != drawn.then)[:, :2]
    assert changed[:200].sum() == 200
    assert 70 <= changed[:, 1].sum() <= 130


def test_with_chance_nothing_is_chosen_by_what_happened():
    trainer, carry = start(Switches(fails=True))
    assert carry.events is None
    assert trainer.drawn_events == 0
