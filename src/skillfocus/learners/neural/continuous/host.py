"""Batched rollouts for training in environments that are stepped on the CPU.

If an episode ends during a skill, the skill's values are frozen and its remaining steps do not
count. The environment is reset, and the next skill starts in the new episode.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.learners.neural.continuous.state import Fixed, Round
from skillfocus.learners.neural.continuous.training import Trainer
from skillfocus.worlds.host import HostWorld


class HostEnvironments:
    """A batch of environments; close it, or use it in a `with` block.

    Args:
        trainer: The trainer.
        rng: Seeds the environments and samples random actions.
    """

    def __init__(self, trainer: Trainer, rng: np.random.Generator) -> None:
        assert isinstance(trainer.world, HostWorld)
        self.trainer, self.world, self.rng = trainer, trainer.world, rng
        self.n = trainer.settings.environments
        self.batch = self.world.make_batch(self.n)
        self.observations = self.batch.reset_batch(int(rng.integers(2**31)))

    def __enter__(self) -> HostEnvironments:
        return self

    def __exit__(self, *_: object) -> None:
        self.batch.close()

    def explore(self, repeats: int) -> tuple[np.ndarray, np.ndarray]:
        """Take random actions, each repeated; see `Acting.explore`."""
        seen, n_dims = [], self.world.n_action_dims
        u = np.zeros((self.n, n_dims), np.float32)
        for number in range(2 * self.trainer.n_steps):
            if number % repeats == 0:
                u = np.arctanh(0.999 * self.rng.uniform(-1, 1, (self.n, n_dims)))
            step = self.batch.step_batch(self.trainer.model.action(u.astype(np.float32)))
            seen.append(step.observations)
            self.observations = step.next_observations
        observations = np.concatenate(seen)
        return observations, self.world.values(observations)

    def round(self, key: jax.Array, actor: Any, fixed: Fixed) -> Round:
        """Run one sampled skill in every environment."""
        trainer, world = self.trainer, self.world
        key_skill, key_steps = jax.random.split(key)
        key_noise = jax.random.fold_in(key_steps, trainer.n_steps)
        noise = jax.random.normal(key_noise, (self.n, world.n_action_dims))
        kind, z = trainer.acting.compiled_sample(key_skill, self.n)
        seen, counts = self.observations, np.ones(self.n, np.float32)
        start = now = world.values(seen)
        rows: list[tuple[Any, ...]] = []
        values = [start]
        for number in range(trainer.n_steps):
            time = np.float32(number / trainer.n_steps)
            key_step = jax.random.fold_in(key_steps, number)
            inputs, u, log_prob, action, noise = trainer.acting.compiled_act(
                key_step, actor, fixed, seen, world.values(seen), start, kind, z, time, noise
            )
            step = self.batch.step_batch(np.asarray(action))
            rows.append((inputs, u, log_prob, counts))
            now = np.where(counts[:, None] > 0, world.values(step.observations), now)
            values.append(now)
            counts = counts * ~(step.terminated | step.truncated)
            seen = step.next_observations
        self.observations = seen
        inputs, u, log_prob, counted = (jnp.stack(each) for each in zip(*rows, strict=True))
        stacked = jnp.asarray(np.stack(values), jnp.float32)
        return Round(inputs, u, log_prob, stacked, kind, z, counted)
