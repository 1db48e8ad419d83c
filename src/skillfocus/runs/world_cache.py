"""Worlds and their tables by name, built once per process."""

from __future__ import annotations

import json
from functools import lru_cache

from skillfocus._internal.atomic_io import shorten
from skillfocus._internal.own_files import own_code
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.tabulation import tabulate
from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.worlds.registry import make


@lru_cache(maxsize=8)
def cached_world(name: str, settings: str) -> World:
    """Return a world, built on the first call.

    Args:
        name: The world's name, as for `make`.
        settings: The world's arguments as a JSON object, such as `'{"slip": 0.0}'`.

    Raises:
        UserError: If the settings are not a JSON object, or the world cannot be made.
    """
    try:
        arguments = json.loads(settings)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise UserError(
            f"world_settings is {shorten(settings)!r}; it must be a JSON object, such as "
            f"'{{\"slip\": 0.0}}'"
        )
    return make(name, **arguments)


@lru_cache(maxsize=4)
def cached_mdp(name: str, settings: str) -> TabularMDP:
    """Return the table of `cached_world(name, settings)`, computed on the first call."""
    world = cached_world(name, settings)
    with own_code(name):
        return tabulate(world)
