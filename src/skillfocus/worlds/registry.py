"""Worlds by name: `make("four-rooms")`.

    four-rooms, FourRooms-v0    a built-in world
    tool-rooms, ToolRooms-v0    a built-in world too large for a table, in JAX
    two-rooms, TwoRooms-v0      a built-in world with continuous variables, in JAX
    my-map.txt                  a map file (docs/maps.md)
    gymnasium:Taxi-v4           a Gymnasium environment (docs/gymnasium.md)
    minigrid:DoorKey-5x5        a MiniGrid environment (docs/minigrid.md)
    rddl:DOMAIN/INSTANCE        an RDDL instance (docs/rddl.md)
    my_world.py:Lights          a class in your own file (docs/own-world.md)

A new built-in world is one file and one entry in `WORLDS`; its id also goes into
`_internal/gymnasium_ids.py`, which must not import worlds (a test compares the two). A world in JAX
is an entry in `JAX_WORLDS`, one with continuous variables in `CONTINUOUS_WORLDS`. A new adapter is
one file in `adapters/` and one entry in `SOURCES`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from skillfocus.core.world import World, check_declared
from skillfocus.errors import UserError, unknown
from skillfocus.own_files import is_own, load_own, own_code
from skillfocus.worlds.adapters import gymnasium, minigrid, rddl
from skillfocus.worlds.adapters.objects import from_object
from skillfocus.worlds.box import Box
from skillfocus.worlds.conveyor import ConveyorSushi, ConveyorVase
from skillfocus.worlds.forage_world import ForageWorld
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.jax.continuous import ContinuousWorld
from skillfocus.worlds.jax.dusdi.gunner import Gunner
from skillfocus.worlds.jax.dusdi.particles import Particles
from skillfocus.worlds.jax.mini_behavior.cleaning_car import CleaningACar
from skillfocus.worlds.jax.mini_behavior.printer import InstallingAPrinter
from skillfocus.worlds.jax.mini_behavior.thawing import ThawingFrozenFood
from skillfocus.worlds.jax.mud import VisibleMud
from skillfocus.worlds.jax.rooms import RoomBlocks, ToolRooms
from skillfocus.worlds.jax.two_rooms import TwoRooms
from skillfocus.worlds.jax.world import JaxWorld, require_jax
from skillfocus.worlds.maps import parser
from skillfocus.worlds.mud_world import MudWorld
from skillfocus.worlds.settings import check_settings
from skillfocus.worlds.train import Train
from skillfocus.worlds.vase import Vase

WORLDS: dict[str, type[World]] = {
    "four-rooms": FourRooms,
    "forage-world": ForageWorld,
    "mud-world": MudWorld,
    "box": Box,
    "vase": Vase,
    "conveyor-sushi": ConveyorSushi,
    "conveyor-vase": ConveyorVase,
    "train": Train,
}
"""Built-in worlds by their short names."""
WORLD_IDS = {world.id: world for world in WORLDS.values()}
"""Built-in worlds by their ids."""
JAX_WORLDS: dict[str, type[JaxWorld]] = {
    "tool-rooms": ToolRooms,
    "room-blocks": RoomBlocks,
    "visible-mud": VisibleMud,
    "installing-a-printer": InstallingAPrinter,
    "thawing-frozen-food": ThawingFrozenFood,
    "cleaning-a-car": CleaningACar,
}
"""Built-in worlds in JAX by their short names. Importing their files does not import JAX."""
JAX_WORLD_IDS = {world.id: world for world in JAX_WORLDS.values()}
"""Built-in worlds in JAX by their ids."""
CONTINUOUS_WORLDS: dict[str, type[ContinuousWorld]] = {
    "two-rooms": TwoRooms,
    "gunner": Gunner,
    "particles": Particles,
}
"""Built-in worlds with continuous variables by their short names; they need JAX too."""
CONTINUOUS_WORLD_IDS = {world.id: world for world in CONTINUOUS_WORLDS.values()}
"""Built-in worlds with continuous variables by their ids."""
_IN_JAX: dict[str, type[World]] = {
    **JAX_WORLDS,
    **JAX_WORLD_IDS,
    **CONTINUOUS_WORLDS,
    **CONTINUOUS_WORLD_IDS,
}


def _always(name: str) -> bool:
    del name
    return True


def _never(rest: str) -> bool:
    del rest
    return False


class Source(NamedTuple):
    """Where worlds with a prefix such as `gymnasium:` come from."""

    make: Callable[..., World]
    """`make(rest, **settings)`, where `rest` is what follows the prefix."""
    form: str
    """How users write such a name, for error messages."""
    can_remake: Callable[[str], bool] = _never
    """Whether a world may be made from what a skills file says: it must not run foreign code."""


SOURCES = {
    "gymnasium": Source(gymnasium.make_by_id, "gymnasium:ID", gymnasium.is_bundled),
    "minigrid": Source(minigrid.from_minigrid, "minigrid:ID", _always),
    "rddl": Source(rddl.make_by_name, "rddl:DOMAIN/INSTANCE", rddl.is_in_repository),
    "map": Source(parser.make_map, "FILE.txt", _always),
}
"""Sources by the prefix of their names."""


def make(name: str | Path, **settings: Any) -> World:
    """Make a world by its name.

    Args:
        name: A name in one of the forms above, or the path of a map file.
        **settings: The world's settings, such as `slip` or `step_limit`.

    Raises:
        UserError: If there is no such world, or it does not take these settings.
    """
    if isinstance(name, Path):
        name = str(name)
    prefix, colon, rest = name.partition(":")
    if colon and prefix in SOURCES:
        return _call(name, SOURCES[prefix].make, settings, rest)
    if name in WORLDS or name in WORLD_IDS:
        return _call(name, WORLDS.get(name) or WORLD_IDS[name], settings)
    if name in _IN_JAX:
        require_jax(name)
        return _call(name, _IN_JAX[name], settings)
    if is_own(name):
        return _make_from_file(name, settings)
    if name.endswith(".py"):
        raise UserError(f"{name} may hold several worlds: say which class, as in {name}:NAME")
    if name.endswith(".txt") or os.path.isfile(name):
        return _call(name, parser.read_map, settings, name)
    raise unknown("world", name, _known_names(name))


def as_world(world: World | str | Path) -> World:
    """Return a world as it is, or make the one of a name.

    Raises:
        UserError: If it is neither a world nor the name of one.
    """
    if isinstance(world, str | Path):
        return make(world)
    check_declared(world)
    return world


def is_built_in(world: World) -> bool:
    """Return whether a world is known by its id, its settings and the package's version."""
    known = {**WORLD_IDS, **JAX_WORLD_IDS, **CONTINUOUS_WORLD_IDS}
    return type(world) is known.get(world.id)


