"""What one run of a skill visited: a list of states that draws itself in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import SupportsIndex, overload

from skillfocus.core import display
from skillfocus.core.factored import State
from skillfocus.core.world import World, WorldState, can_pickle


class Trajectory(list[State]):
    """Equal to the plain list of the states. `skill` is the skill that went this way, if one did,
    and `targets` the variables it is for (none for plain objectives)."""

    def __init__(
        self,
        states: Iterable[State],
        world: World,
        skill: int | None = None,
        targets: Sequence[str] = (),
    ) -> None:
        super().__init__(WorldState(state, world) for state in states)
        self.world, self.skill, self.targets = world, skill, tuple(targets)

    @property
    def changed(self) -> tuple[str, ...]:
        """The variables whose last value is not the first."""
        pairs = zip(self.world.space.names, self[0], self[-1], strict=True) if self else ()
        return tuple(name for name, first, last in pairs if first != last)

    @property
    def side_effects(self) -> tuple[str, ...]:
        """What it changed besides its targets; nothing is one where there are no targets."""
        return tuple(name for name in self.changed if self.targets and name not in self.targets)

    @property
    def verdict(self) -> str:
        """What it did, with a sign: `✓ Focused: it changed tool_1, and everything else is as it
        was.`"""
        changed = listed(self.changed)
        if not self.targets:
            tail = "" if self.skill is None else " This skill has no target."
            return f"• Changed {changed or 'nothing'}.{tail}"
        targets = listed(self.targets)
        if not changed:
            are = "are as they were" if len(self.targets) > 1 else "is as it was"
            return f"○ It changed nothing: {targets} {are}."
        missed = listed([name for name in self.targets if name not in self.changed])
        if missed:
            return f"✗ It did not change {missed}, but {changed}."
        if self.side_effects:
            return f"✗ It changed {targets}, and as side effects {listed(self.side_effects)}."
        return f"✓ Focused: it changed {targets}, and everything else is as it was."

    @property
    def name(self) -> str:
        """`skill 3`"""
        return "a way" if self.skill is None else f"skill {self.skill}"

    @property
    def caption(self) -> str:
        """`skill 3 for tool_1`"""
        return f"{self.name} for {' + '.join(self.targets)}" if self.targets else self.name

    @overload
    def __getitem__(self, place: SupportsIndex) -> WorldState: ...
    @overload
    def __getitem__(self, place: slice) -> Trajectory: ...
    def __getitem__(self, place: SupportsIndex | slice) -> WorldState | Trajectory:
        if isinstance(place, slice):
            return Trajectory(super().__getitem__(place), self.world, self.skill, self.targets)
        return WorldState(super().__getitem__(place), self.world)

    def __reduce__(self) -> tuple[object, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        states = [tuple(state) for state in self]
        if not can_pickle(self.world):
            return list, (states,)
        return Trajectory, (states, self.world, self.skill, self.targets)

    def _repr_html_(self) -> str:
        return display.html("trajectory", self)


def listed(names: Sequence[str]) -> str:
    """`a, b and c`"""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
