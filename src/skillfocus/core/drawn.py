"""A state that draws itself in a notebook: a tuple of value indices that knows its world."""

from __future__ import annotations

import pickle
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillfocus.core.world import World


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
        from skillfocus.render.svg import state_svg

        return state_svg(self.world, self)


def can_pickle(world: World) -> bool:
    """Whether a world can be pickled. What comes from one that cannot is pickled without it."""
    try:
        pickle.dumps(world)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True
