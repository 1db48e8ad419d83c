"""Worlds drawn as maps: cells, four moves that may slip, and effects on arrival.

A grid world is declared by its map and by `arrive`: what the variables become when the agent enters
a cell. The intended move happens with probability 1 - slip, each of the other three with slip / 3.
A move into a wall, or into a cell that cannot be entered (`may_enter`), changes nothing and is no
arrival. A world may have a fifth action, `stay`, which never slips: whatever the world does by
itself goes on, and nothing else happens.
"""

from __future__ import annotations

import itertools
import os
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

from skillfocus.errors import UserError
from skillfocus.spaces import Space, State, Variable
from skillfocus.world import Outcome, World, WorldState, check_step_limit, constructor_arguments
from skillfocus.worlds.explored import ExploredWorld

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
        legend: What its glyphs mean, besides `#` and `.`.
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
        self.rows, self.legend = drawing.strip("\n").splitlines(), legend
        if not self.rows:
            raise UserError("the map is empty")
        known = {WALL: "wall", FREE: "free", **legend}
        cells: list[Cell] = []
        for r, row in enumerate(self.rows):
            if len(row) != len(self.rows[0]):
                cell = r, min(len(row), len(self.rows[0]))
                problem = f"has {len(row)} cells, the first has {len(self.rows[0])}"
                raise MapError(f"map row {r} {problem}", cell, f"this row {problem}")
            for c, glyph in enumerate(row):
                if glyph not in known:
                    glyphs = ", ".join(f"{g!r} {meaning}" for g, meaning in known.items())
                    problem = f"has the unknown glyph {glyph!r} (known: {glyphs})"
                    place = f"map row {r}, column {c}"
                    raise MapError(f"{place} {problem}", (r, c), f"this cell {problem}")
                if glyph != WALL:
                    cells.append((r, c))
        if not cells:
            raise UserError("the map has no free cell")
        self.cells = tuple(cells)
        self.index = {cell: i for i, cell in enumerate(cells)}
        reached = self.distances((self.find(FREE) or cells)[:1])
        for r, c in cells:
            if (r, c) not in reached:
                what = f"the {legend.get(self.rows[r][c], 'free cell')} at map row {r}, column {c}"
                problem = "cannot be reached"
                raise MapError(f"{what} {problem}", (r, c), f"this cell {problem}")

    def glyph(self, cell: Cell) -> str:
        """Return the glyph of a cell."""
        return self.rows[cell[0]][cell[1]]

    def find(self, glyph: str) -> list[Cell]:
        """Return the cells with a glyph, in reading order."""
        return [cell for cell in self.cells if self.glyph(cell) == glyph]

    def require(self, glyph: str) -> list[Cell]:
        """Return the cells with a glyph, in reading order.

        Raises:
            UserError: If there are none.
        """
        cells = self.find(glyph)
        if not cells:
            raise UserError(f"the map has no {self.legend[glyph]} {glyph!r}")
        return cells

    def move(self, cell: Cell, direction: int) -> Cell:
        """Return the neighboring cell in a direction, or the cell itself at a wall."""
        target = (cell[0] + MOVES[direction][0], cell[1] + MOVES[direction][1])
        return target if target in self.index else cell

    def distances(self, sources: Iterable[Cell], avoid: Collection[Cell] = ()) -> dict[Cell, int]:
        """Return each cell's distance to the nearest source in steps, around the cells to avoid.

        Unreachable cells are absent.
        """
        steps = dict.fromkeys(sources, 0)
        for cell in (frontier := list(steps)):  # grows while it is iterated
            for direction in range(4):
                target = self.move(cell, direction)
                if target not in steps and target not in avoid:
                    steps[target] = steps[cell] + 1
                    frontier.append(target)
        return steps


