"""What a world is: dynamics over named variables, and no reward."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from typing import NamedTuple

from skillfocus.core import display
from skillfocus.core.factored import FactoredSpace, State

STATE_LIMIT = 200_000
"""More states than this are refused unless a world has a higher limit."""
MOST_ACTIONS = 254
"""A policy is made of bytes, one of which means "terminate"."""


class Outcome(NamedTuple):
    """One way an action can end.

    A world may hide something from its variables as *marks*: bits that a transition sets the
    first time it happens (a cell that gets muddy). `mark` is the bit this outcome sets, and
    `again` the state that follows instead if the bit was set already.
    """

    probability: float
    state: State
    mark: int = -1
    again: State | None = None


class WorldState(tuple[int, ...]):
    """Equal to the plain tuple, and as good wherever a state is wanted."""

    world: World

    def __new__(cls, values: Iterable[int], world: World) -> WorldState:
        state = super().__new__(cls, values)
        state.world = world
        return state

    @property
    def labels(self) -> dict[str, Hashable]:
        """The state as {name: value}."""
        return self.world.space.labels(self)

    def __reduce__(self) -> tuple[object, ...]:
        if not can_pickle(self.world):
            return tuple, (tuple(self),)
        return WorldState, (tuple(self), self.world)

    def __deepcopy__(self, memo: object) -> WorldState:
        return self

    def _repr_html_(self) -> str:
        return display.html("state", self)


class World(ABC):
    """Subclass it, set `id`, `space` and `actions`, and say where states begin and what follows
    them. Everything else has a default."""

    id: str
    space: FactoredSpace
    actions: tuple[str, ...]
    step_limit: int = 40
    """The most steps a skill may take."""
    limit: int = STATE_LIMIT
    """The most states it may have."""
    n_marks: int = 0
    """How many hidden marks there are; 0 if the variables say everything."""
    fixed: tuple[str, ...] = ()
    """Variables that no action changes; none of them is a target unless asked for."""
    notes: tuple[str, ...] = ()
    """What a user should know of this world, in sentences."""

    @abstractmethod
    def states(self) -> Iterable[State]:
        """Where skills may start; `tabulate` adds whatever can be reached from there."""

    @abstractmethod
    def transition(self, state: State, action: int) -> list[Outcome]:
        """What can follow, with probabilities that sum to 1."""

    @property
    def settings(self) -> dict[str, object]:
        """The arguments that make this world again, as JSON can hold them."""
        return {}

    @property
    def default_target(self) -> str:
        """The variable that gets the skills no goal takes: the one with the most values."""
        able = [v for v in self.space.variables if v.name not in self.fixed]
        return max(able or self.space.variables, key=lambda variable: len(variable.values)).name

    @property
    def goals(self) -> tuple[str, ...]:
        """The variables that get two skills each by default: all that can change but the one that
        roams."""
        return tuple(
            n for n in self.space.names if n != self.default_target and n not in self.fixed
        )

    def state(self, **labels: Hashable) -> WorldState:
        """A state by its values, `world.state(position=(6, 9))`, that draws itself in a notebook;
        variables not named take their first value."""
        return WorldState(self.space.state(**labels), self)

    def marks_in(self, state: State) -> int:
        """How many hidden marks are set in a state; which ones is not known."""
        del state
        return 0

    def draw(self, state: State) -> str:
        """A state as text."""
        return "\n".join(f"{name}={value}" for name, value in self.space.labels(state).items())


def can_pickle(world: World) -> bool:
    """Whether a world can be pickled. What comes from one that cannot is pickled without it."""
    try:
        pickle.dumps(world)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True
