"""Estimators: what supplies the arguments of a reward formula, in arrays.

An objective declares what its formula reads (`objectives/estimates.py`); `tabular_estimator` finds
the estimator that supplies it here. To supply another declaration, register a function for its
type, or let the declaration itself have the methods of an `Estimator`:

    @tabular_estimator.register
    def _(estimate: MyEstimate, n_entries: int) -> Estimator: ...
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Protocol, runtime_checkable

import numpy as np

from skillfocus.compilation import njit
from skillfocus.errors import UserError
from skillfocus.learners.tabular.compiled import REWARD, compile_function
from skillfocus.learners.tabular.discriminator import (
    DenseDiscriminator,
    SparseDiscriminator,
    UniformPrior,
)
from skillfocus.learners.tabular.linear_map import LinearMap
from skillfocus.learners.tabular.value_map import ValueMap
from skillfocus.objectives.estimates import (
    Discriminator,
    FunctionEstimate,
    Representation,
    ValueNumbers,
    no_parameters,
)

DENSE_LIMIT = 120_000_000
"""Discriminators with more (component, start, value) entries are kept in a sparse table."""


@runtime_checkable
class Estimator(Protocol):
    """Parameters in an array, and compiled functions that read and update them.

    Attributes:
        predict: `predict(params, coordinates, component, start, value) -> tuple`, the formula's
            arguments. Plain Python or Numba; numbers and array elements only.
        update: `update(params, coordinates, component, start, value, rate)`, in place; None if
            nothing is learned.
    """

    @property
    def predict(self) -> Callable:
        """The estimate, as a function of parameters and indices."""
        ...

    @property
    def update(self) -> Callable | None:
        """Learning from one observation."""
        ...

    def init(
        self, n_components: int, n_starts: int, coordinates: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return initial parameters, float32 with three dimensions.

        Args:
            n_components: How many components skills have on the group.
            n_starts: How many different starts the reward can see.
            coordinates: float64 [n_values, n_dimensions], points of the group's values.
            rng: Source of random parameters.
        """
        ...

    def log_prior(self, params: np.ndarray) -> np.ndarray | None:
        """Return log nu(z | start), float32 [n_components, n_starts]; None if it is uniform."""
        ...


@singledispatch
def tabular_estimator(estimate: object, n_entries: int) -> Estimator:
    """Return the estimator that supplies what an objective declares.

    Args:
        estimate: The declaration.
        n_entries: Most (component, start, value) triples of any group.
    """
    del n_entries
    if not isinstance(estimate, Estimator):
        raise UserError(
            f"no tabular estimator is known for {type(estimate).__name__}: register one with "
            f"tabular_estimator.register, or give it init, predict, update and log_prior"
        )
    return estimate


@tabular_estimator.register
def _(estimate: Discriminator, n_entries: int) -> Estimator:
    if n_entries > DENSE_LIMIT and estimate.prior == "uniform":
        return SparseDiscriminator()
    prior = estimate.prior if isinstance(estimate.prior, float) else None
    return DenseDiscriminator(
        estimate.random_init, estimate.learns_prior, prior, estimate.owned_share
    )


@tabular_estimator.register
def _(estimate: Representation, n_entries: int) -> Estimator:
    del n_entries
    if estimate.features == "indicators":
        return ValueMap()
    return LinearMap(estimate.from_mean)


@njit(cache=True, nogil=True)
def _numbers(params, coordinates, component, start, value):
    return component, start, value


class NumberEstimator(UniformPrior):
    """Passes the component, the start and the value on."""

    predict = staticmethod(_numbers)
    update = None
    init = staticmethod(no_parameters)


@tabular_estimator.register
def _(estimate: ValueNumbers, n_entries: int) -> Estimator:
    del estimate, n_entries
    return NumberEstimator()


@dataclass(frozen=True)
class FunctionEstimator(UniformPrior):
    """An estimate of the user's, written as functions on arrays."""

    estimate: FunctionEstimate

    @property
    def predict(self) -> Callable:
        """The user's function, returning a tuple of one number."""
        return _as_tuple(self.estimate.predict)

    @property
    def update(self) -> Callable | None:
        """The user's update, if there is one."""
        return self.estimate.update

    def init(
        self, n_components: int, n_starts: int, coordinates: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the user's initial parameters."""
        return self.estimate.init(n_components, n_starts, coordinates, rng)


_tuples: dict[Callable, Callable] = {}


def _as_tuple(predict: Callable) -> Callable:
    """Return a function that predicts a tuple of one number, the same for the same function."""
    if predict not in _tuples:
        compiled = compile_function(predict, REWARD)

        @njit(nogil=True)
        def in_tuple(params, coordinates, component, start, value):
            return (compiled(params, coordinates, component, start, value),)

        _tuples[predict] = in_tuple
    return _tuples[predict]


@tabular_estimator.register
def _(estimate: FunctionEstimate, n_entries: int) -> Estimator:
    del n_entries
    return FunctionEstimator(estimate)
