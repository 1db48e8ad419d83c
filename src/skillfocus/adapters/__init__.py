"""Doors to other people's environments. Each function makes a world from one."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillfocus.adapters.gymnasium import from_gymnasium as from_gymnasium
    from skillfocus.adapters.minigrid import from_minigrid as from_minigrid
    from skillfocus.adapters.objects import from_object as from_object
    from skillfocus.adapters.rddl import from_rddl as from_rddl

_HOMES = {
    "from_gymnasium": "gymnasium",
    "from_minigrid": "minigrid",
    "from_object": "objects",
    "from_rddl": "rddl",
}
__all__ = list(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'skillfocus.adapters' has no attribute {name!r}")
    return getattr(import_module(f"skillfocus.adapters.{_HOMES[name]}"), name)
