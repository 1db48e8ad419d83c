"""Tool skills in rooms too large for tables, compared with the best focused skills.

`BestInRooms` plans the best skill for every tool; `SkillsInRooms` learns skills with networks. Both
are measured from the same first states. Metrics, with the tool as the step, and S one of `all`,
`fair` (a round trip takes at most three quarters of the step limit) and `clear` (and can avoid the
other tools):

    S/changes, S/tool_effects    how often a tool's skill picks it up, and its side effects
    S/starts                     number of first states

The best skill is planned by value iteration with the true dynamics. A skill that starts in s_0 and
stops in s pays

    step_cost per step
    + strength · distance(position, position in s_0) / largest distance
    + strength per other tool picked up
    + log(SHARE / (1 - SHARE)) if its own tool is not picked up

which is focused VIC (Equations 2 and 4) with discriminators fixed at `SHARE`, up to a constant. The
policy's state is the position, whether the tool is picked up and, of the other tools, the first
`memory` that it has picked up itself; later ones cost again at every visit. So there are few
states. With a memory for all tools, the policy is optimal and its effects are exact. The step limit
is not part of the state; effects are those of following the policy for that many steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

import skillfocus as sf
from skillfocus.discovery import cached_world
from skillfocus.progress import Progress
from skillfocus.runs import Row
from skillfocus.worlds.grid import ACTIONS
from skillfocus.worlds.jax.rooms import Rooms

STOP = len(ACTIONS)
"""The action with which a skill stops."""
FAIR_SHARE = 0.75
"""Longest fair round trip, relative to the step limit."""
MAX_SLIP = 0.75
"""Above this, a move is least likely to go in its own direction."""
SHARE = 0.98
"""The discriminator's probability of the skill where its tool is picked up."""
TOLERANCE, MAX_SWEEPS = 1e-5, 2000


@dataclass(frozen=True, eq=False)
class Model:
    """The dynamics of a skill's states: (set of other tools, own tool, cell)."""

    sets: list[frozenset[int]]
    """Other tools that the skill has picked up: all sets of up to `memory`, the empty one first."""
    successors: np.ndarray
    """State after a move in each direction, int32 [n_states, n_directions]."""
    events: np.ndarray
    """1 where the move picks up another tool, float32 [n_states, n_directions]."""
    slip: float
    """Probability that a move goes in one of the other three directions."""


