"""`skillfocus describe`"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from tyro.conf import Positional, arg

from skillfocus.cli.options import explore
from skillfocus.cli.output import print_json, print_table


@dataclass(frozen=True)
class Describe:
    """Describe a world: its variables, actions and states, and what may be surprising about it.

    Use it before `discover` to see what skills can target and what can change alone.

    Examples: skillfocus describe four-rooms, skillfocus describe minigrid:DoorKey-5x5
    """

    world: Annotated[Positional[str], arg(metavar="WORLD")]
    """A world, such as four-rooms, my-map.txt or gymnasium:Taxi-v4 (see `skillfocus list`)."""
    world_settings: str = "{}"
    """The world's settings as JSON, such as '{"slip": 0.0}'."""
    check: bool = False
    """Also run every check of skillfocus.testing.check_world."""
    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        """Describe the world and print the description."""
        from skillfocus.metrics.world_summary import describe

        world, mdp = explore(self.world, self.world_settings)
        if self.check:
            from skillfocus.testing import check_world

            check_world(world)
        description: dict[str, Any] = describe(world, mdp)
        if self.json:
            print_json(description)
            return
        actions = description["actions"]
        print(f"{description['world']}: {description['states']:,} states, {len(actions)} actions")
        print(f"Actions: {', '.join(actions)}")
        print(f"A skill may take up to {description['step_limit']} steps.\n")
        rows = [
            [v["name"], str(v["values"]), v["listed"], v["changes"],
             "–" if v["alone"] is None else f"{v['alone']:.2f}", str(v["skills"])]
            for v in description["variables"]
        ]  # fmt: skip
        columns = ["variable", "values", "such as", "changes", "alone from", "skills by default"]
        print_table("Variables", columns, rows)
        for note in description["notes"]:
            print(f"- {note}")
        first = next(iter(world.states()))
        print(f"\nOne state:\n{world.draw(first)}")
        if self.check:
            print("\nEvery check passed.")
