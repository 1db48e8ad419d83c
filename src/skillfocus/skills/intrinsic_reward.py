"""What skills were rewarded for: the discriminator's log ratio or the phi that they had learned.

A skill's reward is a sum of terms, copies of a base reward on a *group* of variables. Kept of each
group is the base reward itself, evaluated everywhere after learning:

    tables[component, value, start]     value and start number the combinations of values that the
                                        group's variables have, and had in the first state

Where it is a difference f(value now) - f(value then), as <phi(s_T) - phi(s_0), z> is, only
f[component, value] is kept (`separable`). Penalties and terms with a negative weight are not
rewards, and not kept. Tables of more than `MOST_ENTRIES` numbers are not kept either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skillfocus.core.indexing import ValueIndex, index_values
from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError
from skillfocus.learners.tabular.problem import Group, Problem

MOST_ENTRIES = 3_000_000
TOLERANCE = 1e-5
"""How far a reward may be from a difference, relative to its largest value."""
Terms = tuple[tuple[int, int, float], ...]
"""(group, component, weight), summed."""


@dataclass(frozen=True, eq=False)
class RewardGroup:
    variables: tuple[str, ...]
    """In the order in which their combinations are numbered (see `index_values`)."""
    start_variables: tuple[str, ...]
    """Those whose first value the reward sees."""
    tables: np.ndarray
    """float32 [component, value, start]; [component, value] where it is separable."""
    separable: bool
    """Whether the reward is tables[:, value now] - tables[:, value in the first state]."""


@dataclass(frozen=True, eq=False)
class IntrinsicReward:
    mdp: TabularMDP
    groups: tuple[RewardGroup, ...]
    terms: tuple[tuple[Terms, ...], ...]
    """Per skill, per mode."""

    def __post_init__(self) -> None:
        for place, group in enumerate(self.groups):
            self._check_group(place, group)
        for z, modes in enumerate(self.terms):
            for term in (term for mode in modes for term in mode):
                self._check_term(z, *term)

    def _check_group(self, place: int, group: RewardGroup) -> None:
        names, known = group.variables, set(group.variables)
        if not names or len(known) < len(names) or not known.issuperset(group.start_variables):
            raise UserError(
                f"reward group {place} looks at {list(names)} and at the first "
                f"{list(group.start_variables)}: variables must be named once each, the second "
                f"among the first"
            )
        values, starts = self.numberings[place]
        sizes = (values.size,) if group.separable else (values.size, starts.size)
        shape = group.tables.shape
        if group.tables.dtype != np.float32 or shape[1:] != sizes or not shape[0]:
            raise UserError(
                f"the tables of reward group {place} are {group.tables.dtype} {list(shape)} where "
                f"{', '.join(names)} needs float32 [components, {', '.join(map(str, sizes))}]"
            )
        if not np.isfinite(group.tables).all():
            raise UserError(f"the tables of reward group {place} hold numbers that are not finite")

    def _check_term(self, z: int, group: int, component: int, weight: float) -> None:
        if type(group) is not int or not 0 <= group < len(self.groups):
            raise UserError(f"skill {z} is rewarded by group {group} of {len(self.groups)}")
        count = len(self.groups[group].tables)
        if type(component) is not int or not 0 <= component < count:
            raise UserError(
                f"skill {z} is rewarded by component {component} of group {group}, of {count}"
            )
        if type(weight) is not float or not 0 < weight < float("inf"):
            raise UserError(f"skill {z} has a reward of weight {weight}; it must be positive")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, IntrinsicReward)
            and self.header() == other.header()
            and all(map(np.array_equal, self.arrays().values(), other.arrays().values()))
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    @cached_property
    def numberings(self) -> tuple[tuple[ValueIndex, ValueIndex], ...]:
        """Per group, the numbers of its values and of its starts."""
        return tuple(
            (
                index_values(self.mdp, [self.mdp.space.index(n) for n in group.variables]),
                index_values(self.mdp, [self.mdp.space.index(n) for n in group.start_variables]),
            )
            for group in self.groups
        )

    def reward(
        self, skill: int, first: int, states: Sequence[int] | np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """What a skill that began in state number `first` is rewarded in each of these states."""
        if not (0 <= skill < len(self.terms) and 0 <= mode < len(self.terms[skill])):
            raise UserError(f"there is no reward of skill {skill}, mode {mode}")
        states = np.asarray(states, dtype=np.int64)
        every = np.append(states, first)
        if every.min() < 0 or every.max() >= self.mdp.n_states:
            raise UserError(f"states are numbered 0 to {self.mdp.n_states - 1}")
        total = np.zeros(states.shape)
        for place, component, weight in self.terms[skill][mode]:
            group, (values, starts) = self.groups[place], self.numberings[place]
            mdp, now = group.tables[component], values.of_state[states]
            if group.separable:
                then = float(mdp[values.of_state[first]])
                total += weight * (mdp[now].astype(float) - then)
            else:
                total += weight * mdp[now, starts.of_state[first]].astype(float)
        return total

    def header(self) -> dict[str, object]:
        """Everything but the tables, as JSON can hold it."""
        return {
            "groups": [
                {
                    "variables": list(group.variables),
                    "start_variables": list(group.start_variables),
                    "separable": group.separable,
                }
                for group in self.groups
            ],
            "terms": [[[list(t) for t in mode] for mode in modes] for modes in self.terms],
        }

    def arrays(self) -> dict[str, np.ndarray]:
        return {f"reward.{place}": group.tables for place, group in enumerate(self.groups)}


def from_file(
    mdp: TabularMDP, header: Mapping, arrays: Mapping[str, np.ndarray]
) -> IntrinsicReward:
    """From `header()` and `arrays()`; what does not belong together is refused."""
    names = {f"reward.{place}" for place in range(len(header["groups"]))}
    if names != set(arrays):
        raise UserError(f"the file holds the rewards {sorted(arrays)}, its header {sorted(names)}")
    groups = []
    for place, group in enumerate(header["groups"]):
        if type(group["separable"]) is not bool:
            raise UserError(f"reward group {place} does not say whether it is separable")
        seen, first = tuple(group["variables"]), tuple(group["start_variables"])
        groups.append(RewardGroup(seen, first, arrays[f"reward.{place}"], group["separable"]))
    terms = tuple(
        tuple(tuple(_term(*term) for term in mode) for mode in modes) for modes in header["terms"]
    )
    return IntrinsicReward(mdp, tuple(groups), terms)


def _term(group: int, component: int, weight: float) -> tuple[int, int, float]:
    """JSON has one kind of number: 1 is a weight too."""
    return group, component, float(weight) if type(weight) is int else weight


def make_intrinsic_reward(
    problem: Problem, params: tuple[np.ndarray, ...], modes: Sequence[int]
) -> IntrinsicReward | None:
    """What these parameters reward, for skills with so many modes each (the problem's skills are
    modes). None where it would be too large, or is not finite."""
    terms = [
        [
            (term.group, term.component, float(term.weight))
            for term in skill.terms
            if term.weight > 0
        ]
        for skill in problem.skills
    ]
    used = sorted({place for mode in terms for place, _, _ in mode})
    names, left, groups = problem.mdp.space.names, MOST_ENTRIES, []
    for place in used:
        found = _tables(problem, params, place, left)
        if found is None:
            return None
        group, (tables, separable) = problem.groups[place], found
        left -= tables.size
        seen = tuple(names[j] for j in group.variables)
        first = tuple(names[j] for j in group.start_variables)
        groups.append(RewardGroup(seen, first, tables, separable))
    parts = iter([tuple((used.index(g), c, w) for g, c, w in mode) for mode in terms])
    per_skill = tuple(tuple(next(parts) for _ in range(count)) for count in modes)
    return IntrinsicReward(problem.mdp, tuple(groups), per_skill)


def _tables(
    problem: Problem, params: tuple[np.ndarray, ...], place: int, limit: int
) -> tuple[np.ndarray, bool] | None:
    """A group's tables, and whether they are separable. Where all starts would be too many, as many
    as fit, evenly spread, decide whether they are."""
    from skillfocus.learners.tabular.kernels import (
        base_reward,  # loads compiled code: not just to read
    )

    group = problem.groups[place]
    per_start = group.n_components * group.values.size
    if per_start > limit:
        return None
    count = min(group.starts.size, max(8, limit // per_start))
    starts = np.unique(np.linspace(0, group.starts.size - 1, count).astype(np.int64))
    tables = np.stack(
        [base_reward(problem, params, place, k, starts) for k in range(group.n_components)]
    )
    if not np.isfinite(tables).all():
        return None
    if _is_difference(group, tables, starts):
        return np.ascontiguousarray(tables[:, :, 0]), True
    return (tables, False) if tables.size == group.entries <= limit else None


def _is_difference(group: Group, tables: np.ndarray, starts: np.ndarray) -> bool:
    """Whether tables[component, value, start] = f(value) - f(value in the first state) with the
    f of the first start, whichever first state shows a start."""
    f = tables[:, :, 0]
    then = group.values.of_state[group.starts.example]
    near = TOLERANCE * np.abs(tables).max()
    same = np.abs(f[:, group.values.of_state] - f[:, then[group.starts.of_state]]).max() <= near
    expected = f[:, :, None] - f[:, None, then[starts]]
    return bool(same and np.abs(tables - expected).max() <= near)
