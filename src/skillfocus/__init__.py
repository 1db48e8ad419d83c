"""skillfocus: discover focused skills, and measure exactly what else they change.

    import skillfocus as sf

    world = sf.make("FourRooms-v0")
    skills = sf.discover(world, sf.focused(sf.vic()), seed=0)
    effects = sf.metrics.side_effects(skills)

Names are imported when first used, so `import skillfocus` is fast. It also registers the
environments of `skillfocus.envs` with Gymnasium.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from skillfocus.errors import exit_quietly_on_interrupt

if TYPE_CHECKING:
    from skillfocus.api import *  # noqa: F403
    from skillfocus.api import __all__ as __all__

    __version__: str


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("skillfocus")
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'skillfocus' has no attribute {name!r}")
    api = import_module("skillfocus.api")
    if name != "__all__" and name not in api.__all__:
        raise AttributeError(f"module 'skillfocus' has no attribute {name!r}")
    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted([*import_module("skillfocus.api").__all__, "__version__"])


_WORLD_IDS = (
    "FourRooms-v0", "ForageWorld-v0", "MudWorld-v0", "Box-v0", "Vase-v0", "ConveyorSushi-v0",
    "ConveyorVase-v0", "Train-v0",
)  # fmt: skip
"""Spelled out, because importing the registry of worlds would slow down `import skillfocus`."""


def _register_environments() -> None:
    """Register every environment with Gymnasium, which imports it when it is made.

    Each built-in world with a table is a `WorldEnv` with its own task, as in
    `skillfocus/FourRooms-v0`, which has the paper's; `skillfocus/Skills-v0` is a `SkillEnv` of the
    skills passed to it. They truncate episodes themselves, so no `max_episode_steps` is registered.
    """
    import gymnasium

    for world_id in _WORLD_IDS:
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


exit_quietly_on_interrupt()  # before what takes long to import
_register_environments()
