"""Doors to other people's environments. Each function makes a world from one."""

from __future__ import annotations

from skillfocus.adapters.gymnasium import from_gymnasium
from skillfocus.adapters.minigrid import from_minigrid
from skillfocus.adapters.objects import from_object
from skillfocus.adapters.rddl import from_rddl

__all__ = ["from_gymnasium", "from_minigrid", "from_object", "from_rddl"]
