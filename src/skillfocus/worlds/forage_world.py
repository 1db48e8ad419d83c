"""ForageWorld: resources to collect, plants that do not grow back (Section 5 of the paper).

Variables   position, resource_1 … (units collected, 0 to `needed`), plant_1 … (1: destroyed)
Actions     up, right, down, left; they slip
Arrival     entering a resource's cell collects one unit, up to `needed`; entering a plant's
            cell destroys it for good
Starts      every combination of the variables
Versions    v0: the map and the slip probability of the paper's Figure 1
"""

from __future__ import annotations

from collections.abc import Iterable

from skillfocus.errors import UserError
from skillfocus.spaces import State, Variable
from skillfocus.world import Outcome
from skillfocus.worlds.grid import FREE, Cell, GridWorld

MAP = """
########
#.....R#
#.....P#
#......#
#P.....#
#.....P#
#R.....#
########
"""
MAX_NEEDED = 1000


class ForageWorld(GridWorld):
    """Collect resources without trampling plants: `sf.make("forage-world", needed=3)`."""

    id = "ForageWorld-v0"
    legend = {"R": "resource", "P": "plant"}
    showcase_cell = (6, 2)  # where the trajectories of Figure 1 start

    def __init__(
        self, drawing: str = MAP, slip: float = 0.1, step_limit: int = 20, needed: int = 2
    ) -> None:
        """Make a ForageWorld.

        Args:
            drawing: The map; `R` is a resource, `P` a plant.
            slip: Probability that a move goes in one of the other three directions.
            step_limit: The most steps a skill may take.
            needed: How many units of a resource can be collected.
        """
        if not 1 <= needed <= MAX_NEEDED:
            raise UserError(f"needed is {needed}; it must be 1 to {MAX_NEEDED:,}")
        self.needed = needed
        super().__init__(drawing, slip, step_limit)

    @property
    def settings(self) -> dict[str, object]:
        """Arguments that make this world again."""
        return {**super().settings, "needed": self.needed}

    def other_variables(self) -> Iterable[Variable]:
        """Yield a count per resource and a flag per plant."""
        self.resources, self.plants = self.map.require("R"), self.map.find("P")
        counts = tuple(range(self.needed + 1))
        yield from (Variable(f"resource_{i + 1}", counts) for i in range(len(self.resources)))
        yield from (Variable(f"plant_{i + 1}", (0, 1)) for i in range(len(self.plants)))

    @property
    def goals(self) -> tuple[str, ...]:
        """The resources."""
        return self.space.names[1 : 1 + len(self.resources)]

    def arrive(self, state: list[int], cell: Cell) -> Outcome:
        """Collect a resource, or destroy a plant."""
        if cell in self.resources:
            variable = 1 + self.resources.index(cell)
            state[variable] = min(state[variable] + 1, self.needed)
        if cell in self.plants:
            state[1 + len(self.resources) + self.plants.index(cell)] = 1
        return Outcome(1.0, tuple(state))

    def glyph_now(self, cell: Cell, state: State) -> str:
        """Show destroyed plants as free cells."""
        if cell in self.plants and state[1 + len(self.resources) + self.plants.index(cell)] == 1:
            return FREE
        return super().glyph_now(cell, state)
