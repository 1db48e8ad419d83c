"""A tabular learning problem: MDP, objective and assignment as the arrays that kernels use.

A policy sees the current state and the *context*: what its reward still needs to know of the start
state. That is the start value of whatever the reward compares with (the targets of VIC and LSD)
and of the watched variables that can be changed back. A watched variable that only ever moves on
needs no place in the context: its penalty is paid when it changes, which is a side-effects penalty
over histories in the sense of Definition 4.

Where contexts times states would exceed `CELL_LIMIT`, the context leaves out variables that only
move on, the largest first. What still does not fit in `MAX_CELLS` is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from skillfocus.core.indexing import ContextIndex, ValueIndex
from skillfocus.core.mdp import TabularMDP
from skillfocus.learners.tabular.alignment import align_components
from skillfocus.learners.tabular.estimators import Estimator
from skillfocus.objectives.objective import Objective
from skillfocus.skills.policy import TabularPolicy


@dataclass(frozen=True, eq=False)
class Group:
    """The variables that one copy of the base reward looks at.

    Attributes:
        values: Numbers of the group's values.
        starts: Numbers of what the reward sees of the start state.
        coordinates: float64 [n_values, n_dimensions], points of the values.
        n_components: How many components skills have on the group.
        variables: Those that `values` numbers, in that order.
        start_variables: Those that `starts` numbers.
    """

    values: ValueIndex
    starts: ValueIndex
    coordinates: np.ndarray
    n_components: int
    variables: tuple[int, ...]
    start_variables: tuple[int, ...]

    @property
    def entries(self) -> int:
        """How many (component, value, start) triples there are."""
        return self.n_components * self.values.size * self.starts.size


@dataclass(frozen=True, eq=False)
class SkillTerm:
    """One summand of a skill's reward.

    Attributes:
        group: Index of the group it looks at.
        component: The skill's component there.
        weight: Factor of the summand.
        start_in_context: int32 [n_contexts], the group's start number in each context.
    """

    group: int
    component: int
    weight: float
    start_in_context: np.ndarray


@dataclass(frozen=True, eq=False)
class SkillProblem:
    """One skill: what its policy sees, earns and must not change, and where it may start.

    Attributes:
        targets: Indices of its target variables.
        context_variables: Variables whose start value its policy sees.
        context: Numbers of its contexts.
        terms: Summands of its reward.
        penalty: float32 [n_now, n_then], the penalty on watched variables that can be changed back.
        penalty_now: int32 [n_states], the row of `penalty` of each state.
        penalty_then: int32 [n_contexts], the column of `penalty` of each context.
        event_cost: float32 [n_states, n_actions, n_outcomes], the penalty of an outcome that
            changes a watched variable for good.
        starts: int64 [n_starts], states that training runs may start in.
    """

    targets: tuple[int, ...]
    context_variables: tuple[int, ...]
    context: ValueIndex
    terms: tuple[SkillTerm, ...]
    penalty: np.ndarray
    penalty_now: np.ndarray
    penalty_then: np.ndarray
    event_cost: np.ndarray
    starts: np.ndarray


@dataclass(frozen=True, eq=False)
class TabularProblem:
    """A learning problem as arrays.

    Attributes:
        mdp: The MDP to act in.
        objective: What skills are rewarded for.
        estimator: What supplies the reward formula's arguments.
        groups: Groups of variables that rewards look at.
        skills: One entry per skill, or per mode of each skill.
        step_limit: Most steps a skill may take.
        rate: Learning rate of the estimator.
        uses_context: Whether policies see contexts; if not, each episode is judged by its own
            start.
    """

    mdp: TabularMDP
    objective: Objective
    estimator: Estimator
    groups: tuple[Group, ...]
    skills: tuple[SkillProblem, ...]
    step_limit: int
    rate: float
    uses_context: bool

    def initial_params(self, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Return the estimator's initial parameters for each group, those of skills with several
        targets aligned."""
        params = tuple(
            np.ascontiguousarray(
                self.estimator.init(g.n_components, g.starts.size, g.coordinates, rng),
                dtype=np.float32,
            )
            for g in self.groups
        )
        align_components(self, params)
        return params

    def average_penalties(self) -> TabularProblem:
        """Return the problem with penalties as they are expected over each skill's starts, for
        policies that do not see their start."""
        skills = []
        for skill in self.skills:
            counts = np.bincount(skill.penalty_now[skill.starts], minlength=len(skill.penalty))
            expected = skill.penalty @ (counts / counts.sum())
            skills.append(
                replace(
                    skill,
                    penalty=np.ascontiguousarray(expected[:, None], dtype=np.float32),
                    penalty_then=np.zeros_like(skill.penalty_then),
                )
            )
        return replace(self, skills=tuple(skills))

    @cached_property
    def index(self) -> ContextIndex:
        """Numbers of all contexts."""
        variables = [skill.context_variables for skill in self.skills]
        return ContextIndex(self.mdp, variables, [1] * len(self.skills))

    def policy(self, actions: np.ndarray, modes: tuple[int, ...]) -> TabularPolicy:
        """Return learned actions as a policy.

        Args:
            actions: uint8, flat over (skill or mode, state, context).
            modes: How many modes each skill has.
        """
        names, n, offsets = self.mdp.space.names, self.mdp.n_states, self.index.offsets
        tables, variables, z = [], [], 0
        for count in modes:
            parts = [
                actions[offsets[i] : offsets[i + 1]].reshape(n, -1) for i in range(z, z + count)
            ]
            tables.append(parts[0].ravel() if count == 1 else np.stack(parts, axis=2).ravel())
            variables.append(tuple(names[j] for j in self.skills[z].context_variables))
            z += count
        flat = actions if max(modes) == 1 else np.concatenate(tables)
        return TabularPolicy(self.mdp, variables, flat, modes)
