"""Worlds: dynamics over named variables, without a reward."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from importlib import import_module
from typing import NamedTuple

from skillfocus.core.continuous import ContinuousSpace
from skillfocus.core.enumeration import StateGraph
from skillfocus.core.factored import FactoredSpace, State
from skillfocus.errors import UserError, short_repr

STATE_LIMIT = 200_000
"""The most states a world may have unless it sets a higher `limit`."""
MAX_ACTIONS = 254
"""The most actions a world may have: policies are bytes, and one byte means "terminate"."""
MAX_STEPS = 100_000
"""The most steps that any skill may take."""
_MAX_VARIABLES_SHOWN = 5


def check_step_limit(step_limit: int) -> None:
    """Raise a `UserError` unless skills may have this step limit."""
    if not 1 <= step_limit <= MAX_STEPS:
        raise UserError(
            f"the step limit is {step_limit}; it must be a whole number from 1 to {MAX_STEPS:,}"
        )


def check_declared(world: object) -> None:
    """Raise a `UserError` unless this is a world that declares what every world has."""
    if isinstance(world, type) and issubclass(world, World):
        raise UserError(f"{world.__name__} is a class: pass a world, such as {world.__name__}()")
    if not isinstance(world, World):
        named = "; sf.make makes one from a name" if isinstance(world, str) else ""
        raise UserError(
            f"{short_repr(world)} is not a World{named}: subclass skillfocus.World, or use "
            f"skillfocus.adapters.from_object"
        )
    declared = (("id", str, "str"), ("space", FactoredSpace | ContinuousSpace, "FactoredSpace"))
    for name, kind, article in (*declared, ("actions", list | tuple, "tuple")):
        if not isinstance(getattr(world, name, None), kind):
            raise UserError(f"{type(world).__name__} needs {name}, a {article}")


class Outcome(NamedTuple):
    """One possible outcome of an action: `Outcome(0.9, next_state)`.

    A world may keep something out of its variables as *hidden marks*: bits that a transition sets
    the first time it happens, such as a cell that gets muddy. `mark` is the bit that this outcome
    sets, and `again` the state that follows instead if the bit is already set.
    """

    probability: float
    state: State
    """The next state, as value indices."""
    mark: int = -1
    """The hidden mark this outcome sets; -1 for none."""
    again: State | None = None
    """The next state if that mark is already set; `None` for `state`."""


class WorldState(tuple[int, ...]):
    """A state that knows its world: equal to the plain tuple, and draws itself in a notebook.

    `world.state(position=(6, 9))` makes one, and trajectories hold them::

        state = world.state(position=(6, 9))
        state.labels  # {"position": (6, 9), "tool_1": 0, …}
    """

    world: World

    def __new__(cls, values: Iterable[int], world: World) -> WorldState:
        """Make a state from value indices and its world."""
        state = super().__new__(cls, values)
        state.world = world
        return state

    @property
    def labels(self) -> dict[str, Hashable]:
        """The state as {variable: value}."""
        return self.world.space.labels(self)

    def __reduce__(self) -> tuple[object, ...]:
        if not can_pickle(self.world):
            return tuple, (tuple(self),)
        return WorldState, (tuple(self), self.world)

    def __deepcopy__(self, memo: object) -> WorldState:
        """Return itself: states do not change."""
        return self

    def _repr_html_(self) -> str:
        return import_module("skillfocus.render.svg").state_html(self)


class World(ABC):
    """Dynamics over named variables with finitely many values.

    A subclass sets `id`, `space` and `actions`, and implements `states` and `transition`. A state
    is a tuple of value indices, one per variable. A complete world::

        class Lamp(sf.World):
            id = "Lamp-v0"
            actions = ("press", "wait")
            space = sf.FactoredSpace(
                (sf.Variable("on", (0, 1)), sf.Variable("bulb", ("ok", "broken")))
            )

            def states(self):
                return [(0, 0)]

            def transition(self, state, action):
                on, bulb = state
                if self.actions[action] == "wait" or bulb == 1:
                    return [sf.Outcome(1.0, state)]
                return [sf.Outcome(0.99, (1 - on, bulb)), sf.Outcome(0.01, (0, 1))]

        sf.testing.check_world(Lamp())
        skills = sf.discover(Lamp(), sf.focused(sf.vic()), seed=0, targets={"on": 2})

    Everything else has a default.
    """

    id: str
    """Name and version, such as `FourRooms-v0`."""
    space: FactoredSpace
    """The variables."""
    actions: tuple[str, ...]
    """Names of the actions; an action is its index here."""
    step_limit: int = 40
    """The most steps a skill may take."""
    limit: int = STATE_LIMIT
    """The most states this world may have."""
    n_marks: int = 0
    """Number of hidden marks (see `Outcome`); 0 if the variables describe the state completely."""
    fixed: tuple[str, ...] = ()
    """Variables that no action changes; they become targets only on request."""
    final_states: frozenset[State] = frozenset()
    """States that end an episode; no action leaves them."""
    notes: tuple[str, ...] = ()
    """What a user should know about this world, in sentences."""
    state_graph: StateGraph[State] | None = None
    """States and transitions, if they were enumerated when the world was made; `tabulate` then uses
    them instead of calling `states` and `transition`."""

    @abstractmethod
    def states(self) -> Iterable[State]:
        """Return the states where skills may start.

        `tabulate` adds every state that can be reached from them.
        """

    @abstractmethod
    def transition(self, state: State, action: int) -> list[Outcome]:
        """Return the possible outcomes of an action, with probabilities that sum to 1."""

    @property
    def settings(self) -> dict[str, object]:
        """JSON-compatible arguments that make this world again: `sf.make(world.id, **settings)`."""
        return {}

    @property
    def default_target(self) -> str:
        """The variable targeted by all default skills that no goal gets.

        It is the variable with the most values among those that can change.
        """
        changing = [v for v in self.space.variables if v.name not in self.fixed]
        candidates = changing or self.space.variables
        return max(candidates, key=lambda variable: len(variable.values)).name

    @property
    def goals(self) -> tuple[str, ...]:
        """The variables that get two skills each by default.

        These are all variables that can change except `default_target`.
        """
        return tuple(
            n for n in self.space.names if n != self.default_target and n not in self.fixed
        )

    def state(self, **labels: Hashable) -> WorldState:
        """Return a state by its values, such as `world.state(position=(6, 9))`.

        Variables not named take their first value. The state draws itself in a notebook.

        Raises:
            UserError: If a variable or a value does not exist.
        """
        return WorldState(self.space.state(**labels), self)

    def marks_in(self, state: State) -> int:
        """Return how many hidden marks are set in a state; which ones is unknown."""
        del state
        return 0

    def draw(self, state: State) -> str:
        """Return a state as text."""
        return "\n".join(f"{name}={value}" for name, value in self.space.labels(state).items())

    def __repr__(self) -> str:
        """`<FourRooms-v0: 4 actions, position (104) × tool_1 (2) × …>`, without tabulating."""
        if not hasattr(self, "space"):  # not initialized yet
            return super().__repr__()
        shown = [f"{v.name} ({len(v.values)})" for v in self.space.variables[:_MAX_VARIABLES_SHOWN]]
        hidden = len(self.space) - len(shown)
        variables = " × ".join([*shown, f"{hidden} more"] if hidden else shown)
        parts = [f"{len(self.actions)} actions", variables, *self._repr_details()]
        return f"<{self.id}: {', '.join(parts)}>"

    def _repr_details(self) -> Iterable[str]:
        """What a kind of world adds to its `repr`."""
        return ()


def can_pickle(world: World) -> bool:
    """Return whether a world can be pickled.

    States and trajectories of a world that cannot are pickled without it.
    """
    try:
        pickle.dumps(world)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True
