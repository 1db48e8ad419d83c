"""Grid worlds with a fifth action, `stay`, for comparisons with doing nothing.

Their maps mark the agent's first cell with `@`. Moves do not slip unless told to: the side effects
of the literature are planned ones.
"""

from __future__ import annotations

from skillfocus.core.world import Outcome
from skillfocus.errors import UserError
from skillfocus.worlds.grid import ACTIONS, FREE, STAY, Cell, GridWorld

START = "@"
"""Glyph of the agent's first cell, which is free."""


class StayGrid(GridWorld):
    """A grid world whose agent can also stay, and whose map says where it starts."""

    actions = (*ACTIONS, STAY)
    goal_glyph = ""
    """Glyph of the cell where the world's task ends; empty if it ends elsewhere."""

    def __init__(self, drawing: str, slip: float, step_limit: int) -> None:
        """Parse the map.

        Args:
            drawing: The map; `@` is the agent's first cell.
            slip: Probability that a move goes in one of the other three directions.
            step_limit: The most steps a skill may take.
        """
        rows = drawing.strip("\n").splitlines()
        starts = [(r, c) for r, row in enumerate(rows) for c, g in enumerate(row) if g == START]
        if len(starts) != 1:
            raise UserError(f"the map has {len(starts)} cells {START!r}; it needs exactly one")
        self.showcase_cell = starts[0]
        super().__init__(drawing.replace(START, FREE), slip, step_limit)

    @property
    def settings(self) -> dict[str, object]:
        """Arguments that make this world again."""
        rows = [list(row) for row in self.map.rows]
        row, column = self.showcase_cell
        rows[row][column] = START
        return {**super().settings, "drawing": "\n".join("".join(row) for row in rows)}

    def arrive(self, state: list[int], cell: Cell) -> Outcome:
        """Change nothing but the position."""
        del cell
        return Outcome(1.0, tuple(state))

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
