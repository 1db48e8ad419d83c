"""Estimators of real-valued skills: discriminators, or phi, a small network per term of the reward.

Every copy depends on some variables and belongs to one component of the skill. Its network takes
only these variables, scaled to -1 to 1, and outputs

    a discriminator   discrete z: logits, log q = log softmax
                      z on a sphere: m in R^d, |m| <= MAX_CONCENTRATION, von Mises-Fisher density
                      log q(z) - log nu(z) = <m, z> - log 0F1(d/2; |m|^2 / 4), nu uniform
    phi               a vector with the dimension of z; the reward is a projection on z, where a
                      discrete z is encoded as 1 for its own value and -1/(K - 1) for the others

They are trained by

    discriminator   minimize  -E log q(z | s)
    LSD             maximize  E <phi(s_T) - phi(s_0), z>, then divide every layer by its norm
    METRA           maximize  E [<phi(s') - phi(s), z> + lambda room],
                    then      log lambda <- log lambda - rate E room,
                              room = min(slack, 1 - |phi(s') - phi(s)|^2)

All networks of a set are evaluated in one batch: parameters have a leading axis of terms.
Predictions take NumPy or JAX arrays, updates JAX arrays.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skillfocus.machine import array_namespace
from skillfocus.objectives.objective import (
    Discriminator,
    Objective,
    Representation,
    TemporalRepresentation,
)
from skillfocus.skills.network import log_softmax, normalize
from skillfocus.spaces import Space
from skillfocus.worlds.jax.world import jax, jnp

if TYPE_CHECKING:
    from skillfocus.skills.actor import SkillCode

MIN_PROBABILITY = 1e-3
"""Lower bound of q for discrete components, so that log q stays finite."""
MAX_CONCENTRATION = 10.0
"""Largest concentration of a density on a sphere."""
_TERMS = 40
"""Terms of the series of 0F1; it converges within these up to `MAX_CONCENTRATION`."""


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


class EstimatorState(NamedTuple):
    """Estimators in training.

    Attributes:
        params: Parameters of the networks.
        optimizer: State of their optimizer.
        vectors: Right singular vectors of phi's weight matrices, for power iteration (LSD).
        log_dual: log lambda of every copy, [n_terms] (METRA).
    """

    params: Any
    optimizer: Any
    vectors: Any
    log_dual: jax.Array


class SkillEstimates:
    """The discriminators or representations of a set of skills, one per term of the reward.

    Args:
        space: The world's variables.
        objective: The skills' objective.
        code: How skills are encoded.

    Attributes:
        n_terms: Number of reward terms.
        slots: The slot of each term, int [n_terms].
        weights: The weight of each term, float32 [n_terms].
        width: Number of outputs, set by the widest component; the others leave some unused.
        used: Which outputs a term uses, bool [n_terms, width].
        discrete: Whether a term's component is discrete, bool [n_terms].
        is_discriminator: Whether the networks are discriminators; otherwise they are phi.
        is_lipschitz: Whether phi's layers have spectral norms of at most 1 (LSD).
        sees_start: Whether discriminators also take the first values (VIC).
        n_inputs: Number of inputs of a network.
        input_mask: Mask of each term's inputs, float32 [n_terms, 1, n_inputs].
        log_prior: log nu of each term's component, float32 [n_terms]; 0 on spheres.
    """

    def __init__(self, space: Space, objective: Objective, code: SkillCode) -> None:
        self.space, self.objective, self.code = space, objective, code
        terms, reward, estimate = code.terms(objective), objective.reward, objective.reward.estimate
        slots = [code.slots[k] for k, _ in terms]
        self.n_terms = len(terms)
        self.slots = np.array([k for k, _ in terms])
        self.weights = np.array([term.weight for _, term in terms], np.float32)
        self.width = max(slot.width for slot in code.slots)
        self.used = np.arange(self.width) < np.array([slot.width for slot in slots])[:, None]
        self.discrete = np.array([slot.is_discrete for slot in slots])
        self.is_discriminator = isinstance(estimate, Discriminator)
        self.is_lipschitz = isinstance(estimate, Representation)
        self.sees_start = self.is_discriminator and reward.timing == "final" and reward.uses_start
        self.n_inputs = space.width * (2 if self.sees_start else 1)
        seen = np.zeros((self.n_terms, 1, space.width), np.float32)
        for row, (_, term) in enumerate(terms):
            for j in term.variables:
                seen[row, 0, space.slices[j]] = 1.0
        self.input_mask = np.tile(seen, 2 if self.sees_start else 1)
        logs = -np.log(self.used.sum(axis=1))
        if isinstance(estimate, Discriminator) and isinstance(estimate.prior, float):
            logs = np.full(self.n_terms, math.log(estimate.prior))
        self.log_prior = np.where(self.discrete, logs, 0.0).astype(np.float32)

    def init(self, hidden: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Return initial parameters: two hidden layers, `w0` [n_terms, n_inputs, hidden], …"""
        params = {}
        for i, (_, fan_in, fan_out) in enumerate(self.shapes(hidden)):
            # masked inputs are 0 and do not count as fan-in
            used = self.input_mask.sum(axis=2, keepdims=True) if i == 0 else fan_in
            scale = np.sqrt((0.1 if i == 2 and self.is_discriminator else 2.0) / used)
            weights = rng.standard_normal((self.n_terms, fan_in, fan_out)) * scale
            params[f"w{i}"] = weights.astype(np.float32)
            params[f"b{i}"] = np.zeros((self.n_terms, 1, fan_out), np.float32)
        return params

    def shapes(self, hidden: int) -> list[tuple[int, int, int]]:
        """Return the shapes of the weights of every layer."""
        sizes = itertools.pairwise([self.n_inputs, hidden, hidden, self.width])
        return [(self.n_terms, *pair) for pair in sizes]

    # ------------------------------------------------------------------ predict

    def outputs(self, params: Any, start: Any, values: Any) -> Any:
        """Return the networks' outputs, [n_terms, n, width], for values [n, width]."""
        xp = array_namespace(values)
        x = scaled_values(self.space, values)
        if self.sees_start:
            x = xp.concatenate([x, scaled_values(self.space, start)], axis=1)
        x = x[None] * self.input_mask
        for i in range(2):
            x = xp.matmul(x, params[f"w{i}"]) + params[f"b{i}"]
            if self.is_discriminator:
                x = normalize(x)
            x = xp.maximum(x, 0.0)
        return xp.matmul(x, params["w2"]) + params["b2"]

    def components(self, z: Any) -> Any:
        """Return each term's part of z [n, code.width], as [n_terms, n, width]."""
        xp = array_namespace(z)
        parts = [z[:, self.code.places[k]] for k in self.slots]
        pads = [((0, 0), (0, self.width - part.shape[1])) for part in parts]
        return xp.stack([xp.pad(part, pad) for part, pad in zip(parts, pads, strict=True)])

    def log_ratios(self, outputs: Any, z: Any) -> tuple[Any, Any]:
        """Return log q and log nu of every copy's component, [n_terms, n] each.

        On spheres, log q is relative to the uniform density, and log nu is 0.
        """
        xp = array_namespace(z)
        parts = self.components(z)
        logits = xp.where(self.used[:, None], outputs, -1e9)
        log_q = (log_softmax(logits, MIN_PROBABILITY) * parts).sum(axis=2)
        if not self.discrete.all():
            directions = xp.where(self.used[:, None], outputs, 0.0)
            on_sphere = log_density_on_sphere(directions, parts, self.used.sum(axis=1)[:, None])
            log_q = xp.where(self.discrete[:, None], log_q, on_sphere)
        return log_q, xp.zeros_like(log_q) + self.log_prior[:, None]

    def directions(self, z: Any) -> Any:
        """Return the directions that phi is projected on, [n_terms, n, width].

        On a sphere this is z itself; a discrete z is centered.
        """
        xp = array_namespace(z)
        parts = self.components(z)
        count = self.used.sum(axis=1)[:, None, None].astype(np.float32)
        centered = (parts - 1 / count) * (count / np.maximum(count - 1, 1))
        return xp.where(self.discrete[:, None, None], centered * self.used[:, None], parts)

    # ------------------------------------------------------------------ update

    def loss(
        self, params: Any, log_dual: jax.Array, batch: EstimatorBatch
    ) -> tuple[jax.Array, jax.Array]:
        """Return the loss, and the mean of METRA's `constraint_room`, [n_terms]."""
        counted = batch.active[:, self.slots].T  # [n_terms, n]
        share = counted / (counted.sum(axis=1, keepdims=True) + 1e-6)
        outputs = self.outputs(params, batch.start, batch.after)
        if self.is_discriminator:
            log_q, _ = self.log_ratios(outputs, batch.z)
            return -(share * log_q).sum(), jnp.zeros(self.n_terms)
        first = batch.start if self.is_lipschitz else batch.before
        change = (outputs - self.outputs(params, batch.start, first)) * self.used[:, None]
        gain = (share * (change * self.directions(batch.z)).sum(axis=2)).sum()
        if self.is_lipschitz:
            return -gain, jnp.zeros(self.n_terms)
        room = self.constraint_room(change).mean(axis=1)
        # the constraint applies to all adjacent states, whichever skill visited them
        return -gain - (jnp.exp(log_dual) * room).sum(), room

    def constraint_room(self, change: jax.Array) -> jax.Array:
        """Return min(slack, 1 - |change|^2), [n_terms, n], for changes [n_terms, n, width]."""
        estimate = self.objective.reward.estimate
        assert isinstance(estimate, TemporalRepresentation)
        return jnp.minimum(estimate.slack, 1 - (change**2).sum(axis=2))

    def dual_step(self, log_dual: jax.Array, room: jax.Array) -> jax.Array:
        """Return log lambda after dual ascent; `room` is the mean of `constraint_room`."""
        estimate = self.objective.reward.estimate
        is_temporal = isinstance(estimate, TemporalRepresentation)
        return log_dual - estimate.rate * room if is_temporal else log_dual

    def update(
        self, optimizer: Any, state: EstimatorState, batch: EstimatorBatch
    ) -> tuple[EstimatorState, jax.Array]:
        """Make one update by an optimizer of Optax; return the new state and the loss."""
        gradient_of = jax.value_and_grad(self.loss, has_aux=True)
        (loss, room), gradient = gradient_of(state.params, state.log_dual, batch)
        step, optimizer_state = optimizer.update(gradient, state.optimizer, state.params)
        params = jax.tree.map(lambda w, d: w + d, state.params, step)
        params, vectors = divide_by_norms(params, state.vectors)
        log_dual = self.dual_step(state.log_dual, room)
        return EstimatorState(params, optimizer_state, vectors, log_dual), loss


