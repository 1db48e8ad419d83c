"""Continuous variables: distances, slices and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skillfocus.errors import UserError
from skillfocus.spaces import ContinuousSpace, ContinuousVariable

SPACE = ContinuousSpace(
    (
        ContinuousVariable("agent", (0, 0), (3, 4)),
        ContinuousVariable("lamp", (0,), (2,)),
        ContinuousVariable("speed", (-math.inf,), (math.inf,), scale=10),
    )
)


def test_scales_are_diagonals_unless_given():
    assert [v.largest_distance for v in SPACE.variables] == [5.0, 2.0, 10.0]
    assert [v.size for v in SPACE.variables] == [2, 1, 1]


def test_changes_are_distances_over_scales():
    start = np.array([0.0, 0.0, 1.0, -3.0])
    end = np.array([[1.5, 2.0, 1.0, 2.0], [0.0, 0.0, 0.0, -3.0]])
    assert SPACE.change(start, end).tolist() == [[0.5, 0.0, 0.5], [0.0, 0.5, 0.0]]


def test_changes_of_jax_arrays_are_the_same():
    import jax
    import jax.numpy as jnp

    start, end = np.random.default_rng(0).normal(size=(2, 7, 4)).astype(np.float32)
    ours = jax.jit(jax.vmap(SPACE.change))(jnp.asarray(start), jnp.asarray(end))
    np.testing.assert_allclose(ours, SPACE.change(start, end), rtol=1e-6)


def test_slices_cover_a_state_in_order():
    assert SPACE.size == 4
    assert SPACE.slices == (slice(0, 2), slice(2, 3), slice(3, 4))
    parts = SPACE.split(np.arange(8.0).reshape(2, 4))
    assert parts["agent"].tolist() == [[0, 1], [4, 5]]
    assert parts["speed"].tolist() == [[3], [7]]
    assert SPACE.index("lamp") == 1


def test_join_starts_from_the_lower_bounds():
    assert SPACE.join(agent=(1, 2), speed=3).tolist() == [1, 2, 0, 3]
    assert SPACE.join().tolist() == [0, 0, 0, 0]
    assert SPACE.labels(SPACE.join(agent=(1, 2)))["agent"] == (1.0, 2.0)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("", (0,), (1,)), "must be text"),
        (("x", (0, 0), (1,)), "2 lower bounds and 1 upper"),
        (("x", (1,), (1,)), "from 1.0 to 1.0"),
        (("x", (0,), (math.inf,)), "give scale="),
        (("x", (0,), (1,), 0.0), "scale 0.0"),
    ],
)
def test_impossible_variables_are_refused(arguments, reason):
    with pytest.raises(UserError, match=reason):
        ContinuousVariable(*arguments)


def test_impossible_spaces_and_states_are_refused():
    x = ContinuousVariable("x", (0,), (1,))
    with pytest.raises(UserError, match="share a name"):
        ContinuousSpace((x, x))
    with pytest.raises(UserError, match="at least one"):
        ContinuousSpace(())
    with pytest.raises(UserError, match="did you mean 'agent'"):
        SPACE.index("agnt")
    with pytest.raises(UserError, match="'agent' has 2 numbers"):
        SPACE.join(agent=1.0)
