"""Worlds from other people's environments: `sf.adapters.from_gymnasium("Taxi-v4")`.

An adapter describes an environment by starts, a model and optionally a simulator, and hands them to
`ExploredWorld` (`worlds/explored.py`). A new one is one file here and one entry in
`worlds/registry.py`.
"""

from __future__ import annotations

from skillfocus.worlds.adapters.gymnasium import from_continuous_gymnasium, from_gymnasium
from skillfocus.worlds.adapters.minigrid import from_minigrid
from skillfocus.worlds.adapters.objects import from_object
from skillfocus.worlds.adapters.rddl import from_rddl

__all__ = [
    "from_continuous_gymnasium",
    "from_gymnasium",
    "from_minigrid",
    "from_object",
    "from_rddl",
]
