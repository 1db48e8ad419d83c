"""Worlds by name: `make("four-rooms")`.

    four-rooms, FourRooms-v0    a built-in world
    tool-rooms, ToolRooms-v0    a built-in world too large for a table, in JAX
    my-map.txt                  a map file (docs/maps.md)
    gymnasium:Taxi-v4           a Gymnasium environment (docs/gymnasium.md)
    minigrid:DoorKey-5x5        a MiniGrid environment (docs/minigrid.md)
    rddl:DOMAIN/INSTANCE        an RDDL instance (docs/rddl.md)
    my_world.py:Lights          a class in your own file (docs/own-world.md)

A new built-in world is one file and one entry in `WORLDS`; its id also goes into
`_internal/gymnasium_ids.py`, which must not import worlds (a test compares the two). A world in JAX
is an entry in `JAX_WORLDS`. A new adapter is one file in `adapters/` and one entry in `SOURCES`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from skillfocus._internal.atomic_io import shorten
from skillfocus.core.world import World
from skillfocus.errors import UserError, unknown
from skillfocus.worlds.adapters import gymnasium, minigrid, rddl
from skillfocus.worlds.adapters.objects import from_object
from skillfocus.worlds.box import Box
from skillfocus.worlds.conveyor import ConveyorSushi, ConveyorVase
from skillfocus.worlds.forage_world import ForageWorld
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.jax.mini_behavior.cleaning_car import CleaningACar
from skillfocus.worlds.jax.mini_behavior.printer import InstallingAPrinter
from skillfocus.worlds.jax.mini_behavior.thawing import ThawingFrozenFood
from skillfocus.worlds.jax.mud import VisibleMud
from skillfocus.worlds.jax.rooms import RoomBlocks, ToolRooms
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


def make(name: str, **settings: Any) -> World:
    """Make a world by its name.

    Args:
        name: A name in one of the forms above.
        **settings: The world's settings, such as `slip` or `step_limit`.

    Raises:
        UserError: If there is no such world, or it does not take these settings.
    """
    prefix, colon, rest = name.partition(":")
    if colon and prefix in SOURCES:
        return _call(name, SOURCES[prefix].make, settings, rest)
    if name in WORLDS or name in WORLD_IDS:
        return _call(name, WORLDS.get(name) or WORLD_IDS[name], settings)
    if name in JAX_WORLDS or name in JAX_WORLD_IDS:
        require_jax(name)
        return _call(name, JAX_WORLDS.get(name) or JAX_WORLD_IDS[name], settings)
    file, _, attribute = name.rpartition(":")
    if file.endswith(".py"):
        return _make_from_file(name, Path(file), attribute, settings)
    if name.endswith(".py"):
        raise UserError(f"{name} may hold several worlds: say which class, as in {name}:NAME")
    if name.endswith(".txt") or os.path.isfile(name):
        return _call(name, parser.read_map, settings, name)
    raise unknown("world", name, _known_names(name))


def can_remake(world_id: str) -> bool:
    """Return whether a world can be made again from the id and settings in a skills file.

    Only worlds that run no code except this package and the environments that Gymnasium, MiniGrid
    and RDDL bring along.
    """
    prefix, _, rest = world_id.partition(":")
    if prefix in SOURCES:
        return SOURCES[prefix].can_remake(rest)
    return world_id in WORLD_IDS or world_id in JAX_WORLD_IDS


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
    return [*WORLDS, *JAX_WORLDS, *forms, "FILE.py:NAME"]


def _make_from_file(name: str, path: Path, attribute: str, settings: dict[str, Any]) -> World:
    """Make the world that a Python file defines as a class, a function or an object."""
    with own_code(name):
        module = _run_file(path)
    if not hasattr(module, attribute):
        public = [known for known in vars(module) if not known.startswith("_")]
        raise unknown(f"name in {path}", attribute, public)
    definition = getattr(module, attribute)
    with own_code(name):
        if isinstance(definition, type) and issubclass(definition, World):
            return _call(name, definition, settings)
        thing = _call(name, definition, {}) if callable(definition) else definition
        if not isinstance(thing, World):
            return _call(name, from_object, settings, thing)
    if settings:
        raise UserError(f"{name} is already made, so it takes no {', '.join(settings)}")
    return thing


@contextmanager
def own_code(name: str) -> Iterator[None]:
    """Turn what the code behind `FILE.py:NAME` raises into one sentence with the line.

    Raises:
        UserError: If that code raised. For worlds of another form, nothing is changed.
    """
    file = name.rpartition(":")[0]
    try:
        yield
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        if not file.endswith(".py"):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename) == Path(file)]
        place = f" (line {lines[-1]})" if lines else ""
        raise UserError(f"{name} does not work{place}: {type(error).__name__}: {error}") from error


def _run_file(path: Path) -> ModuleType:
    """Run a user's Python file; like a script, it can import files beside it."""
    if not os.path.isfile(path):
        raise UserError(f"there is no file {shorten(path)}")
    spec = importlib.util.spec_from_file_location(f"skillfocus_own_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    if str(path.parent.resolve()) not in sys.path:
        sys.path.append(str(path.parent.resolve()))
    spec.loader.exec_module(module)
    return module
