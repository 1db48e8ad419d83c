"""A learning problem: a table, an objective and an assignment, as arrays both learners use.

A policy sees the current state and the *context*: what its reward still needs of the first
state. That is the first value of whatever the reward compares with (the targets of VIC and LSD)
and of the variables the penalty watches that can still be changed back. A watched variable that
only ever moves on needs no place in the context: its penalty is paid when it changes, which is a
side-effects penalty over histories in the sense of Definition 4.

Where contexts times states would exceed `CELL_LIMIT`, the context forgets variables that only
move on, the largest first. What still does not fit in `MOST_CELLS` is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skillfocus.core.indexing import ValueIndex, index_values
from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError
from skillfocus.learners.tabular.costs import between_states, of_outcomes
from skillfocus.objectives.objective import Objective, Term
from skillfocus.objectives.targets import Assignment

CELL_LIMIT = 128_000_000
MOST_CELLS = 512_000_000
"""Planning takes five bytes for each cell of a policy: these are 2.6 GB."""
LONGEST = 100_000
"""The most steps that any skill may take."""


def check_step_limit(step_limit: int) -> None:
    if not 1 <= step_limit <= LONGEST:
        raise UserError(f"the step limit is {step_limit}; it must be 1 to {LONGEST:,}")


@dataclass(frozen=True, eq=False)
class Group:
    """The variables one copy of the base reward looks at, and what it sees of the start."""

    values: ValueIndex
    starts: ValueIndex
    coordinates: np.ndarray
    n_components: int
    variables: tuple[int, ...]
    """Those that `values` numbers, in that order."""
    start_variables: tuple[int, ...]

    @property
    def entries(self) -> int:
        return self.n_components * self.values.size * self.starts.size


@dataclass(frozen=True, eq=False)
class SkillTerm:
    group: int
    component: int
    weight: float
    start_in_context: np.ndarray
    """The group's start value in each context of the skill."""


@dataclass(frozen=True, eq=False)
class SkillProblem:
    """One skill: what it remembers, what it earns, what it must not change, where it may start."""

    targets: tuple[int, ...]
    remembered: tuple[int, ...]
    context: ValueIndex
    terms: tuple[SkillTerm, ...]
    penalty: np.ndarray
    """[now, then]: the penalty on watched variables that can be changed back."""
    penalty_now: np.ndarray
    penalty_then: np.ndarray
    event_cost: np.ndarray
    """[s, a, m]: the penalty of an outcome that changes a watched variable for good."""
    starts: np.ndarray
    """States in which every target can still change."""


