"""Updates of the judges, the networks that rewards depend on: discriminators, or phi.

discriminator   minimise  -E log q(z | s)
LSD             maximise  E <phi(s_T) - phi(s_0), z>, then divide every layer by its norm
METRA           maximise  E [<phi(s') - phi(s), z> + lambda min(slack, 1 - |phi(s') - phi(s)|^2)]
                then      log lambda <- log lambda - rate E min(slack, 1 - |phi(s') - phi(s)|^2)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from skillfocus.objectives.estimates import TemporalRepresentation
from skillfocus.skills.continuous.estimates import SkillEstimates


class JudgeBatch(NamedTuple):
    """A batch of transitions that judges are trained on.

    Attributes:
        start: First values of the skill, [n, size].
        before: Values before the step, [n, size].
        after: Values after it, [n, size].
        active: Which slots are active, [n, n_slots].
        z: Components, [n, layout.width].
    """

    start: jax.Array
    before: jax.Array
    after: jax.Array
    active: jax.Array
    z: jax.Array


def judge_loss(
    estimates: SkillEstimates, judges: Any, batch: JudgeBatch, log_dual: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return the loss of the judges, and the mean of METRA's `constraint_room`, [n_copies]."""
    counted = batch.active[:, estimates.slots].T  # [n_copies, n]
    share = counted / (counted.sum(axis=1, keepdims=True) + 1e-6)
    outputs = estimates.outputs(judges, batch.start, batch.after)
    if estimates.is_discriminator:
        log_q, _ = estimates.log_ratios(outputs, batch.z)
        return -(share * log_q).sum(), jnp.zeros(estimates.n_copies)
    first = batch.start if estimates.is_lipschitz else batch.before
    change = (outputs - estimates.outputs(judges, batch.start, first)) * estimates.used[:, None]
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


def judge_update(
    estimates: SkillEstimates,
    optimizer: optax.GradientTransformation,
    judges: Any,
    state: Any,
    vectors: Any,
    log_dual: jax.Array,
    batch: JudgeBatch,
) -> tuple[Any, Any, Any, jax.Array, jax.Array]:
    """Make one update; return judges, optimizer state, singular vectors, log lambda and loss."""

    def loss_of(judges: Any) -> tuple[jax.Array, jax.Array]:
        return judge_loss(estimates, judges, batch, log_dual)

    (loss, room), gradient = jax.value_and_grad(loss_of, has_aux=True)(judges)
    step, state = optimizer.update(gradient, state, judges)
    judges = optax.apply_updates(judges, step)
    if estimates.is_lipschitz:
        judges, vectors = normalise(judges, vectors)
    return judges, state, vectors, dual_step(estimates, log_dual, room), loss


def init_vectors(judges: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the initial vectors of power iteration, [n_copies, fan_out] per layer."""
    return {
        name: rng.standard_normal(w.shape[::2]).astype(np.float32)
        for name, w in judges.items()
        if name.startswith("w")
    }


def normalise(judges: Any, vectors: Any) -> tuple[Any, Any]:
    """Divide every linear layer by its spectral norm, after one power iteration."""
    judges, vectors = dict(judges), dict(vectors)
    for name, right in vectors.items():
        w = judges[name]
        left = jnp.einsum("mio,mo->mi", w, right)
        left = left / (jnp.linalg.norm(left, axis=1, keepdims=True) + 1e-12)
        right = jnp.einsum("mio,mi->mo", w, left)
        norm = jnp.linalg.norm(right, axis=1, keepdims=True) + 1e-12
        vectors[name] = right / norm
        judges[name] = w / norm[:, :, None]
    return judges, vectors
