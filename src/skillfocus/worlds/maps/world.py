"""`MapWorld`: the world that a map file describes.

Variables   position; then one per name in the order of the legend (0 at first); last the count of
            tracks. A pick-up, a counter or a fragile thing has a variable of its own in each of its
            cells: `tool` if there is one cell, `tool_1`, `tool_2`, … in reading order if there are
            several. A flag (`sets`, `clears`, `switch`) is one variable, whatever cells name it.
Actions     up, right, down, left; they slip. With `stay = yes` also stay, which does nothing
Arrival     the features of a cell take effect in the order of the legend
Doors       a door's cell is a wall while its variable is 0 (`needs no`: while it is not 0), in the
            state before the move. An agent inside a door that closes may leave it. A door that
            names a thing of its own cell means the one in that cell: `B = fragile bridge, door
            needs no bridge` can be crossed once.
Hidden      which free cells already have tracks, as in MudWorld
Starts      every combination of the variables, even inside a closed door
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from skillfocus.core.factored import State, Variable
from skillfocus.core.world import Outcome
from skillfocus.worlds.grid import ACTIONS, FREE, STAY, Cell, GridWorld

ONE_TIME_KINDS = ("pick-up", "fragile")
"""Features that are gone once they have taken effect."""
PER_CELL_KINDS = (*ONE_TIME_KINDS, "counter")
"""Features with a variable of their own in every cell; the others share one by its name."""
DEFAULT_GOAL_KINDS = ("pick-up", "counter")
"""Features whose variables are goals if a map names none."""


@dataclass(frozen=True)
class Feature:
    """One thing that a cell does, such as `pick-up key` or `door needs key`."""

    kind: str
    """The first word, one of `header.FEATURE_FORMS`."""
    name: str
    """The name of its variable or variables."""
    max_count: int = 1
    """Where a counter stops."""
    passable_when_set: bool = True
    """Whether a door is open while its variable is not 0, or while it is 0."""

    def apply(self, value: int) -> int:
        """Return the variable's value after an arrival."""
        if self.kind == "switch":
            return 1 - value
        return 0 if self.kind == "clears" else min(value + 1, self.max_count)

    def is_open(self, value: int) -> bool:
        """Return whether a door is open at a value of its variable."""
        return (value > 0) == self.passable_when_set


@dataclass(frozen=True)
class Tracks:
    """Counts the first arrival in each free cell, while a condition holds."""

    name: str
    """The variable that counts."""
    condition: Feature
    """Tracks are left while this door would be open."""
    max_count: int
    """Where the count stops."""


@dataclass(frozen=True)
class MapSpec:
    """What a map file says."""

    rows: tuple[str, ...]
    """The map, with a free cell instead of `@`."""
    legend: Mapping[str, tuple[Feature, ...]]
    """The features of each glyph's cells."""
    slip: float
    """Probability that a move goes in one of the other three directions."""
    step_limit: int
    """The most steps a skill may take."""
    goals: tuple[str, ...] | None
    """Variables that get two skills each; `None` if the file names none."""
    start: Cell
    """Where figures show the skills from."""
    tracks: Tracks | None
    """The tracks, if any."""
    stay: bool = False
    """Whether there is a fifth action that does nothing."""

    @cached_property
    def cells(self) -> dict[str, list[Cell]]:
        """The cells with a variable of their own, by name in the order of the legend.

        Names of flags have no cells; names of doors are absent.
        """
        features = (feature for row in self.legend.values() for feature in row)
        cells: dict[str, list[Cell]] = {f.name: [] for f in features if f.kind != "door"}
        for r, row in enumerate(self.rows):
            for c, glyph in enumerate(row):
                for feature in self.legend.get(glyph, ()):
                    if feature.kind in PER_CELL_KINDS:
                        cells[feature.name].append((r, c))
        return cells

    def variables(self, name: str) -> tuple[str, ...]:
        """Return the variables that a name stands for."""
        n = len(self.cells[name])
        return tuple(f"{name}_{i + 1}" for i in range(n)) if n > 1 else (name,)

    @cached_property
    def variable_of_cell(self) -> dict[tuple[str, Cell], str]:
        """The variables that cells have of their own, by name and cell."""
        return {
            (name, cell): variable
            for name, cells in self.cells.items()
            for cell, variable in zip(cells, self.variables(name), strict=False)
        }


FeaturesByCell = dict[Cell, list[tuple[Feature, int]]]
"""The features of each cell, with the indices of their variables."""


