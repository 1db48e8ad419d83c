"""Tanh-Gaussian policy network, shared by all skills of a continuous world.

    u ~ N(mu(x), sigma(x)^2),   a = low + (high - low) (tanh u + 1) / 2

The inputs x are the observation, the target mask and z; where the objective compares with the
start, also the variables' first values, their changes since then, and the time. All functions take
NumPy or JAX arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skillfocus.core.continuous import ContinuousSpace
from skillfocus.machine import array_namespace
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.skill_layout import SkillLayout
from skillfocus.skills.neural.network import apply_network
from skillfocus.worlds.continuous import ContinuousBase

MIN_LOG_STD, MAX_LOG_STD = -3.0, 2.0
"""Bounds of log sigma; initially it is midway."""


@dataclass(frozen=True, eq=False)
class ActorModel:
    """Inputs and outputs of the policy network of a set of skills.

    Attributes:
        world: The world.
        objective: The skills' objective.
        layout: The layout of their components.
        step_limit: Number of steps of a skill.

    The weights that methods take are a dictionary: `actor`, the network's parameters, and `shift`
    and `scale` of the observation, [observation_size].
    """

    world: ContinuousBase
    objective: Objective
    layout: SkillLayout
    step_limit: int

    @property
    def space(self) -> ContinuousSpace:
        """The world's variables."""
        return self.world.space

    @cached_property
    def sees_start(self) -> bool:
        """Whether first values are inputs: only if reward or penalty depends on them."""
        reward = self.objective.reward
        return self.objective.penalty is not None or (
            reward.timing == "final" and reward.uses_start
        )

    @cached_property
    def n_inputs(self) -> int:
        """Number of inputs."""
        context = 2 * self.space.size + 1 if self.sees_start else 0
        return self.world.observation_size + len(self.space) + self.layout.width + context

    @property
    def n_outputs(self) -> int:
        """Number of outputs: mean and log sigma of every action dimension."""
        return 2 * self.world.n_action_dims

    def inputs(
        self, weights: Any, observation: Any, values: Any, start: Any, mask: Any, z: Any, time: Any
    ) -> Any:
        """Return the network's inputs, [n, n_inputs].

        Args:
            weights: See the class.
            observation: [n, observation_size].
            values: Values of the variables, [n, size].
            start: Their first values, [n, size].
            mask: Which variables are targets, [n, n_variables].
            z: Components of the skills, [n, layout.width].
            time: Share of the skill's steps that has passed, [n].
        """
        xp = array_namespace(observation)
        parts = [(observation - weights["shift"]) / weights["scale"], mask, z]
        if self.sees_start:
            parts += [
                scaled_values(self.space, start),
                (values - start) / half_widths(self.space),
                time[:, None],
            ]
        return xp.concatenate(parts, axis=1)

    def distribution(self, parameters: Any, inputs: Any) -> tuple[Any, Any]:
        """Return mean and log sigma of u, [n, n_action_dims] each."""
        xp = array_namespace(inputs)
        outputs = apply_network(parameters, inputs)
        n = self.world.n_action_dims
        half = (MAX_LOG_STD - MIN_LOG_STD) / 2
        return outputs[..., :n], MIN_LOG_STD + half * (1 + xp.tanh(outputs[..., n:]))

    def action(self, u: Any) -> Any:
        """Map u to actions within the world's bounds, [n, n_action_dims]."""
        xp = array_namespace(u)
        low = np.asarray(self.world.action_low, np.float32)
        high = np.asarray(self.world.action_high, np.float32)
        return low + (high - low) * (xp.tanh(u) + 1) / 2


def half_widths(space: ContinuousSpace) -> np.ndarray:
    """Return the unit of each scaled value, [size]: half its range, or half its scale."""
    widths = []
    for variable in space.variables:
        for low, high in zip(variable.low, variable.high, strict=True):
            finite = math.isfinite(low) and math.isfinite(high)
            widths.append((high - low) / 2 if finite else variable.largest_distance / 2)
    return np.array(widths, np.float32)


def scaled_values(space: ContinuousSpace, values: Any) -> Any:
    """Scale values, [n, size]: bounded ones to -1 to 1, others by `half_widths`."""
    finite = np.isfinite(space.low) & np.isfinite(space.high)
    with np.errstate(invalid="ignore"):
        middle = np.where(finite, (space.low + space.high) / 2, 0).astype(np.float32)
    return (values - middle) / half_widths(space)


def log_densities(u: Any, mean: Any, log_std: Any) -> Any:
    """Return the log density of each dimension of u under N(mean, std^2), [n, n_action_dims]."""
    xp = array_namespace(u)
    scaled = (u - mean) / xp.exp(log_std)
    return -0.5 * scaled**2 - log_std - 0.5 * math.log(2 * math.pi)


def log_squashing(u: Any) -> Any:
    """Return log(1 - tanh(u)^2) summed over dimensions, [n], in a stable form."""
    xp = array_namespace(u)
    return (2 * (math.log(2) - u - xp.logaddexp(0.0, -2 * u))).sum(axis=-1)