class GridWorld(World):
    """A world on a map; its first variable is the agent's position.

    A subclass sets `id`, `legend` and `showcase_cell`, and implements `other_variables`; `arrive`
    counts arrivals unless it is overridden. `worlds/four_rooms.py` is a short example.

    Attributes:
        drawn: The map as it was drawn.
        counter_at: The index of the variable that counts the arrivals in a cell.
    """

    legend: Mapping[str, str]
    """What the glyphs of the map mean, besides `#` and `.`."""
    showcase_cell: Cell
    """Where figures and pages start skills."""
    vanishing = ""
    """Glyphs of the cells that are free once their counter is not 0."""
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
        self.drawn = "\n".join(self.map.rows)
        self.slip = slip
        self.step_limit = step_limit
        self.counter_at: dict[Cell, int] = {}
        variables = (Variable("position", self.map.cells), *self.other_variables())
        if len(variables) > self.max_variables:
            raise UserError(
                f"the map makes {len(variables):,} variables, more than {self.max_variables:,}: "
                f"draw fewer cells with a variable of their own"
            )
        self.space = Space(variables)

    @abstractmethod
    def other_variables(self) -> Iterable[Variable]:
        """Return the variables besides position; `self.map` is already set."""

    def count_arrivals(self, name: str, cells: Sequence[Cell], most: int = 1) -> list[Variable]:
        """Return a variable for each of some cells, `tool_1`, `tool_2`, …, that counts arrivals.

        To be called by `other_variables`, before it makes any others.
        """
        first = 1 + len(self.counter_at)
        self.counter_at |= {cell: first + i for i, cell in enumerate(cells)}
        return [Variable(f"{name}_{i + 1}", tuple(range(most + 1))) for i in range(len(cells))]

    def arrive(self, state: list[int], cell: Cell) -> Outcome:
        """Return what follows, with probability 1, when the agent has entered a cell.

        Args:
            state: The state with the new position; may be modified.
            cell: The cell that was entered.
        """
        if (j := self.counter_at.get(cell)) is not None:
            state[j] = min(state[j] + 1, self.space.sizes[j] - 1)
        return Outcome(1.0, tuple(state))

    def count_tracks(self, name: str, most: int) -> Variable:
        """Return the last variable of `other_variables`: how many free cells have tracks.

        Which of them is hidden: each has a mark (see `Outcome`), so tracks count once.
        """
        free = self.map.find(FREE)
        self.mark_of, self.n_marks = {cell: i for i, cell in enumerate(free)}, len(free)
        return Variable(name, tuple(range(min(most, len(free)) + 1)), scale=float(len(free)))

    def leave_tracks(self, state: list[int], cell: Cell) -> Outcome:
        """Return what follows, with probability 1, tracks in a free cell."""
        again = tuple(state)
        state[-1] = min(state[-1] + 1, self.space.sizes[-1] - 1)
        return Outcome(1.0, tuple(state), self.mark_of[cell], again)

    def marks_in(self, state: State) -> int:
        """Return how many free cells have tracks."""
        return state[-1] if self.n_marks else 0

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
        return constructor_arguments(self, drawing=self.drawn)

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
        return self.with_slips(action, [self.after_move(state, d) for d in range(len(MOVES))])

    def with_slips(self, action: int, after: Sequence[Outcome]) -> list[Outcome]:
        """Return the outcomes of a move that may slip, from what follows in each direction."""
        merged: dict[tuple[State, int, State | None], float] = {}
        for direction, outcome in enumerate(after):
            probability = 1 - self.slip if direction == action else self.slip / 3
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
        """Return the glyph of a cell in a state."""
        glyph = self.map.glyph(cell)
        return FREE if glyph in self.vanishing and state[self.counter_at[cell]] else glyph


# -------------------- Pictures of states, drawn by the environment that a world was explored in

