"""Doors to other people's environments. Each function makes a world from one."""

from __future__ import annotations

from skillfocus.worlds.adapters.gymnasium import from_gymnasium
from skillfocus.worlds.adapters.minigrid import from_minigrid
from skillfocus.worlds.adapters.objects import from_object
from skillfocus.worlds.adapters.rddl import from_rddl

__all__ = ["from_gymnasium", "from_minigrid", "from_object", "from_rddl"]
