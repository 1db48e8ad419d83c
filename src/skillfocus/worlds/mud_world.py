"""MudWorld: a treasure in a patch of mud, and a puddle to wash in (Section 5 of the paper).

Variables   position, muddy (0/1), treasure (1: collected), muddy_cells (tracked cells, counted
            up to `most_muddy`, which then stands for "that many or more")
Actions     up, right, down, left; they slip
Arrival     mud or the treasure's cell makes the agent muddy; the puddle cleans it; a muddy agent
            that enters a vacant cell leaves mud there. Tracked mud does not make a clean agent
            muddy: only the patch does.
Hidden      which vacant cells are muddy. The count rises only the first time a cell gets muddy,
            so each vacant cell is a mark (see `Outcome`). A model over the variables alone must
            take every muddy step onto a vacant cell for a new one.
Starts      every combination of the variables
Versions    v0: the map and the slips of the paper's Figure 1

The penalty's scale of muddy_cells is the number of vacant cells, wherever the count stops.
"""

from __future__ import annotations

from collections.abc import Iterable

from skillfocus.core.factored import State, Variable
from skillfocus.core.world import Outcome
from skillfocus.errors import UserError
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


class MudWorld(GridWorld):
    id = "MudWorld-v0"
    legend = {"M": "mud", "X": "treasure", "W": "puddle"}
    showcase_cell = (8, 3)  # where the trajectories of Figure 1 start

    def __init__(
        self, drawing: str = MAP, slip: float = 0.1, step_limit: int = 20, most_muddy: int = 12
    ) -> None:
        if most_muddy < 1:
            raise UserError(f"most_muddy is {most_muddy}; it must be at least 1")
        self.most_muddy = most_muddy
        super().__init__(drawing, slip, step_limit)

    @property
    def settings(self) -> dict[str, object]:
        return {**super().settings, "most_muddy": self.most_muddy}

    def other_variables(self) -> Iterable[Variable]:
        for glyph, what in self.legend.items():
            if not self.map.find(glyph):
                raise UserError(f"the map has no {what} {glyph!r}")
        vacant = self.map.find(FREE)
        self.n_marks = len(vacant)
        self.mark_of = {cell: i for i, cell in enumerate(vacant)}
        counts = tuple(range(min(self.most_muddy, len(vacant)) + 1))
        yield Variable("muddy", (0, 1))
        yield Variable("treasure", (0, 1))
        yield Variable("muddy_cells", counts, scale=float(len(vacant)))

    @property
    def goals(self) -> tuple[str, ...]:
        return ("treasure",)

    def arrive(self, state: list[int], cell: Cell) -> Outcome:
        glyph = self.map.glyph(cell)
        if glyph == "W":
            state[MUDDY] = 0
        elif glyph != FREE:
            state[MUDDY] = 1
            if glyph == "X":
                state[TREASURE] = 1
        elif state[MUDDY]:
            again = tuple(state)
            state[MUDDY_CELLS] = min(state[MUDDY_CELLS] + 1, self.space.sizes[MUDDY_CELLS] - 1)
            return Outcome(1.0, tuple(state), self.mark_of[cell], again)
        return Outcome(1.0, tuple(state))

    def marks_in(self, state: State) -> int:
        return state[MUDDY_CELLS]

    def glyph_now(self, cell: Cell, state: State) -> str:
        taken = self.map.glyph(cell) == "X" and state[TREASURE] == 1
        return "M" if taken else super().glyph_now(cell, state)
