"""SMDP Q-learning: solve a task with skills and primitive actions.

In state s the agent chooses an option o: a skill or a primitive action. When o has ended in s'
after k steps,

    Q(s, o) <- Q(s, o) + alpha [gamma^(k-1) r + gamma^k max_o' Q(s', o') - Q(s, o)],

with r = 1 and no bootstrapping if s' accomplishes the task, which is checked after every step and
interrupts a skill. An episode truncated at `max_episode_steps` still bootstraps from its last
state. A skill that terminates without a step costs one step.

With `intra_option`, every step inside a skill also updates the value of the primitive action it
took (Sutton, Precup, Singh 1999): skills find the reward, primitive actions shorten the path.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from skillfocus.core.factored import State
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.seeds import check_seed
from skillfocus.errors import UserError
from skillfocus.progress import Progress, no_progress
from skillfocus.skills.skills import Skills
from skillfocus.tasks.episodes import (
    Schedule,
    evaluate_greedy,
    greedy_learning,
    learn,
    options_of,
    task_arrays,
    workspace_of,
)
from skillfocus.tasks.short_forms import ShortTask, as_task
from skillfocus.tasks.task import optimum

MAX_EPISODES = 10**9
"""The most training episodes: days of learning."""
EPISODES_AT_ONCE = 10_000
"""Episodes between two reports of progress, when Ctrl-C is noticed too."""


@dataclass(frozen=True)
class SMDPQLearning:
    """Settings of SMDP Q-learning; the defaults are the paper's, which does not say how ties end.

    Example:
        >>> settings = sf.SMDPQLearning(episodes=5_000, intra_option=True)
        >>> solution = sf.solve(mdp, sf.task_of(world, mdp), skills, seed=0, settings=settings)
    """

    episodes: int = 20_000
    alpha: float = 0.1
    """Step size of the updates, in (0, 1]."""
    alpha_decay: float = 0.0
    """In episode n, alpha is multiplied by exp(-alpha_decay n)."""
    gamma: float = 0.99
    """Discount per primitive step, in (0, 1]."""
    epsilon_decay: float = 0.001
    """In episode n, a random option is chosen with probability exp(-epsilon_decay n)."""
    intra_option: bool = False
    """Whether steps inside skills also update the values of primitive actions."""
    ties: Literal["first", "random"] = "random"
    """Which of several best options is taken. With "random", an agent that has found no reward
    walks at random; with "first", as `argmax` has it, it repeats its first option for ever."""
    primitives: bool = True
    """Whether the agent may choose primitive actions beside skills."""
    evaluations: int = 50
    """How often the greedy policy is evaluated, evenly spaced over the episodes."""
    evaluation_runs: int = 20
    """Runs per evaluation, except the last."""
    final_runs: int = 1000
    """Runs of the last evaluation."""

    def __post_init__(self) -> None:
        if self.ties not in ("first", "random"):
            raise UserError(f"ties must be 'first' or 'random', got {self.ties!r}")
        if self.intra_option and not self.primitives:
            raise UserError("intra_option updates the values of primitives; set primitives=True")
        counts = ("episodes", "evaluations", "evaluation_runs", "final_runs")
        for name in counts:
            if getattr(self, name) < 1:
                raise UserError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.episodes > MAX_EPISODES:
            raise UserError(f"episodes must be up to {MAX_EPISODES:,}, got {self.episodes:,}")
        for name in ("alpha", "gamma"):
            if not 0 < getattr(self, name) <= 1:
                raise UserError(f"{name} must be in (0, 1], got {getattr(self, name)}")
        for name in ("alpha_decay", "epsilon_decay"):
            if not getattr(self, name) >= 0:
                raise UserError(f"{name} must be 0 or more, got {getattr(self, name)}")


@dataclass(frozen=True, eq=False)
class Solution:
    """A learned solution of a task, and its learning curve over n_evaluations moments."""

    q: np.ndarray
    """float64 [n_states, n_options]: option values, skills first, then primitive actions."""
    episodes: np.ndarray
    """int [n_evaluations]: episodes learned from before each evaluation."""
    steps: np.ndarray
    """float64 [n_evaluations]: mean steps of the greedy policy; a run that fails counts as
    `max_episode_steps`."""
    true_return: np.ndarray
    """float64 [n_evaluations]: the share of runs that end with the true task accomplished."""
    proxy_return: np.ndarray
    """float64 [n_evaluations]: the share of runs that end with the proxy reward."""
    optimum_steps: float
    """The expected steps of the best policy over primitive actions, see `optimum`."""


def solve(
    mdp: TabularMDP | Skills,
    task: ShortTask,
    skills: Skills | None = None,
    *,
    seed: int,
    reward: str | None = None,
    settings: SMDPQLearning | None = None,
    start: State | Mapping[str, Hashable] | str | None = None,
    max_episode_steps: int | None = None,
    progress: Progress = no_progress,
) -> Solution:
    """Learn a task by SMDP Q-learning over skills and primitive actions.

        solve(skills, "key=1,door=open", seed=0).steps[-1]

    Args:
        mdp: The skills to choose among; or the world's MDP, where `skills` or none follow.
        task: What to accomplish: a `Task`, "true" or "proxy" for the world's own, a condition such
            as "key=1", values by name, or a function of {variable: value}.
        skills: The skills to choose among, or None for primitive actions only.
        seed: Equal seeds give equal solutions. Evaluation draws from a stream of its own.
        reward: The reward to learn from, "true" (the default) or "proxy".
        settings: Learning settings; the paper's by default.
        start: Where episodes start (default: as the task says, or the world's first state).
        max_episode_steps: Primitive steps of an episode (default: as the task says, or eight times
            the step limit).
        progress: Callback for the fraction done.

    Returns:
        The option values and the learning curve.

    Raises:
        UserError: If the skills belong to another world, `reward` is unknown, or there is nothing
            to choose among.
    """
    check_seed(seed)
    if isinstance(mdp, Skills):
        if skills is not None:
            raise UserError("solve takes the skills once: solve(skills, task, seed=0)")
        mdp, skills = mdp.mdp, mdp
    task, of_task = as_task(
        task, mdp, None if skills is None else skills.world, start=start,
        max_episode_steps=max_episode_steps,
        step_limit=None if skills is None else skills.step_limit,
    )  # fmt: skip
    reward = of_task if reward is None else reward
    settings = settings or SMDPQLearning()
    if skills is None and not settings.primitives:
        raise UserError("an agent without skills needs primitives=True")
    if skills is not None and skills.mdp.fingerprint != mdp.fingerprint:
        raise UserError(
            f"the skills are for another world than the task {task.name}: pass the MDP they were "
            f"learned in, skills.mdp, and a task made from it"
        )
    n_skills = 0 if skills is None else len(skills)
    q = np.zeros((mdp.n_states, n_skills + mdp.n_actions * settings.primitives))
    options = options_of(mdp, skills)
    workspace = workspace_of(mdp, options)
    arrays = task_arrays(task, reward)
    schedule = Schedule(
        settings.alpha, settings.alpha_decay, settings.gamma, settings.epsilon_decay,
        settings.intra_option, settings.ties == "first",
    )  # fmt: skip
    greedy = greedy_learning(schedule.first_ties)
    learning_rng, evaluation_rng = np.random.default_rng(seed).spawn(2)
    moments = [
        i * settings.episodes // settings.evaluations for i in range(settings.evaluations + 1)
    ]
    results = np.empty((settings.evaluations, 3))
    for i in range(settings.evaluations):
        for first in range(moments[i], moments[i + 1], EPISODES_AT_ONCE):
            progress(first / settings.episodes, f"episode {first:,} of {settings.episodes:,}")
            last = min(first + EPISODES_AT_ONCE, moments[i + 1])
            learn(options, arrays, schedule, q, first, last, workspace, learning_rng)
        is_last = i + 1 == settings.evaluations
        n_runs = settings.final_runs if is_last else settings.evaluation_runs
        results[i] = evaluate_greedy(options, arrays, greedy, q, n_runs, workspace, evaluation_rng)
    steps, true, proxy = results.T.copy()
    return Solution(q, np.array(moments[1:]), steps, true, proxy, optimum(mdp, task, reward)[0])
