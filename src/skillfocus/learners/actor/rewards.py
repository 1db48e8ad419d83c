"""Updates of the estimators, the networks that rewards depend on: discriminators, or phi.

discriminator   minimize  -E log q(z | s)
LSD             maximize  E <phi(s_T) - phi(s_0), z>, then divide every layer by its norm
METRA           maximize  E [<phi(s') - phi(s), z> + lambda min(slack, 1 - |phi(s') - phi(s)|^2)]
                then      log lambda <- log lambda - rate E min(slack, 1 - |phi(s') - phi(s)|^2)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from skillfocus.objectives.kinds import WHOLE
from skillfocus.objectives.objective import Objective, TemporalRepresentation
from skillfocus.skills.actor import MOST, SkillEstimates, scaled_values


class EstimatorBatch(NamedTuple):
    """A batch of transitions that estimators are trained on.

    Attributes:
        start: First values of the skill, [n, width].
        before: Values before the step, [n, width].
        after: Values after it, [n, width].
        active: Which slots are active, [n, n_slots].
        z: Components, [n, code.width].
    """

    start: jax.Array
    before: jax.Array
    after: jax.Array
    active: jax.Array
    z: jax.Array


def estimator_loss(
    estimates: SkillEstimates, estimators: Any, batch: EstimatorBatch, log_dual: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return the loss of the estimators, and the mean of METRA's `constraint_room`, [n_copies]."""
    counted = batch.active[:, estimates.slots].T  # [n_copies, n]
    share = counted / (counted.sum(axis=1, keepdims=True) + 1e-6)
    outputs = estimates.outputs(estimators, batch.start, batch.after)
    if estimates.is_discriminator:
        log_q, _ = estimates.log_ratios(outputs, batch.z)
        return -(share * log_q).sum(), jnp.zeros(estimates.n_copies)
    first = batch.start if estimates.is_lipschitz else batch.before
    change = (outputs - estimates.outputs(estimators, batch.start, first)) * estimates.used[:, None]
    along = (change * estimates.directions(batch.z)).sum(axis=2)
    gain = (share * along).sum()
    if estimates.is_lipschitz:
        return -gain, jnp.zeros(estimates.n_copies)
    room = constraint_room(estimates, change)
    # the constraint applies to all adjacent states, whichever skill visited them
    return -gain - (jnp.exp(log_dual) * room.mean(axis=1)).sum(), room.mean(axis=1)


def constraint_room(estimates: SkillEstimates, change: jax.Array) -> jax.Array:
    """Return min(slack, 1 - |change|^2), [n_copies, n], for changes [n_copies, n, width]."""
    estimate = estimates.objective.reward.estimate
    assert isinstance(estimate, TemporalRepresentation)
    return jnp.minimum(estimate.slack, 1 - (change**2).sum(axis=2))


def dual_step(estimates: SkillEstimates, log_dual: jax.Array, room: jax.Array) -> jax.Array:
    """Return log lambda after a step of dual ascent; `room` is the mean of `constraint_room`."""
    estimate = estimates.objective.reward.estimate
    if not isinstance(estimate, TemporalRepresentation):
        return log_dual
    return log_dual - estimate.rate * room


def estimator_update(
    estimates: SkillEstimates,
    optimizer: optax.GradientTransformation,
    estimators: Any,
    state: Any,
    vectors: Any,
    log_dual: jax.Array,
    batch: EstimatorBatch,
) -> tuple[Any, Any, Any, jax.Array, jax.Array]:
    """Make one update; return estimators, optimizer state, vectors, log lambda and loss."""

    def loss_of(estimators: Any) -> tuple[jax.Array, jax.Array]:
        return estimator_loss(estimates, estimators, batch, log_dual)

    (loss, room), gradient = jax.value_and_grad(loss_of, has_aux=True)(estimators)
    step, state = optimizer.update(gradient, state, estimators)
    estimators = optax.apply_updates(estimators, step)
    if estimates.is_lipschitz:
        estimators, vectors = normalize(estimators, vectors)
    return estimators, state, vectors, dual_step(estimates, log_dual, room), loss


