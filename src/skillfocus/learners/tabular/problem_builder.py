"""From a learning problem to the arrays that kernels use (see `problem.py`)."""

from __future__ import annotations

import numpy as np

from skillfocus.core.indexing import ValueIndex, index_values
from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError
from skillfocus.learners.base import Problem
from skillfocus.learners.tabular.costs import (
    PenaltyParts,
    against_inaction,
    between_states,
    of_outcomes,
    split_penalty,
)
from skillfocus.learners.tabular.estimators import tabular_estimator
from skillfocus.learners.tabular.problem import Group, SkillProblem, SkillTerm, TabularProblem
from skillfocus.objectives.estimates import ValueNumbers
from skillfocus.objectives.objective import Objective, Term
from skillfocus.objectives.targets import Assignment, reaches_values

CELL_LIMIT = 128_000_000
"""Entries of all policies above which contexts leave out variables."""
MAX_CELLS = 512_000_000
"""Most entries of all policies as plain tables. Planning takes five bytes for each: these are 2.6
GB. Above, `Planning` learns one target's skills at a time and packs their policies."""
PACKED_CELLS = 16
"""How many times `MAX_CELLS` packed policies may have: a skills file holds as many bytes then."""


def tabular_problem(
    problem: Problem,
    *,
    use_context: bool = True,
    start_where_controllable: bool = True,
    max_cells: int | None = None,
) -> TabularProblem:
    """Turn a learning problem into arrays.

    Args:
        problem: What to learn.
        use_context: Whether policies see contexts.
        start_where_controllable: Whether training starts only where the targets can still change.
        max_cells: Most entries of all policies (default: `MAX_CELLS`).
    """
    return build_problem(
        problem.mdp, problem.objective, problem.assignment, step_limit=problem.step_limit,
        rate=problem.rate, use_context=use_context,
        start_where_controllable=start_where_controllable,
        max_cells=MAX_CELLS if max_cells is None else max_cells,
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
        builder.shrink_contexts(cell_limit)
        require_cells(builder.cells(), max_cells, len(assignment))
    skills = tuple(
        builder.skill(z, use_context, start_where_controllable) for z in range(len(assignment))
    )
    groups = tuple(builder.groups)
    estimate = objective.reward.estimate
    estimator = tabular_estimator(estimate, max(group.entries for group in groups))
    return TabularProblem(mdp, objective, estimator, groups, skills, step_limit, rate, use_context)


def check_problem(problem: Problem, *, use_context: bool = True) -> None:
    """Validate a problem: raise `UserError` for policies that are too large and for targets that no
    action changes."""
    if use_context:
        require_cells(count_cells(problem), MAX_CELLS, len(problem.assignment))
    require_changes(problem)


def context_counts(problem: Problem) -> list[int]:
    """Return how many contexts each skill has, once contexts have been shrunk."""
    builder = _Builder(problem.mdp, problem.objective, problem.assignment)
    builder.shrink_contexts(CELL_LIMIT)
    return builder.widths()


def count_cells(problem: Problem) -> int:
    """Return how many entries the policies of a problem have, once contexts have been shrunk."""
    return problem.mdp.n_states * sum(context_counts(problem))


def require_cells(cells: int, most: int, n_skills: int) -> None:
    """Raise a `UserError` for more policy entries than there may be."""
    if cells > most:
        raise UserError(
            f"{n_skills} skills need {cells:,} policy entries (states times contexts), more than "
            f"{most:,}: use fewer skills (targets=…), or fewer variables that can change back"
        )


def require_changes(problem: Problem) -> None:
    """Raise a `UserError` for targets that no action changes."""
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
        self.dropped: frozenset[int] = frozenset()

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
        return tuple(j for j in seen if j not in self.dropped)

    def context_variables(self, z: int) -> tuple[int, ...]:
        targets = self.assignment.targets(z)
        needed: set[int] = set()
        if self.objective.reward.timing != "transition":  # those compare with the state before
            for term in self.objective.terms(targets, len(self.mdp.space)):
                needed.update(self.start_variables(term))
        needed.update(np.flatnonzero(self._parts(targets).remembered).tolist())
        return tuple(sorted(needed))

    def _watched(self, targets: tuple[int, ...]) -> np.ndarray:
        """Return which variables a skill with these targets must not change."""
        n, penalty = len(self.mdp.space), self.objective.penalty
        return np.zeros(n, dtype=bool) if penalty is None else penalty.watched(targets, n)

    def _parts(self, targets: tuple[int, ...]) -> PenaltyParts:
        """Return when the penalty is paid for which variables."""
        return split_penalty(self.mdp, self.objective.penalty, self._watched(targets))

    def widths(self) -> list[int]:
        """Return how many contexts each skill has."""
        contexts = [self.context_variables(z) for z in range(len(self.assignment))]
        return [self.index(each).size for each in contexts]

    def cells(self) -> int:
        """Return how many entries all policies have."""
        return self.mdp.n_states * sum(self.widths())

    def shrink_contexts(self, cell_limit: int) -> None:
        """Leave variables that only move on out of contexts, the largest first, until they fit."""
        sizes = self.mdp.space.sizes
        candidates = [j for j in range(len(sizes)) if not self.mdp.reversible[j]]
        for largest in sorted(candidates, key=lambda j: -sizes[j]):
            if self.cells() <= cell_limit:
                return
            self.dropped |= {largest}

    def group(self, term: Term) -> int:
        key = (term.variables, term.target)
        if key not in self.known:
            remembered = self.start_variables(term)
            # Dropped variables first: a start's number is then the number of the value with the
            # dropped ones at their first value. Their coordinates are 0: they do not count.
            ordered = tuple(j for j in term.variables if j not in remembered) + remembered
            values, starts = self.index(ordered), self.index(remembered)
            points = [
                self.mdp.space.variables[j].coordinates[self.mdp.values[values.example, j]]
                * (j not in self.dropped)
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
                self.dropped
                and not self.objective.reward.estimate.discriminates
                and not np.array_equal(coordinates[starts.of_state], coordinates[values.of_state])
            ):
                raise self._start_does_not_fit()
            if isinstance(self.objective.reward.estimate, ValueNumbers):
                self._require_first_values(term)
            self.groups.append(Group(values, starts, coordinates, n, ordered, remembered))
        return self.known[key]

    def _require_first_values(self, term: Term) -> None:
        """Refuse to compare a dropped variable with its start, of which nothing is left but its
        first value, unless that is the one value which it ever leaves."""
        if not self.objective.reward.uses_start:
            return
        for j in self.dropped.intersection(term.variables):
            if self.mdp.can_change[self.mdp.values[:, j] != 0, j].any():
                raise self._start_does_not_fit()

    def _start_does_not_fit(self) -> UserError:
        return UserError(
            f"{self.objective.name} needs more of the first state than fits in memory: use fewer "
            f"skills, a smaller world, or a Reward(…, uses_start=False)"
        )

    def component(self, z: int, term: Term) -> int:
        """Return the component of skill z that a term rewards. A value is numbered among those that
        occur, as the group's values are."""
        if term.target is None:
            return z
        component = self.assignment.skills[z][term.target]
        if not reaches_values(self.objective):
            return component
        states = np.flatnonzero(self.mdp.values[:, term.target] == component)
        if not len(states):
            variable = self.mdp.space.variables[term.target]
            raise UserError(
                f"{variable.name} never is {variable.values[component]!r}, so no skill reaches it"
            )
        return int(self.groups[self.group(term)].values.of_state[states[0]])

    def skill(self, z: int, use_context: bool, start_where_controllable: bool) -> SkillProblem:
        mdp, penalty = self.mdp, self.objective.penalty
        targets = self.assignment.targets(z)
        visible = self.context_variables(z) if use_context else ()
        context = self.index(visible)
        terms = []
        for term in self.objective.terms(targets, len(mdp.space)):
            place = self.group(term)
            component = self.component(z, term)
            in_context = self.groups[place].starts.of_state[context.example]
            terms.append(SkillTerm(place, component, term.weight, in_context))
        parts = self._parts(targets)
        now = self.index(tuple(np.flatnonzero(parts.remembered).tolist()))
        if targets not in self.penalties:
            self.penalties[targets] = (
                self._end_penalty(now, parts),
                of_outcomes(mdp, penalty, parts.at_steps),
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

    def _end_penalty(self, now: ValueIndex, parts: PenaltyParts) -> np.ndarray:
        """Return the penalty at the end of a skill, float32 [n_now, n_then]."""
        penalty = self.objective.penalty
        if penalty is None or penalty.baseline != "inaction" or not parts.remembered.all():
            return between_states(self.mdp, now.example, penalty, parts.at_end)
        costs = against_inaction(self.mdp, penalty, parts.at_end)
        return costs[np.ix_(now.example, now.example)]
