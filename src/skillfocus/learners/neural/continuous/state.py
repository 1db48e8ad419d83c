"""Training state of an actor, and the data of a round."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax


class Round(NamedTuple):
    """Rollouts of one skill in every environment.

    Attributes:
        inputs: The actor's inputs, [n_steps, n, n_inputs].
        u: Sampled actions before the tanh, [n_steps, n, n_action_dims].
        log_prob: Log density of each dimension of u, [n_steps, n, n_action_dims].
        values: Values of the variables, first ones included, [n_steps + 1, n, size].
        kind: Kinds of the skills, int32 [n].
        z: Their components, [n, layout.width].
        counts: 1 for valid steps, 0 for those after the end of an episode, [n_steps, n].
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
        key: Source of randomness.
        nets: Parameters of `actor` and `critic`.
        optimizer: States of their optimizers.
        judges: Parameters of discriminators or phi.
        judge_optimizer: State of their optimizer.
        vectors: Right singular vectors of phi's weight matrices, for power iteration (LSD).
        log_dual: log lambda of every copy, [n_copies] (METRA).
        spread: Running root mean square of every head's returns, [n_heads].
        state: States of the environments.
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
    """Constants of one training run that are not compiled in.

    Attributes:
        shift: Subtracted from observations, [observation_size].
        scale: Divides them, [observation_size].
        prototypes: Parameters of the fixed discriminators, see `prototypes.py`.
        strength: Strength of the penalty.
        credit: Weights of action dimensions and heads by kind, [n_kinds, n_action_dims, n_heads],
            see `credit.py`; [] without `Actor.credit`.
    """

    shift: jax.Array
    scale: jax.Array
    prototypes: Any
    strength: jax.Array
    credit: jax.Array
