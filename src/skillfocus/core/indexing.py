"""Numbers for the combinations of some variables' values: contexts, and groups of a reward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skillfocus.core.mdp import TabularMDP


@dataclass(frozen=True, eq=False)
class ValueIndex:
    """Numbers for the combinations of some variables' values that occur in a tabular MDP.

    Attributes:
        of_state: int32 [n_states], each state's number.
        example: int32 [size], a state that shows each combination.
    """

    of_state: np.ndarray
    example: np.ndarray

    @property
    def size(self) -> int:
        """How many combinations there are."""
        return len(self.example)

    @cached_property
    def states(self) -> tuple[np.ndarray, np.ndarray]:
        """States in the order of their numbers, int32 [n_states], and where each number's part
        begins (and the last one ends), int32 [size + 1]."""
        order = np.argsort(self.of_state, kind="stable").astype(np.int32)
        begins = np.searchsorted(self.of_state[order], np.arange(self.size + 1))
        return order, begins.astype(np.int32)


def index_values(mdp: TabularMDP, variables: Sequence[int]) -> ValueIndex:
    """Number the combinations of these variables' values, in mixed radix, last variable fastest."""
    codes = mdp.space.encode(mdp.values, variables)
    _, example, of_state = np.unique(codes, return_index=True, return_inverse=True)
    return ValueIndex(of_state.astype(np.int32), example.astype(np.int32))


class ContextIndex:
    """Numbers of the contexts of a set of skills, and their places in one flat array of policies.

    A context is what a policy still sees of the start state: the start values of some variables.
    Policies of all skills lie in one array, skill after skill, each [n_states, width], where the
    width counts contexts times modes.

    Args:
        mdp: The MDP whose states are the rows.
        variables: Per skill, the indices of the variables whose start value it sees.
        n_modes: Per skill, how many modes it has.
    """

    def __init__(
        self, mdp: TabularMDP, variables: Sequence[Sequence[int]], n_modes: Sequence[int]
    ) -> None:
        sets = [tuple(sorted(members)) for members in variables]
        known = {members: index_values(mdp, members) for members in dict.fromkeys(sets)}
        self.mdp = mdp
        self.of_skill = tuple(known[members] for members in sets)
        """Per skill, the numbers of its contexts."""
        self.modes = tuple(n_modes)
        """Per skill, how many modes it has."""

    @property
    def n_entries(self) -> int:
        """Length of the flat array: a Python integer, which does not overflow as an int64 would."""
        widths = (
            index.size * count for index, count in zip(self.of_skill, self.modes, strict=True)
        )
        return self.mdp.n_states * sum(widths)

    @cached_property
    def n_modes(self) -> np.ndarray:
        """int64 [n_skills]: `modes` as an array."""
        return np.array(self.modes, dtype=np.int64)

    @cached_property
    def widths(self) -> np.ndarray:
        """int64 [n_skills]: columns of each skill's policy, contexts times modes."""
        return np.array([index.size for index in self.of_skill], dtype=np.int64) * self.n_modes

    @cached_property
    def offsets(self) -> np.ndarray:
        """int64 [n_skills + 1]: where each skill begins in the flat array; last, its length."""
        sizes = self.widths * self.mdp.n_states
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @cached_property
    def contexts(self) -> np.ndarray:
        """int32 [n_skills, n_states]: the context of a skill that starts in a state."""
        if not self.of_skill:
            return np.zeros((0, self.mdp.n_states), dtype=np.int32)
        return np.stack([index.of_state for index in self.of_skill])
