"""`MapWorld`: what a map file describes, as a world.

Variables   position; then one per name in the order of the legend (0 at first); last the count
            of tracks. A pick-up, a counter or a fragile thing has a variable of its own in each
            of its cells: `tool` if there is one cell, `tool_1`, `tool_2`, … in reading order if
            there are more. A flag (`sets`, `clears`, `switch`) is one variable, whatever cells
            name it.
Actions     up, right, down, left; they slip
Arrival     a cell does its parts in the order in which the legend names them
Doors       a door's cell is a wall while its variable is 0 (`needs no`: while it is not 0). What
            counts is the state before the move. Who stands in a door that closes may leave it. A
            door that names a thing of its own cell means that cell's: `B = fragile bridge, door
            needs no bridge` can be crossed once.
Hidden      which free cells have tracks already, as in MudWorld
Starts      every combination of the variables, also inside a closed door
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from skillfocus.core.factored import State, Variable
from skillfocus.core.world import Outcome
from skillfocus.worlds.grid import FREE, Cell, GridWorld

ONCE = ("pick-up", "fragile")
OWN = (*ONCE, "counter")
"""Kinds that have a variable of their own in every cell; the others share one by its name."""
FETCHED = ("pick-up", "counter")
"""Kinds that are goals where a map names none."""


@dataclass(frozen=True)
class Part:
    """One of the things that a cell does: its kind and the name it goes by."""

    kind: str
    name: str
    most: int = 1
    """Where a counter stops."""
    wanted: bool = True
    """What a door needs of its variable: not to be 0 (True), or to be 0."""

    def after(self, value: int) -> int:
        """What becomes of the variable on arrival."""
        if self.kind == "switch":
            return 1 - value
        return 0 if self.kind == "clears" else min(value + 1, self.most)

    def allows(self, value: int) -> bool:
        return (value > 0) == self.wanted


@dataclass(frozen=True)
class Tracks:
    """The first arrival in each free cell counts in `name`, while a condition holds."""

    name: str
    condition: Part
    most: int


@dataclass(frozen=True)
class Plan:
    """What a map file says."""

    rows: tuple[str, ...]
    legend: Mapping[str, tuple[Part, ...]]
    slip: float
    step_limit: int
    goals: tuple[str, ...] | None
    start: Cell
    tracks: Tracks | None

    @cached_property
    def cells(self) -> dict[str, list[Cell]]:
        """Per name that is no door's, in the order of the legend: where it has a variable of its
        own; nowhere if it is a flag."""
        every = (part for parts in self.legend.values() for part in parts)
        cells: dict[str, list[Cell]] = {part.name: [] for part in every if part.kind != "door"}
        for r, row in enumerate(self.rows):
            for c, glyph in enumerate(row):
                for part in self.legend.get(glyph, ()):
                    if part.kind in OWN:
                        cells[part.name].append((r, c))
        return cells

    def variables(self, name: str) -> tuple[str, ...]:
        """The variables that a name stands for."""
        n = len(self.cells[name])
        return tuple(f"{name}_{i + 1}" for i in range(n)) if n > 1 else (name,)

    @cached_property
    def own(self) -> dict[tuple[str, Cell], str]:
        """The variables that cells have for themselves, by the name and the cell."""
        return {
            (name, cell): variable
            for name, cells in self.cells.items()
            for cell, variable in zip(cells, self.variables(name), strict=False)
        }


class MapWorld(GridWorld):
    def __init__(self, name: str, text: str, plan: Plan) -> None:
        self.id = f"map:{name}"
        self.text, self.plan = text, plan
        self.legend = {
            glyph: " and ".join(f"{part.kind} {part.name}" for part in parts)
            for glyph, parts in plan.legend.items()
        }
        self.showcase_cell = plan.start
        super().__init__("\n".join(plan.rows), plan.slip, plan.step_limit)
        place = {name: j for j, name in enumerate(self.space.names)}
        self._parts = {
            cell: [
                (part, place[plan.own.get((part.name, cell), part.name)])
                for part in plan.legend.get(self.map.glyph(cell), ())
            ]
            for cell in self.map.cells
        }
        self._doors = _only(self._parts, doors=True)
        self._changes = _only(self._parts, doors=False)
        self._mark_of = {}
        if plan.tracks:
            self._mark_of = {cell: i for i, cell in enumerate(self.map.find(FREE))}
            self._tracked = place[plan.tracks.condition.name]
        self.n_marks = len(self._mark_of)
        self.fixed = self._unchanged()

    def other_variables(self) -> Iterable[Variable]:
        every = (part for parts in self.plan.legend.values() for part in parts)
        most = {part.name: part.most for part in every if part.kind != "door"}
        for name in self.plan.cells:
            counts = tuple(range(most[name] + 1))
            yield from (Variable(variable, counts) for variable in self.plan.variables(name))
        if self.plan.tracks:
            free = len(self.map.find(FREE))
            counts = tuple(range(min(self.plan.tracks.most, free) + 1))
            yield Variable(self.plan.tracks.name, counts, scale=float(free))

    @property
    def settings(self) -> dict[str, object]:
        return {"text": self.text}

    @property
    def goals(self) -> tuple[str, ...]:
        if self.plan.goals is not None:
            return self.plan.goals
        fetched = {
            self.space.names[place]
            for parts in self._parts.values()
            for part, place in parts
            if part.kind in FETCHED
        }
        everything = super().goals
        return tuple(name for name in everything if name in fetched) or everything

    def may_enter(self, state: State, cell: Cell) -> bool:
        return all(door.allows(state[place]) for door, place in self._doors[cell])

    def arrive(self, state: list[int], cell: Cell) -> Outcome:
        for part, place in self._changes[cell]:
            state[place] = part.after(state[place])
        tracks = self.plan.tracks
        if tracks and cell in self._mark_of and tracks.condition.allows(state[self._tracked]):
            again = tuple(state)
            state[-1] = min(state[-1] + 1, self.space.sizes[-1] - 1)
            return Outcome(1.0, tuple(state), self._mark_of[cell], again)
        return Outcome(1.0, tuple(state))

    def marks_in(self, state: State) -> int:
        return state[-1] if self.plan.tracks else 0

    def glyph_now(self, cell: Cell, state: State) -> str:
        """A cell whose pick-up is gone or whose door is open shows what is left of it: the glyph
        that means just that, `.` if nothing is left, its own if no glyph means it."""
        left = tuple(
            part
            for part, place in self._parts[cell]
            if not (part.kind in ONCE and state[place])
            and not (part.kind == "door" and part.allows(state[place]))
        )
        own = self.map.glyph(cell)
        if len(left) == len(self._parts[cell]):
            return own
        meaning = {parts: glyph for glyph, parts in self.plan.legend.items()}
        return meaning.get(left, own) if left else FREE

    def _unchanged(self) -> tuple[str, ...]:
        """Variables that no arrival changes: a pick-up, say, behind a door that needs it."""
        changing = {0} if not self.plan.tracks else {0, len(self.space) - 1}
        for cell, parts in self._changes.items():
            for part, place in parts:
                doors = [door for door, needed in self._doors[cell] if needed == place]
                if any(
                    part.after(value) != value and all(door.allows(value) for door in doors)
                    for value in range(self.space.sizes[place])
                ):
                    changing.add(place)
        return tuple(name for j, name in enumerate(self.space.names) if j not in changing)


Placed = dict[Cell, list[tuple[Part, int]]]
"""Per cell, its parts and the places of their variables."""


def _only(parts: Placed, doors: bool) -> Placed:
    return {
        cell: [(part, place) for part, place in row if (part.kind == "door") == doors]
        for cell, row in parts.items()
    }
