"""A tabular learning problem: MDP, objective and skills as the arrays that kernels use.

A policy sees the current state and the *context*: what its reward still needs to know of the start
state. That is the start value of whatever the reward compares with (the targets of VIC and LSD)
and of the watched variables that can be changed back. A watched variable that only ever moves on
needs no place in the context: its penalty is paid when it changes, which is a side-effects penalty
over histories in the sense of Definition 4.

Where contexts times states would exceed `CELL_LIMIT`, the context leaves out variables that only
move on, the largest first. What still does not fit in `MAX_CELLS` is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from skillfocus.errors import UserError
from skillfocus.learners.planning.estimators import Estimator, tabular_estimator
from skillfocus.learners.problem import Problem
from skillfocus.mdp import (
    ContextIndex,
    TabularMDP,
    ValueIndex,
    inaction,
    index_values,
    moves_by_itself,
)
from skillfocus.objectives.kinds import reaches_values
from skillfocus.objectives.objective import Objective, Term, ValueNumbers
from skillfocus.objectives.registry import is_known_penalty
from skillfocus.objectives.variants import Penalty, StatePenalty, check_penalty

# -------------------- Penalties as arrays: between two states, and of every outcome of an action

PAIRS_AT_ONCE = 1_000_000
"""Pairs of states compared at a time, to bound memory."""


class PenaltyParts(NamedTuple):
    """When a penalty is paid for which of a skill's watched variables, bool [n_variables] each."""

    remembered: np.ndarray
    """Variables whose start value the penalty needs to know at the end."""
    at_end: np.ndarray
    """Variables that are compared when the skill ends."""
    at_steps: np.ndarray
    """Variables that are charged when they change; with a baseline, when they change otherwise than
    by themselves."""


def split_penalty(mdp: TabularMDP, penalty: Penalty | None, watched: np.ndarray) -> PenaltyParts:
    """Return when a penalty is paid for which variables.

    Args:
        mdp: The MDP.
        penalty: The penalty; None costs nothing.
        watched: bool [n_variables], variables that must not change.

    Raises:
        UserError: If a penalty on whole states has the baseline stepwise.
    """
    if penalty is None:
        return PenaltyParts(watched, watched, np.zeros_like(watched))
    remembered = penalty.compared_with_start(watched, mdp.reversible)
    moving = watched & moves_by_itself(mdp) if penalty.baseline != "start" else watched & False
    if not moving.any():
        return PenaltyParts(remembered, watched & remembered, watched & ~remembered)
    if penalty.baseline == "inaction":  # the whole start state says what becomes of it
        at_end = watched & (remembered | moving)
        return PenaltyParts(np.ones_like(watched), at_end, watched & ~at_end)
    if isinstance(penalty, StatePenalty):
        raise UserError(
            f"{penalty.name} compares whole states, which have no steps of single variables; use "
            f"baseline='inaction'"
        )
    remembered = remembered & ~moving
    return PenaltyParts(remembered, watched & remembered, watched & ~remembered)


def inaction_reaches(mdp: TabularMDP) -> np.ndarray:
    """Return the states that can follow each one while nobody acts, itself included.

    Returns:
        bool [n_states, n_states]
    """
    from scipy.sparse import coo_array  # late, as importing SciPy takes long
    from scipy.sparse.csgraph import shortest_path

    successors, probabilities = inaction(mdp)
    source, slot = np.nonzero(probabilities > 0)
    ones, target = np.ones(len(source)), successors[source, slot]
    graph = coo_array((ones, (source, target)), shape=(mdp.n_states, mdp.n_states))
    return np.isfinite(shortest_path(graph.tocsr(), unweighted=True))


def against_inaction(mdp: TabularMDP, penalty: Penalty, watched: np.ndarray) -> np.ndarray:
    """Return the penalty of ending in a state, against the nearest that inaction leads to.

    Args:
        mdp: The MDP.
        penalty: The penalty.
        watched: bool [n_variables], variables that must not change.

    Returns:
        float32 [n_states, n_states], indexed [end, start].
    """
    from_state = between_states(mdp, np.arange(mdp.n_states), penalty, watched)
    costs = np.empty_like(from_state)
    for start, reached in enumerate(inaction_reaches(mdp)):
        costs[:, start] = from_state[:, reached].min(axis=1)
    return costs


