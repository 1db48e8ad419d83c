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
from types import ModuleType
from typing import Any

from skillfocus.core.world import World
from skillfocus.errors import UserError, unknown
from skillfocus.worlds import registry
from skillfocus.worlds.adapters import gymnasium, rddl
from skillfocus.worlds.adapters.minigrid import from_minigrid
from skillfocus.worlds.adapters.objects import from_object
from skillfocus.worlds.maps.parser import make_map, read_map

SOURCES: dict[str, Callable[..., World]] = {
    "gymnasium": gymnasium.make,
    "minigrid": from_minigrid,
    "rddl": rddl.make,
    "map": make_map,
}
"""By what stands before the colon of a name: what makes the world from the rest."""


def make(name: str, **settings: Any) -> World:
    """A world by its name, with any of its settings (slip, step_limit, …)."""
    source, colon, rest = name.partition(":")
    if colon and source in SOURCES:
        return _made(name, SOURCES[source], settings, rest)
    if name in registry.WORLDS or name in registry.WORLD_IDS:
        return registry.make(name, **settings)
    file, _, attribute = name.rpartition(":")
    if file.endswith(".py"):
        return _from_file(name, Path(file), attribute, settings)
    if name.endswith(".py"):
        raise UserError(f"{name} may hold several worlds: say which class, as in {name}:NAME")
    if name.endswith(".txt") or Path(name).is_file():
        return _made(name, read_map, settings, name)
    raise unknown("world", name, [*registry.WORLDS, *registry.WORLD_IDS, *_forms(name)])


def can_remake(world_id: str) -> bool:
    """Whether a world can be made again from what a file of skills says of it, running nothing
    but this program and the environments of Gymnasium, MiniGrid and RDDL themselves."""
    source, _, rest = world_id.partition(":")
    if source == "gymnasium":
        return gymnasium.is_own(rest)
    return world_id in registry.WORLD_IDS or source in SOURCES


def _made(
    name: str, source: Callable[..., Any], settings: dict[str, Any], *arguments: object
) -> Any:
    try:
        inspect.signature(source).bind(*arguments, **settings)
    except TypeError as error:
        raise UserError(f"{name} does not take these settings: {error}") from None
    return source(*arguments, **settings)


def _forms(name: str) -> list[str]:
    """Other forms of a name that may have been meant."""
    import gymnasium as library

    forms = ["gymnasium:ID", "minigrid:ID", "rddl:DOMAIN/INSTANCE", "FILE.txt", "FILE.py:NAME"]
    return [f"gymnasium:{name}", *forms] if name in library.registry else forms


def _from_file(name: str, path: Path, attribute: str, settings: dict[str, Any]) -> World:
    module = _loaded(path)
    if not hasattr(module, attribute):
        names = [known for known in vars(module) if not known.startswith("_")]
        raise unknown(f"name in {path}", attribute, names)
    found = getattr(module, attribute)
    if isinstance(found, type) and issubclass(found, World):
        return _made(name, found, settings)
    thing = _made(name, found, {}) if callable(found) else found
    if not isinstance(thing, World):
        return _made(name, from_object, settings, thing)
    if settings:
        raise UserError(f"{name} is made already, so it takes no {', '.join(settings)}")
    return thing


def _loaded(path: Path) -> ModuleType:
    """A user's own file, run as a script beside it would run it."""
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
