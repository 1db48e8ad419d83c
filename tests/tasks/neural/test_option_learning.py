"""The target by hand, and learned values against value iteration over the same options."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from enumerated import enumerate_world
from exact_options import exact_values
from jax_corridor import Corridor, at_cell, walkers
from skillfocus.errors import UserError
from skillfocus.tasks.option_learning import (
    MAX_GAP,
    Decision,
    OptionLearner,
    OptionLearning,
    gap,
    options_of,
    smdp_target,
)


def test_target_by_hand():
    """Three decisions: under way 0 + 0.125 * 4; terminated 0.5; truncated after one step 0.5 * 6.

    The option judged best in the first state is not available there; the next best is worth 4.
    """
    decision = Decision(
        start=jnp.zeros((3, 2), jnp.int32),
        choices=jnp.ones((3, 3), bool),
        option=jnp.zeros(3, jnp.int32),
        reward=jnp.array([0.0, 0.5, 0.0]),
        discount=jnp.array([0.125, 0.0, 0.5]),
        end=jnp.zeros((3, 2), jnp.int32),
        next_choices=jnp.array([[False, True, True], [True, True, True], [True, True, True]]),
    )
    judged = jnp.array([[9.0, 3.0, 2.0], [9.0, 3.0, 2.0], [1.0, 2.0, 3.0]])
    values = jnp.array([[8.0, 4.0, 5.0], [8.0, 4.0, 5.0], [8.0, 7.0, 6.0]])
    assert smdp_target(decision, judged, values).tolist() == [0.5, 0.5, 3.0]
    assert smdp_target(decision, values, values).tolist() == [0.625, 0.5, 4.0]


def test_gap_by_hand():
    """The chosen option is worth 0.3 less than the best available one; the best; 0.9 less."""
    decision = Decision(
        start=jnp.zeros((3, 2), jnp.int32),
        choices=jnp.array([[False, True, True], [True, True, True], [True, True, True]]),
        option=jnp.array([1, 2, 0]),
        reward=jnp.zeros(3),
        discount=jnp.zeros(3),
        end=jnp.zeros((3, 2), jnp.int32),
        next_choices=jnp.ones((3, 3), bool),
    )
    values = jnp.array([[0.9, 0.2, 0.5], [0.1, 0.2, 0.5], [0.0, 0.9, 0.5]])
    assert gap(decision, values).tolist() == pytest.approx([0.3, 0.0, MAX_GAP])


class AnywhereCorridor(Corridor):
    def reset(self, key):
        return jax.random.randint(key, (3,), 0, jnp.array([7, 2, 2])).astype(jnp.int32)


def learn(world, task, options, settings):
    learner = OptionLearner(world, task, settings)
    carry = learner.start(
        jax.random.key(1), learner.init(np.random.default_rng(0), len(options)), options
    )
    run = jax.jit(learner.run)
    for _ in range(settings.evaluations):
        carry, _ = run(carry, options)
    return learner, carry.slow


@pytest.mark.parametrize(
    ("skills", "interrupt", "advantage"),
    [(True, True, 0.0), (True, False, 0.8), (False, False, 0.0)],
)
@pytest.mark.slow
def test_values_of_a_corridor_are_exact(skills, interrupt, advantage):
    """Those of all options; the advantage term preserves only those of states, max_o Q(s, o)."""
    world, task = AnywhereCorridor(), at_cell(5)
    options = options_of(world, walkers() if skills else None)
    table = enumerate_world(world, np.ndindex(7, 2, 2))
    exact = exact_values(table.mdp, options, task, 0.9, interrupt)
    settings = OptionLearning(
        steps=120_000, environments=64, gamma=0.9, hidden=64, evaluations=1, batch=256,
        rewarded_share=0.0, memory=20_000, interrupt=interrupt,
        advantage=advantage,
    )  # fmt: skip
    learner, parameters = learn(world, task, options, settings)
    learned = np.asarray(learner.values(parameters, jnp.asarray(table.mdp.values)))
    known = np.isfinite(exact)
    assert known.all() != skills
    error = np.abs(learned - exact)[known]
    if advantage:
        error = np.abs(np.where(known, learned, -np.inf).max(axis=1) - exact.max(axis=1))
    assert error.max() < 0.05
    assert error.mean() < 0.01


def test_settings_out_of_range_are_errors():
    with pytest.raises(UserError, match="reward must be 'proxy' or 'true', got 'real'"):
        OptionLearning(reward="real")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UserError, match=r"gamma must be in \(0, 1\], got 0"):
        OptionLearning(gamma=0)
    with pytest.raises(UserError, match=r"advantage must be in \[0, 1\), got 1"):
        OptionLearning(advantage=1)
    with pytest.raises(UserError, match="batch is 0; it must be at least 1"):
        OptionLearning(batch=0)
    with pytest.raises(UserError, match="number of environments, 128, got 100"):
        OptionLearning(memory=100)
