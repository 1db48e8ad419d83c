"""Decisions worked out by hand in a corridor, with gamma = 1/2."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from jax_corridor import LEFT, PRESS, RIGHT, Corridor, at_cell, walkers
from skillfocus.tasks.option_learning import OptionLearner, OptionLearning, RewardKind, decide

WALK, ERRAND, FIRST_PRIMITIVE = 0, 1, 2


def carry_out(option, task, options=None, reward: RewardKind = "proxy", interrupt=False):
    """Run one option from the start of an episode; return the steps it took, the decision and
    the last event."""
    options = options or walkers()
    settings = OptionLearning(gamma=0.5, reward=reward, interrupt=interrupt)
    learner = OptionLearner(Corridor(), task, settings)
    preferred = jnp.arange(len(options)) == option

    def network(values):
        return jnp.broadcast_to(preferred.astype(float), (len(values), len(options)))

    key, greedy = jax.random.key(0), jnp.zeros(1)
    env = learner.begin(key, network, options, greedy)
    assert env.decision.option.tolist() == [option]
    step = jax.jit(lambda env: learner.step(key, network, options, greedy, env))
    for steps in range(1, 30):
        env, decision, event = step(env)
        if event.decided[0]:
            first = jax.tree.map(lambda leaf: np.asarray(leaf)[0].tolist(), (decision, event))
            return steps, *first, env
    raise AssertionError("the option never ended")


def test_a_skill_that_earns_nothing_discounts_what_follows():
    steps, decision, event, env = carry_out(WALK, at_cell(6))
    assert steps == 3
    assert (decision.start, decision.option, decision.end) == ([0, 0, 0], WALK, [3, 0, 1])
    assert (decision.reward, decision.discount) == (0.0, 0.125)
    assert not event.over
    assert env.decision.start.tolist() == [[3, 0, 1]]
    assert (env.steps.tolist(), env.episode.steps.tolist()) == ([0], [3])


def test_success_interrupts_a_skill():
    """Cell 2 is entered by the second step: the reward is 1/2, and nothing follows."""
    steps, decision, event, env = carry_out(WALK, at_cell(2), interrupt=True)
    assert (steps, decision.reward, decision.discount) == (2, 0.5, 0.0)
    assert (event.over, event.episode.succeeded, event.values, event.episode.steps) == (
        True,
        True,
        [2, 0, 0],
        2,
    )
    assert event.episode.returned == 0.5
    assert env.decision.start.tolist() == [[0, 0, 0]]
    assert env.episode.steps.tolist() == [0]


def test_a_skill_may_run_to_its_end_first():
    """The reward is that of the second step, but the third one breaks the vase."""
    task = at_cell(2)
    steps, decision, event, _ = carry_out(WALK, task)
    assert (steps, decision.reward, decision.discount) == (3, 0.5, 0.0)
    assert (event.over, event.episode.succeeded, event.values) == (True, True, [3, 0, 1])
    assert not task.true(jnp.array(event.values))


@pytest.mark.parametrize(
    ("reward", "interrupt", "steps", "paid"),
    [
        ("proxy", True, 3, 0.25),
        ("proxy", False, 4, 0.25),
        ("true", True, 4, 0.125),
        ("true", False, 4, 0.125),
    ],
)
def test_a_skill_that_tidies_up(reward, interrupt, steps, paid):
    """press, right, right (success, lamp on), press (lamp off: true success)."""
    task = at_cell(2)
    taken, decision, event, _ = carry_out(ERRAND, task, reward=reward, interrupt=interrupt)
    assert (taken, decision.reward, decision.discount) == (steps, paid, 0.0)
    assert (event.over, event.episode.succeeded) == (True, True)
    assert bool(task.true(jnp.array(event.values))) == (steps == 4)


def test_the_true_reward_is_not_paid_for_what_a_skill_spoils():
    """Walking on from cell 2 breaks the vase, so nothing is paid when the skill has ended."""
    _, decision, event, _ = carry_out(WALK, at_cell(2), reward="true")
    assert (decision.reward, decision.discount, event.over) == (0.0, 0.125, False)
    assert event.episode.succeeded


def test_a_truncated_episode_still_bootstraps():
    steps, decision, event, env = carry_out(WALK, at_cell(6, max_episode_steps=2))
    assert (steps, decision.reward, decision.discount) == (2, 0.0, 0.25)
    assert (decision.end, event.over, event.episode.succeeded) == ([2, 0, 0], True, False)
    assert env.decision.start.tolist() == [[0, 0, 0]]


def test_step_limit_ends_a_skill_but_not_the_episode():
    steps, decision, event, _ = carry_out(WALK, at_cell(6), walkers(step_limit=2))
    assert (steps, decision.discount, event.over) == (2, 0.25, False)


def test_a_primitive_action_is_a_decision_of_one_step():
    steps, decision, _, _ = carry_out(FIRST_PRIMITIVE + RIGHT, at_cell(6))
    assert (steps, decision.end, decision.discount) == (1, [1, 0, 0], 0.5)
    _, decision, _, _ = carry_out(FIRST_PRIMITIVE + RIGHT, at_cell(1))
    assert (decision.reward, decision.discount) == (1.0, 0.0)


def test_skills_that_would_stop_at_once_are_not_available():
    options = walkers()
    states = jnp.array([[0, 0, 0], [6, 0, 1], [6, 1, 1]])
    first = options.actions(jax.random.key(0), states, states)
    primitives = [LEFT, RIGHT, PRESS]
    assert first.tolist() == [
        [RIGHT, PRESS, *primitives], [3, PRESS, *primitives], [3, RIGHT, *primitives],
    ]  # fmt: skip
    at_end = jnp.tile(first[1:2], (2000, 1))
    best_walk = jnp.tile(jnp.array([9.0, 0, 0, 1, 0]), (2000, 1))

    def chosen(exploration):
        values = jnp.tile(states[1:2], (2000, 1))
        key = jax.random.key(0)
        stop = options.n_actions
        return decide(key, lambda _: best_walk, values, values, at_end, exploration, stop)

    greedy = chosen(jnp.zeros(2000))
    assert set(greedy.decision.option.tolist()) == {FIRST_PRIMITIVE + RIGHT}
    assert set(greedy.action.tolist()) == {RIGHT}
    counts = np.bincount(np.asarray(chosen(jnp.ones(2000)).decision.option), minlength=5)
    assert counts[WALK] == 0
    assert counts[1:].min() > 400
