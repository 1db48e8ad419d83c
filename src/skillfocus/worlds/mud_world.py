"""MudWorld: a treasure in a patch of mud, and a puddle to wash in (Section 5 of the paper).

Variables   position, muddy (0/1), treasure (1: collected), muddy_cells (cells with tracks, counted
            up to `most_muddy`, which then means "that many or more")
Actions     up, right, down, left; they slip
Arrival     mud or the treasure's cell makes the agent muddy; the puddle cleans it; a muddy agent
            that enters a vacant cell leaves mud there. Tracked mud does not make a clean agent
            muddy: only the patch does.
Hidden      which vacant cells are muddy. The count rises only the first time a cell gets muddy,
            so each vacant cell has a hidden mark (see `Outcome`). A model of the variables alone
            must count every muddy step onto a vacant cell.
Starts      every combination of the variables
Versions    v0: the map and the slip probability of the paper's Figure 1

The penalty scales muddy_cells by the number of vacant cells, whatever `most_muddy` is.
"""

from __future__ import annotations

from collections.abc import Iterable

from skillfocus.errors import UserError
from skillfocus.spaces import State, Variable
from skillfocus.world import Outcome
from skillfocus.worlds.grid import FREE, Cell, GridWorld

MAP = """
############
#..........#
#..........#
#..MMM..WW.#
#.MMXM..WW.#
#.MMM......#
#..........#
#..........#
#..........#
#..........#
#..........#
############
"""
MUDDY, TREASURE, MUDDY_CELLS = 1, 2, 3
"""Indices of the variables."""


class MudWorld(GridWorld):
    """Fetch a treasure without leaving tracks: `sf.make("mud-world")`."""

    id = "MudWorld-v0"
    legend = {"M": "mud", "X": "treasure", "W": "puddle"}
    showcase_cell = (8, 3)  # where the trajectories of Figure 1 start

    def __init__(
        self, drawing: str = MAP, slip: float = 0.1, step_limit: int = 20, most_muddy: int = 12
    ) -> None:
        """Make a MudWorld.

        Args:
            drawing: The map; `M` is mud, `X` the treasure, `W` the puddle.
            slip: Probability that a move goes in one of the other three directions.
            step_limit: The most steps a skill may take.
            most_muddy: Where the count of muddy cells stops.
        """
        if most_muddy < 1:
            raise UserError(f"most_muddy is {most_muddy}; it must be at least 1")
        self.most_muddy = most_muddy
        super().__init__(drawing, slip, step_limit)

    def other_variables(self) -> Iterable[Variable]:
        """Yield muddy, treasure and muddy_cells."""
        for glyph in self.legend:
            self.map.require(glyph)
        yield Variable("muddy", (0, 1))
        yield Variable("treasure", (0, 1))
        yield self.count_tracks("muddy_cells", self.most_muddy)

    @property
    def goals(self) -> tuple[str, ...]:
        """The treasure."""
        return ("treasure",)

    def arrive(self, state: list[int], cell: Cell) -> Outcome:
        """Get muddy or clean, collect the treasure, or leave a track."""
        glyph = self.map.glyph(cell)
        if glyph == "W":
            state[MUDDY] = 0
        elif glyph != FREE:
            state[MUDDY] = 1
            if glyph == "X":
                state[TREASURE] = 1
        elif state[MUDDY]:
            return self.leave_tracks(state, cell)
        return Outcome(1.0, tuple(state))

    def glyph_now(self, cell: Cell, state: State) -> str:
        """Show mud where the treasure was collected."""
        collected = self.map.glyph(cell) == "X" and state[TREASURE] == 1
        return "M" if collected else super().glyph_now(cell, state)
