"""Rewards of a round: one head per component and one for the penalty.

    every step      r_t = formula(log q(z | s_(t+1)), log nu)         DIAYN, DUSDi
    at the end      r_t = r(s_0, z, s_(t+1)) - r(s_0, z, s_t)         VIC, LSD
    transitions     r_t = <phi(s_(t+1)) - phi(s_t), z>                METRA

A final reward is paid as differences. They telescope to the reward of the last state minus that of
the first, which no action changes. The penalty follows the reward's timing: with a reward per step,
every step costs the change since the start; otherwise, the increase of that change.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.learners.neural.continuous.prototypes import prototype_outputs
from skillfocus.learners.neural.continuous.state import Fixed
from skillfocus.objectives.objective import Objective
from skillfocus.skills.continuous.estimates import SkillEstimates


class RewardRule(NamedTuple):
    """Computes the rewards of a round.

    Attributes:
        estimates: The discriminators or phi.
        n_settling: Initial steps without reward and penalty, where both are per step.
    """

    estimates: SkillEstimates
    n_settling: int

    @property
    def objective(self) -> Objective:
        """The objective."""
        return self.estimates.objective

    @property
    def n_heads(self) -> int:
        """Number of heads: one per slot, and the penalty."""
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
            fixed: The prototypes and the penalty's strength.
            values: Values of the variables, [n_steps + 1, n, size].
            kind: Kinds of the skills, int [n].
            z: Their components, [n, layout.width].
            released: Weight of the networks' rewards, from 0 (prototypes only) to 1.
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
        fixed_outputs = prototype_outputs(estimates, fixed.prototypes, flat)
        initial = reward.formula(*estimates.log_ratios(fixed_outputs, all_z))
        # terms with a negative weight (DUSDi) always come from the networks
        share = jnp.where(estimates.weights > 0, released, 1.0)[:, None]
        paid = share * paid + (1 - share) * initial
        paid = paid.reshape(-1, n_states, n).transpose(1, 2, 0)
        if reward.timing == "final":
            return paid[1:] - paid[:-1]
        return paid[1:] * self._settled(n_states)[:, None, None]

    def _settled(self, n_states: int) -> jax.Array:
        """Return which steps follow the settling ones, bool [n_states - 1]."""
        return jnp.arange(n_states - 1) >= self.n_settling

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
            return size[1:] * self._settled(n_states)[:, None]
        return size[1:] - size[:-1]

    @property
    def watched(self) -> np.ndarray:
        """Variables that each kind of skill is penalized for, float [n_kinds, n_variables]."""
        penalty, layout = self.objective.penalty, self.estimates.layout
        if penalty is None:
            return np.zeros((len(layout.kinds), layout.n_variables), np.float32)
        rows = [
            [layout.slots[k].variable for k in kind if layout.slots[k].variable is not None]
            for kind in layout.kinds
        ]
        return np.stack(
            [np.asarray(penalty.watched(row, layout.n_variables), np.float32) for row in rows]  # pyright: ignore[reportArgumentType]
        )
