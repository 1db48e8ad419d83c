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
from skillfocus.spaces import Variable
from skillfocus.worlds.grid import GridWorld

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
    vanishing = "P"
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

    def other_variables(self) -> Iterable[Variable]:
        """Return a count per resource and a flag per plant."""
        resources = self.count_arrivals("resource", self.map.require("R"), self.needed)
        return [*resources, *self.count_arrivals("plant", self.map.find("P"))]

    @property
    def goals(self) -> tuple[str, ...]:
        """The resources."""
        return self.space.names[1 : 1 + len(self.map.find("R"))]
