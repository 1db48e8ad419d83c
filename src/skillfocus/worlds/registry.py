"""Worlds by name: `make("four-rooms")`.

    four-rooms, FourRooms-v0    a built-in world
    tool-rooms, ToolRooms-v0    a built-in world too large for a table, in JAX
    two-rooms, TwoRooms-v0      a built-in world with real-valued variables, in JAX
    my-map.txt                  a map file (docs/maps.md)
    gymnasium:Taxi-v4           a Gymnasium environment (docs/gymnasium.md)
    minigrid:DoorKey-5x5        a MiniGrid environment (docs/minigrid.md)
    rddl:DOMAIN/INSTANCE        an RDDL instance (docs/rddl.md)
    my_world.py:Lights          a class in your own file (docs/own-world.md)

A new built-in world is one file and one entry in `BUILT_IN`; the id of one with a table also goes
into `skillfocus/__init__.py`, which must not import worlds (a test compares the two). A new adapter
is one file in `adapters/` and one entry in `SOURCES`.
"""

from __future__ import annotations

import hashlib
import json
import os
import reprlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from skillfocus.errors import UserError, unknown
from skillfocus.files import is_own, load_own, own_code
from skillfocus.world import MAX_STEPS, STATE_LIMIT, World, check_declared
from skillfocus.worlds import maps as parser
from skillfocus.worlds.adapters import gymnasium, minigrid, rddl
from skillfocus.worlds.adapters.objects import from_object
from skillfocus.worlds.adapters.stepping import check_settings
from skillfocus.worlds.explored import exploration_progress
from skillfocus.worlds.forage_world import ForageWorld
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.jax.dusdi.worlds import Gunner, Particles
from skillfocus.worlds.jax.mini_behavior.chores import (
    CleaningACar,
    InstallingAPrinter,
    ThawingFrozenFood,
)
from skillfocus.worlds.jax.rooms import RoomBlocks, ToolRooms, VisibleMud
from skillfocus.worlds.jax.two_rooms import TwoRooms
from skillfocus.worlds.jax.world import JaxWorld, require_jax
from skillfocus.worlds.mud_world import MudWorld
from skillfocus.worlds.safety import Box, ConveyorSushi, ConveyorVase, Train, Vase

BUILT_IN: dict[str, type[World]] = {
    "four-rooms": FourRooms,
    "forage-world": ForageWorld,
    "mud-world": MudWorld,
    "box": Box,
    "vase": Vase,
    "conveyor-sushi": ConveyorSushi,
    "conveyor-vase": ConveyorVase,
    "train": Train,
    "tool-rooms": ToolRooms,
    "room-blocks": RoomBlocks,
    "visible-mud": VisibleMud,
    "installing-a-printer": InstallingAPrinter,
    "thawing-frozen-food": ThawingFrozenFood,
    "cleaning-a-car": CleaningACar,
    "two-rooms": TwoRooms,
    "gunner": Gunner,
    "particles": Particles,
}
"""Built-in worlds by their short names. Importing the files of those in JAX does not import JAX."""
JAX_WORLDS = {name: world for name, world in BUILT_IN.items() if issubclass(world, JaxWorld)}
WORLDS = {name: world for name, world in BUILT_IN.items() if name not in JAX_WORLDS}
"""Those with a table."""
WORLD_IDS = {world.id: world for world in BUILT_IN.values()}
"""Built-in worlds by their ids."""


class Source(NamedTuple):
    """Where worlds with a prefix such as `gymnasium:` come from."""

    make: Callable[..., World]
    """`make(rest, **settings)`, where `rest` is what follows the prefix."""
    form: str
    """How users write such a name, for error messages."""
    can_remake: Callable[[str], bool] = lambda _: False
    """Whether a world may be made from what a skills file says: it must not run foreign code."""


