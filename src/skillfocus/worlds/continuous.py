"""What worlds with continuous variables and continuous actions have in common.

There are two kinds. A `ContinuousWorld` (`worlds/jax/continuous.py`) is written in JAX and is
traced; a `HostWorld` (`worlds/host.py`) is stepped on the CPU, such as a Gymnasium environment.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np

from skillfocus.errors import UserError
from skillfocus.spaces import ContinuousSpace, State
from skillfocus.world import Outcome, World, WorldState

# --------------------
#
# How a continuous world looks: a few shapes whose places are numbers of its observation
#
# The viewer draws them; a world returns a `Drawing` from `drawing()`. A coordinate is a constant or
# a `Number`, the index of an observation's entry.


@dataclass(frozen=True)
class Number:
    """The entry of the observation with this index."""

    observation: int


Coordinate = float | Number
Point = tuple[Coordinate, Coordinate]


@dataclass(frozen=True)
class Circle:
    """A disc, such as an agent or an object."""

    at: Point
    """Its centre."""
    radius: float
    """Its radius, in the units of the world."""
    variable: str | None = None
    """The variable it shows, whose colour it has; None for scenery."""
    trail: bool = False
    """Whether the page draws where it has been."""
    hollow: bool = False
    """Whether to draw the outline only."""
    square: bool = False
    """Whether it is a square of this half side."""
    filling: tuple[Number, float, float] | None = None
    """A number from 0 to 1, and how opaque the filling is at 0 and at 1; None for always."""


@dataclass(frozen=True)
class Line:
    """A line, such as a wall."""

    start: Point
    """Where it begins."""
    end: Point
    """Where it ends."""
    width: float | None = None
    """Its width, in the units of the world; None for a hairline."""
    variable: str | None = None
    """The variable it shows; None for scenery."""


@dataclass(frozen=True)
class Arrow:
    """An arrow from a point, such as where a head looks."""

    at: Point
    """Where it begins."""
    angle: Coordinate
    """Its direction: 0 is up, π / 2 to the right."""
    length: float
    """Its length, in the units of the world."""
    variable: str | None = None
    """The variable it shows; None for scenery."""


@dataclass(frozen=True)
class Text:
    """A label."""

    at: Point
    """Its centre."""
    text: str
    """What it says."""


Shape = Circle | Line | Arrow | Text


@dataclass(frozen=True)
class Drawing:
    """The picture of a world."""

    bounds: tuple[float, float, float, float]
    """Left, bottom, right, top; the second axis points up."""
    shapes: tuple[Shape, ...]
    """What to draw, in this order."""

    def as_json(self) -> dict[str, object]:
        """Return what the page takes: every shape with its kind."""
        shapes = [{"kind": type(shape).__name__.lower(), **asdict(shape)} for shape in self.shapes]
        return {"bounds": list(self.bounds), "shapes": shapes}


class ContinuousBase(World):
    """A world whose variables are vectors of real numbers, and whose actions are too.

    It has the name, the notes and the settings of every `World`, but no table: what enumerates
    states refuses it with one sentence.
    """

    space: ContinuousSpace  # pyright: ignore[reportIncompatibleVariableOverride]
    """The variables."""
    actions: tuple[str, ...]
    """Names of the dimensions of an action."""
    action_low: tuple[float, ...]
    """The least value of each dimension of an action."""
    action_high: tuple[float, ...]
    """The greatest value of each dimension of an action."""
    one_way: tuple[str, ...] = ()
    """Variables that never return to a value they have left, such as a vase that breaks."""
    episode_steps: int = 1000
    """Steps until an environment is reset, in training and in downstream tasks."""

    @property
    def n_action_dims(self) -> int:
        """How many numbers an action has."""
        return len(self.action_low)

    @property
    def observation_size(self) -> int:
        """How many numbers a policy sees."""
        return self.space.size

    @property
    def goals(self) -> tuple[str, ...]:
        """The variables that skills target by default: all that can change."""
        return tuple(name for name in self.space.names if name not in self.fixed)

    @property
    def default_target(self) -> str:
        """The first of the `goals`; no kind of skill is more common than the others."""
        return self.goals[0]

    def states(self) -> Iterable[State]:
        """Refuse: states cannot be enumerated."""
        self.refuse_tables()

    def transition(self, state: State, action: int) -> list[Outcome]:
        """Refuse: outcomes are drawn, not listed."""
        del state, action
        self.refuse_tables()

    def state(self, **labels: Hashable) -> WorldState:
        """Refuse: a state is a vector."""
        del labels
        raise UserError(
            f"{self.id} has continuous variables: world.space.join(…) makes a vector of their "
            f"values, and world.place(key, values) a state"
        )

    def refuse_tables(self) -> NoReturn:
        """Raise the `UserError` that says why finite methods do not take this world."""
        raise UserError(
            f"{self.id} has continuous variables and actions, so there is no table of its states: "
            f"learn its skills with learner=Neural() or --learner neural"
        )

    def drawing(self) -> Drawing | None:
        """Return how the world looks; None if the viewer shows its numbers only."""
        return None

    def draw(self, state: Any) -> str:
        """Return a state's values, float [size], as text."""
        return "\n".join(
            f"{name}={_rounded(numbers)}" for name, numbers in self.space.labels(state).items()
        )

    def __repr__(self) -> str:
        """`<TwoRooms-v0: 3 action dimensions, agent (2) × box (2) × vase (2)>`."""
        if not hasattr(self, "space"):  # not initialized yet
            return super().__repr__()
        variables = " × ".join(f"{v.name} ({v.size})" for v in self.space.variables)
        return f"<{self.id}: {self.n_action_dims} action dimensions, {variables}>"


