"""FourRooms: four rooms, four tools to pick up (Section 5 of the paper).

Variables   position (free cells), tool_1 … tool_n (0, or 1 once picked up; never put back)
Actions     up, right, down, left; they slip
Starts      every combination of the variables
Versions    v0: the map and the slips of the paper's Figure 1
"""

from __future__ import annotations

from collections.abc import Iterable

from skillfocus.core.factored import State, Variable
from skillfocus.core.world import Outcome
from skillfocus.errors import UserError
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
    id = "FourRooms-v0"
    legend = {"T": "tool"}
    showcase_cell = (6, 9)  # where the trajectories of Figure 1 start

    def __init__(self, drawing: str = MAP, slip: float = 0.1, step_limit: int = 40) -> None:
        super().__init__(drawing, slip, step_limit)

    def other_variables(self) -> Iterable[Variable]:
        self.tools = self.map.find("T")
        if not self.tools:
            raise UserError("the map has no tool 'T'")
        return (Variable(f"tool_{i + 1}", (0, 1)) for i in range(len(self.tools)))

    @property
    def goals(self) -> tuple[str, ...]:
        return self.space.names[1:]

    def arrive(self, state: list[int], cell: Cell) -> Outcome:
        if cell in self.tools:
            state[1 + self.tools.index(cell)] = 1
        return Outcome(1.0, tuple(state))

    def glyph_now(self, cell: Cell, state: State) -> str:
        taken = cell in self.tools and state[1 + self.tools.index(cell)] == 1
        return FREE if taken else super().glyph_now(cell, state)
