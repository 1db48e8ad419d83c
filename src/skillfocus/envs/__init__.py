"""Worlds and skills as Gymnasium environments; importing skillfocus registers them."""

from skillfocus.envs.environments import SkillEnv, SkillVectorEnv, WorldEnv

__all__ = ["SkillEnv", "SkillVectorEnv", "WorldEnv"]
