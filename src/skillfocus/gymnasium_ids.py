"""Registration of this package's environments with Gymnasium, on `import skillfocus`.

Each built-in world with a table is a `WorldEnv` with its own task, as in `skillfocus/FourRooms-v0`,
which has the paper's; `skillfocus/Skills-v0` is a `SkillEnv` of the skills passed to it. The
environments truncate episodes themselves, so no `max_episode_steps` is registered.
"""

from __future__ import annotations

import gymnasium

WORLD_IDS = (
    "FourRooms-v0", "ForageWorld-v0", "MudWorld-v0", "Box-v0", "Vase-v0", "ConveyorSushi-v0",
    "ConveyorVase-v0", "Train-v0",
)  # fmt: skip
"""Spelled out here, because importing the world registry would slow down `import skillfocus`."""


def register() -> None:
    """Register every environment id; entry points are imported when an environment is made."""
    for world_id in WORLD_IDS:
        gymnasium.register(
            f"skillfocus/{world_id}",
            entry_point="skillfocus.envs:WorldEnv",
            kwargs={"world": world_id, "task": "true"},
        )
    gymnasium.register(
        "skillfocus/Skills-v0",
        entry_point="skillfocus.envs:SkillEnv",
        vector_entry_point="skillfocus.envs:SkillVectorEnv",
    )
