"""What changes while an actor trains, and what a round of skills leaves behind."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax


class Round(NamedTuple):
    """One skill in every environment, from beginning to end.

    Attributes:
        inputs: What the actor saw before each step, [n_steps, n, n_inputs].
        u: What it drew, before squashing, [n_steps, n, n_action_dims].
        log_prob: Log density of u, [n_steps, n].
        values: Values of the variables, [n_steps + 1, n, size]; the first are the start's.
        kind: Kinds of the skills, int32 [n].
        z: Their components, [n, layout.width].
        counts: 1 for steps that were taken, 0 for those after an episode's end, [n_steps, n].
    """

    inputs: jax.Array
    u: jax.Array
    log_prob: jax.Array
    values: jax.Array
    kind: jax.Array
    z: jax.Array
    counts: jax.Array


class Carry(NamedTuple):
    """Everything that changes during training.

    Attributes:
        key: Source of the draws.
        nets: Parameters of `actor` and `critic`.
        optimizer: State of their optimizer.
        judges: Parameters of discriminators or phi.
        judge_optimizer: State of their optimizer.
        vectors: Left singular vectors of phi's layers, for power iteration (LSD).
        log_dual: log lambda of every copy, [n_copies] (METRA).
        spread: Typical size of the returns of every head, [n_heads].
        state: The worlds' states.
        rounds: Rounds so far.
    """

    key: jax.Array
    nets: Any
    optimizer: Any
    judges: Any
    judge_optimizer: Any
    vectors: Any
    log_dual: jax.Array
    spread: jax.Array
    state: Any
    rounds: jax.Array


class Fixed(NamedTuple):
    """What a set of skills keeps during training, apart from compiled constants.

    Attributes:
        shift: Subtracted from observations, [observation_size].
        scale: Divides them, [observation_size].
        dealt: What discriminators say while values are dealt out: see `dealing.py`.
        strength: Strength of the penalty.
    """

    shift: jax.Array
    scale: jax.Array
    dealt: Any
    strength: jax.Array
