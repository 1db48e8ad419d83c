from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillfocus.errors import UserError
from skillfocus.spaces import Space, Variable


def test_distance_of_cells_is_euclidean_and_the_largest_is_the_scale():
    cells = Variable("position", ((0, 0), (0, 3), (4, 0)))
    assert cells.distances[0].tolist() == [0.0, 3.0, 4.0]
    assert cells.distances[1, 2] == 5.0
    assert cells.largest_distance == 5.0


def test_distance_of_numbers_and_given_scale():
    count = Variable("count", (0, 1, 2), scale=86.0)
    assert count.distances[0].tolist() == [0.0, 1.0, 2.0]
    assert count.largest_distance == 86.0


def test_names_are_equally_far_apart():
    colour = Variable("colour", ("red", "green", "blue"))
    off = colour.distances[~np.eye(3, dtype=bool)]
    assert np.allclose(off, 1.0)
    assert colour.largest_distance == pytest.approx(1.0)


def test_changes_by_hand():
    space = Space((Variable("position", ((1, 1), (1, 2), (1, 3))), Variable("tool", (0, 1))))
    got = space.change(np.array([[0, 0], [0, 1]]), np.array([[1, 1], [2, 1]]))
    assert got.tolist() == [[0.5, 1.0], [1.0, 0.0]]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.randoms())
def test_codes_number_the_combinations_of_values(sizes, random):
    space = Space(tuple(Variable(f"v{i}", tuple(range(n))) for i, n in enumerate(sizes)))
    states = np.array(list(itertools.product(*map(range, sizes))))
    assert space.encode(states).tolist() == list(range(space.n_combinations))
    some = sorted(random.sample(range(len(sizes)), random.randint(0, len(sizes))))
    codes = space.encode(states, some)
    seen = {}
    for code, state in zip(codes.tolist(), states, strict=True):
        assert seen.setdefault(code, state[some].tolist()) == state[some].tolist()
    assert len(seen) == math.prod(sizes[j] for j in some)


def test_codes_of_more_combinations_than_integers_differ_where_states_do():
    space = Space(tuple(Variable(f"v{i}", (0, 1)) for i in range(300)))
    states = np.random.default_rng(0).integers(2, size=(50, 300))
    codes = space.encode(np.concatenate([states, states[::-1]]))
    assert len(set(codes.tolist())) == 50
    assert (codes[:50] == codes[:49:-1]).all()


def test_only_numbers_are_numbers():
    assert Variable("v", ("1", "7")).distances[0, 1] == pytest.approx(1.0)
    assert Variable("v", (None, 1, 2)).distances[0, 1] == pytest.approx(1.0)
    assert Variable("v", (1, (1, 2))).distances[0, 1] == pytest.approx(1.0)


def test_labels_and_state_are_inverse():
    space = Space((Variable("a", ("x", "y")), Variable("b", (0, 1, 2))))
    assert space.state(b=2) == (0, 2)
    assert space.labels((1, 2)) == {"a": "y", "b": 2}
    with pytest.raises(UserError, match="no value 7"):
        space.state(b=7)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Variable("a", ()), "no values"),
        (lambda: Variable("a", (1, 1)), "twice"),
        (lambda: Variable("a", (1,), scale=0.0), "positive"),
        (lambda: Space(()), "at least one variable"),
        (lambda: Space((Variable("a", (1,)), Variable("a", (2,)))), "share a name"),
    ],
)
def test_bad_variables_are_refused(make, message):
    with pytest.raises(UserError, match=message):
        make()


def test_an_unknown_variable_suggests_the_nearest():
    space = Space((Variable("position", (0,)), Variable("tool_1", (0,))))
    with pytest.raises(UserError, match="did you mean 'tool_1'"):
        space.index("tool1")


POINTS = st.integers(1, 10).flatmap(
    lambda n: st.lists(
        st.tuples(*[st.integers(-3, 3) | st.floats(-3, 3)] * n), min_size=1, max_size=30,
        unique_by=lambda point: tuple(map(float, point)),
    )
)  # fmt: skip


@given(POINTS | st.lists(st.text(), min_size=1, unique=True))
def test_distances_are_those_of_all_pairs_to_the_last_bit(values):
    """Fingerprints hold the largest distance, so it may not move by a bit."""
    variable = Variable("x", tuple(values))
    difference = variable.coordinates[:, None, :] - variable.coordinates[None, :, :]
    expected = np.sqrt((difference**2).sum(axis=-1))
    assert (variable.distances == expected).all()
    assert variable.largest_distance == (float(expected.max()) or 1.0)


def test_many_values_have_a_largest_distance_but_no_table_that_does_not_fit():
    cells = Variable("cell", tuple(itertools.product(range(300), range(400))))
    names = Variable("name", tuple(map(str, range(2_000_000))))
    assert cells.largest_distance == math.hypot(299, 399)
    assert names.largest_distance == pytest.approx(1.0)
    for table in ("distances", "coordinates"):
        with pytest.raises(UserError, match=rf"^the {table} of the 2,000,000 values of 'name' take "
                           r"29,802.3 GiB of memory, .*: use several variables$"):  # fmt: skip
            getattr(names, table)