def _rounded(numbers: Iterable[float]) -> str:
    texts = [f"{np.round(x, 3) + 0.0:g}" for x in numbers]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def require_finite(world: World) -> None:
    """Raise a `UserError` if a world has continuous variables, for what needs finite ones."""
    if isinstance(world, ContinuousBase):
        world.refuse_tables()


# --------------------
#
# The protocol of continuous worlds that are stepped on the CPU, many environments at once
#
# A `ContinuousWorld` is traced by JAX; a foreign environment cannot be. A `HostWorld` has the same
# variables and bounds, but its dynamics are in a `HostBatch` of environments, stepped together.


class HostStep(NamedTuple):
    """What a step of a batch leads to. An environment that ends is reset in the same step."""

    observations: np.ndarray
    """What follows the actions, float32 [n, observation_size]: of an episode that ends, its last
    observation."""
    terminated: np.ndarray
    """Whether the episode ended because of what happened, bool [n]."""
    truncated: np.ndarray
    """Whether it ended because of its length, bool [n]."""
    next_observations: np.ndarray
    """Where the next actions are taken, float32 [n, observation_size]: the first observation of a
    new episode where one ended, else `observations`."""


class HostBatch(Protocol):
    """Environments that step together."""

    def reset_batch(self, seed: int) -> np.ndarray:
        """Reset all of them and return their observations, float32 [n, observation_size]."""
        ...

    def step_batch(self, actions: np.ndarray) -> HostStep:
        """Take one action in each, float32 [n, n_action_dims] within the world's bounds."""
        ...

    def close(self) -> None:
        """Release what they hold."""
        ...


class HostWorld(ContinuousBase):
    """A continuous world as batches of environments.

    Example::

        world = sf.make("gymnasium:Pendulum-v1", variables={"angle": [0, 2], "velocity": 2})
        batch = world.make_batch(16)
        observations = batch.reset_batch(seed=0)
        step = batch.step_batch(actions)
        world.space.change(world.values(observations), world.values(step.observations))
    """

    @abstractmethod
    def make_batch(self, n: int) -> HostBatch:
        """Return `n` environments, not reset yet."""

    @abstractmethod
    def values(self, observations: Any) -> Any:
        """Return the values of the variables, float [..., space.size], in observations."""
