"""Planning: exact value iteration that alternates with updates of the rewards.

Each round, the values of every skill are swept towards the optimum of its current reward (see
`value_iteration.py`), the skills are run, and what they did updates the rewards' parameters. The
first round solves for the values: after two sweeps a skill whose target is ten steps away would
still stay where it is, and a discriminator that sees it stay rewards it for staying. At the end the
values are solved from scratch, because warm-started values adapt slowly to rewards that fell.

Where the policies of all skills would have more than `MAX_CELLS` entries, the skills of one target
are learned at a time (`parts.py`), with memory for them alone (`lean_model.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skillfocus.core.rollout import mdp_arrays, run_many
from skillfocus.errors import UserError
from skillfocus.learners.base import Learned, Learner, Problem
from skillfocus.learners.tabular import problem_builder
from skillfocus.learners.tabular.intrinsic import make_intrinsic_reward
from skillfocus.learners.tabular.kernels import Params, skill_prior, update_estimates
from skillfocus.learners.tabular.lean_model import LeanModel
from skillfocus.learners.tabular.parts import (
    JoinedParts,
    check_parts,
    independent_parts,
    part_of_problem,
)
from skillfocus.learners.tabular.problem import TabularProblem
from skillfocus.learners.tabular.problem_builder import (
    count_cells,
    require_changes,
    tabular_problem,
)
from skillfocus.learners.tabular.reward_check import check_rewards
from skillfocus.learners.tabular.value_iteration import Model, check_gamma
from skillfocus.progress import Progress, part_of
from skillfocus.skills.packed_policy import Packer


@dataclass(frozen=True)
class Planning(Learner):
    """Exact planning, in alternation with updates of the rewards.

        skills = sf.discover(world, objective, seed=0, learner=sf.Planning(rounds=20))

    Attributes:
        rounds: How often values and rewards are updated in turn.
        sweeps: Sweeps of value iteration per round after the first.
        rollouts: Runs of each skill per round that update the rewards.
        gamma: Discount.
        final_sweeps: Most sweeps of a solution from scratch: the first round's and the last.
        warm_start: Whether a round sweeps on from the last one's values; otherwise every round
            solves from scratch. A reward that falls leaves values that are too high for a while:
            two neighbouring states promise each other's, and a skill walks back and forth.
        start_where_controllable: Whether runs start only where the skill's targets can change.
        memory: Whether policies see where they began. Without, they see the current state alone,
            and so do their rewards; penalties are as expected over the starts of training.
        keeps_earning: Whether a skill that terminates goes on earning a reward of every step.
        name: Name in files and tables.
    """

    rounds: int = 40
    sweeps: int = 2
    rollouts: int = 500
    gamma: float = 0.99
    final_sweeps: int = 300
    warm_start: bool = True
    start_where_controllable: bool = True
    memory: bool = True
    keeps_earning: bool = True
    name: str = "planning"

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        if min(self.rounds, self.sweeps, self.rollouts, self.final_sweeps) < 1:
            raise UserError("rounds, sweeps, rollouts and final_sweeps must be at least 1")

    def check(self, problem: Problem) -> None:
        """Raise `UserError` for policies that are too large."""
        require_changes(problem)
        if self.memory and count_cells(problem) > problem_builder.MAX_CELLS:
            check_parts(problem)

    def learn(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Learned:
        """Alternate value iteration and updates of the rewards; see `Learner.learn`."""
        if self.memory and count_cells(problem) > problem_builder.MAX_CELLS:
            return self._learn_in_parts(problem, rng, progress)
        tabular = self._tabular_problem(problem)
        model = Model(tabular, self.gamma, self.keeps_earning)
        params = self._run_rounds(tabular, model, rng, progress)
        n_skills = len(tabular.skills)
        for z in range(n_skills):
            done = (self.rounds + z / n_skills) / (self.rounds + 1)
            progress(done, f"solving for skill {z} of {n_skills}")
            model.known[z][:] = False
            model.improve(z, params, self.final_sweeps)
        policies = tabular.policy(model.actions, problem.modes)
        return Learned(policies, make_intrinsic_reward(tabular, params, problem.modes))

    def _run_rounds(
        self, tabular: TabularProblem, model: Model, rng: np.random.Generator, progress: Progress
    ) -> Params:
        """Return the rewards' parameters after all rounds."""
        params = tabular.initial_params(rng)
        check_rewards(tabular, params)
        learns = tabular.estimator.update is not None  # else the last solution is all there is
        for number in range(self.rounds if learns else 0):
            progress(number / (self.rounds + 1), f"round {number + 1} of {self.rounds}")
            skills, starts = draw_starts(tabular, params, self.rollouts, rng)
            for z, skill in enumerate(tabular.skills):
                contexts, sweeps = None, self.sweeps
                if skill.context.size > self.rollouts:  # more than a round's runs can start in
                    contexts = np.unique(skill.context.of_state[starts[skills == z]])
                    sweeps *= -(-skill.context.size // self.rollouts)  # as many in all as others
                if number == 0 or not (self.warm_start and model.keeps_values):
                    sweeps = self.final_sweeps
                    model.known[z][:] = False
                model.improve(z, params, sweeps, contexts)
            paths, steps = run_many(
                mdp_arrays(tabular.mdp), model.policy_arrays, skills, starts, tabular.step_limit,
                tabular.mdp.n_marks, rng,
            )  # fmt: skip
            update_estimates(tabular, params, skills, paths, steps, rng)
        check_rewards(tabular, params)
        return params

    def _learn_in_parts(
        self, problem: Problem, rng: np.random.Generator, progress: Progress
    ) -> Learned:
        """Learn the skills of one discriminator at a time, each part with random numbers of its
        own, and pack their policies."""
        check_parts(problem)
        parts = independent_parts(problem)
        learned = JoinedParts(problem, Packer(problem.mdp.n_actions))
        for number, (members, source) in enumerate(zip(parts, rng.spawn(len(parts)), strict=True)):
            share = part_of(
                progress, number / len(parts), (number + 1) / len(parts),
                f"part {number + 1} of {len(parts)}",
            )  # fmt: skip
            self._learn_part(part_of_problem(problem, members), members, learned, source, share)
        return Learned(learned.policy(), learned.intrinsic_reward())

    def _learn_part(
        self,
        part: Problem,
        members: tuple[int, ...],
        learned: JoinedParts,
        rng: np.random.Generator,
        progress: Progress,
    ) -> None:
        tabular = tabular_problem(
            part, start_where_controllable=self.start_where_controllable,
            max_cells=problem_builder.PACKED_CELLS * problem_builder.MAX_CELLS,
        )  # fmt: skip
        model = LeanModel(tabular, self.gamma, self.keeps_earning)
        params = self._run_rounds(tabular, model, rng, progress)
        n, packed = len(tabular.skills), []
        for z in range(n):
            done = (self.rounds + z / n) / (self.rounds + 1)
            progress(done, f"solving for skill {z} of {n}")
            packed.append(model.pack(z, params, self.final_sweeps, learned.packer))
        learned.add(members, tabular, packed, make_intrinsic_reward(tabular, params, part.modes))

    def _tabular_problem(self, problem: Problem) -> TabularProblem:
        if not self.memory:
            reward = problem.objective.reward.without_start()
            problem = replace(problem, objective=replace(problem.objective, reward=reward))
        tabular = tabular_problem(
            problem, use_context=self.memory, start_where_controllable=self.start_where_controllable
        )
        return tabular if self.memory else tabular.average_penalties()


def draw_starts(
    problem: TabularProblem, params: Params, per_skill: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw skills to run, uniformly or by a learned prior, and their start states.

    Args:
        problem: The learning problem.
        params: Per group, the estimator's parameters.
        per_skill: Runs per skill, on average.
        rng: Source of the draws.

    Returns:
        Skill numbers and state numbers, int64 [n_runs] each, in random order.
    """
    n = per_skill * len(problem.skills)
    proposed = rng.integers(problem.mdp.n_states, size=n)
    prior = skill_prior(problem, params)
    if prior is None:
        skills = rng.integers(len(problem.skills), size=n)
    else:
        shares = prior.cumsum(axis=0)[:, proposed]
        skills = np.minimum((rng.random(n) >= shares).sum(axis=0), len(problem.skills) - 1)
    starts = np.empty(n, dtype=np.int64)
    for z, skill in enumerate(problem.skills):
        mine = np.flatnonzero(skills == z)
        allowed = np.isin(proposed[mine], skill.starts)
        other = skill.starts[rng.integers(len(skill.starts), size=len(mine))]
        starts[mine] = np.where(allowed, proposed[mine], other)
    return skills, starts
