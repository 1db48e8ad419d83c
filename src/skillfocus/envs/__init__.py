"""Worlds and skills as Gymnasium environments; importing skillfocus registers them."""

from skillfocus.envs.skill_env import SkillEnv
from skillfocus.envs.vector import SkillVectorEnv
from skillfocus.envs.world_env import WorldEnv

__all__ = ["SkillEnv", "SkillVectorEnv", "WorldEnv"]
