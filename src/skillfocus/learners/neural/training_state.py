"""The training state: environments, replay buffer, parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax

from skillfocus.learners.neural.replay import ReplayBuffer


class Environments(NamedTuple):
    """A batch of n environments, each running a skill.

    Attributes:
        state: The world's states.
        skill: Current skills, [n].
        start: Value indices of their first states, [n, n_variables].
        earlier: Value indices of earlier first states, [n, n_earlier, n_variables].
        steps: Steps taken by the current skills, [n].
    """

    state: Any
    skill: jax.Array
    start: jax.Array
    earlier: jax.Array
    steps: jax.Array


class Carry(NamedTuple):
    """Everything that changes during training.

    Attributes:
        key: Source of randomness.
        costs: Parameters of the cost network.
        slow: Parameters of its slow copy.
        optimizer: State of the cost network's optimizer.
        judges: Parameters of the discriminator networks, by group number.
        judge_optimizer: State of their optimizer.
        environments: The environments.
        buffer: The replay buffer.
        updates: Updates so far.
    """

    key: jax.Array
    costs: Any
    slow: Any
    optimizer: Any
    judges: Any
    judge_optimizer: Any
    environments: Environments
    buffer: ReplayBuffer
    updates: jax.Array


class Ends(NamedTuple):
    """Ends of skills: whether one ended, which, its first and last value indices."""

    ended: jax.Array
    skill: jax.Array
    start: jax.Array
    state: jax.Array
