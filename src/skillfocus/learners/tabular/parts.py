"""Learning problems that fall apart: skills that share no estimate can be learned on their own.

Skills that are rewarded by one discriminator, such as all that target a variable, decide each
other's rewards. Others do not, so where all together would need too much memory they are learned
part by part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from skillfocus.learners.base import Problem
from skillfocus.learners.tabular import problem_builder
from skillfocus.learners.tabular.discriminator import require_slots
from skillfocus.learners.tabular.intrinsic import MAX_ENTRIES
from skillfocus.learners.tabular.problem import TabularProblem
from skillfocus.objectives.targets import Assignment
from skillfocus.skills.intrinsic_reward import IntrinsicReward, join_rewards
from skillfocus.skills.packed_policy import PackedPolicy, Packer


def independent_parts(problem: Problem) -> list[tuple[int, ...]]:
    """Return the smallest sets of skills, by number, that share no estimate with the others."""
    parts: list[tuple[set[object], tuple[int, ...]]] = []
    n_variables = len(problem.world.space)
    for skill, first in enumerate(first_modes(problem.modes)):
        targets = problem.assignment.targets(first)
        terms = problem.objective.terms(targets, n_variables)
        keys: set[object] = {(term.variables, term.target) for term in terms}
        members, apart = (skill,), []
        for known, others in parts:
            if known & keys:
                keys, members = keys | known, (*others, *members)
            else:
                apart.append((known, others))
        parts = [*apart, (keys, tuple(sorted(members)))]
    return sorted(members for _, members in parts)


def first_modes(modes: Sequence[int]) -> list[int]:
    """Return, per skill, the place of its first mode among the modes of all."""
    return [0, *accumulate(modes[:-1])]


def part_of_problem(problem: Problem, skills: Sequence[int]) -> Problem:
    """Return the problem of learning some of the skills."""
    firsts = first_modes(problem.modes)
    chosen = [firsts[z] + mode for z in skills for mode in range(problem.modes[z])]
    return replace(
        problem,
        assignment=Assignment(tuple(problem.assignment.skills[z] for z in chosen)),
        modes=tuple(problem.modes[z] for z in skills),
        known_mdp=problem.mdp,
    )


def interleave_modes(packer: Packer, modes: Sequence[np.ndarray], n_contexts: int) -> np.ndarray:
    """Return the packed policy of a skill from those of its modes.

    Args:
        packer: Numbers the blocks.
        modes: Per mode, the numbers of its blocks, uint32 [n_states, n].
        n_contexts: How many contexts each mode has.
    """
    if len(modes) == 1:
        return modes[0]
    width = packer.blocks.shape[1]
    packed = []
    for k in range(modes[0].shape[1]):
        tables = [packer.blocks[numbers[:, k]] for numbers in modes]
        columns = np.stack(tables, axis=2)[:, : n_contexts - k * width]
        packed.append(packer.pack(columns.reshape(len(columns), -1)))
    return np.concatenate(packed, axis=1)


class JoinedParts:
    """What was learned of the skills so far, to be joined in the order of the problem's.

    Args:
        problem: The whole problem.
        packer: Numbers the blocks of all policies.
    """

    def __init__(self, problem: Problem, packer: Packer) -> None:
        self._problem, self.packer = problem, packer
        self._packed: dict[int, tuple[tuple[str, ...], np.ndarray]] = {}
        self._rewards: dict[int, tuple[IntrinsicReward | None, int]] = {}

    def add(
        self,
        skills: Sequence[int],
        tabular: TabularProblem,
        packed: Sequence[np.ndarray],
        reward: IntrinsicReward | None,
    ) -> None:
        """Add the skills of one part.

        Args:
            skills: Their numbers in the whole problem.
            tabular: The part's problem as arrays.
            packed: Per skill or mode of the part, the numbers of its blocks.
            reward: The part's learned reward.
        """
        names, z = tabular.mdp.space.names, 0
        for place, skill in enumerate(skills):
            count = self._problem.modes[skill]
            context = tabular.skills[z].context_variables
            numbers = interleave_modes(
                self.packer, packed[z : z + count], tabular.skills[z].context.size
            )
            self._packed[skill] = tuple(names[j] for j in context), numbers
            self._rewards[skill] = reward, place
            z += count

    def policy(self) -> PackedPolicy:
        """Return the policies of all skills."""
        parts = [self._packed[z] for z in range(len(self._packed))]
        variables = [names for names, _ in parts]
        flat = np.concatenate([numbers.ravel() for _, numbers in parts])
        blocks = self.packer.blocks.copy()
        return PackedPolicy(self._problem.mdp, variables, flat, blocks, self._problem.modes)

    def intrinsic_reward(self) -> IntrinsicReward | None:
        """Return the learned rewards of all skills; None if one is missing or all are too large."""
        joined = join_rewards([self._rewards[z] for z in range(len(self._rewards))])
        return joined if joined and joined.n_entries <= MAX_ENTRIES else None


def check_parts(problem: Problem) -> None:
    """Raise a `UserError` for policies that are too large even if they are packed, or whose one
    discriminator of whole states is."""
    if not problem.objective.targeted and problem.objective.reward.estimate.discriminates:
        require_slots(len(problem.assignment))
    cells = sum(
        problem_builder.count_cells(part_of_problem(problem, skills))
        for skills in independent_parts(problem)
    )
    most = problem_builder.PACKED_CELLS * problem_builder.MAX_CELLS
    problem_builder.require_cells(cells, most, len(problem.assignment))