@dataclass(frozen=True, eq=False)
class PlannedSkill:
    """A policy for one tool, from some cells."""

    model: Model
    starts: np.ndarray
    """Start cells by number, int [n_starts]."""
    actions: np.ndarray
    """Actions or `STOP`, uint8 [n_states, n_starts]."""
    costs: np.ndarray
    """Expected cost-to-go, float32 [n_states, n_starts]."""
    step_limit: int

    def effects(self) -> tuple[np.ndarray, np.ndarray]:
        """Follow the policy for up to `step_limit` steps, exactly.

        Returns:
            changes: Probability that the tool is picked up at the end, float32 [n_sets, n_starts].
            side_effects: Expected number of other variables that changed (Equation 1), float32
                [n_sets, n_starts]. Both are indexed by the set of tools that the skill starts with.
        """
        n_cells = len(self.actions) // (2 * len(self.model.sets))
        cells = np.tile(np.arange(n_cells), 2 * len(self.model.sets))
        side_effects = (cells[:, None] != self.starts).astype(np.float32)
        picked = (np.arange(len(cells)) // n_cells % 2 == 1).astype(np.float32)
        changes = np.broadcast_to(picked[:, None], side_effects.shape)
        stops, moved, stayed = self.actions == STOP, side_effects, changes
        for _ in range(self.step_limit):
            side_effects = np.where(stops, moved, self._follow(side_effects, self.model.events))
            changes = np.where(stops, stayed, self._follow(changes, None))
        first = np.arange(len(self.model.sets))[:, None] * 2 * n_cells + self.starts
        column = np.arange(len(self.starts))
        return changes[first, column], side_effects[first, column]

    def _follow(self, values: np.ndarray, events: np.ndarray | None) -> np.ndarray:
        """Return the expected value after the policy's move, events included."""
        expected = np.zeros_like(self.costs)
        share = self.model.slip / 3
        for direction in range(len(ACTIONS)):
            after = values[self.model.successors[:, direction]]
            if events is not None:
                after += events[:, direction, None]
            chosen = self.actions == direction
            expected += np.where(chosen, 1 - self.model.slip, share).astype(np.float32) * after
        return expected


def plan(
    world: Rooms,
    tool: int,
    *,
    starts: np.ndarray | None = None,
    picked_up: Iterable[int] = (),
    strength: float = 2.5,
    step_cost: float = 0.025,
    memory: int = 1,
) -> PlannedSkill:
    """Plan the skill that picks up one tool.

    Args:
        world: The rooms.
        tool: The tool, counted from 0.
        starts: Start cells by number, int [n_starts] (default: all).
        picked_up: Other tools that are already picked up and cost nothing.
        strength: Factor lambda of the penalty.
        step_cost: Cost of a step.
        memory: Number of other picked-up tools that are part of the policy's state.
    """
    n_cells = len(world.map.cells)
    starts = np.arange(n_cells) if starts is None else np.asarray(starts)
    model = _model(world, tool, frozenset(picked_up), memory)
    position = world.space.variables[0]
    apart = position.distances[:, starts] / position.largest_distance
    missed = np.log(SHARE / (1 - SHARE))
    of_stopping = strength * np.concatenate([apart + missed / strength, apart])
    loss = np.tile(of_stopping.astype(np.float32), (len(model.sets), 1))
    paid = (strength * model.events).astype(np.float32)
    costs = loss
    for _ in range(MAX_SWEEPS):  # after k sweeps, the optimum over policies of up to k steps
        going = step_cost + _expected(_after(model, costs, paid), model.slip)
        before, costs = costs, np.minimum(loss, going)
        if np.abs(before - costs).max() < TOLERANCE:
            break
    after = _after(model, costs, paid)
    goes = step_cost + _expected(after, model.slip) < loss
    towards = np.argmin(after, axis=0) if model.slip <= MAX_SLIP else np.argmax(after, axis=0)
    actions = np.where(goes, towards, STOP).astype(np.uint8)
    return PlannedSkill(model, starts, actions, costs, world.step_limit)


def _after(model: Model, costs: np.ndarray, paid: np.ndarray) -> list[np.ndarray]:
    """Return the cost after a move in each direction, float32 [n_states, n_starts] each."""
    return [costs[model.successors[:, d]] + paid[:, d, None] for d in range(len(ACTIONS))]


def _expected(after: list[np.ndarray], slip: float) -> np.ndarray:
    """Return the expected cost after the best move, float32 [n_states, n_starts]."""
    excess = 1 - slip - slip / 3  # probability of the intended direction minus that of another
    best = reduce(np.minimum if slip <= MAX_SLIP else np.maximum, after)
    return np.float32(excess) * best + np.float32(slip / 3) * reduce(np.add, after)


def _model(world: Rooms, tool: int, picked_up: frozenset[int], memory: int) -> Model:
    others = [i for i in range(len(world.tools)) if i != tool and i not in picked_up]
    sets = [
        frozenset(chosen)
        for size in range(min(memory, len(others)) + 1)
        for chosen in itertools.combinations(others, size)
    ]
    number = {chosen: i for i, chosen in enumerate(sets)}
    then = np.tile(np.arange(len(sets))[:, None], len(world.tools) + 1)  # the last: no tool
    event = np.zeros(then.shape, dtype=bool)
    for i, chosen in enumerate(sets):
        for other in set(others) - chosen:
            then[i, other] = number.get(chosen | {other}, i)
            event[i, other] = True
    cells = np.arange(len(world.map.cells))
    targets = np.array(
        [[world.map.index[world.map.move(c, d)] for d in range(4)] for c in world.map.cells]
    )
    entered = np.where(targets == cells[:, None], -1, world.tool_at[targets])  # [n_cells, 4]
    own = np.maximum(np.arange(2)[:, None, None], entered == tool)  # [2, n_cells, 4]
    after = (then[:, None, entered] * 2 + own) * len(cells) + targets
    events = np.broadcast_to(event[:, None, entered], after.shape)
    successors = after.reshape(-1, 4).astype(np.int32)
    return Model(sets, successors, events.reshape(-1, 4).astype(np.float32), world.slip)


def fair_starts(
    world: Rooms, tool: int, picked_up: Iterable[int] = (), *, clear: bool = False
) -> np.ndarray:
    """Return the cells from which a round trip to a tool takes at most `FAIR_SHARE` of the limit.

    Args:
        world: The rooms.
        tool: The tool, counted from 0.
        picked_up: Other tools that are already picked up.
        clear: Whether the trip must also avoid the cells of the remaining tools.

    Returns:
        Cells by number, ascending, int [n].
    """
    blocked = {
        cell for i, cell in enumerate(world.tools) if clear and i != tool and i not in picked_up
    }
    steps = world.map.distances([world.tools[tool]], blocked)
    round_trips = [2 * max(steps.get(cell, np.inf), 1) for cell in world.map.cells]
    return np.flatnonzero(np.array(round_trips) <= FAIR_SHARE * world.step_limit)


ROLLOUTS = 8
"""Rollouts per first state of learned skills."""


class ToolStarts(NamedTuple):
    """First states for the skills of one tool, with the same picked-up tools."""

    tool: int
    """The tool, counted from 0."""
    picked_up: tuple[int, ...]
    """Other tools that are picked up."""
    cells: np.ndarray
    """Cells by number, ascending, int [n]."""

    def values(self, world: Rooms) -> np.ndarray:
        """Return the states as value indices, int32 [n, n_variables]."""
        states = np.zeros((len(self.cells), len(world.space)), np.int32)
        states[:, 0] = self.cells
        states[:, [1 + other for other in self.picked_up]] = 1
        return states

    def masks(self, world: Rooms) -> dict[str, np.ndarray]:
        """Return which of the cells are `all`, `fair` and `clear`, bool [n] each."""
        fair, clear = (
            np.isin(self.cells, fair_starts(world, self.tool, self.picked_up, clear=clear))
            for clear in (False, True)
        )
        return {"all": np.ones(len(self.cells), bool), "fair": fair, "clear": clear}


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
    world: Rooms, starts: list[ToolStarts], changes: np.ndarray, effects: np.ndarray
) -> list[Row]:
    """Average over the first states of every tool.

    Args:
        world: The rooms.
        starts: First states, n in all.
        changes: How often the tool is picked up, float [n].
        effects: Side effects, float [n].
    """
    rows: list[Row] = []
    tools = np.repeat([each.tool for each in starts], [len(each.cells) for each in starts])
    masks = [each.masks(world) for each in starts]
    kinds = {kind: np.concatenate([mask[kind] for mask in masks]) for kind in masks[0]}
    for tool in range(len(world.tools)):
        for kind, mask in kinds.items():
            kept = mask & (tools == tool)
            rows.append((f"{kind}/starts", tool, float(kept.sum())))
            for name, values in (("changes", changes), ("tool_effects", effects)):
                mean = float(values[kept].mean()) if kept.any() else None
                rows.append((f"{kind}/{name}", tool, mean))
    return rows