def init_vectors(params: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the initial vectors of power iteration, [n_terms, fan_out] per layer."""
    return {
        name: rng.standard_normal(w.shape[::2]).astype(np.float32)
        for name, w in params.items()
        if name.startswith("w")
    }


def divide_by_norms(params: Any, vectors: Any) -> tuple[Any, Any]:
    """Divide the layers that have vectors by their spectral norm, after one power iteration."""
    params, vectors = dict(params), dict(vectors)
    for name, right in vectors.items():
        w = params[name]
        left = jnp.einsum("mio,mo->mi", w, right)
        left = left / (jnp.linalg.norm(left, axis=1, keepdims=True) + 1e-12)
        right = jnp.einsum("mio,mi->mo", w, left)
        norm = jnp.linalg.norm(right, axis=1, keepdims=True) + 1e-12
        vectors[name], params[name] = right / norm, w / norm[:, :, None]
    return params, vectors


def spectral_norms(params: Any) -> np.ndarray:
    """Return the exact spectral norm of every linear layer, float [n_terms, n_layers]."""
    layers = [np.asarray(params[f"w{i}"], np.float64) for i in range(3)]
    return np.stack([np.linalg.norm(w, ord=2, axis=(1, 2)) for w in layers], axis=1)


def log_density_on_sphere(m: Any, z: Any, dimensions: Any) -> Any:
    """Return the von Mises-Fisher log density of z relative to the uniform one.

        log q(z) - log nu(z) = <m', z> - log 0F1(d/2; |m'|^2 / 4)

    where m' is m with its length squashed below `MAX_CONCENTRATION`.

    Args:
        m: Natural parameters, [..., width]; entries beyond d are 0.
        z: Directions, [..., width].
        dimensions: d, broadcast against [...].
    """
    xp = array_namespace(z)
    length = xp.sqrt((m * m).sum(axis=-1) + 1e-12)
    most = MAX_CONCENTRATION * xp.tanh(length / MAX_CONCENTRATION)
    along = (m * z).sum(axis=-1) * most / length
    term = total = xp.ones_like(most)
    for k in range(_TERMS):
        term = term * (most**2 / 4) / ((dimensions / 2 + k) * (k + 1))
        total = total + term
    return along - xp.log(total)


def half_widths(space: Space) -> np.ndarray:
    """Return the unit of each scaled value, [width]: half its range, or half its scale."""
    return np.array(
        [
            (high - low if math.isfinite(high - low) else variable.largest_distance) / 2
            for variable in space.variables
            for low, high in zip(variable.low, variable.high, strict=True)
        ],
        np.float32,
    )


def scaled_values(space: Space, values: Any) -> Any:
    """Scale values, [n, width]: bounded ones to -1 to 1, others by `half_widths`."""
    finite = np.isfinite(space.low) & np.isfinite(space.high)
    with np.errstate(invalid="ignore"):
        middle = np.where(finite, (space.low + space.high) / 2, 0).astype(np.float32)
    return (values - middle) / half_widths(space)
