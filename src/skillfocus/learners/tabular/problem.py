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

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skillfocus.core.indexing import ContextIndex, ValueIndex, index_values
from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError
from skillfocus.learners.base import Problem
from skillfocus.learners.tabular.costs import between_states, of_outcomes
from skillfocus.learners.tabular.estimators import Estimator, tabular_estimator
from skillfocus.objectives.decomposition import Term
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.targets import Assignment
from skillfocus.skills.policy import TabularPolicy

CELL_LIMIT = 128_000_000
"""Entries of all policies above which contexts leave out variables."""
MAX_CELLS = 512_000_000
"""Most entries of all policies. Planning takes five bytes for each: these are 2.6 GB."""


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
        """Return the estimator's initial parameters for each group."""
        return tuple(
            np.ascontiguousarray(
                self.estimator.init(g.n_components, g.starts.size, g.coordinates, rng),
                dtype=np.float32,
            )
            for g in self.groups
        )

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


def tabular_problem(
    problem: Problem, *, use_context: bool = True, start_where_controllable: bool = True
) -> TabularProblem:
    """Turn a learning problem into arrays.

    Args:
        problem: What to learn.
        use_context: Whether policies see contexts.
        start_where_controllable: Whether training starts only where the targets can still change.
    """
    return build_problem(
        problem.mdp, problem.objective, problem.assignment, step_limit=problem.step_limit,
        rate=problem.rate, use_context=use_context,
        start_where_controllable=start_where_controllable,
    )  # fmt: skip


def build_problem(
    mdp: TabularMDP,
    objective: Objective,
    assignment: Assignment,
    *,
    step_limit: int,
    rate: float,
    use_context: bool = True,
    start_where_controllable: bool = True,
    cell_limit: int = CELL_LIMIT,
    max_cells: int = MAX_CELLS,
) -> TabularProblem:
    """`tabular_problem` from its parts, with limits on the policies' entries."""
    builder = _Builder(mdp, objective, assignment)
    if use_context:
        builder.forget_down_to(cell_limit, max_cells)
    skills = tuple(
        builder.skill(z, use_context, start_where_controllable) for z in range(len(assignment))
    )
    groups = tuple(builder.groups)
    estimate = objective.reward.estimate
    estimator = tabular_estimator(estimate, max(group.entries for group in groups))
    return TabularProblem(mdp, objective, estimator, groups, skills, step_limit, rate, use_context)


def check_problem(problem: Problem, *, use_context: bool = True) -> None:
    """Raise now what learning would raise: policies that are too large, targets that no action
    changes."""
    builder = _Builder(problem.mdp, problem.objective, problem.assignment)
    if use_context:
        builder.forget_down_to(CELL_LIMIT, MAX_CELLS)
    for z in range(len(problem.assignment)):
        _require_change(problem.mdp, problem.assignment.targets(z))


def _require_change(mdp: TabularMDP, targets: tuple[int, ...]) -> None:
    if targets and not mdp.can_change[:, list(targets)].all(axis=1).any():
        names = ", ".join(mdp.space.names[i] for i in targets)
        raise UserError(f"no action ever changes {names}, so no skill can target it")


