"""Options: skills first, then primitive actions.

A skill is available in a state unless it would stop there at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from skillfocus.errors import UserError
from skillfocus.skills.neural.policy import NeuralPolicy
from skillfocus.skills.skills import Skills
from skillfocus.worlds.jax.world import JaxWorld

Policy = Callable[..., Any]
"""`policy(weights, starts, values)`: the action of every skill, int [n, n_skills]; `n_actions`
means "stop". A stochastic policy also takes uniform samples from [0, 1), [n]."""


@dataclass(frozen=True)
class Options:
    """Skills as functions in JAX, and the primitive actions.

    A custom set, here one skill that repeats the first action::

        Options(lambda _, starts, values: 0 * values[:, :1], None, 1, step_limit=5, n_actions=4)

    Attributes:
        policy: The skills' policy.
        weights: First argument of the policy: arrays, or None.
        n_skills: Number of skills.
        step_limit: Maximum steps of a skill.
        n_actions: Number of primitive actions.
        draws_actions: Whether the policy is stochastic.
    """

    policy: Policy
    weights: Any
    n_skills: int
    step_limit: int
    n_actions: int
    draws_actions: bool = False

    def __len__(self) -> int:
        return self.n_skills + self.n_actions

    def skill_actions(self, key: jax.Array, starts: jax.Array, values: jax.Array) -> jax.Array:
        """Return the action of every skill, int32 [n, n_skills]; `n_actions` where it stops."""
        draws = (jax.random.uniform(key, (len(values),)),) if self.draws_actions else ()
        return self.policy(self.weights, starts, values, *draws).astype(jnp.int32)

    def first_actions(self, skill_actions: jax.Array) -> jax.Array:
        """Return the first action of every option, int32 [n, n_options].

        Args:
            skill_actions: Actions of skills in their first state; `n_actions` where a skill is not
                available.
        """
        actions = jnp.arange(self.n_actions, dtype=jnp.int32)
        primitives = jnp.broadcast_to(actions, (len(skill_actions), self.n_actions))
        return jnp.concatenate([skill_actions, primitives], axis=1)

    def initial_actions(self, key: jax.Array, values: jax.Array) -> jax.Array:
        """Return the first action of every option that starts in given states."""
        return self.first_actions(self.skill_actions(key, values, values))

    def next_action(self, option: jax.Array, skill_actions: jax.Array) -> jax.Array:
        """Return the next action of running options, int32 [n]; `n_actions` where they end.

        Args:
            option: The options, [n].
            skill_actions: Actions of skills, given the options' first states.
        """
        end = jnp.full((len(option), self.n_actions), self.n_actions, jnp.int32)
        actions = jnp.concatenate([skill_actions, end], axis=1)
        return jnp.take_along_axis(actions, option[:, None], axis=1)[:, 0]


jax.tree_util.register_dataclass(
    Options,
    data_fields=["weights"],
    meta_fields=["policy", "n_skills", "step_limit", "n_actions", "draws_actions"],
)


def _no_skills(_: Any, __: jax.Array, values: jax.Array) -> jax.Array:
    return jnp.zeros((len(values), 0), jnp.int32)


def options_of(world: JaxWorld, skills: Skills | Options | None) -> Options:
    """Return the options of an agent with skills, or with primitive actions only.

    Every mode of a skill is a separate option.

    Raises:
        UserError: If the skills have no network, or belong to another world.
    """
    n_actions = len(world.actions)
    if skills is None:
        return Options(_no_skills, None, 0, 0, n_actions)
    if isinstance(skills, Options):
        if skills.n_actions != n_actions:
            raise UserError(
                f"the skills have {skills.n_actions} actions, {world.id} has {n_actions}"
            )
        return skills
    policy = skills.policies
    if not isinstance(policy, NeuralPolicy):
        raise UserError(
            "these skills are tables, which JAX cannot run: learn them with learner=Neural()"
        )
    model = policy.model
    if (model.space, model.n_actions) != (world.space, n_actions):
        raise UserError(f"the skills belong to another world than {world.id}")
    weights = jax.tree.map(jnp.asarray, policy.weights)
    return Options(
        model.choose, weights, model.n_skills, skills.step_limit, n_actions, policy.draws_actions
    )
