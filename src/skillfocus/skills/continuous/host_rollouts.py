"""Rollouts of continuous skills in environments on the CPU, in NumPy only."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skillfocus.errors import UserError
from skillfocus.skills.continuous.actor import ActorModel
from skillfocus.worlds.host import HostBatch, HostWorld


class HostStates(NamedTuple):
    """Environments on the CPU and their current observations. Rollouts step them in place."""

    batch: HostBatch
    observations: np.ndarray


class HostRollouts(NamedTuple):
    """Rollouts; see `ContinuousRollouts`. After the end of an episode, values are frozen."""

    states: HostStates
    values: np.ndarray
    observations: np.ndarray
    actions: np.ndarray


class HostRunner:
    """Runs a set of skills in environments on the CPU.

    Args:
        model: The actor model.
        weights: Its weights.
    """

    def __init__(self, model: ActorModel, weights: Any) -> None:
        assert isinstance(model.world, HostWorld)
        self.model, self.world, self.weights = model, model.world, weights

    def reset(self, keys: np.ndarray) -> HostStates:
        """Make as many environments as there are keys, uint32 [n, 2], and reset them."""
        batch = self.world.make_batch(len(keys))
        return HostStates(batch, batch.reset_batch(int(keys[0, 0]) % 2**31))

    def place(self, values: np.ndarray, keys: np.ndarray) -> HostStates:
        """Raise `UserError`: environments on the CPU cannot be set to given values."""
        del values, keys
        raise UserError(f"{self.world.id} cannot be set to given values: give a number of starts")

    def values(self, states: HostStates) -> np.ndarray:
        """Return the values of states, float32 [n, size]."""
        return np.asarray(self.world.values(states.observations), np.float32)

    def follow(
        self,
        states: HostStates,
        masks: np.ndarray,
        z: np.ndarray,
        keys: np.ndarray,
        noise: float = 0.0,
    ) -> HostRollouts:
        """Run skills for `step_limit` steps; see `ContinuousRunner.follow`."""
        model, world, seen = self.model, self.world, states.observations
        rng = np.random.default_rng(keys.ravel().tolist())
        start = now = self.values(states)
        going = np.ones(len(seen), bool)
        values, observations, actions = [start], [], []
        for number in range(model.step_limit):
            time = np.full(len(seen), number / model.step_limit, np.float32)
            here = np.asarray(world.values(seen), np.float32)
            inputs = model.inputs(self.weights, seen, here, start, masks, z, time)
            u, log_std = model.distribution(self.weights["actor"], inputs)
            if noise:
                u = u + noise * np.exp(log_std) * rng.standard_normal(u.shape)
            action = model.action(u.astype(np.float32))
            step = states.batch.step_batch(action)
            observations.append(seen)
            actions.append(action)
            now = np.where(going[:, None], world.values(step.observations), now)
            values.append(now.astype(np.float32))
            going &= ~(step.terminated | step.truncated)
            seen = step.next_observations
        observations.append(seen)
        stacked = (np.stack(each, axis=1) for each in (values, observations, actions))
        return HostRollouts(HostStates(states.batch, seen), *stacked)
