"""How states, trajectories and skills draw themselves, without importing what draws them.

The core types know only a name. The package's `__init__` says which function answers to it, as
`"module:function"`, and that module is imported when something is drawn for the first time.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

_hooks: dict[str, str] = {}


def register(name: str, entry_point: str) -> None:
    """Register a display hook: the function `"module:function"` for a name."""
    _hooks[name] = entry_point


def hook(name: str) -> Callable[..., Any]:
    """Return the function registered for a name."""
    module, _, function = _hooks[name].partition(":")
    return getattr(import_module(module), function)


def html(name: str, thing: object) -> str:
    """Return HTML for a notebook cell."""
    return hook(name)(thing)
