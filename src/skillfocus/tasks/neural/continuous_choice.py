"""Policy head over continuous skills: a kind of skill, and a component for each of its targets.

    pi(kind, z | s) = pi(kind | s)  product over the kind's slots of  pi(z_slot | s)

A discrete component is sampled from a softmax. A direction is sampled as x ~ N(mu, sigma^2) and
normalized; its density is that of x. Slots that the kind does not have are sampled too, but
ignored.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from skillfocus.objectives.skill_layout import SkillLayout

LOG_SIGMA = -0.7
"""log sigma of directions."""


class Choice(NamedTuple):
    """A batch of chosen skills.

    Attributes:
        kind: Indices of the kinds, int32 [n].
        z: Components, [n, layout.width]; 0 in slots that the kind does not have.
        sampled: Sample of every slot, [n, layout.width]: one-hot, or x.
    """

    kind: jax.Array
    z: jax.Array
    sampled: jax.Array


class SkillChoice(NamedTuple):
    """Distributions over the skills of a layout, from the outputs of a network."""

    layout: SkillLayout

    @property
    def n_outputs(self) -> int:
        """Number of outputs: one per kind, then those of z."""
        return len(self.layout.kinds) + self.layout.width

    def _split(self, outputs: jax.Array) -> tuple[jax.Array, list[jax.Array]]:
        n_kinds = len(self.layout.kinds)
        rest = outputs[:, n_kinds:]
        return outputs[:, :n_kinds], [rest[:, place] for place in self.layout.places]

    def sample(self, key: jax.Array, outputs: jax.Array, greedy: Any = False) -> Choice:
        """Sample skills, or choose the most likely ones."""
        kinds, parts = self._split(outputs)
        key_kind, key_slots = jax.random.split(key)
        kind = jnp.where(greedy, kinds.argmax(axis=1), jax.random.categorical(key_kind, kinds))
        sampled, used = [], []
        for k, (slot, part) in enumerate(zip(self.layout.slots, parts, strict=True)):
            key_slot = jax.random.fold_in(key_slots, k)
            if slot.is_discrete:
                chosen = jnp.where(
                    greedy, part.argmax(axis=1), jax.random.categorical(key_slot, part)
                )
                x = z = jax.nn.one_hot(chosen, slot.width)
            else:
                noise = jnp.where(greedy, 0.0, jax.random.normal(key_slot, part.shape))
                x = part + math.exp(LOG_SIGMA) * noise
                z = x / (jnp.linalg.norm(x, axis=1, keepdims=True) + 1e-6)
            sampled.append(x)
            used.append(z * jnp.asarray(self.layout.active)[kind, k][:, None])
        return Choice(
            kind.astype(jnp.int32), jnp.concatenate(used, axis=1), jnp.concatenate(sampled, axis=1)
        )

    def log_probability(self, outputs: jax.Array, kind: jax.Array, sampled: jax.Array) -> jax.Array:
        """Return the log probability of choices, [n]."""
        kinds, parts = self._split(outputs)
        total = jnp.take_along_axis(jax.nn.log_softmax(kinds), kind[:, None], axis=1)[:, 0]
        active = jnp.asarray(self.layout.active)[kind]
        for k, (slot, part) in enumerate(zip(self.layout.slots, parts, strict=True)):
            mine = sampled[:, self.layout.places[k]]
            if slot.is_discrete:
                log = (jax.nn.log_softmax(part) * mine).sum(axis=1)
            else:
                scaled = (mine - part) / math.exp(LOG_SIGMA)
                constant = LOG_SIGMA + 0.5 * math.log(2 * math.pi)
                log = (-0.5 * scaled**2 - constant).sum(axis=1)
            total = total + active[:, k] * log
        return total

    def entropy(self, outputs: jax.Array) -> jax.Array:
        """Return the entropy of kinds and discrete components, [n].

        The entropy of directions is constant and left out.
        """
        kinds, parts = self._split(outputs)
        share = jax.nn.softmax(kinds)
        total = -(share * jax.nn.log_softmax(kinds)).sum(axis=1)
        has_slot = share @ jnp.asarray(self.layout.active)
        for k, (slot, part) in enumerate(zip(self.layout.slots, parts, strict=True)):
            if slot.is_discrete:
                mine = -(jax.nn.softmax(part) * jax.nn.log_softmax(part)).sum(axis=1)
                total = total + has_slot[:, k] * mine
        return total
