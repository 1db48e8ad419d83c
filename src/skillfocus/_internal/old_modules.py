"""Module paths up to 0.5, which still work for one release with a DeprecationWarning.

`import skillfocus.table` gives a stand-in whose names are those of `skillfocus.core.mdp`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from skillfocus._internal.deprecated import warn

MODULES = {
    "adapters": "worlds.adapters",
    "adapters.comparison": "worlds.adapters.validation",
    "adapters.gymnasium": "worlds.adapters.gymnasium",
    "adapters.minigrid": "worlds.adapters.minigrid",
    "adapters.objects": "worlds.adapters.objects",
    "adapters.rddl": "worlds.adapters.rddl",
    "catalogue": "worlds.registry",
    "description": "metrics.world_summary",
    "discovery": "learners.discovery",
    "executors": "runs.executors",
    "experiments.discovery": "runs.discovery_run",
    "factored": "core.factored",
    "files": "_internal.atomic_io",
    "hierarchy": "tasks.smdp_q_learning",
    "jobs": "runs.scheduler",
    "learned": "skills.intrinsic_reward",
    "learners.chance": "learners.tabular.random_learner",
    "learners.numbering": "core.indexing",
    "learners.planning": "learners.tabular.planning",
    "learners.problem": "learners.tabular.problem_builder",
    "learners.q_learning": "learners.tabular.q_learning",
    "metrics.intervals": "metrics.statistics",
    "metrics.reach": "metrics.reachability",
    "metrics.record": "metrics.summary",
    "objectives.assignment": "objectives.targets",
    "objectives.diayn": "objectives.rewards.diayn",
    "objectives.dusdi": "objectives.variants.dusdi",
    "objectives.focused": "objectives.variants.focused",
    "objectives.lsd": "objectives.rewards.lsd",
    "objectives.oracle": "objectives.controls",
    "objectives.permuted": "objectives.controls",
    "objectives.scattered": "objectives.variants.scattered",
    "objectives.vic": "objectives.rewards.vic",
    "policy": "skills.policy",
    "progress": "runs.progress_bar",
    "ready": "sweeps.paper_grids",
    "search": "sweeps.optuna_search",
    "simulation": "core.rollout",
    "skills_file": "skills.serialization",
    "status": "runs.status",
    "store": "runs.folder_store",
    "table": "core.mdp",
    "trajectory": "core.trajectory",
    "viewer.drawing": "render.svg",
    "viewer.export": "render.animation",
    "viewer.icons": "render.icons",
    "viewer.raster": "render.raster",
    "viewer.scene": "render.scene",
    "warm": "runs.precompile",
    "worlds.columns": "worlds.grouping",
    "worlds.drawn": "core.world",
    "worlds.found": "worlds.explored",
    "worlds.map_file": "worlds.maps.parser",
    "worlds.map_words": "worlds.maps.grammar",
    "worlds.map_world": "worlds.maps.world",
    "worlds.world": "core.world",
}
"""Old path -> new path, both below `skillfocus`."""
NAMES = {
    "Chance": "RandomLearner",
    "DrawnState": "WorldState",
    "FoundWorld": "ExploredWorld",
    "Hierarchy": "SMDPQLearning",
    "LearnedReward": "IntrinsicReward",
    "Numbering": "ValueIndex",
    "Shown": "SkillSetView",
    "Status": "JobStatus",
    "Table": "TabularMDP",
    "Following": "ModelOutcome",
    "number_values": "index_values",
    "write_whole": "write_atomically",
}
"""Old name -> new name, in any of these modules."""


MOVED = {"tabulate": "core.tabulation"}
"""Names that are now in another module than the rest of their old one."""


class _OldModules(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        package, _, old = fullname.partition(".")
        if package != "skillfocus" or old not in MODULES:
            return None
        is_package = any(name.startswith(f"{old}.") for name in MODULES)
        return ModuleSpec(fullname, self, is_package=is_package)

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__.partition(".")[2]
        new = import_module(f"skillfocus.{MODULES[old]}")
        warn(f"skillfocus.{old} is deprecated; use skillfocus.{MODULES[old]}", stacklevel=2)

        def get(name: str) -> object:
            if name.startswith("__"):
                raise AttributeError(name)
            if name in MOVED:
                return getattr(import_module(f"skillfocus.{MOVED[name]}"), name)
            return getattr(new, NAMES.get(name, name))

        module.__dict__["__getattr__"] = get


def install() -> None:
    """Let imports of old module paths find the new ones."""
    sys.meta_path.insert(0, _OldModules())  # before stale folders that older versions left behind
