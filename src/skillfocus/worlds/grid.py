"""Worlds drawn as maps: cells, four moves that may slip, and effects on arrival.

A grid world is declared by its map and by `arrive`: what the variables become when the agent enters
a cell. The intended move happens with probability 1 - slip, each of the other three with slip / 3.
A move into a wall, or into a cell that cannot be entered (`may_enter`), changes nothing and is no
arrival. A world may have a fifth action, `stay`, which never slips: whatever the world does by
itself goes on, and nothing else happens.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Iterable, Mapping

from skillfocus.core.factored import FactoredSpace, State, Variable
from skillfocus.core.world import Outcome, World, WorldState, check_step_limit
from skillfocus.errors import UserError

Cell = tuple[int, int]
"""Row and column, counted from 0."""
ACTIONS = ("up", "right", "down", "left")
MOVES: tuple[Cell, ...] = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""The change of row and column of each action."""
STAY = "stay"
"""The name of the action that does nothing; where a world has it, it comes after the moves."""
WALL, FREE = "#", "."
MAX_VARIABLES = 60
"""Far more than can be tabulated: each variable at least doubles the number of states."""


class MapError(UserError):
    """An error at one cell of a map.

    Attributes:
        cell: The cell.
        problem: The message without the place, for callers that know a better one.
    """

    def __init__(self, message: str, cell: Cell = (0, 0), problem: str = "") -> None:
        super().__init__(message)
        self.cell, self.problem = cell, problem


class Map:
    """A parsed map.

    Attributes:
        rows: The drawing, one string per row.
        cells: All cells except walls, in reading order.
        index: The number of each of these cells.
    """

    def __init__(self, drawing: str, legend: Mapping[str, str]) -> None:
        """Parse a drawing.

        Args:
            drawing: Rows of equal length: `#` is a wall, `.` a free cell.
            legend: What the other glyphs mean.

        Raises:
            UserError: If a row or a glyph is wrong, or a cell cannot be reached from the others.
        """
        self.rows = drawing.strip("\n").splitlines()
        if not self.rows:
            raise UserError("the map is empty")
        for number, row in enumerate(self.rows):
            if len(row) != len(self.rows[0]):
                problem = f"has {len(row)} cells, the first has {len(self.rows[0])}"
                raise MapError(
                    f"map row {number} {problem}",
                    (number, min(len(row), len(self.rows[0]))),
                    f"this row {problem}",
                )
            for column, glyph in enumerate(row):
                if glyph not in legend and glyph not in (WALL, FREE):
                    known = {WALL: "wall", FREE: "free", **legend}
                    glyphs = ", ".join(f"{g!r} {meaning}" for g, meaning in known.items())
                    problem = f"has the unknown glyph {glyph!r} (known: {glyphs})"
                    raise MapError(
                        f"map row {number}, column {column} {problem}",
                        (number, column),
                        f"this cell {problem}",
                    )
        self.cells: tuple[Cell, ...] = tuple(
            (r, c)
            for r, row in enumerate(self.rows)
            for c, glyph in enumerate(row)
            if glyph != WALL
        )
        if not self.cells:
            raise UserError("the map has no free cell")
        self.index = {cell: i for i, cell in enumerate(self.cells)}
        self._require_connected(legend)

    def glyph(self, cell: Cell) -> str:
        """Return the glyph of a cell."""
        return self.rows[cell[0]][cell[1]]

    def find(self, glyph: str) -> list[Cell]:
        """Return the cells with a glyph, in reading order."""
        return [cell for cell in self.cells if self.glyph(cell) == glyph]

    def move(self, cell: Cell, direction: int) -> Cell:
        """Return the neighbouring cell in a direction, or the cell itself at a wall."""
        target = (cell[0] + MOVES[direction][0], cell[1] + MOVES[direction][1])
        return target if target in self.index else cell

    def _require_connected(self, legend: Mapping[str, str]) -> None:
        start = next((c for c in self.cells if self.glyph(c) == FREE), self.cells[0])
        reached, frontier = {start}, [start]
        while frontier:
            cell = frontier.pop()
            new = {self.move(cell, direction) for direction in range(4)} - reached
            reached |= new
            frontier.extend(new)
        for cell in self.cells:
            if cell not in reached:
                meaning = legend.get(self.glyph(cell), "free cell")
                raise MapError(
                    f"the {meaning} at map row {cell[0]}, column {cell[1]} cannot be reached",
                    cell,
                    "this cell cannot be reached",
                )