def init_vectors(estimators: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the initial vectors of power iteration, [n_copies, fan_out] per layer."""
    return {
        name: rng.standard_normal(w.shape[::2]).astype(np.float32)
        for name, w in estimators.items()
        if name.startswith("w")
    }


def normalize(estimators: Any, vectors: Any) -> tuple[Any, Any]:
    """Divide every linear layer by its spectral norm, after one power iteration."""
    estimators, vectors = dict(estimators), dict(vectors)
    for name, right in vectors.items():
        w = estimators[name]
        left = jnp.einsum("mio,mo->mi", w, right)
        left = left / (jnp.linalg.norm(left, axis=1, keepdims=True) + 1e-12)
        right = jnp.einsum("mio,mi->mo", w, left)
        norm = jnp.linalg.norm(right, axis=1, keepdims=True) + 1e-12
        vectors[name] = right / norm
        estimators[name] = w / norm[:, :, None]
    return estimators, vectors


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
"""Concentration of a direction one standard deviation from the mean, relative to `MOST`."""


def choose_prototypes(
    estimates: SkillEstimates, reached: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Choose the parameters of the prototype discriminators.

    Args:
        estimates: The discriminators.
        reached: Values that random actions reach, [n, width].
        rng: Source of randomness.

    Returns:
        `prototypes` [n_copies, width, size] and `precision` [n_copies, 1] for discrete components,
        `mean` [n_copies, 1, size] and `rotation` [n_copies, size, width] for those on spheres.
    """
    x = np.asarray(scaled_values(estimates.space, reached))
    n, size, width = estimates.n_copies, x.shape[1], estimates.width
    parameters = {
        "prototypes": np.zeros((n, width, size), np.float32),
        "precision": np.ones((n, 1), np.float32),
        "mean": np.zeros((n, 1, size), np.float32),
        "rotation": np.zeros((n, size, width), np.float32),
    }
    for copy in range(n):
        seen = estimates.seen[copy, :, :size]
        mine, used = x * seen, int(estimates.used[copy].sum())
        if estimates.discrete[copy]:
            chosen, gap = _far_apart(mine, seen[0], used, rng)
            parameters["prototypes"][copy, :used] = chosen
            parameters["precision"][copy] = 1 / (2 * (SHARPNESS * gap) ** 2)
            continue
        mean, spread = mine.mean(axis=0), mine.std(axis=0).max() + 1e-6
        rows = np.flatnonzero(seen[0])
        square = np.linalg.qr(rng.standard_normal((max(len(rows), used),) * 2))[0]
        parameters["mean"][copy, 0] = mean
        parameters["rotation"][copy][np.ix_(rows, np.arange(used))] = (
            SURE * MOST / spread * square[: len(rows), :used]
        )
    return parameters


def _far_apart(
    x: np.ndarray, seen: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Choose values by farthest-point sampling.

    If fewer distinct values were reached, the rest is sampled uniformly within the bounds.

    Returns:
        The values in a random order, [count, size], and the distance between the closest two.
    """
    chosen = [x[rng.integers(len(x))]]
    distance = np.linalg.norm(x - chosen[0], axis=1)
    chosen[0] = x[distance.argmax()]  # start at an extreme
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
    """Return the prototype discriminators' outputs, [n_copies, n, width].

    They have the form of `SkillEstimates.outputs`.
    """
    x = scaled_values(estimates.space, values)[None] * estimates.seen[:, :, : estimates.space.width]
    squares = (
        (x * x).sum(axis=2, keepdims=True)
        - 2 * jnp.matmul(x, jnp.swapaxes(parameters["prototypes"], 1, 2))
        + (parameters["prototypes"] ** 2).sum(axis=2)[:, None]
    )
    logits = -squares * parameters["precision"][:, :, None]
    directions = jnp.matmul(x - parameters["mean"], parameters["rotation"])
    return jnp.where(estimates.discrete[:, None, None], logits, directions)


# -------------------- Training state of an actor, and the data of a round


class Round(NamedTuple):
    """Rollouts of one skill in every environment.

    Attributes:
        inputs: The actor's inputs, [n_steps, n, n_inputs].
        u: Sampled actions before the tanh, [n_steps, n, n_action_dims].
        log_prob: Log density of each dimension of u, [n_steps, n, n_action_dims].
        values: Values of the variables, first ones included, [n_steps + 1, n, width].
        kind: Kinds of the skills, int32 [n].
        z: Their components, [n, code.width].
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
        estimators: Parameters of discriminators or phi.
        estimator_optimizer: State of their optimizer.
        vectors: Right singular vectors of phi's weight matrices, for power iteration (LSD).
        log_dual: log lambda of every copy, [n_copies] (METRA).
        spread: Running root mean square of every head's returns, [n_heads].
        state: States of the environments.
        rounds: Rounds so far.
    """

    key: jax.Array
    nets: Any
    optimizer: Any
    estimators: Any
    estimator_optimizer: Any
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
        prototypes: Parameters of the fixed discriminators.
        strength: Strength of the penalty.
        credit: Weights of action dimensions and heads by kind, [n_kinds, n_action_dims, n_heads],
            see `acting.py`; [] without `Actor.credit`.
    """

    shift: jax.Array
    scale: jax.Array
    prototypes: Any
    strength: jax.Array
    credit: jax.Array


# -------------------- Rewards of a round: one head per component and one for the penalty
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
    def objective(self) -> Objective:
        """The objective."""
        return self.estimates.objective

    @property
    def n_heads(self) -> int:
        """Number of heads: one per slot, and the penalty."""
        return len(self.estimates.code.slots) + 1

    def rewards(
        self,
        estimators: Any,
        fixed: Fixed,
        values: jax.Array,
        kind: jax.Array,
        z: jax.Array,
        released: jax.Array,
    ) -> jax.Array:
        """Return the rewards of every step and head, [n_steps, n, n_heads].

        Args:
            estimators: Parameters of discriminators or phi.
            fixed: The prototypes and the penalty's strength.
            values: Values of the variables, [n_steps + 1, n, width].
            kind: Kinds of the skills, int [n].
            z: Their components, [n, code.width].
            released: Weight of the networks' rewards, from 0 (prototypes only) to 1.
        """
        code = self.estimates.code
        copies = self._copies(estimators, fixed, values, z, released)  # [n_steps, n, n_copies]
        belongs = jnp.zeros((self.estimates.n_copies, len(code.slots)))
        belongs = belongs.at[jnp.arange(self.estimates.n_copies), self.estimates.slots].set(
            self.estimates.weights
        )
        heads = (copies @ belongs) * jnp.asarray(code.active)[kind]
        penalty = self._penalty(fixed.strength, values, kind)
        return jnp.concatenate([heads, -penalty[..., None]], axis=2)

    def _copies(
        self, estimators: Any, fixed: Fixed, values: jax.Array, z: jax.Array, released: jax.Array
    ) -> jax.Array:
        estimates, reward = self.estimates, self.objective.reward
        n_states, n = values.shape[:2]
        flat = values.reshape(n_states * n, -1)
        start = jnp.tile(values[0], (n_states, 1))
        all_z = jnp.tile(z, (n_states, 1))
        outputs = estimates.outputs(estimators, start, flat)
        if not estimates.is_discriminator:
            along = (outputs * estimates.directions(all_z)).sum(axis=2)
            along = along.reshape(-1, n_states, n).transpose(1, 2, 0)
            return reward.formula(along[1:] - along[:-1])  # pyright: ignore[reportReturnType]
        paid = reward.formula(*estimates.log_ratios(outputs, all_z))
        fixed_outputs = prototype_outputs(estimates, fixed.prototypes, flat)
        initial = reward.formula(*estimates.log_ratios(fixed_outputs, all_z))
        # terms with a negative weight (DUSDi) always come from the networks
        share = jnp.where(estimates.weights > 0, released, 1.0)[:, None]
        paid = share * paid + (1 - share) * initial
        paid = paid.reshape(-1, n_states, n).transpose(1, 2, 0)
        if reward.timing == "final":
            return paid[1:] - paid[:-1]
        return paid[1:] * self._after_grace(n_states)[:, None, None]

    def _after_grace(self, n_states: int) -> jax.Array:
        """Return which steps follow the settling ones, bool [n_states - 1]."""
        return jnp.arange(n_states - 1) >= self.n_grace

    def _penalty(self, strength: jax.Array, values: jax.Array, kind: jax.Array) -> jax.Array:
        """Return the penalty of every step, [n_steps, n]."""
        penalty, space = self.objective.penalty, self.estimates.space
        n_states, n = values.shape[:2]
        if penalty is None:
            return jnp.zeros((n_states - 1, n))
        watched = jnp.tile(jnp.asarray(self.watched)[kind], (n_states, 1))
        flat, start = values.reshape(n_states * n, -1), jnp.tile(values[0], (n_states, 1))
        size = penalty.measure(space, start, flat, watched)  # pyright: ignore[reportArgumentType]
        size = strength * size.reshape(n_states, n)
        if self.objective.reward.timing == "step":
            return size[1:] * self._after_grace(n_states)[:, None]
        return size[1:] - size[:-1]

    @property
    def watched(self) -> np.ndarray:
        """Variables that each kind of skill is penalized for, float [n_kinds, n_variables]."""
        penalty, code = self.objective.penalty, self.estimates.code
        if penalty is None:
            return np.zeros((len(code.kinds), code.n_variables), np.float32)
        rows = [
            [code.slots[k].variable for k in kind if code.slots[k].variable != WHOLE]
            for kind in code.kinds
        ]
        return np.stack(
            [np.asarray(penalty.watched(row, code.n_variables), np.float32) for row in rows]
        )
