"""Trajectories: the states that one run visited, in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import SupportsIndex, overload

from skillfocus.core.factored import State
from skillfocus.core.world import World, WorldState, can_pickle


class Trajectory(list[State]):
    """The states that a run visited; equal to the plain list, and draws itself in a notebook.

    `skills.rollout` returns one::

        run = skills.rollout(0, world.showcase, rng)
        run.changed, run.side_effects  # ("tool_1",), ()

    Attributes:
        world: The world of the states.
        skill: The skill that was followed, or `None`.
        targets: The variables that the skill is for; empty without a target.
    """

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
        """The variables whose last value differs from the first."""
        pairs = zip(self.world.space.names, self[0], self[-1], strict=True) if self else ()
        return tuple(name for name, first, last in pairs if first != last)

    @property
    def side_effects(self) -> tuple[str, ...]:
        """The changed variables that are not targets; none for a skill without targets."""
        return tuple(name for name in self.changed if self.targets and name not in self.targets)

    @property
    def verdict(self) -> str:
        """What the run did, in a sentence that begins with a sign.

        `✓ Focused: it changed tool_1, and everything else is as it was.` The page says the same
        (viewer/assets/words.js).
        """
        changed = join_names(self.changed)
        if not self.targets:
            tail = "" if self.skill is None else " This skill has no target."
            return f"• Changed {changed or 'nothing'}.{tail}"
        targets = join_names(self.targets)
        if not changed:
            are = "are as they were" if len(self.targets) > 1 else "is as it was"
            return f"○ It changed nothing: {targets} {are}."
        unchanged = join_names([name for name in self.targets if name not in self.changed])
        if unchanged:
            return f"✗ It did not change {unchanged}, but {changed}."
        if self.side_effects:
            return f"✗ It changed {targets}, and as side effects {join_names(self.side_effects)}."
        return f"✓ Focused: it changed {targets}, and everything else is as it was."

    @property
    def name(self) -> str:
        """`skill 3`, or `trajectory` if no skill was followed."""
        return "trajectory" if self.skill is None else f"skill {self.skill}"

    @property
    def caption(self) -> str:
        """`skill 3 for tool_1`."""
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
        return import_module("skillfocus.render.svg").trajectory_html(self)


def join_names(names: Sequence[str]) -> str:
    """Return names as an enumeration: `a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