def between_states(
    mdp: TabularMDP, examples: np.ndarray, penalty: Penalty | None, watched: np.ndarray
) -> np.ndarray:
    """Return the penalty of ending in one example having started in another.

    Args:
        mdp: The MDP.
        examples: int [n], state numbers.
        penalty: The penalty; None costs nothing.
        watched: bool [n_variables], variables that must not change.

    Returns:
        float32 [n, n], indexed [end, start].
    """
    n = len(examples)
    if penalty is None:
        return np.zeros((n, n), dtype=np.float32)
    costs = np.empty((n, n), dtype=np.float32)
    rows = max(1, PAIRS_AT_ONCE // n)
    for first in range(0, n, rows):
        ends = examples[first : first + rows]
        starts, repeated = np.tile(examples, len(ends)), np.repeat(ends, n)
        costs[first : first + rows] = _penalties(penalty, mdp, starts, repeated, watched).reshape(
            -1, n
        )
    return costs


def _penalties(
    penalty: Penalty, mdp: TabularMDP, starts: np.ndarray, ends: np.ndarray, watched: np.ndarray
) -> np.ndarray:
    """Return the penalties [n] between states, checked: the measure may be a user's.

    Raises:
        UserError: If the measure raises, or returns anything but finite numbers, 0 or more.
    """
    try:
        costs = np.asarray(penalty.between(mdp, starts, ends, watched))
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"the penalty {penalty.name} does not work: {type(error).__name__}: {error}"
        ) from error
    if costs.shape != starts.shape or costs.dtype.kind not in "fiub":
        raise UserError(
            f"the penalty {penalty.name} must return one number per pair of states, an array "
            f"[{len(starts)}], got {costs.dtype} {list(costs.shape)}"
        )
    if len(costs) and not (costs.min() >= 0 and np.isfinite(costs.max())):
        row = int(np.argmin(np.isfinite(costs) & (costs >= 0)))
        before, after = (mdp.space.labels(mdp.values[each[row]]) for each in (starts, ends))
        raise UserError(
            f"the penalty {penalty.name} is {costs[row]} from {before} to {after}; it must be 0 or "
            f"more and finite"
        )
    return costs


def of_outcomes(mdp: TabularMDP, penalty: Penalty | None, watched: np.ndarray) -> np.ndarray:
    """Return the penalty of each outcome's change, float32 [n_states, n_actions, n_outcomes].

    Args:
        mdp: The MDP.
        penalty: The penalty; None costs nothing. With the baseline stepwise, an outcome is compared
            with what would have followed without acting, the nearest if that is random.
        watched: bool [n_variables], variables that must not change.
    """
    shape = mdp.successors.shape
    if penalty is None or not watched.any():
        return np.zeros(shape, dtype=np.float32)

    def against(baselines: np.ndarray) -> np.ndarray:
        before = np.broadcast_to(baselines[:, None, None], shape).reshape(-1)
        costs = _penalties(penalty, mdp, before, mdp.successors.reshape(-1), watched)
        return costs.reshape(shape).astype(np.float32)

    if penalty.baseline != "stepwise":
        return against(np.arange(shape[0]))
    successors, probabilities = inaction(mdp)
    costs = np.full(shape, np.inf, dtype=np.float32)
    for slot in range(successors.shape[1]):
        each = against(successors[:, slot])
        each[probabilities[:, slot] == 0] = np.inf
        costs = np.minimum(costs, each)
    return costs


# -------------------- Joint initial rewards of skills with several targets
#
# Each target has a reward of its own, whose random initial parameters decide what a skill wants of
# it. Of two skills for a key and a door, one may so want the key left and the door opened, which is
# impossible, and then no skill ever opens the door. Before learning, components are swapped until
# the targets agree: the skill that wants the first one to stay wants the others to stay, too.


