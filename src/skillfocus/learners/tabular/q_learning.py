"""Tabular Q-learning of skills, as the paper has it, with what it takes to make it learn.

A skill's values q[s, a, c] over state, action (the last one terminates) and context c are moved
towards

    q(s, a, c) <- e T(s, c) + gamma [max_a' q(s', a', c) - cost],    q(s, terminate, c) <- T(s, c)

with T the skill's reward and e as in `planning`. Episodes follow Algorithm 1, except that the
reward is computed before the discriminator update (after an update with weight 0.7 almost every
outcome looks like success), and that skills take turns in blocks of episodes. `docs/q-learning.md`
says what each switch below does for learning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import typeof

from skillfocus.errors import UserError
from skillfocus.learners.base import Learned, Learner, Problem
from skillfocus.learners.tabular.compiled import compiled_update
from skillfocus.learners.tabular.intrinsic import make_intrinsic_reward
from skillfocus.learners.tabular.kernels import Params, reward_row, skill_prior
from skillfocus.learners.tabular.problem import TabularProblem
from skillfocus.learners.tabular.problem_builder import check_problem, tabular_problem
from skillfocus.learners.tabular.q_learning_kernels import (
    KernelSettings,
    episodes_kernel,
    skill_arrays,
)
from skillfocus.learners.tabular.reward_check import check_rewards
from skillfocus.learners.tabular.value_iteration import MAX_GAMMA, check_gamma, earned_share
from skillfocus.machine import require_memory
from skillfocus.objectives.objective import Objective
from skillfocus.progress import Progress


@dataclass(frozen=True)
class QLearning(Learner):
    """Tabular Q-learning.

    `literal_q_learning()` follows the letter of the paper; `paper_q_learning()` adds what makes
    focused VIC learn.

        skills = sf.discover(world, objective, seed=0, learner=sf.QLearning(episodes=200_000))

    Attributes:
        episodes: Episodes of all skills together.
        alpha: Step size.
        decay: The step size falls as exp(-decay n), n the skill's episodes so far.
        gamma: Discount.
        epsilon: Probability of a random action, in episodes that explore.
        greedy_share: Share of episodes that follow the skill without exploring.
        pace: Factor of the rewards' learning rate, so that values keep up with the rewards.
        block: Episodes a skill runs before another one is drawn.
        remember: Whether policies see contexts; off, they see the current state alone.
        hindsight: Whether every transition updates every context, not only its episode's.
        walk: Whether exploration never terminates.
        own_behaviour: Whether only episodes without exploration update the rewards.
        counterfactual: Whether the value of terminating is set in every state entered.
        start_where_controllable: Whether greedy episodes start only where targets can change.
        update_first: Whether a reward earned at the end is computed after the estimate has learned
            from the episode, as in Algorithm 1.
        name: Name in files and tables.
    """

    episodes: int = 1_000_000
    alpha: float = 0.1
    decay: float = 0.0
    gamma: float = 0.99
    epsilon: float = 1.0
    greedy_share: float = 0.2
    pace: float = 0.001
    block: int = 50
    remember: bool = True
    hindsight: bool = True
    walk: bool = True
    own_behaviour: bool = True
    counterfactual: bool = True
    start_where_controllable: bool = True
    update_first: bool = False
    name: str = "q-learning"

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        if min(self.episodes, self.block) < 1:
            raise UserError("episodes and block must be at least 1")
        if not 0 < self.alpha <= 1 or self.decay < 0 or not self.pace > 0:
            raise UserError("alpha must be in (0, 1], decay 0 or more, pace positive")
        if not (0 <= self.epsilon <= 1 and 0 <= self.greedy_share <= 1):
            raise UserError("epsilon and greedy_share must be between 0 and 1")
        if self.own_behaviour and self.greedy_share == 0:
            raise UserError("with own_behaviour, greedy_share must be above 0")

    def uses_context(self, objective: Objective) -> bool:
        """Return whether policies see contexts. A plain objective's would be whole start states,
        and a table over pairs of states and actions would not fit."""
        return self.remember and objective.targeted

    def check(self, problem: Problem) -> None:
        """Raise `UserError` for policies that are too large."""
        check_problem(problem, use_context=self.uses_context(problem.objective))

    def learn(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Learned:
        """Run episodes of all skills, in blocks; see `Learner.learn`."""
        tabular = tabular_problem(
            problem,
            use_context=self.uses_context(problem.objective),
            start_where_controllable=self.start_where_controllable,
        )
        params = tabular.initial_params(rng)
        check_rewards(tabular, params)
        shape = (tabular.mdp.n_states, tabular.mdp.n_actions + 1)
        require_memory(
            4 * tabular.index.n_entries * shape[1], f"values of {len(tabular.skills):,} skills",
            "ask for fewer skills",
        )  # fmt: skip
        q = [np.zeros((*shape, int(width)), dtype=np.float32) for width in tabular.index.widths]
        runs = [self.runner(tabular, params, z, q[z], rng) for z in range(len(q))]
        done = np.zeros(len(q), dtype=np.int64)
        for first in range(0, self.episodes, self.block):
            progress(first / self.episodes, f"episode {first:,} of {self.episodes:,}")
            z = _draw_skill(tabular, params, rng)
            count = min(self.block, self.episodes - first)
            runs[z](count, np.float32(self.alpha * np.exp(-self.decay * done[z])))
            done[z] += count
        check_rewards(tabular, params)
        actions = np.concatenate([greedy_policy(values).ravel() for values in q])
        return Learned(
            tabular.policy(actions, problem.modes),
            make_intrinsic_reward(tabular, params, problem.modes),
        )

    def runner(
        self,
        problem: TabularProblem,
        params: Params,
        z: int,
        q: np.ndarray,
        rng: np.random.Generator,
    ) -> Callable[[int, np.float32], None]:
        """Return `run(count, step_size)`, which runs episodes of one skill and updates q."""
        reward = problem.objective.reward
        row, update = reward_row(problem), compiled_update(problem.estimator.update)
        gamma = min(self.gamma, MAX_GAMMA)
        skill = skill_arrays(problem, params, z)
        settings = KernelSettings(
            gamma=np.float32(gamma), earned=np.float32(earned_share(reward.timing, gamma)),
            rate=float(problem.rate * self.pace), epsilon=float(self.epsilon),
            greedy_share=float(self.greedy_share), at_steps=reward.timing == "step",
            on_transitions=reward.timing == "transition", uses_context=problem.uses_context,
            hindsight=self.hindsight and problem.uses_context, walk=self.walk,
            own_behaviour=self.own_behaviour, counterfactual=self.counterfactual,
            update_first=self.update_first and reward.timing == "final",
        )  # fmt: skip
        kernel = episodes_kernel(typeof(skill), typeof(q), typeof(settings))

        def run(count: int, step_size: np.float32) -> None:
            kernel(row, update, count, skill, q, step_size, settings, rng)

        return run


def _draw_skill(problem: TabularProblem, params: Params, rng: np.random.Generator) -> int:
    """Draw a skill uniformly, or by a learned prior averaged over start states."""
    prior = skill_prior(problem, params)
    if prior is None:
        return int(rng.integers(len(problem.skills)))
    return int(rng.choice(len(problem.skills), p=prior.mean(axis=1)))


def paper_q_learning(gamma: float = 0.99, episodes: int = 500_000) -> QLearning:
    """Return the settings as literal as can be made to learn (docs/q-learning.md).

    Alpha and gamma of the appendix, values that start at 0, every episode updates the
    discriminator and may start in any state, and terminating is an action like the others, learned
    where it was taken.

    Args:
        gamma: Discount.
        episodes: Episodes of all skills together.
    """
    return QLearning(
        gamma=gamma, episodes=episodes, own_behaviour=False, counterfactual=False,
        start_where_controllable=False,
    )  # fmt: skip


def literal_q_learning(gamma: float = 0.99, episodes: int = 320_000) -> QLearning:
    """Return Q-learning by the letter of the paper's algorithms and appendix.

    Nothing is added that makes skills learn: every episode is epsilon-greedy and may terminate at
    any time, each transition updates its own start alone, and the discriminator learns from every
    episode with its full weight. The paper gives no epsilon; 0.1 is a common one. What differs is
    listed in docs/deviations.md; above all the order of Algorithm 1, with which skills of VIC and
    LSD end up standing still (`update_first`), and that skills take turns in blocks. After 20,000
    episodes of each of sixteen skills the appendix's step size has fallen to 0.1 exp(-10), and more
    episodes change nothing.

    Args:
        gamma: Discount.
        episodes: Episodes of all skills together.
    """
    return QLearning(
        gamma=gamma, episodes=episodes, decay=0.0005, epsilon=0.1, greedy_share=0.0, pace=1.0,
        hindsight=False, walk=False, own_behaviour=False, counterfactual=False,
        start_where_controllable=False, name="literal",
    )  # fmt: skip


def greedy_policy(q: np.ndarray) -> np.ndarray:
    """Return the best action, uint8 [n_states, n_contexts], of values [n_states, n_actions + 1,
    n_contexts]; terminate on ties."""
    terminate = q.shape[1] - 1
    moves = q[:, :-1].argmax(axis=1)
    stops = q[:, -1] >= q[:, :-1].max(axis=1)
    return np.where(stops, terminate, moves).astype(np.uint8)
