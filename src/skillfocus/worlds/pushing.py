"""Grid worlds with one thing to push: the agent moves it by walking into it.

A thing in front of a wall does not move, and neither does the agent. The thing's variable has the
cells as values, so its changes are measured as distances on the map.
"""

from __future__ import annotations

from collections.abc import Iterable

from skillfocus.core.factored import State, Variable
from skillfocus.core.world import Outcome, WorldState
from skillfocus.worlds.grid import FREE, Cell
from skillfocus.worlds.stay_grid import StayGrid

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

    def other_variables(self) -> Iterable[Variable]:
        """Return the thing's cell."""
        self.first_cell = self.only(self.thing_glyph)
        return (Variable(self.thing, self.map.cells),)

    @property
    def goals(self) -> tuple[str, ...]:
        """The thing."""
        return (self.thing,)

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
        return FREE if glyph == self.thing_glyph else glyph
