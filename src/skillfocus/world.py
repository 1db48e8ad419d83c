"""Worlds: dynamics over named variables, without a reward."""

from __future__ import annotations

import pickle
from collections.abc import Hashable, Iterable
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skillfocus.errors import UserError, short_repr
from skillfocus.spaces import Space, State

if TYPE_CHECKING:
    from skillfocus.mdp import StateGraph, TabularMDP
    from skillfocus.worlds.drawing import Drawing

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
        adapter = "from_gymnasium" if hasattr(world, "action_space") else "from_object"
        raise UserError(
            f"{short_repr(world)} is not a World{named}: subclass skillfocus.World, or use "
            f"skillfocus.adapters.{adapter}"
        )
    declared = (("id", str, "str"), ("space", Space, "Space"), ("actions", list | tuple, "tuple"))
    for name, kind, article in declared:
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


class World:
    """Dynamics over named variables.

    A subclass sets `id`, `space` and `actions`. One with finitely many states implements `states`
    and `transition`; worlds in JAX (`JaxWorld`) and those that are stepped on the CPU
    (`HostWorld`) have other methods instead. A complete world::

        class Lamp(sf.World):
            id = "Lamp-v0"
            actions = ("press", "wait")
            space = sf.Space((sf.Variable("on", (0, 1)), sf.Variable("bulb", ("ok", "broken"))))

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
    space: Space
    """The variables."""
    actions: tuple[str, ...]
    """Names of the actions, an action is its index here; or of the dimensions of real-valued
    actions."""
    action_low: tuple[float, ...] = ()
    """The least value of each dimension of real-valued actions; empty if actions are discrete."""
    action_high: tuple[float, ...] = ()
    """The greatest value of each dimension."""
    step_limit: int = 40
    """The most steps a skill may take."""
    episode_steps: int = 1000
    """Steps until an environment is reset while an actor is trained, and in its tasks."""
    limit: int = STATE_LIMIT
    """The most states this world may have."""
    n_marks: int = 0
    """Number of hidden marks (see `Outcome`); 0 if the variables describe the state completely."""
    fixed: tuple[str, ...] = ()
    """Variables that no action changes; they become targets only on request."""
    one_way: tuple[str, ...] = ()
    """Variables that never return to a value they have left, such as a picked-up tool, in a world
    without a table, which would tell. Policies do not depend on their first value, and their
    penalty is charged when they change."""
    final_states: frozenset[State] = frozenset()
    """States that end an episode; no action leaves them."""
    notes: tuple[str, ...] = ()
    """What a user should know about this world, in sentences."""
    state_graph: StateGraph[State] | None = None
    """States and transitions, if they were enumerated when the world was made; `tabulate` then uses
    them instead of calling `states` and `transition`."""
    mdp: TabularMDP | None = None
    """The world's table, if it was made with the world; `tabulate` then returns it."""

    def states(self) -> Iterable[State]:
        """Return the states where skills may start.

        `tabulate` adds every state that can be reached from them.
        """
        raise self.no_table()

    def transition(self, state: State, action: int) -> list[Outcome]:
        """Return the possible outcomes of an action, with probabilities that sum to 1."""
        del state, action
        raise self.no_table()

    @property
    def has_table(self) -> bool:
        """Whether its states can be enumerated."""
        return True

    def no_table(self) -> UserError:
        """Return the error that says why finite methods do not take this world."""
        why = "states are not enumerated" if self.space.is_finite else "variables are real-valued"
        return UserError(
            f"{self.id} has no table of its states, because its {why}: learn its skills "
            f"with learner='neural' (--learner neural)"
        )

    @property
    def settings(self) -> dict[str, object]:
        """JSON-compatible arguments that make this world again: `sf.make(world.id, **settings)`."""
        return {}

    @property
    def has_real_actions(self) -> bool:
        """Whether actions are vectors of real numbers."""
        return bool(self.action_low)

    @property
    def observation_size(self) -> int:
        """How many numbers a policy of real-valued actions sees."""
        return self.space.width

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
        """The variables that get two skills each by default: all that can change except
        `default_target`; of real-valued ones, all that can change."""
        others = () if not self.space.is_finite else (self.default_target,)
        return tuple(n for n in self.space.names if n not in (*others, *self.fixed))

    def state(self, **labels: Any) -> Any:
        """Return a state by its values, such as `world.state(position=(6, 9))`.

        Variables not named take their first value, or the lower bound of their box. The state draws
        itself in a notebook; one of real-valued variables is an array.

        Raises:
            UserError: If a variable or a value does not exist.
        """
        made = self.space.state(**labels)
        return WorldState(made, self) if self.space.is_finite else made

    def marks_in(self, state: State) -> int:
        """Return how many hidden marks are set in a state; which ones is unknown."""
        del state
        return 0

    def draw(self, state: Any) -> str:
        """Return a state as text."""
        labels = self.space.labels(state)
        return "\n".join(f"{name}={_text(value)}" for name, value in labels.items())

    def drawing(self) -> Drawing | None:
        """Return how a world of real-valued variables looks; None if a page shows its numbers."""
        return None

    def __repr__(self) -> str:
        """`<FourRooms-v0: 4 actions, position (104) × tool_1 (2) × …>`, without tabulating."""
        if not hasattr(self, "space"):  # not initialized yet
            return super().__repr__()
        shown = [
            f"{v.name} ({len(v.values) or v.width})"
            for v in self.space.variables[:_MAX_VARIABLES_SHOWN]
        ]
        hidden = len(self.space) - len(shown)
        variables = " × ".join([*shown, f"{hidden} more"] if hidden else shown)
        actions = "action dimensions" if self.has_real_actions else "actions"
        parts = [f"{len(self.actions)} {actions}", variables, *self._repr_details()]
        return f"<{self.id}: {', '.join(parts)}>"

    def _repr_details(self) -> Iterable[str]:
        """What a kind of world adds to its `repr`."""
        return ()


def _text(value: object) -> str:
    """Return a value as text, real numbers with three digits."""
    if isinstance(value, tuple) and any(isinstance(x, float) for x in value):
        rounded = [f"{np.round(x, 3) + 0.0:g}" for x in value]
        return rounded[0] if len(rounded) == 1 else f"({', '.join(rounded)})"
    return str(value)


def constructor_arguments(world: World, **others: object) -> dict[str, object]:
    """Return the arguments of its class that make a world again.

    Args:
        world: A world with attributes named as the arguments.
        **others: Arguments without such an attribute.
    """
    names = signature(type(world)).parameters
    return {name: others[name] if name in others else getattr(world, name) for name in names}


def can_pickle(world: World) -> bool:
    """Return whether a world can be pickled.

    States and trajectories of a world that cannot are pickled without it.
    """
    try:
        pickle.dumps(world)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


# -------------------- Seeds of random draws

MAX_SEEDS = 10_000
"""The most seeds of one command."""


def check_seed(seed: object) -> None:
    """Raise a `UserError` unless this is a seed."""
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0:
        return
    advice = f"; try seed={int(seed)}" if isinstance(seed, str) and seed.isdecimal() else ""
    raise UserError(f"seed must be a non-negative integer, got {seed!r}{advice}")


def seed_range(count: int, first: int = 0) -> range:
    """Return consecutive seeds.

    Raises:
        UserError: If there are none, too many, or negative ones.
    """
    check_seed(first)
    if not 1 <= count <= MAX_SEEDS:
        raise UserError(f"seeds is {count}; it must be 1 to {MAX_SEEDS:,}")
    return range(int(first), int(first) + int(count))
