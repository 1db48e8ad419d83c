"""FourRooms: four rooms, four tools to pick up (Section 5 of the paper).

Variables   position (free cells), tool_1 … tool_n (0, or 1 once picked up; never put back)
Actions     up, right, down, left; they slip
Starts      every combination of the variables
Versions    v0: the map and the slip probability of the paper's Figure 1
"""

from __future__ import annotations

from collections.abc import Iterable

from skillfocus.spaces import State, Variable
from skillfocus.world import Outcome
from skillfocus.worlds.grid import FREE, Cell, GridWorld

MAP = """
#############
#.....#.....#
#.....#.....#
#...........#
#.....#.....#
#....T#.....#
##.####T....#
#....T###.###
#.....#T....#
#.....#.....#
#...........#
#.....#.....#
#############
"""


class FourRooms(GridWorld):
    """Pick up tools in four rooms: `sf.make("four-rooms", slip=0.0)`."""

    id = "FourRooms-v0"
    legend = {"T": "tool"}
    showcase_cell = (6, 9)  # where the trajectories of Figure 1 start

    def __init__(self, drawing: str = MAP, slip: float = 0.1, step_limit: int = 40) -> None:
        """Make a FourRooms world.

        Args:
            drawing: The map; `T` is a tool.
            slip: Probability that a move goes in one of the other three directions.
            step_limit: The most steps a skill may take.
        """
        super().__init__(drawing, slip, step_limit)

    def other_variables(self) -> Iterable[Variable]:
        """Return a flag per tool."""
        self.tools = self.map.require("T")
        return (Variable(f"tool_{i + 1}", (0, 1)) for i in range(len(self.tools)))

    @property
    def goals(self) -> tuple[str, ...]:
        """The tools."""
        return self.space.names[1:]

    def arrive(self, state: list[int], cell: Cell) -> Outcome:
        """Pick up a tool."""
        if cell in self.tools:
            state[1 + self.tools.index(cell)] = 1
        return Outcome(1.0, tuple(state))

    def glyph_now(self, cell: Cell, state: State) -> str:
        """Show the cells of tools that were picked up as free."""
        picked_up = cell in self.tools and state[1 + self.tools.index(cell)] == 1
        return FREE if picked_up else super().glyph_now(cell, state)
