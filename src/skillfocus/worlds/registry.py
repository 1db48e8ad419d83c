"""Worlds by name: `make("four-rooms")`.

    four-rooms, FourRooms-v0    a built-in world
    my-map.txt                  a map file (docs/maps.md)
    gymnasium:Taxi-v4           a Gymnasium environment (docs/gymnasium.md)
    minigrid:DoorKey-5x5        a MiniGrid environment (docs/minigrid.md)
    rddl:DOMAIN/INSTANCE        an RDDL instance (docs/rddl.md)
    my_world.py:Lights          a class in your own file (docs/own-world.md)

A new built-in world is one file and one entry in `WORLDS`; its id also goes into
`_internal/gymnasium_ids.py`, which must not import worlds (a test compares the two). A new adapter
is one file in `adapters/` and one entry in `SOURCES`.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from skillfocus.core.world import World
from skillfocus.errors import UserError, unknown
from skillfocus.worlds.adapters import gymnasium, minigrid, rddl
from skillfocus.worlds.adapters.objects import from_object
from skillfocus.worlds.forage_world import ForageWorld
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.maps import parser
from skillfocus.worlds.mud_world import MudWorld

WORLDS: dict[str, type[World]] = {
    "four-rooms": FourRooms,
    "forage-world": ForageWorld,
    "mud-world": MudWorld,
}
"""Built-in worlds by their short names."""
WORLD_IDS = {world.id: world for world in WORLDS.values()}
"""Built-in worlds by their ids."""


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
    "rddl": Source(rddl.make_by_name, "rddl:DOMAIN/INSTANCE", _always),
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
        return _make_built_in(WORLDS.get(name) or WORLD_IDS[name], settings)
    file, _, attribute = name.rpartition(":")
    if file.endswith(".py"):
        return _make_from_file(name, Path(file), attribute, settings)
    if name.endswith(".py"):
        raise UserError(f"{name} may hold several worlds: say which class, as in {name}:NAME")
    if name.endswith(".txt") or Path(name).is_file():
        return _call(name, parser.read_map, settings, name)
    raise unknown("world", name, [*WORLDS, *WORLD_IDS, *_other_forms(name)])


def can_remake(world_id: str) -> bool:
    """Return whether a world can be made again from the id and settings in a skills file.

    Only worlds that run no code except this package and the environments that Gymnasium, MiniGrid
    and RDDL bring along.
    """
    prefix, _, rest = world_id.partition(":")
    if prefix in SOURCES:
        return SOURCES[prefix].can_remake(rest)
    return world_id in WORLD_IDS


def _make_built_in(world: type[World], settings: dict[str, Any]) -> World:
    try:
        return world(**settings)
    except TypeError as error:
        raise UserError(f"{world.id} does not take these settings: {error}") from None


def _call(name: str, factory: Callable[..., Any], settings: dict[str, Any], *args: object) -> Any:
    """Call a factory; settings that do not fit its signature are a usage error."""
    try:
        inspect.signature(factory).bind(*args, **settings)
    except TypeError as error:
        raise UserError(f"{name} does not take these settings: {error}") from None
    return factory(*args, **settings)


def _other_forms(name: str) -> list[str]:
    """Return the other forms of a name, to suggest one for an unknown name."""
    import gymnasium as library

    forms = [*(source.form for source in SOURCES.values()), "FILE.py:NAME"]
    return [f"gymnasium:{name}", *forms] if name in library.registry else forms


def _make_from_file(name: str, path: Path, attribute: str, settings: dict[str, Any]) -> World:
    """Make the world that a Python file defines as a class, a function or an object."""
    module = _run_file(path)
    if not hasattr(module, attribute):
        public = [known for known in vars(module) if not known.startswith("_")]
        raise unknown(f"name in {path}", attribute, public)
    definition = getattr(module, attribute)
    if isinstance(definition, type) and issubclass(definition, World):
        return _call(name, definition, settings)
    thing = _call(name, definition, {}) if callable(definition) else definition
    if not isinstance(thing, World):
        return _call(name, from_object, settings, thing)
    if settings:
        raise UserError(f"{name} is already made, so it takes no {', '.join(settings)}")
    return thing


def _run_file(path: Path) -> ModuleType:
    """Run a user's Python file; like a script, it can import files beside it."""
    if not path.is_file():
        raise UserError(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(f"skillfocus_own_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    if str(path.parent.resolve()) not in sys.path:
        sys.path.append(str(path.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UserError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    return module
