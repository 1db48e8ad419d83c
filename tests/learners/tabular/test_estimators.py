"""Which estimator supplies what an objective declares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import skillfocus as sf
from paper.controls import oracle
from skillfocus.errors import UserError
from skillfocus.learners.planning.estimators import (
    DenseDiscriminator,
    Estimator,
    LinearMap,
    ValueMap,
    compiled_reward,
    compiled_row,
    compiled_update,
    tabular_estimator,
)
from skillfocus.objectives.objective import Discriminator, FunctionEstimate, ValueNumbers

POINTS = np.array([[0.0], [1.0], [4.0]])


def estimate_of(objective: sf.Objective) -> Estimator:
    return tabular_estimator(objective.reward.estimate, 0)


def test_built_in_declarations_have_estimators():
    assert estimate_of(sf.vic()) == DenseDiscriminator()
    assert estimate_of(sf.diayn(random_start=False)) == DenseDiscriminator(random_init=False)
    assert estimate_of(sf.lsd()) == LinearMap()
    assert estimate_of(sf.scattered(sf.focused(sf.lsd()))) == ValueMap()
    for objective in (sf.vic(), sf.vic(prior="learned"), sf.diayn(), sf.lsd(), oracle()):
        estimator = estimate_of(objective)
        assert isinstance(estimator, Estimator)
        params = estimator.init(2, 3, POINTS, np.random.default_rng(0))
        assert (params.dtype, params.ndim) == (np.float32, 3)
        again = estimator.init(2, 3, POINTS, np.random.default_rng(0))
        assert np.array_equal(params, again)


def test_numbers_are_passed_on():
    estimator = tabular_estimator(ValueNumbers(), 0)
    params = estimator.init(2, 3, POINTS, np.random.default_rng(0))
    reward = compiled_reward(lambda component, start, value: 100 * component + 10 * start + value,
                             estimator.predict)  # fmt: skip
    assert reward(params, POINTS, 1, 2, 0) == 120.0
    assert estimator.log_prior(params) is None


def distance(params, coordinates, component, start, value):
    return params[0, 0, 0] * abs(coordinates[value, 0] - coordinates[start, 0])


def grow(params, coordinates, component, start, value, rate):
    params[0, 0, 0] += rate


def ones(n_components, n_starts, coordinates, rng):
    return np.ones((1, 1, 1), dtype=np.float32)


def test_functions_on_arrays_are_an_estimate():
    """By hand: a distance of 4, times 1 at first and 1.5 after an update of 0.5."""
    estimator = tabular_estimator(FunctionEstimate(distance, grow, ones), 0)
    params = estimator.init(2, 1, POINTS, np.random.default_rng(0))
    reward = compiled_reward(abs_of, estimator.predict)
    assert reward(params, POINTS, 0, 2, 0) == 4.0
    compiled_update(estimator.update)(params, POINTS, 0, 2, 0, 0.5)
    assert reward(params, POINTS, 0, 2, 0) == 6.0


def abs_of(value):
    return abs(value)


def test_rows_are_rewards_of_many_starts():
    estimator = tabular_estimator(FunctionEstimate(distance, None, ones), 0)
    params = estimator.init(2, 3, POINTS, np.random.default_rng(0))
    out = np.full(3, -1.0, dtype=np.float32)
    row = compiled_row(abs_of, estimator.predict)
    row(params, POINTS, 0, 1, np.array([0, 2], dtype=np.uint32), out)
    assert out.tolist() == [1.0, -1.0, 3.0]
    assert compiled_row(abs_of, estimator.predict) is row, "compiled once"
    compiled_update(None)(params, POINTS, 0, 0, 0, 1.0)
    assert params.tolist() == [[[1.0]]]


@dataclass(frozen=True)
class Unsupplied:
    rate: float = 0.1
    discriminates = False
    learns_prior = False


def test_a_declaration_that_nothing_supplies_is_an_error_with_a_way_out():
    with pytest.raises(UserError, match="no tabular estimator is known for Unsupplied: register"):
        tabular_estimator(Unsupplied(), 0)

    @dataclass(frozen=True)
    class Mine(Unsupplied):
        pass

    @tabular_estimator.register(Mine)
    def _(estimate: object, n_entries: int) -> Estimator:
        return DenseDiscriminator(random_init=n_entries > 5)

    assert tabular_estimator(Mine(), 3) == DenseDiscriminator(random_init=False)
    assert tabular_estimator(Mine(), 9) == DenseDiscriminator(random_init=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"rate": 0.0}, r"must be in \(0, 1\], got"), ({"rate": 1.1}, r"must be in \(0, 1\], got"),
     ({"rate": 0.1, "prior": "guess"}, "'uniform', 'learned' or a probability")],
)  # fmt: skip
def test_bad_discriminators_are_refused(settings, message):
    with pytest.raises(UserError, match=message):
        Discriminator(**settings)
