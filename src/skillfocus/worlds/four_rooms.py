"""FourRooms: four rooms, four tools to pick up (Section 5 of the paper).

Variables   position (free cells), tool_1 … tool_n (0, or 1 once picked up; never put back)
Actions     up, right, down, left; they slip
Starts      every combination of the variables
Versions    v0: the map and the slip probability of the paper's Figure 1
"""

from __future__ import annotations

from collections.abc import Iterable

from skillfocus.spaces import Variable
from skillfocus.worlds.grid import GridWorld

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
    vanishing = "T"
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
        return self.count_arrivals("tool", self.tools)
