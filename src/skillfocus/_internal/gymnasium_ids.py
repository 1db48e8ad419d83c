"""Lets Gymnasium know the environments that `import skillfocus` brings.

`skillfocus/FourRooms-v0`, `skillfocus/ForageWorld-v0` and `skillfocus/MudWorld-v0` are a `WorldEnv`
each, with the paper's task; `skillfocus/Skills-v0` is a `SkillEnv` of the skills given. They end
episodes at the task's cap themselves, so they are registered without a limit of steps.
"""

from __future__ import annotations

import gymnasium

WORLD_IDS = ("FourRooms-v0", "ForageWorld-v0", "MudWorld-v0")
"""Written out: the worlds themselves are loaded when one is made."""


def register() -> None:
    for world_id in WORLD_IDS:
        gymnasium.register(
            f"skillfocus/{world_id}",
            entry_point="skillfocus.envs.world_env:WorldEnv",
            kwargs={"world": world_id, "task": "true"},
        )
    gymnasium.register(
        "skillfocus/Skills-v0",
        entry_point="skillfocus.envs.skill_env:SkillEnv",
        vector_entry_point="skillfocus.envs.vector:SkillVectorEnv",
    )
