"""Rewards of a cost network's groups of variables: a table, a linear map, or a discriminator.

Tables and linear maps use the estimators of the tabular learners, on the host. They are updated
between two stretches of training, from the states in which skills ended. A group with too many
values for a table has a discriminator network, which `training.py` updates on the device.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.learners.cost_network.learner import Neural
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
TYPICAL_LOSS = 4.0
"""Typical loss of a skill in its unit: about a discriminator's -log q, as settings assume."""


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
        points = [
            model.space.variables[j].coordinates[values]
            for j, values in zip(
                group.variables,
                np.unravel_index(np.arange(group.n_values), group.sizes),
                strict=True,
            )
        ]
        self.coordinates = np.ascontiguousarray(np.concatenate(points, axis=1))
        self.params = np.ascontiguousarray(
            estimator.init(group.n_components, group.n_starts, self.coordinates, rng), np.float32
        )
        self.row = compiled_row(model.objective.reward.formula, estimator.predict)
        self.update_one = compiled_update(estimator.update)

    def predict(self) -> dict[str, Any]:
        """Return `table`: rewards, float32 [n_components, n_starts, n_values]."""
        group = self.group
        table = np.empty((group.n_components, group.n_values, group.n_starts), np.float32)
        starts = np.arange(group.n_starts, dtype=np.uint32)
        for k, value in np.ndindex(table.shape[:2]):
            self.row(self.params, self.coordinates, k, value, starts, table[k, value])
        if not np.isfinite(table).all():
            raise UserError(
                f"the reward of {self.name} must be a finite number for every component, start and "
                f"value, got {table[~np.isfinite(table)][0]}"
            )
        return {"table": np.ascontiguousarray(table.transpose(0, 2, 1))}

    def update(self, component: int, starts: np.ndarray, values: np.ndarray, rate: float) -> None:
        """Update the estimate from a component's rollouts: first and last value indices."""
        first, last = self.group.start_number(starts), self.group.number(values)
        for start, value in zip(first.tolist(), last.tolist(), strict=True):
            self.update_one(self.params, self.coordinates, component, start, value, rate)


class LinearReward:
    """Reward linear in a group's coordinates; see `TableReward` for the arguments."""

    def __init__(
        self, model: SkillModel, group: Group, estimator: LinearMap, rng: np.random.Generator
    ) -> None:
        self.model, self.group = model, group
        ends = np.stack([np.zeros(len(model.space), np.int64), np.array(model.space.sizes) - 1])
        points = np.ascontiguousarray(model.coordinates(group, ends), np.float64)
        self.params = estimator.init(group.n_components, 1, points, rng)
        self.update_one = compiled_update(estimator.update)

    def predict(self) -> dict[str, Any]:
        """Return `linear`: each component's direction, float32 [n_dimensions, n_components]."""
        n = self.group.n_components
        other = -1.0 / (n - 1) if n > 1 else 0.0
        weights = self.params[0, :n] * (1 - other) + other * self.params[0, SUM]
        return {"linear": np.ascontiguousarray(weights.T, np.float32)}

    def update(self, component: int, starts: np.ndarray, values: np.ndarray, rate: float) -> None:
        """Update the estimate from a component's rollouts: first and last value indices."""
        first, last = (self.model.coordinates(self.group, each) for each in (starts, values))
        for pair in np.stack([first, last], axis=1).astype(np.float64):
            self.update_one(self.params, pair, component, 0, 1, rate)


class NetworkReward:
    """Reward of a discriminator network, which `training.py` updates on the device.

    While rewards are held fixed, the network fits a random partition of the states among the
    components: skills with equal initial rewards would stay equal.
    """

    def __init__(self, model: SkillModel, group: Group, rng: np.random.Generator) -> None:
        estimate, n = model.objective.reward.estimate, group.n_components
        assert isinstance(estimate, Discriminator)
        self.group = group
        prior = estimate.prior if isinstance(estimate.prior, float) else 1 / n
        self.log_nu = np.full(n, math.log(prior), np.float32)
        now = model.encoded_width(group.variables, ())
        seen = model.encoded_width(group.variables, group.start_variables)
        self.partition = rng.standard_normal((now, n)).astype(np.float32)
        self.network: Parameters = init_network([seen, ESTIMATOR_WIDTH, n], rng)

    def predict(self) -> dict[str, Any]:
        """Return `log_nu` and the random `partition`; training adds the current `network`."""
        return {"log_nu": self.log_nu, "partition": self.partition}


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
        table = tables[target].predict()["table"][list(components), 0]
        return int(np.argmax(table[:, 0] - table[:, 1:].mean(axis=1)))

    skills = [dict(sorted(each.items())) for each in model.kinds.skills if set(each) <= set(tables)]
    align_components(
        skills, staying,
        lambda target, one, other: estimator.swap(tables[target].params, one, other),
    )  # fmt: skip


