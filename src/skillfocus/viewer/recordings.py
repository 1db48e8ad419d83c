"""Recorded runs of skills in a world without a table, which a page cannot simulate.

Every skill is run several times from the same few starts. The states that occur are numbered, the
starts first, so that a page can show them as it shows those of a table.
"""

from __future__ import annotations

import base64
import io
import json
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from PIL import Image

from skillfocus.compilation import njit
from skillfocus.errors import UserError
from skillfocus.mdp import TabularMDP
from skillfocus.skills.skills import Skills
from skillfocus.spaces import State
from skillfocus.world import World
from skillfocus.worlds.grid import TILE_SIZE, GridWorld, Painter, environment_painter

STARTS = 8
"""First states of recorded runs; on a map, the showcase is one of them."""
RUNS = 12
"""Runs of each skill from each of them."""
MAX_ACTIONS = 254
"""Most actions of the world: a page holds them as bytes, and two bytes mean something else."""


class Recording(NamedTuple):
    """One run of a skill."""

    states: np.ndarray
    """int64 [n_steps + 1]: the states' numbers."""
    actions: np.ndarray
    """int64 [n_steps + 1]: what the skill does in each; the number of actions means "terminate"."""


class RecordedWorld:
    """Runs of all skills of some sets in one world.

    Attributes:
        values: int32 [n_states, n_variables]: the states that occur.
        n_starts: How many of them, the first ones, are starts.
        moves: int64 [n, 2]: the distinct pairs of a state and the next one.
    """

    def __init__(self, sets: Sequence[Skills], seed: int = 0) -> None:
        """Run the skills.

        Args:
            sets: Sets of skills in equal worlds.
            seed: Seed of starts and runs; equal seeds give equal recordings.
        """
        if len(sets[0].world.actions) > MAX_ACTIONS:
            raise UserError(f"a page shows worlds of up to {MAX_ACTIONS} actions")
        self._numbers: dict[State, int] = {}
        starts = draw_starts(sets[0], np.random.default_rng(seed))
        for start in starts:
            self._number(start)
        self.n_starts = len(starts)
        self._runs = {id(skills): self._record(skills, starts, seed) for skills in sets}
        self._sets = tuple(sets)  # keeps their ids from being used again
        self.values = np.array(list(self._numbers), dtype=np.int32)
        pairs = [
            np.stack([run.states[:-1], run.states[1:]], axis=1)
            for runs in self._runs.values()
            for skill_runs in runs
            for run in skill_runs
        ]
        self.moves = np.unique(np.concatenate(pairs), axis=0)

    def runs_of(self, skills: Skills, z: int) -> list[Recording]:
        """Return the recorded runs of a skill, those from one start after those from another."""
        return self._runs[id(skills)][z]

    def _number(self, state: State) -> int:
        return self._numbers.setdefault(state, len(self._numbers))

    def _record(self, skills: Skills, starts: list[State], seed: int) -> list[list[Recording]]:
        n = len(starts) * RUNS
        rng = np.random.default_rng(seed)
        numbers = np.repeat(np.arange(len(skills)), n)
        first = np.tile(np.repeat(np.array(starts), RUNS, axis=0), (len(skills), 1))
        done = skills.rollouts(numbers, first, rng)
        runs: list[list[Recording]] = [[] for _ in range(len(skills))]
        cut = np.flatnonzero(done.steps == skills.step_limit)  # what it would have done next
        done.actions[cut, -1] = skills.policies.actions_of_each(
            numbers[cut], first[cut], done.paths[cut, -1], done.modes[cut]
        )
        for z, path, actions, steps in zip(
            numbers, done.paths, done.actions, done.steps, strict=True
        ):
            states = [self._number(tuple(state)) for state in path[: steps + 1].tolist()]
            runs[z].append(Recording(np.array(states), actions[: steps + 1]))
        return runs


def draw_starts(skills: Skills, rng: np.random.Generator) -> list[State]:
    """Return different states to record runs from: a map's showcase, and some that are drawn."""
    drawn = [tuple(state) for state in skills.draw_starts(STARTS, rng).tolist()]
    showcase = [tuple(skills.world.showcase)] if isinstance(skills.world, GridWorld) else []
    return list(dict.fromkeys([*showcase, *drawn]))[:STARTS]


# --------------------
#
# Policies small enough for a page: of a large one, only the states its skill can reach
#
# A policy has an action for every state and context, 44 million for sixteen plain VIC skills in
# FourRooms, nearly all of them for states that the skill never reaches. A *walk* visits, for one
# context, the states that the skill can reach, likeliest first, and records the action in each. The
# page walks the same way and reads the actions off in the order in which they were recorded, so the
# states themselves need not be stored. Costs are integers (an outcome of probability p costs
# -16 log2 p, rounded), and both walks end where everything left costs more than a limit; therefore
# they agree to the last state.

