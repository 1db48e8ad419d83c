"""skillfocus: discover focused skills, and measure exactly what else they change.

Names are loaded when first used, so that `import skillfocus` costs next to nothing; it also lets
Gymnasium know the environments in `skillfocus.envs`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from skillfocus.registration import register

if TYPE_CHECKING:
    from skillfocus import adapters as adapters
    from skillfocus import executors as executors
    from skillfocus import metrics as metrics
    from skillfocus import testing as testing
    from skillfocus.catalogue import make as make
    from skillfocus.discovery import discover as discover
    from skillfocus.discovery import discover_many as discover_many
    from skillfocus.envs import SkillEnv as SkillEnv
    from skillfocus.envs import SkillVectorEnv as SkillVectorEnv
    from skillfocus.envs import WorldEnv as WorldEnv
    from skillfocus.errors import UserError as UserError
    from skillfocus.experiments.discovery import Discovery as Discovery
    from skillfocus.factored import FactoredSpace as FactoredSpace
    from skillfocus.factored import Variable as Variable
    from skillfocus.hierarchy import Hierarchy as Hierarchy
    from skillfocus.hierarchy import solve as solve
    from skillfocus.jobs import run_all as run_all
    from skillfocus.learners.planning import Planning as Planning
    from skillfocus.learners.q_learning import QLearning as QLearning
    from skillfocus.learners.q_learning import paper_q_learning as paper_q_learning
    from skillfocus.objectives.assignment import assign as assign
    from skillfocus.objectives.diayn import diayn as diayn
    from skillfocus.objectives.dusdi import dusdi as dusdi
    from skillfocus.objectives.focused import focused as focused
    from skillfocus.objectives.lsd import lsd as lsd
    from skillfocus.objectives.objective import Objective as Objective
    from skillfocus.objectives.penalties import Penalty as Penalty
    from skillfocus.objectives.penalties import changed_variables as changed_variables
    from skillfocus.objectives.penalties import check_penalty as check_penalty
    from skillfocus.objectives.penalties import weighted_norm as weighted_norm
    from skillfocus.objectives.scattered import scattered as scattered
    from skillfocus.objectives.vic import vic as vic
    from skillfocus.progress import progress_bar as progress_bar
    from skillfocus.runs import Result as Result
    from skillfocus.runs import Run as Run
    from skillfocus.skills import Skills as Skills
    from skillfocus.status import Interrupted as Interrupted
    from skillfocus.store import Store as Store
    from skillfocus.table import Table as Table
    from skillfocus.table import tabulate as tabulate
    from skillfocus.tasks import make_task as make_task
    from skillfocus.tasks import optimum as optimum
    from skillfocus.tasks import task_of as task_of
    from skillfocus.worlds.world import Outcome as Outcome
    from skillfocus.worlds.world import World as World

_HOMES = {
    "factored": ["FactoredSpace", "Variable"],
    "worlds.world": ["Outcome", "World"],
    "catalogue": ["make"],
    "table": ["Table", "tabulate"],
    "objectives.objective": ["Objective"],
    "objectives.vic": ["vic"],
    "objectives.diayn": ["diayn"],
    "objectives.lsd": ["lsd"],
    "objectives.focused": ["focused"],
    "objectives.dusdi": ["dusdi"],
    "objectives.scattered": ["scattered"],
    "objectives.penalties": ["Penalty", "weighted_norm", "changed_variables", "check_penalty"],
    "objectives.assignment": ["assign"],
    "learners.planning": ["Planning"],
    "learners.q_learning": ["QLearning", "paper_q_learning"],
    "skills": ["Skills"],
    "discovery": ["discover", "discover_many"],
    "tasks": ["task_of", "make_task", "optimum"],
    "hierarchy": ["Hierarchy", "solve"],
    "envs": ["SkillEnv", "SkillVectorEnv", "WorldEnv"],
    "runs": ["Run", "Result"],
    "store": ["Store"],
    "jobs": ["run_all"],
    "status": ["Interrupted"],
    "progress": ["progress_bar"],
    "experiments.discovery": ["Discovery"],
    "errors": ["UserError"],
}
_PARTS = ("adapters", "executors", "metrics", "testing")
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = [*_HOME_OF, *_PARTS]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name in _PARTS:
        return import_module(f"skillfocus.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'skillfocus' has no attribute {name!r}")
    return getattr(import_module(f"skillfocus.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


register()