class MapWorld(GridWorld):
    """A world described by a map file; `read_map("museum.txt")` makes one.

    Attributes:
        text: The text of the map file.
        spec: What it says.
    """

    def __init__(self, name: str, text: str, spec: MapSpec) -> None:
        self.id = f"map:{name}"
        self.text, self.spec = text, spec
        self.legend = {
            glyph: " and ".join(f"{feature.kind} {feature.name}" for feature in features)
            for glyph, features in spec.legend.items()
        }
        self.showcase_cell = spec.start
        if spec.stay:
            self.actions = (*ACTIONS, STAY)
        super().__init__("\n".join(spec.rows), spec.slip, spec.step_limit)
        index = {name: j for j, name in enumerate(self.space.names)}
        self._features: FeaturesByCell = {
            cell: [
                (feature, index[spec.variable_of_cell.get((feature.name, cell), feature.name)])
                for feature in spec.legend.get(self.map.glyph(cell), ())
            ]
            for cell in self.map.cells
        }
        self._doors = _select(self._features, doors=True)
        self._effects = _select(self._features, doors=False)
        self._mark_of = {}
        if spec.tracks:
            self._mark_of = {cell: i for i, cell in enumerate(self.map.find(FREE))}
            self._track_condition = index[spec.tracks.condition.name]
        self.n_marks = len(self._mark_of)
        self.fixed = self._find_fixed()

    def other_variables(self) -> Iterable[Variable]:
        """Yield the variables of the legend, then the count of tracks."""
        features = (feature for row in self.spec.legend.values() for feature in row)
        max_count = {f.name: f.max_count for f in features if f.kind != "door"}
        for name in self.spec.cells:
            counts = tuple(range(max_count[name] + 1))
            yield from (Variable(variable, counts) for variable in self.spec.variables(name))
        if self.spec.tracks:
            n_free = len(self.map.find(FREE))
            counts = tuple(range(min(self.spec.tracks.max_count, n_free) + 1))
            yield Variable(self.spec.tracks.name, counts, scale=float(n_free))

    @property
    def settings(self) -> dict[str, object]:
        """The text of the map file, which makes this world again."""
        return {"text": self.text}

    @property
    def goals(self) -> tuple[str, ...]:
        """The goals of the file; by default pick-ups and counters, or else all but position."""
        if self.spec.goals is not None:
            return self.spec.goals
        collectable = {
            self.space.names[variable]
            for features in self._features.values()
            for feature, variable in features
            if feature.kind in DEFAULT_GOAL_KINDS
        }
        goals = super().goals
        return tuple(name for name in goals if name in collectable) or goals

    def may_enter(self, state: State, cell: Cell) -> bool:
        """Return whether all doors of a cell are open."""
        return all(door.is_open(state[variable]) for door, variable in self._doors[cell])

    def arrive(self, state: list[int], cell: Cell) -> Outcome:
        """Apply the features of a cell, then count tracks."""
        for feature, variable in self._effects[cell]:
            state[variable] = feature.apply(state[variable])
        tracks = self.spec.tracks
        if (
            tracks
            and cell in self._mark_of
            and tracks.condition.is_open(state[self._track_condition])
        ):
            again = tuple(state)
            state[-1] = min(state[-1] + 1, self.space.sizes[-1] - 1)
            return Outcome(1.0, tuple(state), self._mark_of[cell], again)
        return Outcome(1.0, tuple(state))

    def marks_in(self, state: State) -> int:
        """Return how many free cells have tracks."""
        return state[-1] if self.spec.tracks else 0

    def glyph_now(self, cell: Cell, state: State) -> str:
        """Return the glyph for what is left of a cell once a thing is gone or a door is open.

        That is the glyph with just the remaining features, `.` if none remain, and the cell's own
        glyph if no other has these features.
        """
        remaining = tuple(
            feature
            for feature, variable in self._features[cell]
            if not (feature.kind in ONE_TIME_KINDS and state[variable])
            and not (feature.kind == "door" and feature.is_open(state[variable]))
        )
        own = self.map.glyph(cell)
        if len(remaining) == len(self._features[cell]):
            return own
        glyph_of = {features: glyph for glyph, features in self.spec.legend.items()}
        return glyph_of.get(remaining, own) if remaining else FREE

    def _find_fixed(self) -> tuple[str, ...]:
        """Return the variables that no arrival changes, such as a pick-up behind its own door."""
        changing = {0} if not self.spec.tracks else {0, len(self.space) - 1}
        for cell, effects in self._effects.items():
            for feature, variable in effects:
                doors = [door for door, needed in self._doors[cell] if needed == variable]
                if any(
                    feature.apply(value) != value and all(door.is_open(value) for door in doors)
                    for value in range(self.space.sizes[variable])
                ):
                    changing.add(variable)
        return tuple(name for j, name in enumerate(self.space.names) if j not in changing)

    def _repr_details(self) -> Iterable[str]:
        yield f"map of {len(self.map.rows)} × {len(self.map.rows[0])} cells"


def _select(features: FeaturesByCell, doors: bool) -> FeaturesByCell:
    """Return only the doors, or only the other features."""
    return {
        cell: [
            (feature, variable) for feature, variable in row if (feature.kind == "door") == doors
        ]
        for cell, row in features.items()
    }
