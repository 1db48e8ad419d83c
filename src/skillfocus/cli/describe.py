"""`skillfocus describe`"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import Positional, arg

from skillfocus.cli.options import explored
from skillfocus.cli.output import print_json, print_table


@dataclass(frozen=True)
class Describe:
    """What a world consists of: its variables, actions and states, and what may surprise in it.

    Examples: skillfocus describe four-rooms, skillfocus describe minigrid:DoorKey-5x5
    """

    world: Annotated[Positional[str], arg(metavar="WORLD")]
    """A world, such as four-rooms, my-map.txt or gymnasium:Taxi-v4 (see `skillfocus list`)."""
    world_settings: str = "{}"
    """The world's settings as JSON, such as '{"slip": 0.0}'."""
    check: bool = False
    """Also put it through every check of skillfocus.testing.check_world."""
    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        from skillfocus.metrics.world_summary import describe

        world, mdp = explored(self.world, self.world_settings)
        if self.check:
            from skillfocus.testing import check_world

            check_world(world)
        found = describe(world, mdp)
        if self.json:
            print_json(found)
            return
        print(f"{found['world']}: {found['states']:,} states, {len(world.actions)} actions")
        print(f"Actions: {', '.join(world.actions)}")
        print(f"A skill may take {world.step_limit} steps.\n")
        rows = [
            [v["name"], str(v["values"]), v["listed"], v["changes"],
             "–" if v["alone"] is None else f"{v['alone']:.2f}", str(v["skills"])]
            for v in found["variables"]  # pyright: ignore[reportGeneralTypeIssues]
        ]  # fmt: skip
        columns = ["variable", "values", "such as", "changes", "alone from", "skills by default"]
        print_table("Variables", columns, rows)
        for note in found["notes"]:  # pyright: ignore[reportGeneralTypeIssues]
            print(f"- {note}")
        first = next(iter(world.states()))
        print(f"\nA first state:\n{world.draw(first)}")
        if self.check:
            print("\nEvery check passed.")