COST_PER_BIT = 16
"""Cost of one bit of improbability."""
LIMITS = (24, 32, 48, 96)
"""Limits of a walk in bits of improbability, tried until little enough is left out."""
MAX_LEFT_OUT = 1e-5
"""How likely a run may be to reach a state that was left out."""
NEGLIGIBLE = 1e-12
"""Less probability than this is not followed further."""
SAMPLED_STARTS = 200
"""Number of first states that this probability is averaged over."""


@dataclass(frozen=True, eq=False)
class PolicyWalk:
    """One policy [n_states, n_columns] as walks through its columns."""

    actions: np.ndarray
    """[counts.sum()] bytes: the actions of column after column, in the order of the walk."""
    counts: np.ndarray
    """[n_columns]: the number of states visited in each column."""
    limit: int
    """The limit of the walks, as a cost."""
    left_out: float
    """The mean probability, over first states, of reaching a state that was left out."""


class Transitions(NamedTuple):
    """The tables of an MDP that walks read, each [n_states, n_actions, n_outcomes]."""

    successors: np.ndarray
    marks: np.ndarray
    """The hidden mark that an outcome sets, or -1."""
    again: np.ndarray
    """The successor where that mark is set already."""
    probabilities: np.ndarray
    costs: np.ndarray


def outcome_costs(probabilities: np.ndarray) -> np.ndarray:
    """Return the integer cost of each outcome; impossible ones cost more than any limit."""
    possible = np.where(probabilities > 0, probabilities, 2.0**-1000)
    return np.rint(-COST_PER_BIT * np.log2(possible)).astype(np.int32)


