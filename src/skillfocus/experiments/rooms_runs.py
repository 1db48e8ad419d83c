"""Tool skills in rooms too large for tables, compared with the best focused skills.

`BestInRooms` plans the best skill for every tool (`worlds/jax/rooms_planner.py`);
`SkillsInRooms` learns skills with networks. Both are measured from the same first states. Metrics,
with the tool as the step, and S one of `all`, `fair` (a round trip takes at most three quarters of
the step limit) and `clear` (and can avoid the other tools):

    S/changes, S/tool_effects    how often a tool's skill picks it up, and its side effects
    S/starts                     number of first states
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skillfocus.core.progress import Progress
from skillfocus.errors import UserError
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.run import Result, Row, Run
from skillfocus.runs.world_cache import cached_world
from skillfocus.skills.skills import Skills
from skillfocus.worlds.jax.rooms import Rooms
from skillfocus.worlds.jax.rooms_planner import fair_starts, plan

ROLLOUTS = 8
"""Rollouts per first state of learned skills."""


class ToolStarts(NamedTuple):
    """First states for the skills of one tool, with the same picked-up tools.

    Attributes:
        tool: The tool, counted from 0.
        picked_up: Other tools that are picked up.
        cells: Cells by number, ascending, int [n].
    """

    tool: int
    picked_up: tuple[int, ...]
    cells: np.ndarray

    def values(self, world: Rooms) -> np.ndarray:
        """Return the states as value indices, int32 [n, n_variables]."""
        states = np.zeros((len(self.cells), len(world.space)), np.int32)
        states[:, 0] = self.cells
        states[:, [1 + other for other in self.picked_up]] = 1
        return states

    def masks(self, world: Rooms) -> dict[str, np.ndarray]:
        """Return which of the cells are `all`, `fair` and `clear`, bool [n] each."""
        kinds = {"fair": False, "clear": True}
        return {
            "all": np.ones(len(self.cells), bool),
            **{
                name: np.isin(
                    self.cells, fair_starts(world, self.tool, self.picked_up, clear=clear)
                )
                for name, clear in kinds.items()
            },
        }


def draw_starts(world: Rooms, draws: int, cells: int) -> list[ToolStarts]:
    """Sample first states for every tool, with a fixed seed.

    Sets of picked-up tools have the distribution of `Rooms.reset`, except that the first is empty.

    Args:
        world: The rooms.
        draws: Sets per tool.
        cells: Cells per set, at most.
    """
    rng, n_cells, n_tools = np.random.default_rng(0), len(world.map.cells), len(world.tools)
    starts = []
    for tool in range(n_tools):
        for draw in range(draws):
            share = rng.random() if draw else 0.0
            picked_up = np.flatnonzero(rng.random(n_tools) < share).tolist()
            some = np.sort(rng.choice(n_cells, min(cells, n_cells), replace=False))
            others = tuple(other for other in picked_up if other != tool)
            starts.append(ToolStarts(tool, others, some))
    return starts


def tool_rows(
    world: Rooms, starts: list[ToolStarts], changes: list[np.ndarray], effects: list[np.ndarray]
) -> list[Row]:
    """Average over the first states of every tool.

    Args:
        world: The rooms.
        starts: First states.
        changes: How often the tool is picked up, float [n_cells] for each entry of `starts`.
        effects: Side effects, float [n_cells] for each entry of `starts`.
    """
    rows: list[Row] = []
    masks = [each.masks(world) for each in starts]
    for tool in range(len(world.tools)):
        mine = [i for i, each in enumerate(starts) if each.tool == tool]
        for kind in ("all", "fair", "clear"):
            kept = np.concatenate([masks[i][kind] for i in mine])
            rows.append((f"{kind}/starts", tool, float(kept.sum())))
            for name, values in (("changes", changes), ("tool_effects", effects)):
                value = np.concatenate([values[i] for i in mine])[kept]
                rows.append((f"{kind}/{name}", tool, float(value.mean()) if len(value) else None))
    return rows


@dataclass(frozen=True)
class BestInRooms(Run):
    """The best focused skill for every tool, planned with the true dynamics. Effects are exact."""

    world: str
    draws: int = 4
    cells: int = 16
    strength: float = 2.5
    step_cost: float = 0.025
    world_settings: str = "{}"

    version = Discovery.version

    def execute(self, progress: Progress, /) -> Result:
        """Plan every tool's skill from every set of first states."""
        world = rooms(self.world, self.world_settings)
        starts, changes, effects = draw_starts(world, self.draws, self.cells), [], []
        for number, each in enumerate(starts):
            progress(number / len(starts), f"planning for tool {each.tool + 1}")
            skill = plan(
                world, each.tool, starts=each.cells, picked_up=each.picked_up,
                strength=self.strength, step_cost=self.step_cost,
            )  # fmt: skip
            changed, others = skill.effects()
            changes.append(changed[0])
            effects.append(others[0])
        return Result(tool_rows(world, starts, changes, effects))


@dataclass(frozen=True)
class SkillsInRooms(Discovery):
    """A discovery whose tool skills are measured from the first states of `BestInRooms`.

    For each tool, this is the skill that picks it up most often.
    """

    draws: int = 4
    cells: int = 16

    version = Discovery.version

    def measure(self, skills: Skills, progress: Progress, /) -> list[Row]:
        """Return the rows of `BestInRooms`, from sampled rollouts."""
        progress(0.8, "measuring side effects")
        world = rooms(self.world, self.world_settings)
        starts = draw_starts(world, self.draws, self.cells)
        changes: list[np.ndarray] = []
        effects: list[np.ndarray] = []
        for tool, name in enumerate(world.goals):
            mine = [each for each in starts if each.tool == tool]
            tried = [
                _sample(skills, z, mine, world)
                for z, targets in enumerate(skills.targets)
                if targets == (name,)
            ]
            if not tried:
                raise UserError(f"no skill targets {name}; add it to the targets")
            changed, others = max(tried, key=lambda pair: float(np.concatenate(pair[0]).mean()))
            changes += changed
            effects += others
        return tool_rows(world, starts, changes, effects)


def _sample(
    skills: Skills, z: int, starts: list[ToolStarts], world: Rooms
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Sample how often a skill picks up its tool, and its side effects.

    Returns:
        float [n_cells] for each entry of `starts`, twice.
    """
    first = np.repeat(np.concatenate([each.values(world) for each in starts]), ROLLOUTS, axis=0)
    paths, _ = skills.run(np.full(len(first), z), first, np.random.default_rng(z))
    changed = first != paths[:, -1]
    own = 1 + starts[0].tool
    places = np.cumsum([len(each.cells) for each in starts])[:-1]
    picked, others = (
        np.split(values.reshape(-1, ROLLOUTS).mean(axis=1), places)
        for values in (changed[:, own], np.delete(changed, own, axis=1).sum(axis=1))
    )
    return picked, others


def rooms(name: str, settings: str) -> Rooms:
    """Return a world of rooms by name.

    Raises:
        UserError: If the name is of another world.
    """
    world = cached_world(name, settings)
    if not isinstance(world, Rooms):
        raise UserError(f"{name} has no tools in rooms; try tool-rooms or room-blocks")
    return world