@dataclass(frozen=True)
class BestInRooms(sf.Run):
    """The best focused skill for every tool, planned with the true dynamics. Effects are exact."""

    world: str
    draws: int = 4
    cells: int = 16
    strength: float = 2.5
    step_cost: float = 0.025
    world_settings: str = "{}"

    version = 5

    def execute(self, progress: Progress) -> sf.Result:
        """Plan every tool's skill from every set of first states."""
        world = cached_world(self.world, self.world_settings)
        assert isinstance(world, Rooms)
        starts, measured = draw_starts(world, self.draws, self.cells), []
        for number, each in enumerate(starts):
            progress(number / len(starts), f"planning for tool {each.tool + 1}")
            skill = plan(
                world, each.tool, starts=each.cells, picked_up=each.picked_up,
                strength=self.strength, step_cost=self.step_cost,
            )  # fmt: skip
            measured.append([values[0] for values in skill.effects()])
        return sf.Result(tool_rows(world, starts, *np.concatenate(measured, axis=1)))


@dataclass(frozen=True)
class SkillsInRooms(sf.Discovery):
    """A discovery whose tool skills are measured from the first states of `BestInRooms`.

    For each tool, this is the skill that picks it up most often.
    """

    draws: int = 4
    cells: int = 16

    version = 5

    def measure(self, skills: sf.Skills, progress: Progress) -> sf.Result:
        """Return the rows of `BestInRooms`, from sampled rollouts."""
        progress(0.0, "measuring side effects")
        world = skills.world
        assert isinstance(world, Rooms)
        starts = draw_starts(world, self.draws, self.cells)
        measured = []
        for tool, name in enumerate(world.goals):
            mine = [each for each in starts if each.tool == tool]
            own = [z for z, targets in enumerate(skills.targets) if targets == (name,)]
            tried = [_sample(skills, z, mine, world) for z in own]
            measured.append(max(tried, key=lambda values: values[0].mean()))
        return sf.Result(tool_rows(world, starts, *np.concatenate(measured, axis=1)))


def _sample(skills: sf.Skills, z: int, starts: list[ToolStarts], world: Rooms) -> np.ndarray:
    """Sample how often a skill picks up its tool, and its side effects, float [2, n_starts]."""
    first = np.repeat(np.concatenate([each.values(world) for each in starts]), ROLLOUTS, axis=0)
    changed = skills.run(np.full(len(first), z), first, np.random.default_rng(z)).ends != first
    own = 1 + starts[0].tool
    values = np.stack([changed[:, own], np.delete(changed, own, axis=1).sum(axis=1)])
    return values.reshape(2, -1, ROLLOUTS).mean(axis=2)
