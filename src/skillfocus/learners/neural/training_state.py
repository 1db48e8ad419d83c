"""What changes while networks train: environments, memory, parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax

from skillfocus.learners.neural.replay import Memory


class Environments(NamedTuple):
    """Environments that run skills, [n] each.

    Attributes:
        state: The world's states.
        skill: Numbers of the skills under way.
        start: Value indices of the states they started in.
        earlier: Value indices of the starts before, [n, n_earlier, n_variables].
        steps: How many steps they have taken.
    """

    state: Any
    skill: jax.Array
    start: jax.Array
    earlier: jax.Array
    steps: jax.Array


class Carry(NamedTuple):
    """Everything that changes during training.

    Attributes:
        key: Source of the draws.
        costs: The cost network's parameters.
        slow: Their slowly moving copy.
        optimizer: State of the optimizer.
        judges: Parameters of discriminator networks, by the number of their group.
        judge_optimizer: State of their optimizer.
        environments: The environments.
        memory: The transitions to learn from.
        updates: Updates so far.
    """

    key: jax.Array
    costs: Any
    slow: Any
    optimizer: Any
    judges: Any
    judge_optimizer: Any
    environments: Environments
    memory: Memory
    updates: jax.Array


class Ends(NamedTuple):
    """Where skills ended: whether one did, which, its first and its last values."""

    ended: jax.Array
    skill: jax.Array
    start: jax.Array
    state: jax.Array
