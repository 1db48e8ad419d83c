"""`skillfocus list`"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from skillfocus.cli.output import print_json, print_table, print_text, show_count
from skillfocus.learners.registry import LEARNERS

MAX_LISTED = 6
"""The most variables with equally many values to list one by one."""


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
        from skillfocus.worlds.registry import CONTINUOUS_WORLDS, JAX_WORLDS, WORLDS

        worlds = []
        for name, kind in {**WORLDS, **JAX_WORLDS}.items():
            world = kind()  # pyright: ignore[reportCallIssue]
            variables = dict(zip(world.space.names, world.space.sizes, strict=True))
            worlds.append(
                {"name": name, "id": world.id, "combinations": world.space.size,
                 "variables": variables,
                 "table": name in WORLDS, "continuous": False}
            )  # fmt: skip
        for name, kind in CONTINUOUS_WORLDS.items():
            world = kind()
            variables = {v.name: v.size for v in world.space.variables}
            worlds.append(
                {"name": name, "id": world.id, "combinations": None, "variables": variables,
                 "table": False, "continuous": True}
            )  # fmt: skip
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
            [w["name"], w["id"], show_count(w["combinations"]), list_variables(w["variables"])]
            for w in worlds
            if not w["continuous"]
        ]  # fmt: skip
        print_table("Worlds", ["name", "id", "combinations", "variables (values)"], rows)
        print_text("combinations of values; skillfocus describe counts the states within reach\n")
        rows = [
            [w["name"], w["id"], list_variables(w["variables"])] for w in worlds if w["continuous"]
        ]
        print_table("Continuous worlds", ["name", "id", "variables (numbers)"], rows)
        without = [w["name"] for w in worlds if not w["table"] and not w["continuous"]]
        print_text(f"Too large for tables, for networks only: {', '.join(without)}")
        for title, members in names.items():
            print_text(f"{title.capitalize() + ':':<12} {', '.join(members)}")
        print_text("\nOther worlds: my-map.txt, gymnasium:Taxi-v4, minigrid:DoorKey-5x5,")
        print_text("rddl:DOMAIN/INSTANCE, my_world.py:NAME; see skillfocus describe --help")
        print_text("\nfocused-… and dusdi-… also as scattered-focused-… and scattered-dusdi-…")
        print_text(
            "Try: skillfocus discover four-rooms focused-vic, or skillfocus reproduce --help"
        )


def list_variables(sizes: Mapping[str, int]) -> str:
    """Return variables and their numbers of values as text: of many alike, the first and last."""
    parts = []
    for n_values, group in itertools.groupby(sizes, key=lambda name: sizes[name]):
        names = list(group)
        shown = names if len(names) <= MAX_LISTED else [f"{names[0]} … {names[-1]}"]
        parts += [f"{name} ({n_values})" for name in shown]
    return ", ".join(parts)
