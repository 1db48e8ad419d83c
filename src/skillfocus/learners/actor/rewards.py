"""Rewards of a round: Equation 5, and the prototypes that supply it early in training."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.objectives.kinds import WHOLE
from skillfocus.skills.estimators import MAX_CONCENTRATION, SkillEstimates, scaled_values


class Fixed(NamedTuple):
    """Constants of one training run that are not compiled in.

    Attributes:
        shift: Subtracted from observations, [observation_size].
        scale: Divides them, [observation_size].
        prototypes: Parameters of the fixed discriminators.
        strength: Strength of the penalty.
        credit: Weights of action dimensions and heads by kind, [n_kinds, n_action_dims, n_heads],
            see `credit.py`; [] without `Actor.credit`.
    """

    shift: jax.Array
    scale: jax.Array
    prototypes: Any
    strength: jax.Array
    credit: jax.Array


# -------------------- One head per component and one for the penalty
#
#     every step      r_t = formula(log q(z | s_(t+1)), log nu)         DIAYN, DUSDi
#     at the end      r_t = r(s_0, z, s_(t+1)) - r(s_0, z, s_t)         VIC, LSD
#     transitions     r_t = <phi(s_(t+1)) - phi(s_t), z>                METRA
#
# A final reward is paid as differences. They telescope to the reward of the last state minus that
# of the first, which no action changes. The penalty follows the reward's timing: with a reward per
# step, every step costs the change since the start; otherwise, the increase of that change.


class RewardRule(NamedTuple):
    """Computes the rewards of a round.

    Attributes:
        estimates: The discriminators or phi.
        n_grace: Initial steps without reward and penalty, where both are per step.
    """

    estimates: SkillEstimates
    n_grace: int

    @property
    def n_heads(self) -> int:
        """Number of heads: one per slot, and the penalty."""
        return len(self.estimates.code.slots) + 1

    def rewards(
        self, params: Any, fixed: Fixed, values: jax.Array, kind: jax.Array, z: jax.Array,
        released: jax.Array,
    ) -> jax.Array:  # fmt: skip
        """Return the rewards of every step and head, [n_steps, n, n_heads].

        Args:
            params: Parameters of discriminators or phi.
            fixed: The prototypes and the penalty's strength.
            values: Values of the variables, [n_steps + 1, n, width].
            kind: Kinds of the skills, int [n].
            z: Their components, [n, code.width].
            released: Weight of the networks' rewards, from 0 (prototypes only) to 1.
        """
        estimates, n_states = self.estimates, len(values)
        flat, start = values.reshape(-1, values.shape[2]), jnp.tile(values[0], (n_states, 1))

        def by_step(copies: Any) -> jax.Array:
            return copies.reshape(-1, *values.shape[:2]).transpose(1, 2, 0)

        all_z, formula = jnp.tile(z, (n_states, 1)), estimates.objective.reward.formula
        outputs = estimates.outputs(params, start, flat)
        if estimates.is_discriminator:
            reward = formula(*estimates.log_ratios(outputs, all_z))
            outputs = prototype_outputs(estimates, fixed.prototypes, flat)
            initial = formula(*estimates.log_ratios(outputs, all_z))
            # terms with a negative weight (DUSDi) always come from the networks
            share = jnp.where(estimates.weights > 0, released, 1.0)[:, None]
            paid: Any = self._paid(by_step(share * reward + (1 - share) * initial))
        else:
            along = by_step((outputs * estimates.directions(all_z)).sum(axis=2))
            paid = formula(along[1:] - along[:-1])  # pyright: ignore[reportArgumentType]
        belongs = jnp.zeros((estimates.n_terms, len(estimates.code.slots)))
        belongs = belongs.at[jnp.arange(estimates.n_terms), estimates.slots].set(estimates.weights)
        heads = (paid @ belongs) * jnp.asarray(estimates.code.active)[kind]

        penalty = jnp.zeros((n_states - 1, len(z)))
        if (of := estimates.objective.penalty) is not None:
            watched = jnp.tile(jnp.asarray(self.watched)[kind], (n_states, 1))
            change = of.measure(estimates.space, start, flat, watched)  # pyright: ignore[reportArgumentType]
            penalty = self._paid(fixed.strength * change.reshape(values.shape[:2]))
        return jnp.concatenate([heads, -penalty[..., None]], axis=2)

    def _paid(self, amount: jax.Array) -> jax.Array:
        """Return what every step pays of an amount that states have, [n_states, ...]."""
        reward = self.estimates.objective.reward
        if reward.timing != "step":
            return amount[1:] - amount[:-1]
        after_grace = jnp.arange(len(amount) - 1) >= self.n_grace
        return amount[1:] * after_grace.reshape(-1, *(1,) * (amount.ndim - 1))

    @property
    def watched(self) -> np.ndarray:
        """Variables that each kind of skill is penalized for, float32 [n_kinds, n_variables]."""
        penalty, code = self.estimates.objective.penalty, self.estimates.code
        watched = np.zeros((len(code.kinds), code.n_variables), np.float32)
        for row, kind in zip(watched, code.kinds, strict=True):
            if penalty is not None:
                targets = [code.slots[k].variable for k in kind if code.slots[k].variable != WHOLE]
                row[:] = penalty.watched(targets, code.n_variables)
        return watched


# -------------------- Fixed prototype discriminators, which supply the rewards early in training
#
# Untrained discriminators reward nothing in particular, and skills that behave alike give them
# nothing to learn. So at first each value of a discrete component has a prototype among the values
# that random actions reach, far from the other prototypes, and
#
#     q(k | s) = softmax_k( -|s - prototype_k|^2 / (2 width^2) )
#
# On a sphere, q(z | s) is centered at the direction of s from the mean, under a random rotation.
# The discriminator networks are trained meanwhile and take over after `Actor.warmup_fraction`.

SHARPNESS = 0.35
"""Width of a prototype, relative to the distance between the closest two."""
SURE = 0.5
"""Share of `MAX_CONCENTRATION` that a direction one standard deviation from the mean gets."""


def choose_prototypes(
    estimates: SkillEstimates, reached: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Choose the parameters of the prototype discriminators.

    Args:
        estimates: The discriminators.
        reached: Values that random actions reach, [n, width].
        rng: Source of randomness.

    Returns:
        `prototypes` [n_terms, width, size] and `precision` [n_terms, 1] for discrete components,
        `mean` [n_terms, 1, size] and `rotation` [n_terms, size, width] for those on spheres.
    """
    x = np.asarray(scaled_values(estimates.space, reached))
    n, size, width = estimates.n_terms, x.shape[1], estimates.width
    prototypes, precision = np.zeros((n, width, size), np.float32), np.ones((n, 1), np.float32)
    mean, rotation = np.zeros((n, 1, size), np.float32), np.zeros((n, size, width), np.float32)
    for copy in range(n):
        seen = estimates.input_mask[copy, 0, :size]
        mine, used = x * seen, int(estimates.used[copy].sum())
        if estimates.discrete[copy]:
            prototypes[copy, :used], gap = _far_apart(mine, seen, used, rng)
            precision[copy] = 1 / (2 * (SHARPNESS * gap) ** 2)
            continue
        rows, spread = np.flatnonzero(seen), mine.std(axis=0).max() + 1e-6
        square = np.linalg.qr(rng.standard_normal((max(len(rows), used),) * 2))[0]
        mean[copy, 0] = mine.mean(axis=0)
        rotation[copy, rows, :used] = SURE * MAX_CONCENTRATION / spread * square[: len(rows), :used]
    return {
        "prototypes": prototypes, "precision": precision, "mean": mean, "rotation": rotation
    }  # fmt: skip


