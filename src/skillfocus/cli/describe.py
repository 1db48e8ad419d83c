"""`skillfocus describe`"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from skillfocus.cli.options import shown_exploration
from skillfocus.cli.output import print_json, print_table, print_text, show_count

if TYPE_CHECKING:
    from skillfocus.worlds.continuous import ContinuousBase
    from skillfocus.worlds.jax.world import JaxWorld


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
    """Also run every check of skillfocus.testing.check_world (check_jax_world and
    check_continuous_world for worlds of those kinds)."""
    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        """Describe the world and print the description."""
        from skillfocus.metrics.world_summary import describe
        from skillfocus.runs.world_cache import cached_mdp, cached_world
        from skillfocus.worlds.continuous import ContinuousBase
        from skillfocus.worlds.jax.world import JaxWorld

        with shown_exploration():
            world = cached_world(self.world, self.world_settings)
            if isinstance(world, JaxWorld) and world.mdp is None:
                self._describe_without_table(world)
                return
            if isinstance(world, ContinuousBase):
                self._describe_continuous(world)
                return
            mdp = cached_mdp(self.world, self.world_settings)
        if self.check:
            from skillfocus.testing import check_world

            check_world(world)
        description: dict[str, Any] = describe(world, mdp)
        if self.json:
            print_json(description)
            return
        actions = description["actions"]
        print_text(
            f"{description['world']}: {description['states']:,} states, {len(actions)} actions"
        )
        print_text(f"Actions: {', '.join(actions)}")
        print_text(f"A skill may take up to {description['step_limit']} steps.\n")
        rows = [
            [v["name"], str(v["values"]), v["listed"], v["changes"],
             "–" if v["alone"] is None else f"{v['alone']:.2f}", str(v["skills"])]
            for v in description["variables"]
        ]  # fmt: skip
        columns = ["variable", "values", "such as", "changes", "alone", "skills by default"]
        print_table("Variables", columns, rows)
        print_text(
            f"alone: the highest probability that it changes and nothing else does, within "
            f"{description['step_limit']} steps, averaged over all starts\n"
        )
        for note in description["notes"]:
            print_text(f"- {note}")
        first = next(iter(world.states()))
        print_text(f"\nOne state:\n{world.draw(first)}")
        if self.check:
            print_text("\nEvery check passed.")

    def _describe_without_table(self, world: JaxWorld) -> None:
        """Describe a world in JAX: variables that are alike are shown together."""
        from skillfocus.metrics.world_summary import describe_without_table

        if self.check:
            from skillfocus.testing import check_jax_world

            check_jax_world(world)
        description: dict[str, Any] = describe_without_table(world)
        if self.json:
            print_json(description)
            return
        print_text(
            f"{description['world']}: {show_count(description['combinations'])} combinations of "
            f"values, {len(description['actions'])} actions"
        )
        print_text(f"Actions: {', '.join(description['actions'])}")
        print_text(f"Goals: {shorten_names(description['goals'])}")
        print_text(f"A skill may take up to {description['step_limit']} steps.\n")
        rows = []
        for alike, group in itertools.groupby(
            description["variables"], lambda v: (v["listed"], v["changes"], v["skills"])
        ):
            variables = list(group)
            names = shorten_names([v["name"] for v in variables])
            each = " each" if len(variables) > 1 else ""
            rows.append([names, f"{variables[0]['values']}{each}", *alike[:2], f"{alike[2]}{each}"])
        columns = ["variable", "values", "such as", "changes", "skills by default"]
        print_table("Variables", columns, rows)
        for note in description["notes"]:
            print_text(f"- {note}")
        first = tuple([0] * len(world.space))
        print_text(f"\nOne state:\n{world.draw(first)}")
        if self.check:
            print_text("\nEvery check passed.")

    def _describe_continuous(self, world: ContinuousBase) -> None:
        """Describe a world with continuous variables."""
        from skillfocus.metrics.world_summary import describe_continuous

        if self.check:
            from skillfocus.testing import check_continuous_world

            check_continuous_world(world)
        description: dict[str, Any] = describe_continuous(world)
        if self.json:
            print_json(description)
            return
        actions = description["actions"]
        print_text(
            f"{description['world']}: {world.space.size} numbers in {len(world.space)} variables, "
            f"{len(actions)} action dimension{'s' if len(actions) > 1 else ''}, "
            f"{description['observations']} observations"
        )
        shown = [f"{a['name']} ({a['low']:g} to {a['high']:g})" for a in actions]
        print_text(f"Actions: {', '.join(shown) if len(shown) <= 8 else shorten_names(shown)}")
        print_text(
            f"A skill may take up to {description['step_limit']} steps, an episode "
            f"{description['episode_steps']:,}.\n"
        )
        rows = []
        for alike, group in itertools.groupby(
            description["variables"],
            lambda v: (v["numbers"], show_range(v), f"{v['scale']:.3g}", v["changes"]),
        ):
            variables = list(group)
            each = " each" if len(variables) > 1 else ""
            names = [v["name"] for v in variables]
            listed = ", ".join(names) if len(names) <= 4 else shorten_names(names)
            rows.append([listed, f"{alike[0]}{each}", *alike[1:]])
        print_table("Variables", ["variable", "numbers", "range", "scale", "changes"], rows)
        print_text("scale: the distance that counts as a change of 1\n")
        for note in description["notes"]:
            print_text(f"- {note}")
        if self.check:
            print_text("\nEvery check passed.")


def show_range(variable: dict[str, Any]) -> str:
    """Return the bounds of a continuous variable as text: one range if all numbers share it."""
    ranges = [
        f"{'-∞' if low is None else f'{low:g}'} to {'∞' if high is None else f'{high:g}'}"
        for low, high in zip(variable["low"], variable["high"], strict=True)
    ]
    return ranges[0] if len(set(ranges)) == 1 else " × ".join(ranges)


def shorten_names(names: list[str]) -> str:
    """Return names as text: all, or the first and the last of many, with their number."""
    if len(names) <= 2:
        return ", ".join(names)
    return f"{names[0]} … {names[-1]} ({len(names)})"
