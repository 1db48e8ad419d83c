"""Real-valued variables: distances, slices and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skillfocus.errors import UserError
from skillfocus.spaces import Space, Variable

SPACE = Space(
    (
        Variable("agent", low=(0, 0), high=(3, 4)),
        Variable("lamp", low=(0,), high=(2,)),
        Variable("speed", low=(-math.inf,), high=(math.inf,), scale=10),
    )
)


def test_scales_are_diagonals_unless_given():
    assert [v.largest_distance for v in SPACE.variables] == [5.0, 2.0, 10.0]
    assert [v.width for v in SPACE.variables] == [2, 1, 1]


def test_changes_are_distances_over_scales():
    start = np.array([0.0, 0.0, 1.0, -3.0])
    end = np.array([[1.5, 2.0, 1.0, 2.0], [0.0, 0.0, 0.0, -3.0]])
    assert SPACE.change(start, end).tolist() == [[0.5, 0.0, 0.5], [0.0, 0.5, 0.0]]


def test_changed_by_more_than_the_tolerance():
    space = Space(
        (
            Variable("agent", low=(0, 0), high=(3, 4)),
            Variable("speed", low=(0,), high=(10,), tolerance=0.3),
            Variable("door", ("open", "shut")),
        )
    )
    start = space.state(door="open")
    # a tenth of 5, and three tenths of 10: at the tolerance nothing has changed
    ends = np.array([[0.3, 0.4, 3.0, 1], [0.3, 0.41, 3.1, 0]], np.float32)
    assert space.changed(start, ends).tolist() == [[False, False, True], [True, True, False]]
    assert space.labels(ends[0])["door"] == "shut"


def test_changes_of_jax_arrays_are_the_same():
    import jax
    import jax.numpy as jnp

    start, end = np.random.default_rng(0).normal(size=(2, 7, 4)).astype(np.float32)
    ours = jax.jit(jax.vmap(SPACE.change))(jnp.asarray(start), jnp.asarray(end))
    np.testing.assert_allclose(ours, SPACE.change(start, end), rtol=1e-6)


def test_slices_cover_a_state_in_order():
    assert SPACE.width == 4
    assert SPACE.slices == (slice(0, 2), slice(2, 3), slice(3, 4))
    parts = SPACE.split(np.arange(8.0).reshape(2, 4))
    assert parts["agent"].tolist() == [[0, 1], [4, 5]]
    assert parts["speed"].tolist() == [[3], [7]]
    assert SPACE.index("lamp") == 1


def test_states_start_from_the_lower_bounds():
    assert SPACE.state(agent=(1, 2), speed=3).tolist() == [1, 2, 0, 3]
    assert SPACE.state().tolist() == [0, 0, 0, 0]
    assert SPACE.labels(SPACE.state(agent=(1, 2)))["agent"] == (1.0, 2.0)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"name": ""}, "must be text"),
        ({"low": (0, 0)}, "2 lower bounds and 1 upper"),
        ({"low": (1,)}, "from 1.0 to 1.0"),
        ({"high": (math.inf,)}, "give scale="),
        ({"scale": 0.0}, "scale 0.0"),
        ({"tolerance": 1.0}, "tolerance 1.0"),
        ({"values": (0, 1)}, "values and bounds"),
    ],
)
def test_impossible_variables_are_refused(arguments, reason):
    with pytest.raises(UserError, match=reason):
        Variable(**{"name": "x", "low": (0,), "high": (1,), **arguments})


def test_impossible_spaces_and_states_are_refused():
    x = Variable("x", low=(0,), high=(1,))
    with pytest.raises(UserError, match="share a name"):
        Space((x, x))
    with pytest.raises(UserError, match="at least one"):
        Space(())
    with pytest.raises(UserError, match="did you mean 'agent'"):
        SPACE.index("agnt")
    with pytest.raises(UserError, match="'agent' has 2 numbers"):
        SPACE.state(agent=1.0)
