"""What worlds with continuous variables and continuous actions have in common.

There are two kinds. A `ContinuousWorld` (`worlds/jax/continuous.py`) is written in JAX and is
traced; a `HostWorld` (`worlds/host.py`) is stepped on the CPU, such as a Gymnasium environment.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NoReturn

import numpy as np

from skillfocus.core.continuous import ContinuousSpace
from skillfocus.core.factored import State
from skillfocus.core.world import Outcome, World, WorldState
from skillfocus.errors import UserError
from skillfocus.worlds.drawing import Drawing


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
