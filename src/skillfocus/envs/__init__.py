"""Worlds and skills as Gymnasium environments; importing skillfocus registers them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillfocus.envs.skill_env import SkillEnv
from skillfocus.envs.vector import SkillVectorEnv
from skillfocus.envs.world_env import WorldEnv

if TYPE_CHECKING:
    from skillfocus.envs.sb3 import SkillVecEnv

__all__ = ["SkillEnv", "SkillVecEnv", "SkillVectorEnv", "WorldEnv"]


def __getattr__(name: str) -> object:
    """Import `SkillVecEnv`, and with it Stable-Baselines3, when it is asked for."""
    if name != "SkillVecEnv":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from skillfocus.envs.sb3 import SkillVecEnv

    return SkillVecEnv