def align_components(
    skills: Iterable[Mapping[int, int]],
    staying: Callable[[int, Sequence[int]], int],
    swap: Callable[[int, int, int], None],
) -> None:
    """Swap components, in place, so that skills begin by wanting the same of all their targets.

    It concerns sets of skills with equal targets of which each has components of its own. Where
    skills share components (four on a tool and the position), every combination is wanted by one.

    Args:
        skills: Per skill, the component of its reward on each target's group.
        staying: `staying(group, components)` returns which of the components, from the first state,
            prefers most to stay: it gains the most there compared with the mean of the other
            values.
        swap: `swap(group, one, other)` lets two components of a group change places.
    """
    sets: dict[tuple[int, ...], list[Mapping[int, int]]] = {}
    for skill in skills:
        sets.setdefault(tuple(skill), []).append(skill)
    for groups, members in sets.items():
        columns = {group: [skill[group] for skill in members] for group in groups}
        if len(groups) < 2 or any(len(set(own)) < len(members) for own in columns.values()):
            continue
        stays = staying(groups[0], columns[groups[0]])
        for group in groups[1:]:
            swap(group, columns[group][stays], columns[group][staying(group, columns[group])])


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
        swap = getattr(self.estimator, "swap", None)
        if swap is not None:
            align_components(
                (
                    {term.group: term.component for term in skill.terms}
                    for skill in self.skills
                    if len(skill.terms) == len(skill.targets)
                ),
                lambda group, components: self.staying_component(params, group, components),
                lambda group, one, other: swap(params[group], one, other),
            )
        return params

    def staying_component(
        self, params: Sequence[np.ndarray], place: int, components: Sequence[int]
    ) -> int:
        """Return which of a group's components prefers most to stay; see `align_components`."""
        group, held = self.groups[place], params[place]
        predict, formula = self.estimator.predict, self.objective.reward.formula
        start, own = group.starts.of_state[0], group.values.of_state[0]
        rewards = np.array(
            [
                [
                    formula(*predict(held, group.coordinates, k, start, v))
                    for v in range(group.values.size)
                ]
                for k in components
            ]
        )
        return int((rewards[:, own] - np.delete(rewards, own, axis=1).mean(axis=1)).argmax())

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


# -------------------- From a learning problem to the arrays that kernels use

CELL_LIMIT = 128_000_000
"""Entries of all policies above which contexts leave out variables."""
MAX_CELLS = 512_000_000
"""Most entries of all policies as plain tables. Planning takes five bytes for each: these are 2.6
GB. Above, `Planning` learns one target's skills at a time and packs their policies."""
PENALTY_SAMPLE = 24
"""States between which a penalty of the user's own is checked."""
PACKED_CELLS = 16
"""How many times `MAX_CELLS` packed policies may have: a skills file holds as many bytes then."""


def tabular_problem(
    problem: Problem,
    *,
    use_context: bool = True,
    start_where_controllable: bool = True,
    cell_limit: int | None = None,
    max_cells: int | None = None,
) -> TabularProblem:
    """Turn a learning problem into arrays.

    Args:
        problem: What to learn.
        use_context: Whether policies see contexts.
        start_where_controllable: Whether training starts only where the targets can still change.
        cell_limit: Entries of all policies above which contexts leave out variables (default:
            `CELL_LIMIT`).
        max_cells: Most entries of all policies (default: `MAX_CELLS`).
    """
    builder, n_skills = _Builder(problem), len(problem.kinds)
    if use_context:
        builder.shrink_contexts(CELL_LIMIT if cell_limit is None else cell_limit)
        require_cells(builder.cells(), MAX_CELLS if max_cells is None else max_cells)
    skills = tuple(builder.skill(z, use_context, start_where_controllable) for z in range(n_skills))
    penalty = problem.objective.penalty
    if type(penalty) is Penalty and penalty.strength and not is_known_penalty(penalty):
        check_penalty(penalty, problem.mdp, PENALTY_SAMPLE, complete=False)
    groups = tuple(builder.groups)
    estimate = problem.objective.reward.estimate
    estimator = tabular_estimator(estimate, max(group.entries for group in groups))
    return TabularProblem(
        problem.mdp, problem.objective, estimator, groups, skills, problem.step_limit,
        problem.rate, use_context,
    )  # fmt: skip


