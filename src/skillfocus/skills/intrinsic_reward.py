"""Learned intrinsic rewards: the discriminator's log ratio, or phi, that skills were learned for.

A skill's reward is a sum of terms, copies of a base reward on a *group* of variables. Stored of
each group is the base reward itself, evaluated everywhere after learning:

    tables[component, value, start]     value and start number the combinations of values that the
                                        group's variables have, and had in the start state

Where it is a difference f(value) - f(start value), as <phi(s_T) - phi(s_0), z> is, only
f[component, value] is stored (`separable`). Penalties and terms with a negative weight are not
rewards, and not stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from skillfocus.errors import UserError
from skillfocus.mdp import TabularMDP, ValueIndex, index_values

Number = Annotated[int, Meta(ge=0)]
Terms = tuple[tuple[Number, Number, Annotated[float, Meta(gt=0)]], ...]
"""(group, component, weight), summed."""


class GroupHeader(msgspec.Struct, forbid_unknown_fields=True):
    """A group of a reward in a file, without its tables."""

    variables: tuple[str, ...]
    start_variables: tuple[str, ...]
    separable: bool


class RewardHeader(msgspec.Struct, forbid_unknown_fields=True):
    """A reward in a file, without its tables."""

    groups: tuple[GroupHeader, ...]
    terms: tuple[tuple[Terms, ...], ...]


@dataclass(frozen=True, eq=False)
class RewardGroup:
    """The base reward on one group of variables.

    Attributes:
        variables: In the order in which their combinations are numbered (see `index_values`).
        start_variables: Those whose start value the reward sees.
        tables: float32 [n_components, n_values, n_starts]; [n_components, n_values] if separable.
        separable: Whether the reward is tables[:, value] - tables[:, start value].
    """

    variables: tuple[str, ...]
    start_variables: tuple[str, ...]
    tables: np.ndarray
    separable: bool


@dataclass(frozen=True, eq=False)
class IntrinsicReward:
    """What a set of skills was rewarded for when learning ended.

    Attributes:
        mdp: The MDP they were learned in.
        groups: The base rewards on groups of variables.
        terms: Per skill and mode, the (group, component, weight) that are summed.
    """

    mdp: TabularMDP
    groups: tuple[RewardGroup, ...]
    terms: tuple[tuple[Terms, ...], ...]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, IntrinsicReward)
            and self.header() == other.header()
            and all(map(np.array_equal, self.arrays().values(), other.arrays().values()))
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    @cached_property
    def indices(self) -> tuple[tuple[ValueIndex, ValueIndex], ...]:
        """Per group, the numbers of its values and of its starts."""
        indices = self.mdp.space.indices
        return tuple(
            (
                index_values(self.mdp, indices(group.variables)),
                index_values(self.mdp, indices(group.start_variables)),
            )
            for group in self.groups
        )

    def reward(
        self, skill: int, first: int, states: Sequence[int] | np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Return what a skill that started in state number `first` earns in each of these states.

        Args:
            skill: The skill's number.
            first: The start state's number.
            states: int [n], state numbers.
            mode: The skill's mode.

        Returns:
            float64 [n], the terms' sum, without penalty.
        """
        if not (0 <= skill < len(self.terms) and 0 <= mode < len(self.terms[skill])):
            raise UserError(f"there is no reward of skill {skill}, mode {mode}")
        states = np.asarray(states, dtype=np.int64)
        every = np.append(states, first)
        if every.min() < 0 or every.max() >= self.mdp.n_states:
            raise UserError(f"states are numbered 0 to {self.mdp.n_states - 1}")
        total = np.zeros(states.shape)
        for place, component, weight in self.terms[skill][mode]:
            group, (values, starts) = self.groups[place], self.indices[place]
            table, now = group.tables[component], values.of_state[states]
            if group.separable:
                then = float(table[values.of_state[first]])
                total += weight * (table[now].astype(float) - then)
            else:
                total += weight * table[now, starts.of_state[first]].astype(float)
        return total

    @property
    def n_entries(self) -> int:
        """How many numbers all tables have."""
        return sum(group.tables.size for group in self.groups)

    def header(self) -> RewardHeader:
        """Return everything but the tables, for a file."""
        groups = (
            GroupHeader(group.variables, group.start_variables, group.separable)
            for group in self.groups
        )
        return RewardHeader(tuple(groups), self.terms)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the tables by the names they have in a file."""
        return {f"reward.{place}": group.tables for place, group in enumerate(self.groups)}


def join_rewards(
    skills: Sequence[tuple[IntrinsicReward | None, int]],
) -> IntrinsicReward | None:
    """Return the rewards of skills of several sets as those of one set; None if one has none.

    Args:
        skills: Per skill, the rewards of its set and its number there. All are of one world.
    """
    groups: list[RewardGroup] = []
    places: dict[tuple[int, int], int] = {}
    joined: list[tuple[Terms, ...]] = []
    mdp: TabularMDP | None = None
    for reward, number in skills:
        if reward is None:
            return None
        mdp = mdp or reward.mdp
        for group in dict.fromkeys(g for terms in reward.terms[number] for g, _, _ in terms):
            if (id(reward), group) not in places:
                places[id(reward), group] = len(groups)
                groups.append(reward.groups[group])
        modes = [
            tuple(
                (places[id(reward), group], component, weight) for group, component, weight in terms
            )
            for terms in reward.terms[number]
        ]
        joined.append(tuple(modes))
    return None if mdp is None else IntrinsicReward(mdp, tuple(groups), tuple(joined))
