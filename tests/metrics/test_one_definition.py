"""Side effects are one definition: FourRooms as a table, as a world in JAX and in real numbers."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from neural_skills import Tableless
from skillfocus.metrics.side_effects import observed_effects
from skillfocus.skills.policy import Policy, TabularPolicy
from skillfocus.spaces import Space, Variable
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.jax.table import TableWorld
from skillfocus.worlds.jax.world import JaxWorld

jax = pytest.importorskip("jax")
jnp = jax.numpy


class RealRooms(JaxWorld):
    """FourRooms with cells as points and tools as numbers from 0 to 1."""

    id = "RealRooms-v0"

    def __init__(self, table: TableWorld) -> None:
        self.table, finite = table, table.space
        corners = finite.variables[0].coordinates
        low, high = corners.min(axis=0), corners.max(axis=0)
        self.space = Space(
            (
                Variable("position", low=tuple(low), high=tuple(high), tolerance=0.0),
                *(Variable(v.name, low=(0,), high=(1,)) for v in finite.variables[1:]),
            )
        )
        self.actions, self.step_limit = table.actions, table.step_limit
        self.cells = jnp.asarray(corners, jnp.float32)

    def reset(self, key):
        return self.table.reset(key)

    def step(self, key, state, action):
        return self.table.step(key, state, action)

    def values(self, state):
        indices = self.table.values(state)
        return jnp.concatenate([self.cells[indices[0]], indices[1:].astype(jnp.float32)])

    def place(self, key, values):
        cell = (jnp.abs(self.cells - values[:2]).sum(axis=1)).argmin()
        return self.table.place(key, jnp.concatenate([cell[None], values[2:].astype(jnp.int32)]))


class Elsewhere(Policy):
    """A table's policy where values are what `indices` makes value indices of."""

    def __init__(self, table: TabularPolicy, indices) -> None:
        self.table, self.indices = table, indices
        self.context_variables = table.context_variables

    def actions(self, skill, starts, states, mode=0):
        return self.table.actions(skill, self.indices(starts), self.indices(states), mode)


def test_the_same_policy_has_equal_side_effects_in_all_three():
    world = FourRooms(slip=0.0)
    targets = {"tool_1": 2, "tool_4": 2, "position": 2}
    finite = sf.discover(
        world, sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=1), targets=targets
    )
    mdp, cells = finite.mdp, world.space.variables[0].coordinates
    in_jax = Tableless(world, mdp)
    real = RealRooms(TableWorld(world, mdp))

    def as_indices(values):
        cell = np.abs(cells[None] - values[:, None, :2]).sum(axis=2).argmin(axis=1)
        return np.column_stack([cell, values[:, 2:].astype(int)])

    starts = np.random.default_rng(0).choice(mdp.n_states, 300, replace=False)
    exact = sf.metrics.side_effects(finite, starts)
    assert 0 < sum(effects.side_effects for effects in exact) < 3
    for other, indices, first in (
        (in_jax, lambda values: values, mdp.values[starts]),
        (real, as_indices, np.column_stack([cells[mdp.values[starts, 0]], mdp.values[starts, 1:]])),
    ):
        policy = Elsewhere(finite.tabular, indices)
        skills = sf.Skills(other, policy, finite.targets, finite.step_limit)
        first = first.astype(np.int32 if other.space.is_finite else np.float32)
        for z, truth in enumerate(exact):
            done = skills.run(np.full(len(first), z), first, np.random.default_rng(1))
            found = observed_effects(skills, z, [done])
            assert (found.changed == truth.changed).all()
            assert (found.steps == truth.steps).all()
            assert (found.per_start == truth.per_start).all()
        (sampled, *_) = sf.metrics.side_effects(
            skills, first, sample=2000, rng=np.random.default_rng(2)
        )
        assert sampled.side_effects == pytest.approx(exact[0].side_effects, abs=0.05)
