"""`skillfocus list`"""

from __future__ import annotations

from dataclasses import dataclass

from skillfocus.cli.output import print_json, print_table
from skillfocus.learners.registry import LEARNERS


@dataclass(frozen=True)
class List:
    """List the worlds, objectives, learners, sweeps and experiments that other commands accept."""

    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        """Print the names."""
        from skillfocus.experiments.registry import experiment_names
        from skillfocus.objectives.registry import objective_names
        from skillfocus.sweeps.paper_grids import PAPER_GRIDS
        from skillfocus.worlds.registry import WORLDS

        worlds = []
        for name, kind in WORLDS.items():
            world = kind()  # pyright: ignore[reportCallIssue]
            variables = dict(zip(world.space.names, world.space.sizes, strict=True))
            worlds.append(
                {"name": name, "id": world.id, "states": world.space.size, "variables": variables}
            )
        names = {
            "objectives": list(objective_names()),
            "learners": list(LEARNERS),
            "sweeps": list(PAPER_GRIDS),
            "experiments": experiment_names(),
        }
        if self.json:
            print_json({"worlds": worlds, **names})
            return
        rows = [
            [w["name"], w["id"], f"{w['states']:,}",
             ", ".join(f"{k} ({n})" for k, n in w["variables"].items())]
            for w in worlds
        ]  # fmt: skip
        print_table("Worlds", ["name", "id", "states", "variables (values)"], rows)
        for title, members in names.items():
            print(f"{title.capitalize() + ':':<12}", ", ".join(members))
        print("\nOther worlds: my-map.txt, gymnasium:Taxi-v4, minigrid:DoorKey-5x5,")
        print("rddl:DOMAIN/INSTANCE, my_world.py:NAME; see skillfocus describe --help")
        print("\nfocused-… and dusdi-… also as scattered-focused-… and scattered-dusdi-…")
        print("Try: skillfocus discover four-rooms focused-vic, or skillfocus reproduce --help")