def count_cells(problem: Problem) -> list[int]:
    """Return how many entries each policy of a problem has, once contexts have been shrunk."""
    builder = _Builder(problem)
    builder.shrink_contexts(CELL_LIMIT)
    return builder.cells()


def require_cells(cells: Sequence[int], most: int) -> None:
    """Raise a `UserError` if policies have more entries together than there may be."""
    if sum(cells) > most:
        fewer = "use fewer skills (targets=…), or " if min(cells) <= most else "use "
        raise UserError(
            f"{len(cells)} skills need {sum(cells):,} policy entries (states times contexts), more "
            f"than {most:,}: {fewer}fewer variables that can change back"
        )


class _Builder:
    """Builds groups and skills; skills that look at the same variables share a group."""

    def __init__(self, problem: Problem) -> None:
        self.mdp, self.objective, self.kinds = problem.mdp, problem.objective, problem.kinds
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
        targets = self.kinds.targets(z)
        needed: set[int] = set()
        if self.objective.reward.timing != "transition":  # those compare with the state before
            for term in self.objective.terms(targets, len(self.mdp.space)):
                needed.update(self.start_variables(term))
        needed.update(np.flatnonzero(self._parts(targets).remembered).tolist())
        return tuple(sorted(needed))

    def _parts(self, targets: tuple[int, ...]) -> PenaltyParts:
        """Return when the penalty is paid for which variables."""
        n, penalty = len(self.mdp.space), self.objective.penalty
        watched = np.zeros(n, dtype=bool) if penalty is None else penalty.watched(targets, n)
        return split_penalty(self.mdp, penalty, watched)

    def cells(self) -> list[int]:
        """Return how many entries each policy has."""
        contexts = [self.context_variables(z) for z in range(len(self.kinds))]
        return [self.mdp.n_states * self.index(each).size for each in contexts]

    def shrink_contexts(self, cell_limit: int) -> None:
        """Leave variables that only move on out of contexts, the largest first, until they fit."""
        sizes = self.mdp.space.sizes
        candidates = [j for j in range(len(sizes)) if not self.mdp.reversible[j]]
        for largest in sorted(candidates, key=lambda j: -sizes[j]):
            if sum(self.cells()) <= cell_limit:
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
            n = len(self.kinds) if term.target is None else self.kinds.n_components(term.target)
            self.known[key] = len(self.groups)
            coordinates = np.ascontiguousarray(np.concatenate(points, axis=1))
            self._require_starts(term, values, starts, coordinates)
            self.groups.append(Group(values, starts, coordinates, n, ordered, remembered))
        return self.known[key]

    def _require_starts(
        self, term: Term, values: ValueIndex, starts: ValueIndex, coordinates: np.ndarray
    ) -> None:
        """Refuse to leave variables out of contexts that the reward cannot do without.

        Points of starts must be points of values. A number of the start may lack a variable only if
        its first value, of which nothing else is left then, is the one value that it ever leaves.
        """
        reward, mdp = self.objective.reward, self.mdp
        fits = (
            not self.dropped
            or reward.estimate.discriminates
            or np.array_equal(coordinates[starts.of_state], coordinates[values.of_state])
        )
        if isinstance(reward.estimate, ValueNumbers) and reward.uses_start:
            fits = fits and not any(
                mdp.can_change[mdp.values[:, j] != 0, j].any()
                for j in self.dropped.intersection(term.variables)
            )
        if not fits:
            raise UserError(
                f"{self.objective.name} needs more of the first state than fits in memory: use "
                f"fewer skills, a smaller world, or a Reward(…, uses_start=False)"
            )

    def component(self, z: int, term: Term) -> int:
        """Return the component of skill z that a term rewards. A value is numbered among those that
        occur, as the group's values are."""
        if term.target is None:
            return z
        component = self.kinds.skills[z][term.target]
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
        targets = self.kinds.targets(z)
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
        if targets:
            controllable = np.flatnonzero(mdp.can_change[:, list(targets)].all(axis=1))
            if not len(controllable):
                names = ", ".join(mdp.space.names[i] for i in targets)
                raise UserError(f"no action ever changes {names}, so no skill can target it")
            starts = controllable if start_where_controllable else starts
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
