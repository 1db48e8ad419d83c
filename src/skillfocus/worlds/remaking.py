"""Make the world of a skills file again from what the file says.

A file may come from a stranger, so it may ask for little: worlds that run no foreign code
(`can_remake`), settings of moderate size, and an exploration of half a minute. Whoever wants more
makes the world and passes it.
"""

from __future__ import annotations

import json
import reprlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from skillfocus.core.world import MAX_STEPS, STATE_LIMIT, World
from skillfocus.errors import UserError
from skillfocus.worlds.model import exploration_progress
from skillfocus.worlds.registry import can_remake, make

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