class GridWorld(World):
    """A world on a map; its first variable is the agent's position.

    A subclass sets `id`, `legend` and `showcase_cell`, and implements `other_variables` and
    `arrive`. `worlds/four_rooms.py` is a short example.
    """

    legend: Mapping[str, str]
    """What the glyphs of the map mean, besides `#` and `.`."""
    showcase_cell: Cell
    """Where figures and pages start skills."""
    max_variables: int = MAX_VARIABLES
    """The most variables that a map may make."""
    actions = ACTIONS

    def __init__(self, drawing: str, slip: float, step_limit: int) -> None:
        """Parse the map and make the variables.

        Args:
            drawing: The map.
            slip: Probability that a move goes in one of the other three directions.
            step_limit: The most steps a skill may take.
        """
        if not 0 <= slip < 1:
            raise UserError(f"slip is {slip}; it must be at least 0 and less than 1")
        check_step_limit(step_limit)
        self.map = Map(drawing, self.legend)
        self.slip = slip
        self.step_limit = step_limit
        variables = (Variable("position", self.map.cells), *self.other_variables())
        if len(variables) > self.max_variables:
            raise UserError(
                f"the map makes {len(variables):,} variables, more than {self.max_variables:,}: "
                f"draw fewer cells with a variable of their own"
            )
        self.space = FactoredSpace(variables)

    @abstractmethod
    def other_variables(self) -> Iterable[Variable]:
        """Return the variables besides position; `self.map` is already set."""

    @abstractmethod
    def arrive(self, state: list[int], cell: Cell) -> Outcome:
        """Return what follows, with probability 1, when the agent has entered a cell.

        Args:
            state: The state with the new position; may be modified.
            cell: The cell that was entered.
        """

    def may_enter(self, state: State, cell: Cell) -> bool:
        """Return whether the agent can enter a cell; otherwise the cell is a wall for now."""
        del state, cell
        return True

    @property
    def default_target(self) -> str:
        """The agent's position."""
        return "position"

    @property
    def settings(self) -> dict[str, object]:
        """Arguments that make this world again."""
        return {
            "drawing": "\n".join(self.map.rows),
            "slip": self.slip,
            "step_limit": self.step_limit,
        }

    def states(self) -> Iterable[State]:
        """Return every combination of values."""
        return itertools.product(*(range(size) for size in self.space.sizes))

    @property
    def showcase(self) -> WorldState:
        """A start to show skills from: all first values, with the agent at `showcase_cell`."""
        cell = self.showcase_cell if self.showcase_cell in self.map.index else self.map.cells[0]
        return self.state(position=cell)

    def transition(self, state: State, action: int) -> list[Outcome]:
        """Return the outcomes of the intended move and of the slips, equal ones merged."""
        if action == len(MOVES):
            return [self.after_move(state, None)]
        merged: dict[tuple[State, int, State | None], float] = {}
        for direction in range(4):
            probability = 1 - self.slip if direction == action else self.slip / 3
            outcome = self.after_move(state, direction)
            key = (outcome.state, outcome.mark, outcome.again)
            merged[key] = merged.get(key, 0.0) + probability
        return [Outcome(p, *key) for key, p in merged.items() if p > 0]

    def after_move(self, state: State, direction: int | None) -> Outcome:
        """Return what follows, with probability 1, a move in a direction, or none (`stay`)."""
        if direction is None:
            return Outcome(1.0, state)
        cell = self.map.cells[state[0]]
        target = self.map.move(cell, direction)
        if target == cell or not self.may_enter(state, target):
            return Outcome(1.0, state)
        return self.arrive([self.map.index[target], *state[1:]], target)

    def draw(self, state: State) -> str:
        """Return the map with the agent as `@`, and the other variables below it."""
        rows = [list(row) for row in self.map.rows]
        for cell in self.map.cells:
            rows[cell[0]][cell[1]] = self.glyph_now(cell, state)
        row, column = self.map.cells[state[0]]
        rows[row][column] = "@"
        labels = list(self.space.labels(state).items())[1:]
        return "\n".join(["".join(row) for row in rows] + [f"{k}={v}" for k, v in labels])

    def glyph_now(self, cell: Cell, state: State) -> str:
        """Return the glyph of a cell in a state; the map's own unless a world overrides this."""
        del state
        return self.map.glyph(cell)
