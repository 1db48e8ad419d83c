"""Every world by its name: built in, drawn in a file, or from somebody else's environment.

four-rooms, FourRooms-v0    built in
my-map.txt                  a map (docs/maps.md)
gymnasium:Taxi-v4           a Gymnasium environment (docs/gymnasium.md)
minigrid:DoorKey-5x5        a MiniGrid environment (docs/minigrid.md)
rddl:DOMAIN/INSTANCE        an RDDL instance (docs/rddl.md)
my_world.py:Lights          a class in your own file (docs/own-world.md)
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skillfocus.adapters import gymnasium, minigrid, rddl
from skillfocus.adapters.objects import from_object
from skillfocus.errors import UserError, unknown
from skillfocus.worlds import registry
from skillfocus.worlds.map_file import make_map, read_map
from skillfocus.worlds.world import World

SOURCES: dict[str, Callable[..., World]] = {
    "gymnasium": gymnasium.make,
    "minigrid": minigrid.make,
    "rddl": rddl.make,
    "map": make_map,
}
"""By what stands before the colon of a name: what makes the world from the rest."""


def make(name: str, **settings: Any) -> World:
    """A world by its name, with any of its settings (slip, step_limit, …)."""
    source, colon, rest = name.partition(":")
    if colon and source in SOURCES:
        return _made(name, SOURCES[source], rest, settings)
    if name in registry.WORLDS or name in registry.WORLD_IDS:
        return registry.make(name, **settings)
    file, _, attribute = name.rpartition(":")
    if file.endswith(".py"):
        return _made(name, _from_file, file, {"attribute": attribute, **settings})
    if name.endswith(".txt") or Path(name).is_file():
        return _made(name, read_map, name, settings)
    raise unknown("world", name, [*registry.WORLDS, *registry.WORLD_IDS, *_forms(name)])


def can_remake(world_id: str) -> bool:
    """Whether a world can be made again from what a file of skills says of it, running nothing
    but this program and the environments it knows."""
    return world_id in registry.WORLD_IDS or world_id.partition(":")[0] in SOURCES


def _made(name: str, source: Callable[..., World], rest: Any, settings: dict[str, Any]) -> World:
    try:
        inspect.signature(source).bind(rest, **settings)
    except TypeError as error:
        raise UserError(f"{name} does not take these settings: {error}") from None
    return source(rest, **settings)


def _forms(name: str) -> list[str]:
    """Other forms of a name that may have been meant."""
    forms = ["gymnasium:ID", "minigrid:ID", "rddl:DOMAIN/INSTANCE", "FILE.txt", "FILE.py:NAME"]
    import gymnasium as library

    return [f"gymnasium:{name}", *forms] if name in library.registry else forms


def _from_file(file: str, attribute: str, **settings: Any) -> World:
    path = Path(file)
    if not path.is_file():
        raise UserError(f"there is no file {file}")
    spec = importlib.util.spec_from_file_location(f"skillfocus_own_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if not hasattr(module, attribute):
        names = [n for n in vars(module) if not n.startswith("_")]
        raise unknown(f"name in {file}", attribute, names)
    found = getattr(module, attribute)
    thing = found() if callable(found) else found
    if isinstance(thing, World):
        return thing
    return _made(f"{file}:{attribute}", from_object, thing, settings)
