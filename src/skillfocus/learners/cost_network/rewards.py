"""The reward of a group of variables: a table, a linear map, or a discriminator network.

Tables and linear maps use the estimators of the tabular learners, on the host. They are updated
between two stretches of training, from the states in which skills ended. A group with too many
values for a table has a discriminator network, which is trained on the device.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.learners.planning.estimators import (
    SUM,
    Estimator,
    LinearMap,
    compiled_row,
    compiled_update,
    tabular_estimator,
)
from skillfocus.learners.planning.problem import align_components
from skillfocus.objectives.objective import Discriminator, Representation
from skillfocus.skills.network import Group, Parameters, SkillModel, init_network

ESTIMATOR_WIDTH = 256
"""Width of the hidden layer of a discriminator network."""


class TableReward:
    """Tabular reward of a group, for every component, first value and value.

    Args:
        model: The skill model.
        group: One of its groups.
        estimator: Supplies the formula's arguments.
        rng: Source of the initial parameters.
    """

    def __init__(
        self, model: SkillModel, group: Group, estimator: Estimator, rng: np.random.Generator
    ) -> None:
        self.group, self.name = group, model.objective.reward.name
        self.coordinates = _points(model, group)
        self.params = np.ascontiguousarray(
            estimator.init(group.n_components, group.n_starts, self.coordinates, rng), np.float32
        )
        self.row = compiled_row(model.objective.reward.formula, estimator.predict)
        self.update_one = compiled_update(estimator.update)

    def parts(self, held: bool) -> dict[str, Any]:
        """Return `table`: rewards, float32 [n_components, n_starts, n_values]."""
        del held
        group = self.group
        table = np.empty((group.n_components, group.n_values, group.n_starts), np.float32)
        starts = np.arange(group.n_starts, dtype=np.uint32)
        for component in range(group.n_components):
            for value in range(group.n_values):
                self.row(
                    self.params, self.coordinates, component, value, starts, table[component, value]
                )
        if not np.isfinite(table).all():
            raise UserError(
                f"the reward of {self.name} must be a finite number for every component, start and "
                f"value, got {table[~np.isfinite(table)][0]}"
            )
        return {"table": np.ascontiguousarray(table.transpose(0, 2, 1))}

    def update(self, components: Any, starts: Any, values: Any, rate: float) -> None:
        """Update the estimate from rollouts: components, first and last value indices."""
        first, last = self.group.start_number(starts), self.group.number(values)
        for k, start, value in zip(components, first, last, strict=True):
            self.update_one(self.params, self.coordinates, int(k), int(start), int(value), rate)


class LinearReward:
    """Reward linear in a group's coordinates; see `TableReward` for the arguments."""

    def __init__(
        self, model: SkillModel, group: Group, estimator: LinearMap, rng: np.random.Generator
    ) -> None:
        self.model, self.group = model, group
        ends = np.zeros((2, len(model.space)), np.int64)
        ends[1] = np.array(model.space.sizes) - 1
        coordinates = self._coordinates(ends)
        self.params = estimator.init(group.n_components, 1, coordinates, rng)
        self.update_one = compiled_update(estimator.update)

    def _coordinates(self, values: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self.model.coordinates(self.group, values), np.float64)

    def parts(self, held: bool) -> dict[str, Any]:
        """Return `linear`: each component's direction, float32 [n_dimensions, n_components]."""
        del held
        n = self.group.n_components
        other = -1.0 / (n - 1) if n > 1 else 0.0
        weights = self.params[0, :n] * (1 - other) + other * self.params[0, SUM]
        return {"linear": np.ascontiguousarray(weights.T, np.float32)}

    def update(self, components: Any, starts: Any, values: Any, rate: float) -> None:
        """Update the estimate from rollouts: components, first and last value indices."""
        first, last = self._coordinates(starts), self._coordinates(values)
        for k, start, value in zip(components, first, last, strict=True):
            self.update_one(self.params, np.stack([start, value]), int(k), 0, 1, rate)


