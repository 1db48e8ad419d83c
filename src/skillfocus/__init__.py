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

from skillfocus.progress import exit_quietly_on_interrupt

exit_quietly_on_interrupt()  # before what takes long to import

from skillfocus.gymnasium_ids import register  # noqa: E402

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


register()
