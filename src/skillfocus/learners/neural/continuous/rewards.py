"""Rewards of a round of skills, one head per component and one for the penalty.

    every step      r_t = formula(log q(z | s_(t+1)), log nu)         DIAYN, DUSDi
    at the end      r_t = r(s_0, z, s_(t+1)) - r(s_0, z, s_t)         VIC, LSD
    transitions     r_t = <phi(s_(t+1)) - phi(s_t), z>                METRA

A reward that is due at the end is paid as it grows: its differences add up to it, less the reward
of the first state, which no action changes. The penalty goes with the reward: of every step, the
change since the start; else what the step adds to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from skillfocus.learners.neural.continuous.dealing import dealt_outputs
from skillfocus.learners.neural.continuous.state import Fixed
from skillfocus.objectives.objective import Objective
from skillfocus.skills.continuous.estimates import SkillEstimates


class RewardRule(NamedTuple):
    """How the states of a round are rewarded.

    Attributes:
        estimates: What rewards read.
        n_settling: How many first steps neither earn a reward of every step nor cost a penalty.
    """

    estimates: SkillEstimates
    n_settling: int

    @property
    def objective(self) -> Objective:
        """What skills are rewarded for."""
        return self.estimates.objective

    @property
    def n_heads(self) -> int:
        """One per slot, and the penalty's."""
        return len(self.estimates.layout.slots) + 1

    def rewards(
        self,
        judges: Any,
        fixed: Fixed,
        values: jax.Array,
        kind: jax.Array,
        z: jax.Array,
        released: jax.Array,
    ) -> jax.Array:
        """Return the rewards of every step and head, [n_steps, n, n_heads].

        Args:
            judges: Parameters of discriminators or phi.
            fixed: The deal and the penalty's strength.
            values: Values of the variables, [n_steps + 1, n, size].
            kind: Kinds of the skills, int [n].
            z: Their components, [n, layout.width].
            released: 0 while rewards come from the deal, 1 when from the networks.
        """
        layout = self.estimates.layout
        copies = self._copies(judges, fixed, values, z, released)  # [n_steps, n, n_copies]
        belongs = jnp.zeros((self.estimates.n_copies, len(layout.slots)))
        belongs = belongs.at[jnp.arange(self.estimates.n_copies), self.estimates.slots].set(
            self.estimates.weights
        )
        heads = (copies @ belongs) * jnp.asarray(layout.active)[kind]
        penalty = self._penalty(fixed.strength, values, kind)
        return jnp.concatenate([heads, -penalty[..., None]], axis=2)

    def _copies(
        self, judges: Any, fixed: Fixed, values: jax.Array, z: jax.Array, released: jax.Array
    ) -> jax.Array:
        estimates, reward = self.estimates, self.objective.reward
        n_states, n = values.shape[:2]
        flat = values.reshape(n_states * n, -1)
        start = jnp.tile(values[0], (n_states, 1))
        all_z = jnp.tile(z, (n_states, 1))
        outputs = estimates.outputs(judges, start, flat)
        if not estimates.is_discriminator:
            along = (outputs * estimates.directions(all_z)).sum(axis=2)
            along = along.reshape(-1, n_states, n).transpose(1, 2, 0)
            return reward.formula(along[1:] - along[:-1])  # pyright: ignore[reportReturnType]
        paid = reward.formula(*estimates.log_ratios(outputs, all_z))
        dealt = dealt_outputs(estimates, fixed.dealt, flat)
        before = reward.formula(*estimates.log_ratios(dealt, all_z))
        # what is to be made small (DUSDi) always comes from the networks
        share = jnp.where(estimates.weights > 0, released, 1.0)[:, None]
        paid = share * paid + (1 - share) * before
        paid = paid.reshape(-1, n_states, n).transpose(1, 2, 0)
        if reward.timing == "final":
            return paid[1:] - paid[:-1]
        return paid[1:] * self._settled(n_states)[:, None, None]

    def _settled(self, n_states: int) -> jax.Array:
        """Return which steps count where every step does, bool [n_states - 1]."""
        return jnp.arange(n_states - 1) >= self.n_settling

    def _penalty(self, strength: jax.Array, values: jax.Array, kind: jax.Array) -> jax.Array:
        """Return what every step costs, [n_steps, n]."""
        penalty, space = self.objective.penalty, self.estimates.space
        n_states, n = values.shape[:2]
        if penalty is None:
            return jnp.zeros((n_states - 1, n))
        watched = jnp.tile(jnp.asarray(self.watched)[kind], (n_states, 1))
        flat, start = values.reshape(n_states * n, -1), jnp.tile(values[0], (n_states, 1))
        size = penalty.measure(space, start, flat, watched)  # pyright: ignore[reportArgumentType]
        size = strength * size.reshape(n_states, n)
        if self.objective.reward.timing == "step":
            return size[1:] * self._settled(n_states)[:, None]
        return size[1:] - size[:-1]

    @property
    def watched(self) -> Any:
        """Which variables each kind of skill must not change, float [n_kinds, n_variables]."""
        penalty, layout = self.objective.penalty, self.estimates.layout
        assert penalty is not None
        rows = [
            [layout.slots[k].variable for k in kind if layout.slots[k].variable is not None]
            for kind in layout.kinds
        ]
        return jnp.stack(
            [jnp.asarray(penalty.watched(row, layout.n_variables), jnp.float32) for row in rows]  # pyright: ignore[reportArgumentType]
        )
