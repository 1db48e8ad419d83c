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

from skillfocus._internal import command_start  # noqa: F401  before what takes long to import
from skillfocus._internal.gymnasium_ids import register
from skillfocus.core import display

if TYPE_CHECKING:
    __version__: str
    from skillfocus import metrics as metrics
    from skillfocus import testing as testing
    from skillfocus.core.factored import FactoredSpace as FactoredSpace
    from skillfocus.core.factored import Variable as Variable
    from skillfocus.core.mdp import TabularMDP as TabularMDP
    from skillfocus.core.tabulation import tabulate as tabulate
    from skillfocus.core.world import Outcome as Outcome
    from skillfocus.core.world import World as World
    from skillfocus.envs import SkillEnv as SkillEnv
    from skillfocus.envs import SkillVectorEnv as SkillVectorEnv
    from skillfocus.envs import WorldEnv as WorldEnv
    from skillfocus.errors import UserError as UserError
    from skillfocus.experiments.reproduction import reproduce as reproduce
    from skillfocus.learners.base import Learner as Learner
    from skillfocus.learners.discovery import discover as discover
    from skillfocus.learners.discovery import discover_many as discover_many
    from skillfocus.learners.neural.continuous.settings import Actor as Actor
    from skillfocus.learners.neural.learner import Neural as Neural
    from skillfocus.learners.neural.learner import large_neural as large_neural
    from skillfocus.learners.strength_search import find_strength as find_strength
    from skillfocus.learners.tabular.planning import Planning as Planning
    from skillfocus.learners.tabular.q_learning import QLearning as QLearning
    from skillfocus.learners.tabular.q_learning import literal_q_learning as literal_q_learning
    from skillfocus.learners.tabular.q_learning import paper_q_learning as paper_q_learning
    from skillfocus.metrics.evaluation import evaluate as evaluate
    from skillfocus.objectives.objective import Objective as Objective
    from skillfocus.objectives.penalties import Penalty as Penalty
    from skillfocus.objectives.penalties import StatePenalty as StatePenalty
    from skillfocus.objectives.penalties import changed_variables as changed_variables
    from skillfocus.objectives.penalties import check_penalty as check_penalty
    from skillfocus.objectives.penalties import path_norm as path_norm
    from skillfocus.objectives.penalties import weighted_norm as weighted_norm
    from skillfocus.objectives.reward import Reward as Reward
    from skillfocus.objectives.rewards.diayn import diayn as diayn
    from skillfocus.objectives.rewards.lsd import lsd as lsd
    from skillfocus.objectives.rewards.metra import metra as metra
    from skillfocus.objectives.rewards.reach import reach as reach
    from skillfocus.objectives.rewards.vic import vic as vic
    from skillfocus.objectives.skill_layout import Sphere as Sphere
    from skillfocus.objectives.targets import assign as assign
    from skillfocus.objectives.variants.dusdi import dusdi as dusdi
    from skillfocus.objectives.variants.focused import focused as focused
    from skillfocus.objectives.variants.scattered import scattered as scattered
    from skillfocus.runs import executors as executors
    from skillfocus.runs.discovery_run import Discovery as Discovery
    from skillfocus.runs.folder_store import Store as Store
    from skillfocus.runs.progress_bar import progress_bar as progress_bar
    from skillfocus.runs.run import Result as Result
    from skillfocus.runs.run import Run as Run
    from skillfocus.runs.scheduler import run_all as run_all
    from skillfocus.runs.status import Interrupted as Interrupted
    from skillfocus.runs.store import RunStore as RunStore
    from skillfocus.skills.continuous.skills import ContinuousSkills as ContinuousSkills
    from skillfocus.skills.policy import Policy as Policy
    from skillfocus.skills.skills import Skills as Skills
    from skillfocus.sweeps.running import sweep as sweep
    from skillfocus.tasks.smdp_q_learning import SMDPQLearning as SMDPQLearning
    from skillfocus.tasks.smdp_q_learning import solve as solve
    from skillfocus.tasks.task import make_task as make_task
    from skillfocus.tasks.task import optimum as optimum
    from skillfocus.tasks.task import task_of as task_of
    from skillfocus.viewer.viewing import view as view
    from skillfocus.worlds import adapters as adapters
    from skillfocus.worlds.registry import make as make

_HOMES = {
    "core.factored": ["FactoredSpace", "Variable"],
    "core.world": ["Outcome", "World"],
    "worlds.registry": ["make"],
    "core.mdp": ["TabularMDP"],
    "core.tabulation": ["tabulate"],
    "objectives.objective": ["Objective"],
    "objectives.reward": ["Reward"],
    "objectives.rewards.reach": ["reach"],
    "objectives.rewards.vic": ["vic"],
    "objectives.rewards.diayn": ["diayn"],
    "objectives.rewards.lsd": ["lsd"],
    "objectives.rewards.metra": ["metra"],
    "objectives.variants.focused": ["focused"],
    "objectives.variants.dusdi": ["dusdi"],
    "objectives.variants.scattered": ["scattered"],
    "objectives.penalties": [
        "Penalty",
        "StatePenalty",
        "weighted_norm",
        "changed_variables",
        "path_norm",
        "check_penalty",
    ],
    "objectives.targets": ["assign"],
    "objectives.skill_layout": ["Sphere"],
    "learners.base": ["Learner"],
    "learners.tabular.planning": ["Planning"],
    "learners.neural.learner": ["Neural", "large_neural"],
    "learners.neural.continuous.settings": ["Actor"],
    "learners.tabular.q_learning": ["QLearning", "literal_q_learning", "paper_q_learning"],
    "learners.discovery": ["discover", "discover_many"],
    "learners.strength_search": ["find_strength"],
    "skills.skills": ["Skills"],
    "skills.continuous.skills": ["ContinuousSkills"],
    "skills.policy": ["Policy"],
    "metrics.evaluation": ["evaluate"],
    "tasks.task": ["task_of", "make_task", "optimum"],
    "tasks.smdp_q_learning": ["SMDPQLearning", "solve"],
    "envs": ["SkillEnv", "SkillVectorEnv", "WorldEnv"],
    "runs.run": ["Run", "Result"],
    "runs.discovery_run": ["Discovery"],
    "runs.folder_store": ["Store"],
    "runs.store": ["RunStore"],
    "runs.scheduler": ["run_all"],
    "runs.status": ["Interrupted"],
    "runs.progress_bar": ["progress_bar"],
    "sweeps.running": ["sweep"],
    "viewer.viewing": ["view"],
    "experiments.reproduction": ["reproduce"],
    "errors": ["UserError"],
}
"""Public names by the module that defines them, in the order of the data flow."""
_SUBPACKAGES = {
    "adapters": "worlds.adapters",
    "executors": "runs.executors",
    "metrics": "metrics",
    "testing": "testing",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = [*_HOME_OF, *_SUBPACKAGES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("skillfocus")
    if name in _SUBPACKAGES:
        return import_module(f"skillfocus.{_SUBPACKAGES[name]}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'skillfocus' has no attribute {name!r}")
    return getattr(import_module(f"skillfocus.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


register()
display.register("state", "skillfocus.render.svg:state_html")
display.register("trajectory", "skillfocus.render.svg:trajectory_html")
display.register("skills", "skillfocus.viewer.page:frame_html")
display.register("page", "skillfocus.viewer.page:write_page")