def walk_policy(
    mdp: TabularMDP, policy: np.ndarray, contexts: np.ndarray, n_modes: int, step_limit: int
) -> PolicyWalk:
    """Walk through every column of a policy from all first states that have its context.

    Args:
        mdp: The world.
        policy: [n_states, n_contexts × n_modes] bytes: actions, the number of actions to stop.
        contexts: [n_states]: the context of each first state.
        n_modes: Modes of the skill; a column is context × n_modes + mode.
        step_limit: The skill's step limit.
    """
    tables = Transitions(
        mdp.successors, mdp.marks, mdp.again, mdp.probabilities, outcome_costs(mdp.probabilities)
    )
    sources = np.argsort(contexts, kind="stable")
    begins = np.searchsorted(contexts[sources], np.arange(policy.shape[1] // n_modes + 1))
    starts = np.unique(np.linspace(0, mdp.n_states - 1, SAMPLED_STARTS).astype(np.int64))
    for bits in LIMITS:
        limit = bits * COST_PER_BIT
        visited = np.zeros(policy.shape, np.uint8)
        actions, counts = _walk(tables, policy, sources, begins, n_modes, limit, visited)
        left_out = _left_out(tables, policy, visited, contexts, n_modes, starts, step_limit)
        if left_out <= MAX_LEFT_OUT or bits == LIMITS[-1]:
            return PolicyWalk(actions, counts, limit, left_out)
    raise AssertionError("the last limit is accepted as it is")


@njit(cache=True, nogil=True)
def _walk(tables, policy, sources, begins, n_modes, limit, visited):
    """Walk through all columns.

    States wait in one first-in-first-out queue per cost: linked lists over shared arrays.

    Args:
        tables: `Transitions`.
        policy: [n_states, n_columns]: actions, n_actions to stop.
        sources: [n_states]: first states, sorted by context.
        begins: [n_contexts + 1]: where each context's first states begin in `sources`.
        n_modes: Modes of the skill.
        limit: States that cost more are not visited.
        visited: [n_states, n_columns], zeros; set to 1 for visited states.

    Returns:
        The recorded actions of column after column, and [n_columns] how many each has.
    """
    successors, marks, again, costs = tables.successors, tables.marks, tables.again, tables.costs
    n, terminate = successors.shape[0], successors.shape[1]
    n_outcomes = successors.shape[2]
    actions = np.empty(n, np.uint8)
    filled = 0
    counts = np.zeros(policy.shape[1], np.int32)
    first = np.empty(limit + 1, np.int64)
    last = np.empty(limit + 1, np.int64)
    capacity = n + 2 * n * n_outcomes
    waiting = np.empty(capacity, np.int64)
    following = np.empty(capacity, np.int64)
    for column in range(policy.shape[1]):
        context = column // n_modes
        first[:] = -1
        used = 0
        for i in range(begins[context], begins[context + 1]):
            waiting[used] = sources[i]
            following[used] = -1
            if first[0] < 0:
                first[0] = used
            else:
                following[last[0]] = used
            last[0] = used
            used += 1
        for cost in range(limit + 1):
            while first[cost] >= 0:
                s = waiting[first[cost]]
                first[cost] = following[first[cost]]
                if visited[s, column]:
                    continue
                visited[s, column] = 1
                if filled == actions.shape[0]:
                    actions = np.concatenate((actions, np.empty(filled, np.uint8)))
                a = policy[s, column]
                actions[filled] = a
                filled += 1
                counts[column] += 1
                if a == terminate:
                    continue
                for m in range(n_outcomes):
                    then = cost + costs[s, a, m]
                    if then > limit:
                        continue
                    for k in range(1 if marks[s, a, m] < 0 else 2):
                        target = successors[s, a, m] if k == 0 else again[s, a, m]
                        if visited[target, column]:
                            continue
                        waiting[used] = target
                        following[used] = -1
                        if first[then] < 0:
                            first[then] = used
                        else:
                            following[last[then]] = used
                        last[then] = used
                        used += 1
    return actions[:filled].copy(), counts


@njit(cache=True, nogil=True)
def _left_out(tables, policy, visited, contexts, n_modes, starts, step_limit):
    """Return the mean probability of reaching a state that was not visited.

    An outcome with a hidden mark has two successors; the one that was not visited counts.

    Args:
        tables: `Transitions`.
        policy: [n_states, n_columns]: actions, n_actions to stop.
        visited: [n_states, n_columns]: 1 for visited states.
        contexts: [n_states]: the context of each first state.
        n_modes: Modes of the skill.
        starts: The first states to average over.
        step_limit: The skill's step limit.
    """
    successors, marks, again = tables.successors, tables.marks, tables.again
    n, terminate = successors.shape[0], successors.shape[1]
    total = 0.0
    mass = np.zeros(n)
    moved = np.zeros(n)
    active = np.empty(n, np.int64)
    reached = np.empty(n, np.int64)
    for first in starts:
        for mode in range(n_modes):
            column = contexts[first] * n_modes + mode
            mass[first] = 1.0
            active[0] = first
            count = 1
            for _ in range(step_limit):
                n_reached = 0
                for i in range(count):
                    s = active[i]
                    a = policy[s, column]
                    if a != terminate:
                        for m in range(successors.shape[2]):
                            q = mass[s] * tables.probabilities[s, a, m]
                            if q == 0.0:
                                continue
                            target = successors[s, a, m]
                            if marks[s, a, m] >= 0 and not visited[again[s, a, m], column]:
                                target = again[s, a, m]
                            if not visited[target, column]:
                                total += q / n_modes
                                continue
                            if moved[target] == 0.0:
                                reached[n_reached] = target
                                n_reached += 1
                            moved[target] += q
                    mass[s] = 0.0
                count = 0
                for i in range(n_reached):
                    s = reached[i]
                    if moved[s] >= NEGLIGIBLE:
                        active[count] = s
                        mass[s] = moved[s]
                        count += 1
                    moved[s] = 0.0
                if count == 0:
                    break
            for i in range(count):
                mass[active[i]] = 0.0
    return total / len(starts)


# -------------------- Arrays and data as parts of a page
#
# An array is `{"type": "u16", "data": …}`: its little-endian bytes, compressed with zlib, in
# base64.

TYPES = {"uint8": "u8", "uint16": "u16", "int32": "i32", "float32": "f32"}
"""The page's names of the types it can unpack."""


def pack_array(array: np.ndarray, level: int = 9) -> dict[str, str]:
    """Return an array as JSON data that the page's `unpack` reads.

    Args:
        array: An array of one of `TYPES`; its shape is not kept.
        level: The zlib level.
    """
    little_endian = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    data = base64.b64encode(zlib.compress(little_endian.tobytes(), level)).decode()
    return {"type": TYPES[array.dtype.name], "data": data}


def script_element(name: str, data: object) -> str:
    """Return data as a JSON script element with an id.

    Inside a script element only "<" could end or begin something, so it is escaped. Numbers that
    JSON lacks (NaN, infinity) become null.
    """
    text = json.dumps(_replace_non_finite(data), separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _replace_non_finite(data: object) -> object:
    if isinstance(data, dict):
        return {name: _replace_non_finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_replace_non_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


# --------------------
#
# Pictures of all states of a world for a page: one sheet of tiles, and which tiles a state shows
#
# Environments draw most states alike but for a few cells, so frames are cut into tiles and equal
# tiles are kept once. Taxi's 404 frames are 120 tiles, DoorKey-8x8's 9,210 are some fifty.

MAX_STATES = 50_000
"""A world with more states is shown by its values: drawing them all would take more than half a
minute (MiniGrid draws 2,000 states a second)."""
MAX_TILES = 4096
"""Frames that differ in more tiles than these are no board of cells, and are not kept."""
MAX_SHEET = 600_000
"""The most bytes of a sheet; a larger one is not kept."""
MIN_TILE, MAX_TILE = 8, 64
"""The sides of a tile, in pixels."""
SHEET_COLUMNS = 16


def frames_data(world: World, mdp: TabularMDP) -> dict[str, object] | None:
    """Return the page's pictures of a world; None if its environment does not draw, or too much.

    Args:
        world: The world.
        mdp: Its tables.

    Returns:
        `FramesData` of `assets/data.js`.
    """
    if mdp.n_states > MAX_STATES:
        return None
    painter = environment_painter(world)
    return None if painter is None else cut_frames(painter, mdp)


def missing_frames_note(world: World, mdp: TabularMDP) -> str:
    """Return why a page has no pictures though the environment draws; empty if it has, or does
    not."""
    if mdp.n_states <= MAX_STATES or environment_painter(world) is None:
        return ""
    return (
        f"No pictures: {mdp.n_states:,} states are more than the {MAX_STATES:,} that are drawn for "
        f"a page. Values are shown instead."
    )


def cut_frames(painter: Painter, mdp: TabularMDP) -> dict[str, object] | None:
    """Draw every state and keep equal tiles once; see `frames_data`."""
    first = painter(mdp.state(0))
    side = tile_side(*first.shape[:2])
    rows, columns = (-(-length // side) for length in first.shape[:2])
    places = np.empty((mdp.n_states, rows * columns), dtype=np.uint16)
    tiles: dict[bytes, int] = {}
    before = None
    for number in range(mdp.n_states):
        now = cut(painter(mdp.state(number)), side)
        changed = range(len(now))
        if before is not None:  # most tiles are those of the state before
            places[number] = places[number - 1]
            changed = np.flatnonzero((now != before).any(axis=(1, 2, 3))).tolist()
        for place in changed:
            places[number, place] = tiles.setdefault(now[place].tobytes(), len(tiles))
        if len(tiles) > MAX_TILES:
            return None
        before = now
    sheet = _png(list(tiles), side)
    if len(sheet) > MAX_SHEET:
        return None
    return {
        "tile": side,
        "rows": rows,
        "columns": columns,
        "width": first.shape[1],
        "height": first.shape[0],
        "sheet": f"data:image/png;base64,{base64.b64encode(sheet).decode()}",
        "sheetColumns": SHEET_COLUMNS,
        "tiles": pack_array(places),
    }


def tile_side(height: int, width: int) -> int:
    """Return the side of tiles that suits frames of a size: a divisor of both lengths, if any."""
    common = math.gcd(height, width)
    if common % TILE_SIZE == 0:
        return TILE_SIZE
    fitting = [side for side in range(MIN_TILE, MAX_TILE + 1) if common % side == 0]
    return max(fitting, default=MIN_TILE * 4)


def cut(frame: np.ndarray, side: int) -> np.ndarray:
    """Return a frame's tiles, uint8 [n, side, side, 3], row by row; the last ones are padded."""
    height, width = frame.shape[:2]
    padded = np.pad(frame, ((0, -height % side), (0, -width % side), (0, 0)), mode="edge")
    rows, columns = padded.shape[0] // side, padded.shape[1] // side
    split = padded.reshape(rows, side, columns, side, 3).swapaxes(1, 2)
    return split.reshape(-1, side, side, 3)


def _png(tiles: list[bytes], side: int) -> bytes:
    """Return tiles as one picture, with a palette where that is smaller."""
    rows = -(-len(tiles) // SHEET_COLUMNS)
    sheet = np.zeros((rows * side, SHEET_COLUMNS * side, 3), dtype=np.uint8)
    for number, tile in enumerate(tiles):
        y, x = number // SHEET_COLUMNS * side, number % SHEET_COLUMNS * side
        sheet[y : y + side, x : x + side] = np.frombuffer(tile, np.uint8).reshape(side, side, 3)
    image = Image.fromarray(sheet)
    few = image.quantize(256, dither=Image.Dither.NONE)
    found = []
    for picture in (image, few):
        out = io.BytesIO()
        picture.save(out, "PNG", optimize=True)
        found.append(out.getvalue())
    return min(found, key=len)
