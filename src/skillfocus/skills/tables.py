"""Which worlds have a table of their states, and what identifies those that have none."""

from __future__ import annotations

import hashlib
import json

from skillfocus.mdp import TabularMDP, tabulate
from skillfocus.spaces import ContinuousVariable
from skillfocus.world import World
from skillfocus.worlds.continuous import ContinuousBase
from skillfocus.worlds.jax.world import JaxWorld


def has_table(world: World) -> bool:
    """Return whether a world's states can be tabulated."""
    if isinstance(world, ContinuousBase):
        return False
    return not isinstance(world, JaxWorld) or world.mdp is not None


def table_of(world: World) -> TabularMDP:
    """Return a world's table: the one it was made from, or a new one."""
    known = world.mdp if isinstance(world, JaxWorld) else None
    return tabulate(world) if known is None else known


def fingerprint(world: World) -> str:
    """Return a SHA-256 of what a world without a table says of itself.

    It covers id, settings, variables, actions and step limit; unlike that of a table, it does not
    cover the dynamics.
    """
    digest = hashlib.sha256(json.dumps([world.id, world.settings], sort_keys=True).encode())
    for variable in world.space.variables:
        values = (
            (variable.low, variable.high)
            if isinstance(variable, ContinuousVariable)
            else variable.values
        )
        digest.update(f"{variable.name}|{values}|{variable.largest_distance}".encode())
    digest.update(f"{world.actions}|{world.step_limit}".encode())
    return digest.hexdigest()