TILE_SIZE = 32
"""Pixels of a cell of MiniGrid."""
_WITHOUT_SCREEN = {"SDL_VIDEODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}
"""Let pygame draw where there is no screen, and say nothing."""
Painter = Callable[[State], np.ndarray]
"""From a state to its picture, uint8 [height, width, 3], the same size for all states."""


def environment_painter(world: World) -> Painter | None:
    """Return what draws states as the world's environment does; None if it cannot draw.

    Gymnasium's toy texts (Taxi, FrozenLake, CliffWalking, Blackjack) need pygame for it, and
    MiniGrid draws by itself. Whether an environment can draw is tried out in the world's first
    state: it may lack a package, or have no `render` for pictures.

    Args:
        world: The world.
    """
    env = getattr(getattr(world, "simulator", None), "env", None)
    if not isinstance(world, ExploredWorld) or env is None:
        return None
    inner = env.unwrapped

    def paint(state: State) -> np.ndarray:
        assert world.simulator is not None
        world.simulator.reset(world.values_of(state))
        return _frame(inner)

    try:
        picture = paint(world.all_states[0])
    except Exception:  # an environment may fail in any way, and then there are no pictures
        return None
    fits = isinstance(picture, np.ndarray) and picture.ndim == 3 and picture.shape[2] == 3
    return paint if fits and picture.dtype == np.uint8 else None


def _frame(inner: Any) -> np.ndarray:
    """Return the picture of an environment's present state."""
    if hasattr(inner, "get_frame"):  # MiniGrid; `get_frame` works out first what the agent sees
        return np.asarray(inner.grid.render(TILE_SIZE, inner.agent_pos, inner.agent_dir))
    if hasattr(inner, "lastaction"):  # which way things look is no part of the state
        inner.lastaction = None
    mode = getattr(inner, "render_mode", None)
    inner.render_mode = "rgb_array"
    try:
        with patch.dict(os.environ, {**_WITHOUT_SCREEN, **os.environ}):
            return np.asarray(inner.render())
    finally:
        inner.render_mode = mode


# -------------------- Grid worlds with a fifth action, `stay`, for comparisons with doing nothing
#
# Their maps mark the agent's first cell with `@`. Moves do not slip unless told to: the side
# effects of the literature are planned ones.

START = "@"
"""Glyph of the agent's first cell, which is free."""


class StayGrid(GridWorld):
    """A grid world whose agent can also stay, and whose map says where it starts."""

    actions = (*ACTIONS, STAY)
    literature_map: str
    """The map of the literature."""
    goal_glyph = ""
    """Glyph of the cell where the world's task ends; empty if it ends elsewhere."""

    def __init__(self, drawing: str = "", slip: float = 0.0, step_limit: int = 20) -> None:
        """Make a world.

        Args:
            drawing: The map, with `@` for the agent's first cell and the glyphs of `legend`
                (default: `literature_map`).
            slip: Probability that a move goes in one of the other three directions.
            step_limit: The most steps a skill may take.
        """
        rows = (drawing or self.literature_map).strip("\n").splitlines()
        starts = [(r, c) for r, row in enumerate(rows) for c, g in enumerate(row) if g == START]
        if len(starts) != 1:
            raise UserError(f"the map has {len(starts)} cells {START!r}; it needs exactly one")
        self.showcase_cell = starts[0]
        super().__init__("\n".join(rows).replace(START, FREE), slip, step_limit)
        self.drawn = "\n".join(rows)
        if self.goal_glyph:
            self.only(self.goal_glyph)

    def only(self, glyph: str) -> Cell:
        """Return the one cell with a glyph.

        Raises:
            UserError: If the map has none or several.
        """
        cells = self.map.find(glyph)
        if len(cells) != 1:
            raise UserError(
                f"the map has {len(cells)} cells {glyph!r} ({self.legend[glyph]}); it needs one"
            )
        return cells[0]


# -------------------- Grid worlds with one thing to push: the agent moves it by walking into it
#
# A thing in front of a wall does not move, and neither does the agent. The thing's variable has the
# cells as values, so its changes are measured as distances on the map.

THING = 1
"""Index of the thing's variable."""


class PushingWorld(StayGrid):
    """A world whose second variable is the cell of a thing that can be pushed.

    A subclass sets `thing` and `thing_glyph`, and may override `carry` and `is_gone`.
    """

    thing: str
    """Name of the thing's variable."""
    thing_glyph: str
    """Glyph of its first cell."""
    under_thing = FREE
    """Glyph of that cell once the thing is elsewhere."""

    def other_variables(self) -> Iterable[Variable]:
        """Return the thing's cell."""
        self.first_cell = self.only(self.thing_glyph)
        return (Variable(self.thing, self.map.cells),)

    @property
    def showcase(self) -> WorldState:
        """The first state of the map: agent and thing where it shows them."""
        return self.state(position=self.showcase_cell, **{self.thing: self.first_cell})

    def states(self) -> Iterable[State]:
        """Return every combination in which agent and thing are not in one cell."""
        for state in super().states():
            if state[0] != state[THING] or self.is_gone(self.map.cells[state[THING]]):
                yield state

    def is_gone(self, cell: Cell) -> bool:
        """Return whether a thing in this cell can no longer be pushed or bumped into."""
        del cell
        return False

    def carry(self, thing: Cell, agent: Cell) -> Cell:
        """Return where the world itself moves the thing after the agent's move."""
        del agent
        return thing

    def after_move(self, state: State, direction: int | None) -> Outcome:
        """Move the agent, push the thing, then let the world move it."""
        agent, thing = self.map.cells[state[0]], self.map.cells[state[THING]]
        if direction is not None:
            target = self.map.move(agent, direction)
            if target == thing and not self.is_gone(thing):
                pushed = self.map.move(thing, direction)
                agent = target if pushed != thing else agent
                thing = pushed
            else:
                agent = target
        thing = self.carry(thing, agent)
        return Outcome(1.0, (self.map.index[agent], self.map.index[thing], *state[2:]))

    def glyph_now(self, cell: Cell, state: State) -> str:
        """Show the thing where it is, unless it is gone."""
        thing = self.map.cells[state[THING]]
        if cell == thing and not self.is_gone(thing):
            return self.thing_glyph
        glyph = self.map.glyph(cell)
        return self.under_thing if glyph == self.thing_glyph else glyph