class _Builder:
    """Builds groups and skills; skills that look at the same variables share a group."""

    def __init__(self, mdp: TabularMDP, objective: Objective, assignment: Assignment) -> None:
        self.mdp, self.objective, self.assignment = mdp, objective, assignment
        self.groups: list[Group] = []
        self.known: dict[tuple[tuple[int, ...], int | None], int] = {}
        self.indices: dict[tuple[int, ...], ValueIndex] = {}
        self.penalties: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
        self.forgotten: frozenset[int] = frozenset()

    def index(self, variables: tuple[int, ...]) -> ValueIndex:
        if variables not in self.indices:
            self.indices[variables] = index_values(self.mdp, variables)
        return self.indices[variables]

    def start_variables(self, term: Term) -> tuple[int, ...]:
        """Return what a term sees of the start state: everything it looks at; of a discriminator
        of the other variables (negative weight), what can be changed back."""
        if not self.objective.reward.uses_start:
            return ()
        seen = term.variables
        if term.weight < 0:
            seen = tuple(j for j in seen if self.mdp.reversible[j])
        return tuple(j for j in seen if j not in self.forgotten)

    def context_variables(self, z: int) -> tuple[int, ...]:
        targets = self.assignment.targets(z)
        needed: set[int] = set()
        if self.objective.reward.timing != "transition":  # those compare with the state before
            for term in self.objective.decomposition.terms(targets, len(self.mdp.space)):
                needed.update(self.start_variables(term))
        needed.update(np.flatnonzero(self._compared(self._watched(targets))).tolist())
        return tuple(sorted(needed))

    def _watched(self, targets: tuple[int, ...]) -> np.ndarray:
        """Return which variables a skill with these targets must not change."""
        n, penalty = len(self.mdp.space), self.objective.penalty
        return np.zeros(n, dtype=bool) if penalty is None else penalty.watched(targets, n)

    def _compared(self, watched: np.ndarray) -> np.ndarray:
        """Return the variables whose start value the penalty compares with."""
        penalty = self.objective.penalty
        return watched if penalty is None else penalty.remembered(watched, self.mdp.reversible)

    def _cells(self) -> int:
        contexts = [self.context_variables(z) for z in range(len(self.assignment))]
        return self.mdp.n_states * sum(self.index(each).size for each in contexts)

    def forget_down_to(self, cell_limit: int, max_cells: int) -> None:
        """Leave variables that only move on out of contexts, the largest first, until they fit."""
        sizes = self.mdp.space.sizes
        candidates = [j for j in range(len(sizes)) if not self.mdp.reversible[j]]
        for largest in sorted(candidates, key=lambda j: -sizes[j]):
            if self._cells() <= cell_limit:
                return
            self.forgotten |= {largest}
        if self._cells() > max_cells:
            raise UserError(
                f"{len(self.assignment)} skills need {self._cells():,} cells of policy, one for "
                f"each state and each first state they must tell apart, more than "
                f"{max_cells:,}: use fewer skills (targets=…), or fewer variables that can change "
                f"back"
            )

    def group(self, term: Term) -> int:
        key = (term.variables, term.target)
        if key not in self.known:
            remembered = self.start_variables(term)
            # Forgotten variables first: a start's number is then the number of the value with
            # the forgotten ones at their first value. Their coordinates are 0: they do not count.
            ordered = tuple(j for j in term.variables if j not in remembered) + remembered
            values, starts = self.index(ordered), self.index(remembered)
            points = [
                self.mdp.space.variables[j].coordinates[self.mdp.values[values.example, j]]
                * (j not in self.forgotten)
                for j in ordered
            ]
            n = (
                len(self.assignment)
                if term.target is None
                else self.assignment.n_components(term.target)
            )
            self.known[key] = len(self.groups)
            coordinates = np.ascontiguousarray(np.concatenate(points, axis=1))
            if (
                self.forgotten
                and not self.objective.reward.estimate.discriminates
                and not np.array_equal(coordinates[starts.of_state], coordinates[values.of_state])
            ):
                raise UserError(
                    f"{self.objective.name} needs more of the first state than fits in memory: "
                    f"use fewer skills, or a smaller world"
                )
            self.groups.append(Group(values, starts, coordinates, n, ordered, remembered))
        return self.known[key]

    def skill(self, z: int, use_context: bool, start_where_controllable: bool) -> SkillProblem:
        mdp, penalty = self.mdp, self.objective.penalty
        targets = self.assignment.targets(z)
        visible = self.context_variables(z) if use_context else ()
        context = self.index(visible)
        terms = []
        for term in self.objective.decomposition.terms(targets, len(mdp.space)):
            place = self.group(term)
            component = z if term.target is None else self.assignment.skills[z][term.target]
            in_context = self.groups[place].starts.of_state[context.example]
            terms.append(SkillTerm(place, component, term.weight, in_context))
        watched = self._watched(targets)
        compared = self._compared(watched)
        now = self.index(tuple(np.flatnonzero(compared).tolist()))
        if targets not in self.penalties:
            self.penalties[targets] = (
                between_states(mdp, now.example, penalty, watched & compared),
                of_outcomes(mdp, penalty, watched & ~compared),
            )
        penalties, event_costs = self.penalties[targets]
        starts = np.arange(mdp.n_states)
        if start_where_controllable and targets:
            _require_change(mdp, targets)
            starts = np.flatnonzero(mdp.can_change[:, list(targets)].all(axis=1))
        return SkillProblem(
            targets, visible, context, tuple(terms), penalties, now.of_state,
            now.of_state[context.example], event_costs, starts.astype(np.int64),
        )  # fmt: skip