SOURCES = {
    "gymnasium": Source(gymnasium.make_by_id, "gymnasium:ID", gymnasium.is_bundled),
    "minigrid": Source(minigrid.from_minigrid, "minigrid:ID", lambda _: True),
    "rddl": Source(
        rddl.make_by_name, "rddl:DOMAIN/INSTANCE", lambda name: not name.endswith(".rddl")
    ),
    "map": Source(parser.make_map, "FILE.txt", lambda _: True),
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
    if kind := BUILT_IN.get(name) or WORLD_IDS.get(name):
        if issubclass(kind, JaxWorld):
            require_jax(name)
        return _call(name, kind, settings)
    if is_own(name):
        return _make_from_file(name, settings)
    if name.endswith(".py"):
        raise UserError(f"{name} may hold several worlds: say which class, as in {name}:NAME")
    if name.endswith(".txt") or os.path.isfile(name):
        return _call(name, parser.read_map, settings, name)
    import gymnasium as library  # it takes a while

    in_library = [f"gymnasium:{name}"] if name in library.registry else []
    forms = [source.form for source in SOURCES.values()]
    raise unknown("world", name, in_library or [*BUILT_IN, *forms, "FILE.py:NAME"])


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
    return type(world) is WORLD_IDS.get(world.id)


def can_remake(world_id: str) -> bool:
    """Return whether a world can be made again from the id and settings in a skills file.

    Only worlds that run no code except this package and the environments that Gymnasium, MiniGrid
    and RDDL bring along.
    """
    prefix, _, rest = world_id.partition(":")
    if prefix in SOURCES:
        return SOURCES[prefix].can_remake(rest)
    return world_id in WORLD_IDS


def _call(name: str, factory: Callable[..., Any], settings: dict[str, Any], *args: object) -> Any:
    """Call a factory with settings that fit its signature."""
    check_settings(name, factory, settings, *args)
    return factory(*args, **settings)


def _make_from_file(name: str, settings: dict[str, Any]) -> World:
    """Make the world that a Python file defines as a class, a function or an object."""
    definition = load_own(name)
    with own_code(name):
        if isinstance(definition, type) and issubclass(definition, World):
            return _call(name, definition, settings)
        thing, own = definition, {}
        if callable(definition):
            known = signature(definition).parameters
            takes_all = any(p.kind is p.VAR_KEYWORD for p in known.values())
            own = {key: value for key, value in settings.items() if takes_all or key in known}
            thing = _call(name, definition, own)
        rest = {key: value for key, value in settings.items() if key not in own}
        if not isinstance(thing, World):
            return _call(name, from_object, rest, thing)
    if rest:
        raise UserError(f"{name} takes no {', '.join(rest)}")
    return thing


# -------------------- Make the world of a skills file again from what the file says
#
# A file may come from a stranger, so it may ask for little: worlds that run no foreign code
# (`can_remake`), settings of moderate size, and an exploration of half a minute. Whoever wants more
# makes the world and passes it.

MAX_SETTINGS = STATE_LIMIT
"""The most characters of the settings as JSON; a longer map has more states than a world may."""
MAX_SECONDS = 30.0
"""The most computing time that exploring a foreign environment may take."""
MAX_NUMBER = 1000
"""The largest number in the settings: it may be the side of a grid, or how often to repeat."""
MAX_NUMBERS = {
    "limit": STATE_LIMIT, "step_limit": MAX_STEPS, "seed": 2**63 - 1, "blocks": 4, "tools": 64,
}  # fmt: skip
"""The largest number in settings of these names. Placing more tools takes minutes."""
_WAY_OUT = (
    "if you trust the file, pass its world, as in Skills.load(path, world=…), or --world and "
    "--world-settings"
)


def remake(world_id: str, settings: dict[str, Any]) -> World:
    """Return the world with this id and these settings, as a skills file holds them.

    Raises:
        UserError: If such a world cannot be made, or a file may not ask for it.
    """
    if not can_remake(world_id):
        raise UserError(
            f"these are skills for {world_id!r}, which is your own: pass the world, as in "
            f"Skills.load(path, world=…) or --world my_world.py:NAME"
        )
    _check_settings(world_id, settings)
    try:
        with _limited_exploration(world_id):
            return make(world_id, **settings)
    except UserError:
        raise
    except Exception as error:  # environments may fail in any way
        raise UserError(
            f"{world_id!r} cannot be made with {reprlib.repr(settings)}: "
            f"{type(error).__name__}: {error}"
        ) from error


def _check_settings(world_id: str, settings: dict[str, Any]) -> None:
    """Refuse settings that take long, take much memory, open windows or name files."""
    length = len(json.dumps(settings))
    if length > MAX_SETTINGS:
        raise UserError(
            f"the settings of {world_id!r} have {length:,} characters, and a file may have up to "
            f"{MAX_SETTINGS:,}: {_WAY_OUT}"
        )
    if settings.get("render_mode") == "human":
        raise UserError(f"{world_id!r} would open a window (render_mode): {_WAY_OUT}")
    if world_id.startswith("rddl:") and settings.keys() & {"domain", "instance"}:
        raise UserError(f"{world_id!r} would be read from other files: {_WAY_OUT}")
    for name, setting in settings.items():
        most = MAX_NUMBERS.get(name, MAX_NUMBER)
        for number in _numbers(setting):
            if not abs(number) <= most:
                raise UserError(
                    f"{name} of {world_id!r} is {number}, and a file may ask for up to {most:,}: "
                    f"{_WAY_OUT}"
                )


def _numbers(setting: Any) -> Iterator[float]:
    """Yield the numbers in a setting, however deep."""
    if isinstance(setting, int | float):
        yield setting
    elif isinstance(setting, list | dict):
        for part in setting.values() if isinstance(setting, dict) else setting:
            yield from _numbers(part)


@contextmanager
def _limited_exploration(world_id: str) -> Iterator[None]:
    """Stop explorations in this block after `MAX_SECONDS`."""
    end, report = time.thread_time() + MAX_SECONDS, exploration_progress.get()

    def check(fraction: float, activity: str) -> None:
        report(fraction, activity)
        if time.thread_time() > end:
            raise UserError(
                f"{world_id!r} is not explored after {MAX_SECONDS:g} seconds of computing "
                f"({activity}): {_WAY_OUT}"
            )

    token = exploration_progress.set(check)
    try:
        yield
    finally:
        exploration_progress.reset(token)


def fingerprint(world: World) -> str:
    """Return a SHA-256 of what a world without a table says of itself.

    It covers id, settings, variables, actions and step limit; unlike that of a table, it does not
    cover the dynamics.
    """
    digest = hashlib.sha256(json.dumps([world.id, world.settings], sort_keys=True).encode())
    for variable in world.space.variables:
        values = variable.values if variable.is_finite else (variable.low, variable.high)
        digest.update(f"{variable.name}|{values}|{variable.largest_distance}".encode())
    digest.update(f"{world.actions}|{world.step_limit}".encode())
    return digest.hexdigest()