def _far_apart(
    x: np.ndarray, seen: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Choose values by farthest-point sampling.

    If fewer distinct values were reached, the rest is sampled uniformly within the bounds.

    Returns:
        The values in a random order, [count, size], and the distance between the closest two.
    """
    anywhere = x[rng.integers(len(x))]
    chosen = [x[np.linalg.norm(x - anywhere, axis=1).argmax()]]  # start at an extreme
    distance = np.linalg.norm(x - chosen[0], axis=1)
    while len(chosen) < count:
        farthest = x[distance.argmax()]
        if distance.max() < 1e-3:
            farthest = (rng.uniform(-1, 1, x.shape[1]) * seen).astype(np.float32)
        chosen.append(farthest)
        distance = np.minimum(distance, np.linalg.norm(x - farthest, axis=1))
    values = np.array(chosen, np.float32)[rng.permutation(count)]
    gaps = np.linalg.norm(values[:, None] - values[None], axis=2) + 1e9 * np.eye(count)
    return values, max(float(gaps.min()), 1e-3)


def prototype_outputs(estimates: SkillEstimates, parameters: Any, values: Any) -> Any:
    """Return the prototypes' outputs, [n_terms, n, width], as `SkillEstimates.outputs` does."""
    x = (
        scaled_values(estimates.space, values)[None]
        * estimates.input_mask[:, :, : estimates.space.width]
    )
    squares = (
        (x * x).sum(axis=2, keepdims=True)
        - 2 * jnp.matmul(x, jnp.swapaxes(parameters["prototypes"], 1, 2))
        + (parameters["prototypes"] ** 2).sum(axis=2)[:, None]
    )
    logits = -squares * parameters["precision"][:, :, None]
    directions = jnp.matmul(x - parameters["mean"], parameters["rotation"])
    return jnp.where(estimates.discrete[:, None, None], logits, directions)