def check_rewards(model: SkillModel) -> None:
    """Raise `UserError` if a group is too large for an estimate that has to be a table."""
    estimate = model.objective.reward.estimate
    has_network = isinstance(estimate, Discriminator) and not estimate.learns_prior
    is_linear = isinstance(estimate, Representation) and estimate.features == "coordinates"
    for group in model.groups:
        if not (group.is_table or has_network or is_linear):
            names = reprlib.repr([model.space.names[j] for j in group.variables])
            raise UserError(
                f"{model.objective.name} needs a table of all values of {names}, which are too "
                f"many: reward single variables, as focused({model.objective.reward.name}) does"
            )


class SkillRewards:
    """The rewards of a set of skills while it is trained.

    Args:
        model: The skill model.
        settings: The learner's settings.
        temperature: The temperature that skills act with.
        rng: Source of the initial parameters, and of the rollouts that update them.
    """

    def __init__(
        self, model: SkillModel, settings: Neural, temperature: float, rng: np.random.Generator
    ) -> None:
        self.model, self.settings, self.rng = model, settings, rng
        penalty = model.objective.penalty
        self.rewards = make_rewards(model, settings.owned_share, rng)
        self.on_host = [each for each in self.rewards if not isinstance(each, NetworkReward)]
        self._groups = [reward.predict() for reward in self.rewards]
        self.fixed = {
            "strength": np.float32(0.0 if penalty is None else penalty.strength),
            "temperature": np.float32(temperature),
            "reward_scale": _reward_scale(model, self._groups),
        }

    @property
    def networks(self) -> dict[int, Parameters]:
        """Initial parameters of the discriminator networks, by group number."""
        rewards = enumerate(self.rewards)
        return {i: each.network for i, each in rewards if isinstance(each, NetworkReward)}

    @property
    def params(self) -> list[np.ndarray]:
        """Parameters of the estimators on the host."""
        return [reward.params for reward in self.on_host]

    @params.setter
    def params(self, params: Sequence[np.ndarray]) -> None:
        for reward, own in zip(self.on_host, params, strict=True):
            reward.params = own

    def weights(self, share: float) -> dict[str, Any]:
        """Return the weights of `SkillModel` but `q_params`, for the next stretch of training.

        Args:
            share: Share of the training that is done. At first, rewards are `held` fixed.
        """
        held = share <= self.settings.warmup_fraction
        if not held:
            self._groups = [reward.predict() for reward in self.rewards]
        return {**self.fixed, "groups": self._groups, "held": np.bool_(held)}

    def update(
        self, skills: np.ndarray, starts: np.ndarray, states: np.ndarray, share: float
    ) -> None:
        """Update the estimators on the host, once the warm-up is over.

        Args:
            skills: Skills that ended in the last stretch, [n].
            starts: Value indices of their first states, [n, n_variables].
            states: Value indices of their last states, [n, n_variables].
            share: Share of the training that is done.
        """
        settings = self.settings
        released = share - settings.warmup_fraction
        if released <= 0:
            return
        rate = settings.estimator_rate * min(1.0, 4 * released / (1 - settings.warmup_fraction))
        for number, reward in enumerate(self.rewards):
            components, among = self.model.component(number, skills)
            for k in range(reward.group.n_components):
                rows = self.rng.permutation(np.flatnonzero(among & (components == k)))
                rows = rows[: settings.samples_per_update]
                if not isinstance(reward, NetworkReward):
                    reward.update(k, starts[rows], states[rows], rate)


def _reward_scale(model: SkillModel, groups: Sequence[dict[str, Any]]) -> np.ndarray:
    """Return each skill's unit: 1 for log probabilities, else its typical loss / `TYPICAL_LOSS`."""
    units = np.ones(model.n_skills, np.float32)
    if model.objective.reward.estimate.discriminates:
        return units
    lost = np.zeros(model.n_skills, np.float32)
    for group, part, shares in zip(model.groups, groups, model.shares, strict=True):
        if "table" in part:
            regret = part["table"].max(axis=2, keepdims=True) - part["table"]
            typical = [row[row > 0].mean() if (row > 0).any() else 0.0 for row in regret]
        else:
            typical = model.bound(group, part) / 2
        lost += np.asarray(typical, np.float32) @ shares
    return np.where(lost > 0, lost / TYPICAL_LOSS, units).astype(np.float32)
