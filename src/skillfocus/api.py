"""Every public name, in the order of the data flow."""

from __future__ import annotations

from skillfocus import metrics, testing
from skillfocus.discovery import Discovery, discover, discover_many, find_strength
from skillfocus.envs import SkillEnv, SkillVectorEnv, WorldEnv
from skillfocus.errors import UserError
from skillfocus.learners.actor.learner import Actor, large_actor
from skillfocus.learners.cost_network.learner import Neural, large_neural
from skillfocus.learners.planning.learner import Planning
from skillfocus.learners.problem import Learner
from skillfocus.learners.q_learning import QLearning, literal_q_learning, paper_q_learning
from skillfocus.mdp import TabularMDP, tabulate
from skillfocus.metrics.summary import evaluate
from skillfocus.objectives.kinds import Sphere, assign
from skillfocus.objectives.objective import Objective, Reward, diayn, lsd, metra, reach, vic
from skillfocus.objectives.variants import (
    Penalty,
    StatePenalty,
    changed_variables,
    check_penalty,
    dusdi,
    focused,
    path_norm,
    scattered,
    weighted_norm,
)
from skillfocus.progress import no_progress, progress_bar
from skillfocus.runs import Interrupted, Result, Run, Store, run_all
from skillfocus.skills.policy import Policy
from skillfocus.skills.skills import Skills
from skillfocus.spaces import Space, Variable
from skillfocus.sweep import sweep
from skillfocus.tasks.solving import SMDPQLearning, solve
from skillfocus.tasks.task import make_task, optimum, task_of
from skillfocus.viewer.page import view
from skillfocus.world import Outcome, World
from skillfocus.worlds import adapters
from skillfocus.worlds.jax.world import JaxWorld
from skillfocus.worlds.registry import make

__all__ = [  # noqa: RUF022  in the order of the data flow
    "Space", "Variable", "Outcome", "World", "JaxWorld", "make", "adapters", "TabularMDP",
    "tabulate", "Objective", "Reward", "reach", "vic", "diayn", "lsd", "metra", "focused", "dusdi",
    "scattered", "Penalty", "StatePenalty", "weighted_norm", "changed_variables", "path_norm",
    "check_penalty", "assign", "Sphere", "Learner", "Planning", "QLearning",
    "literal_q_learning", "paper_q_learning", "Neural", "large_neural", "Actor", "large_actor",
    "discover", "discover_many", "find_strength", "Skills", "Policy", "metrics", "evaluate",
    "task_of", "make_task", "optimum", "SMDPQLearning", "solve", "SkillEnv", "SkillVectorEnv",
    "WorldEnv", "Run", "Result", "Discovery", "Store", "run_all", "Interrupted", "progress_bar",
    "no_progress", "sweep", "view", "testing", "UserError",
]  # fmt: skip