def can_remake(world_id: str) -> bool:
    """Return whether a world can be made again from the id and settings in a skills file.

    Only worlds that run no code except this package and the environments that Gymnasium, MiniGrid
    and RDDL bring along.
    """
    prefix, _, rest = world_id.partition(":")
    if prefix in SOURCES:
        return SOURCES[prefix].can_remake(rest)
    return world_id in WORLD_IDS or world_id in _IN_JAX


def _call(name: str, factory: Callable[..., Any], settings: dict[str, Any], *args: object) -> Any:
    """Call a factory with settings that fit its signature."""
    check_settings(name, factory, settings, *args)
    return factory(*args, **settings)


def _known_names(name: str) -> list[str]:
    """Return what to suggest for an unknown name: of built-in worlds, the short names."""
    import gymnasium as library

    if name in library.registry:
        return [f"gymnasium:{name}"]
    forms = [source.form for source in SOURCES.values()]
    return [*WORLDS, *JAX_WORLDS, *CONTINUOUS_WORLDS, *forms, "FILE.py:NAME"]


def _make_from_file(name: str, settings: dict[str, Any]) -> World:
    """Make the world that a Python file defines as a class, a function or an object."""
    definition = load_own(name)
    with own_code(name):
        if isinstance(definition, type) and issubclass(definition, World):
            return _call(name, definition, settings)
        thing = _call(name, definition, {}) if callable(definition) else definition
        if not isinstance(thing, World):
            return _call(name, from_object, settings, thing)
    if settings:
        raise UserError(f"{name} is already made, so it takes no {', '.join(settings)}")
    return thing