class NetworkReward:
    """Reward of a discriminator network, which `training.py` updates on the device.

    While rewards are held fixed, the network fits a random partition of the states among the
    components: skills with equal initial rewards would stay equal.
    """

    def __init__(self, model: SkillModel, group: Group, rng: np.random.Generator) -> None:
        estimate = model.objective.reward.estimate
        assert isinstance(estimate, Discriminator)
        self.group = group
        prior = estimate.prior if isinstance(estimate.prior, float) else 1 / group.n_components
        self.log_nu = np.full(group.n_components, math.log(prior), np.float32)
        none = np.zeros((1, len(model.space)), np.int64)
        now = model.encode(none, none, group.variables, ()).shape[1]
        seen = model.encode(none, none, group.variables, group.start_variables).shape[1]
        self.partition = rng.standard_normal((now, group.n_components)).astype(np.float32)
        self.network: Parameters = init_network([seen, ESTIMATOR_WIDTH, group.n_components], rng)

    def parts(self, held: bool) -> dict[str, Any]:
        """Return `log_nu`, the random `partition`, and whether the network fits it (`held`)."""
        fits_partition = held and self.group.sign > 0
        return {
            "log_nu": self.log_nu, "partition": self.partition, "held": np.bool_(fits_partition),
        }  # fmt: skip

    def update(self, components: Any, starts: Any, values: Any, rate: float) -> None:
        """Do nothing: `Trainer` updates the network."""


GroupReward = TableReward | LinearReward | NetworkReward


def make_rewards(
    model: SkillModel, owned_share: float, rng: np.random.Generator
) -> list[GroupReward]:
    """Return the initial reward of each group, aligned for skills with several targets.

    Args:
        model: The skill model.
        owned_share: Smallest initial probability of the skill that owns a value.
        rng: Source of the initial parameters.
    """
    check_rewards(model)
    estimate = model.objective.reward.estimate
    if isinstance(estimate, Discriminator):
        estimate = replace(estimate, owned_share=owned_share)
    estimator = tabular_estimator(estimate, 0)
    rewards: list[GroupReward] = []
    for group in model.groups:
        if group.is_table:
            rewards.append(TableReward(model, group, estimator, rng))
        elif isinstance(estimator, LinearMap):
            rewards.append(LinearReward(model, group, estimator, rng))
        else:
            rewards.append(NetworkReward(model, group, rng))
    if hasattr(estimator, "swap"):
        _align(model, rewards, estimator)
    return rewards


def _align(model: SkillModel, rewards: Sequence[GroupReward], estimator: Any) -> None:
    """Align tables of targets, as `align_components` does; networks stay as they are."""
    tables: dict[int, TableReward] = {
        group.variables[0]: reward
        for group, reward in zip(model.groups, rewards, strict=True)
        if group.sign > 0 and len(group.variables) == 1 and isinstance(reward, TableReward)
    }

    def staying(target: int, components: Sequence[int]) -> int:
        table = tables[target].parts(held=False)["table"][list(components), 0]
        return int(np.argmax(table[:, 0] - table[:, 1:].mean(axis=1)))

    align_components(
        (
            dict(sorted(skill.items()))
            for skill in model.kinds.skills
            if set(skill) <= tables.keys()
        ),
        staying,
        lambda target, one, other: estimator.swap(tables[target].params, one, other),
    )


def check_rewards(model: SkillModel) -> None:
    """Raise `UserError` if a group is too large for an estimate that has to be a table."""
    estimate = model.objective.reward.estimate
    for group in model.groups:
        has_network = isinstance(estimate, Discriminator) and not estimate.learns_prior
        is_linear = isinstance(estimate, Representation) and estimate.features == "coordinates"
        if not (group.is_table or has_network or is_linear):
            names = reprlib.repr([model.space.names[j] for j in group.variables])
            raise UserError(
                f"{model.objective.name} needs a table of all values of {names}, which are too "
                f"many: reward single variables, as focused({model.objective.reward.name}) does"
            )


def _points(model: SkillModel, group: Group) -> np.ndarray:
    """Return the coordinates of a group's value combinations, float64 [n_values, n_dimensions]."""
    numbers = np.stack(np.unravel_index(np.arange(group.n_values), group.sizes), axis=1)
    points = [
        model.space.variables[j].coordinates[numbers[:, i]] for i, j in enumerate(group.variables)
    ]
    return np.ascontiguousarray(np.concatenate(points, axis=1))