@dataclass(frozen=True, eq=False)
class Problem:
    mdp: TabularMDP
    objective: Objective
    base: Objective
    """Where init, reward and update come from: the objective, or its sparse twin."""
    assignment: Assignment
    groups: tuple[Group, ...]
    skills: tuple[SkillProblem, ...]
    step_limit: int
    rate: float
    uses_context: bool
    """Whether policies see contexts; if not, each episode is judged by its own start."""

    def initial_params(self, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        return tuple(
            np.ascontiguousarray(
                self.base.init(g.n_components, g.starts.size, g.coordinates, rng),
                dtype=np.float32,
            )
            for g in self.groups
        )

    @property
    def widths(self) -> np.ndarray:
        """The number of contexts of each skill."""
        return np.array([skill.context.size for skill in self.skills], dtype=np.int64)

    @property
    def offsets(self) -> np.ndarray:
        """Where each skill begins in a flat array over (skill, state, context)."""
        sizes = self.widths * self.mdp.n_states
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def contexts(self) -> np.ndarray:
        """[skill, state]: the context of a skill that starts in a state."""
        return np.stack([skill.context.of_state for skill in self.skills])


def make_problem(
    mdp: TabularMDP,
    objective: Objective,
    assignment: Assignment,
    *,
    step_limit: int,
    world_id: str,
    remember: bool = True,
    start_where_controllable: bool = True,
    cell_limit: int = CELL_LIMIT,
    most_cells: int = MOST_CELLS,
) -> Problem:
    """`remember=False` gives skills that do not know where they began (one context only);
    `start_where_controllable=False` lets training start where the targets can no longer change."""
    check_step_limit(step_limit)
    builder = _Builder(mdp, objective, assignment)
    if remember:
        builder.forget_down_to(cell_limit, most_cells)
    skills = tuple(
        builder.skill(z, remember, start_where_controllable) for z in range(len(assignment))
    )
    groups = tuple(builder.groups)
    base = objective.base_for(max(group.entries for group in groups))
    rate = objective.rate_for(world_id)
    return Problem(mdp, objective, base, assignment, groups, skills, step_limit, rate, remember)


def check_size(mdp: TabularMDP, objective: Objective, assignment: Assignment) -> None:
    """Say now what would be refused once runs have begun: policies that are too large, targets that
    no action changes."""
    _Builder(mdp, objective, assignment).forget_down_to(CELL_LIMIT, MOST_CELLS)
    for z in range(len(assignment)):
        _require_change(mdp, assignment.targets(z))


def _require_change(mdp: TabularMDP, targets: tuple[int, ...]) -> None:
    if targets and not mdp.can_change[:, list(targets)].all(axis=1).any():
        names = ", ".join(mdp.space.names[i] for i in targets)
        raise UserError(f"no action ever changes {names}, so no skill can target it")


class _Builder:
    def __init__(self, mdp: TabularMDP, objective: Objective, assignment: Assignment) -> None:
        self.mdp, self.objective, self.assignment = mdp, objective, assignment
        self.groups: list[Group] = []
        self.known: dict[tuple[tuple[int, ...], int | None], int] = {}
        self.numberings: dict[tuple[int, ...], ValueIndex] = {}
        self.penalties: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
        self.forgotten: frozenset[int] = frozenset()

    def numbering(self, variables: tuple[int, ...]) -> ValueIndex:
        if variables not in self.numberings:
            self.numberings[variables] = index_values(self.mdp, variables)
        return self.numberings[variables]

    def start_variables(self, term: Term) -> tuple[int, ...]:
        """What a term sees of the first state: everything it looks at, if it is a target's (or
        the whole state's) reward; of a discriminator of the others, what can be changed back."""
        if not self.objective.uses_start:
            return ()
        seen = term.variables
        if term.weight < 0:
            seen = tuple(j for j in seen if self.mdp.reversible[j])
        return tuple(j for j in seen if j not in self.forgotten)

    def context_variables(self, z: int) -> tuple[int, ...]:
        targets = self.assignment.targets(z)
        needed: set[int] = set()
        for term in self.objective.terms(targets, len(self.mdp.space)):
            needed.update(self.start_variables(term))
        if self.objective.penalty is not None:
            needed.update(np.flatnonzero(self._watched(targets) & self.mdp.reversible).tolist())
        return tuple(sorted(needed))

    def _watched(self, targets: tuple[int, ...]) -> np.ndarray:
        n = len(self.mdp.space)
        return ~np.isin(np.arange(n), self.objective.unpenalized(targets, n))

    def _cells(self) -> int:
        contexts = [self.context_variables(z) for z in range(len(self.assignment))]
        return self.mdp.n_states * sum(self.numbering(each).size for each in contexts)

    def forget_down_to(self, cell_limit: int, most_cells: int) -> None:
        """Forget variables that only move on, the largest first, until policies are small."""
        sizes = self.mdp.space.sizes
        candidates = [j for j in range(len(sizes)) if not self.mdp.reversible[j]]
        for largest in sorted(candidates, key=lambda j: -sizes[j]):
            if self._cells() <= cell_limit:
                return
            self.forgotten |= {largest}
        if self._cells() > most_cells:
            raise UserError(
                f"{len(self.assignment)} skills need {self._cells():,} cells of policy, one for "
                f"each state and each first state they must tell apart, more than "
                f"{most_cells:,}: use fewer skills (targets=…), or fewer variables that can change "
                f"back"
            )

    def group(self, term: Term) -> int:
        key = (term.variables, term.target)
        if key not in self.known:
            remembered = self.start_variables(term)
            # Forgotten variables first: a start's number is then the number of the value with
            # the forgotten ones at their first value. Their coordinates are 0: they do not count.
            ordered = tuple(j for j in term.variables if j not in remembered) + remembered
            values, starts = self.numbering(ordered), self.numbering(remembered)
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
                and not self.objective.discriminates
                and not np.array_equal(coordinates[starts.of_state], coordinates[values.of_state])
            ):
                raise UserError(
                    f"{self.objective.name} needs more of the first state than fits in memory: "
                    f"use fewer skills, or a smaller world"
                )
            self.groups.append(Group(values, starts, coordinates, n, ordered, remembered))
        return self.known[key]

    def skill(self, z: int, remember: bool, start_where_controllable: bool) -> SkillProblem:
        mdp, penalty = self.mdp, self.objective.penalty
        targets = self.assignment.targets(z)
        remembered = self.context_variables(z) if remember else ()
        context = self.numbering(remembered)
        terms = []
        for term in self.objective.terms(targets, len(mdp.space)):
            place = self.group(term)
            component = z if term.target is None else self.assignment.skills[z][term.target]
            in_context = self.groups[place].starts.of_state[context.example]
            terms.append(SkillTerm(place, component, term.weight, in_context))
        watched = self._watched(targets)
        undone = tuple(np.flatnonzero(watched & mdp.reversible).tolist())
        now = self.numbering(undone if penalty else ())
        if targets not in self.penalties:
            self.penalties[targets] = (
                between_states(mdp, now.example, penalty, watched & mdp.reversible),
                of_outcomes(mdp, penalty, watched & ~mdp.reversible),
            )
        costs, events = self.penalties[targets]
        starts = np.arange(mdp.n_states)
        if start_where_controllable and targets:
            _require_change(mdp, targets)
            starts = np.flatnonzero(mdp.can_change[:, list(targets)].all(axis=1))
        return SkillProblem(
            targets, remembered, context, tuple(terms), costs, now.of_state,
            now.of_state[context.example], events, starts.astype(np.int64),
        )  # fmt: skip
