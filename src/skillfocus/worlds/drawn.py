"""A state that draws itself in a notebook: a tuple of value indices that knows its world."""

from __future__ import annotations

import pickle
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillfocus.worlds.world import World


class DrawnState(tuple[int, ...]):
    """Equal to the plain tuple, and as good wherever a state is wanted."""

    world: World

    def __new__(cls, values: Iterable[int], world: World) -> DrawnState:
        state = super().__new__(cls, values)
        state.world = world
        return state

    @property
    def labels(self) -> dict[str, Hashable]:
        """The state as {name: value}."""
        return self.world.space.labels(self)

    def __reduce__(self) -> tuple[object, ...]:
        if not can_be_kept(self.world):
            return tuple, (tuple(self),)
        return DrawnState, (tuple(self), self.world)

    def __deepcopy__(self, memo: object) -> DrawnState:
        return self

    def _repr_html_(self) -> str:
        from skillfocus.viewer.drawing import state_svg

        return state_svg(self.world, self)


def can_be_kept(world: World) -> bool:
    """Whether a world can be pickled. What comes from one that cannot is pickled without it."""
    try:
        pickle.dumps(world)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True
