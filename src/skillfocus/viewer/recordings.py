"""What pages hold besides tables: recorded runs of skills, packed arrays and pictures of states."""

from __future__ import annotations

import base64
import io
import json
import math
import zlib
from collections.abc import Sequence

import numpy as np
from PIL import Image

from skillfocus.errors import UserError
from skillfocus.mdp import TabularMDP
from skillfocus.rollout import Rollouts
from skillfocus.skills.skills import Skills
from skillfocus.spaces import State
from skillfocus.world import World
from skillfocus.worlds.grid import TILE_SIZE, GridWorld, environment_painter
from skillfocus.worlds.host import HostWorld

# -------------------- Recorded runs, in worlds without a table, which a page cannot simulate
#
# Every skill is run from the same few starts. The states that occur are numbered, the starts first,
# so that a page can show them as it shows those of a table.

STARTS, REAL_STARTS = 8, 4
"""First states of recorded rollouts, of finite and of real-valued variables; on a map, the showcase
is one of them."""
ROLLOUTS_PER_START = 12
"""Rollouts of each skill from each of them, where variables are finite."""
MAX_ACTIONS = 254
"""Most actions of the world: a page holds them as bytes; two mean "stop" and "unknown"."""
MAX_NUMBERS = 20_000_000
"""The most numbers of rollouts that a page may hold: 80 MB before compression."""


def record(skills: Skills, seed: int = 0) -> list[Rollouts]:
    """Run every skill from the same few states; equal seeds give equal rollouts.

    Raises:
        UserError: If the world cannot be started in the same state twice.
    """
    if isinstance(skills.world, HostWorld):
        raise UserError(f"{skills.world.id} cannot be drawn: pages show tables and worlds in JAX")
    rng = np.random.default_rng(seed)
    if skills.world.space.is_finite:
        starts = np.array(draw_starts(skills, np.random.default_rng(seed)))
        numbers = np.repeat(np.arange(len(skills)), len(starts) * ROLLOUTS_PER_START)
        first = np.tile(np.repeat(starts, ROLLOUTS_PER_START, axis=0), (len(skills), 1))
        return [skills.run(numbers, first, rng)]
    states = skills.engine.reset(REAL_STARTS, rng)
    return [skills.run(z, states, np.random.default_rng(seed)) for z in range(len(skills))]


def draw_starts(skills: Skills, rng: np.random.Generator) -> list[State]:
    """Return different states to record from: a map's showcase, and some that are drawn."""
    drawn = [tuple(state) for state in skills.draw_starts(STARTS, rng).tolist()]
    showcase = [tuple(skills.world.showcase)] if isinstance(skills.world, GridWorld) else []
    return list(dict.fromkeys([*showcase, *drawn]))[:STARTS]


class RecordedWorld:
    """Rollouts of several sets of skills in one world, as a page replays them.

    Attributes:
        values: [n_states, width]: the states that occur.
        observations: float32 [n_states, observation_size]: what policies saw in them; None if it is
            the values.
        n_starts: How many states, the first ones, are starts.
        moves: int64 [n, 2]: the distinct pairs of a state and the next one.
        starts: Per set, the states from which it has rollouts of every skill.
        policies: Per set and skill, its recorded rollouts, `PolicyData` of `assets/data.js`.
    """

    def __init__(self, sets: Sequence[tuple[Skills, Sequence[Rollouts]]]) -> None:
        """Number the states of rollouts, in sets of skills in equal worlds."""
        world = sets[0][0].world
        if len(world.actions) > MAX_ACTIONS:
            raise UserError(f"a page shows worlds of up to {MAX_ACTIONS} actions")
        every = [(k, skills, done) for k, (skills, several) in enumerate(sets) for done in several]
        observed = any(done.observations is not None for *_, done in every)
        first, visited, actions = [], [], []
        for _, skills, done in every:
            parts = [done.values]
            if observed:
                parts.append(done.values if done.observations is None else done.observations)
            if not world.space.is_finite:
                parts.append(_start_numbers(done)[:, :, None])
            states = np.concatenate(parts, axis=2)
            going = np.arange(states.shape[1]) <= done.steps[:, None]
            first.append(states[:, 0])
            visited.append(states[going])
            actions.append(_actions(skills, done)[going])
        table = np.concatenate([*first, *visited])
        if table.size > MAX_NUMBERS:
            raise UserError(
                f"these rollouts have {table.size:,} numbers; a page takes {MAX_NUMBERS:,}: show "
                f"fewer starts or skills"
            )
        # States are numbered in the order in which they occur, the starts before the others.
        _, example, numbers = np.unique(table, axis=0, return_index=True, return_inverse=True)
        rank = np.empty(len(example), np.int32)
        rank[example.argsort()] = np.arange(len(example))
        table, numbers = table[np.sort(example)], rank[numbers.ravel()]
        width = world.space.width
        self.values = table[:, :width]
        self.observations = table[:, width : width + world.observation_size] if observed else None
        starts, states = np.split(numbers, [sum(map(len, first))])
        self.n_starts = int(starts.max()) + 1
        set_of = np.repeat([k for k, *_ in every], [len(done.steps) for *_, done in every])
        skill_of = np.concatenate([done.skills for *_, done in every])
        counts = np.concatenate([done.steps for *_, done in every]).astype(np.int32) + 1
        run_of, taken = np.repeat(np.arange(len(counts)), counts), np.concatenate(actions)
        pairs = np.stack([states[:-1], states[1:]], axis=1)[run_of[:-1] == run_of[1:]]
        self.moves = np.unique(pairs, axis=0)
        self.starts: list[list[int]] = []
        self.policies: list[list[dict[str, object]]] = []
        for k, (skills, _) in enumerate(sets):
            runs = [(set_of == k) & (skill_of == z) for z in range(len(skills))]
            shared = set.intersection(*(set(starts[which].tolist()) for which in runs))
            self.starts.append(sorted(shared))
            self.policies.append(
                [
                    {
                        "states": pack_array(states[which[run_of]]),
                        "actions": pack_array(taken[which[run_of]]),
                        "counts": pack_array(counts[which]),
                    }
                    for which in runs
                ]
            )
        if not set.intersection(*map(set, self.starts)):
            raise UserError("rollouts have no start in common: run all skills from the same states")


def _start_numbers(done: Rollouts) -> np.ndarray:
    """Return which rollout of its skill begins in each state, [n, longest rollout + 1]; else -1.

    Real-valued states that look alike are different starts: hidden parts may differ.
    """
    numbers = np.full(done.values.shape[:2], -1, done.values.dtype)
    for z in np.unique(done.skills):
        (rows,) = np.nonzero(done.skills == z)
        numbers[rows, 0] = np.arange(len(rows))
    return numbers


def _actions(skills: Skills, done: Rollouts) -> np.ndarray:
    """Return what skills do in every state, uint8 [n, longest rollout + 1]; 0 if it is real-valued.

    In its last state a skill stops, unless its steps are used up.
    """
    if skills.world.has_real_actions:
        return np.zeros(done.values.shape[:2], np.uint8)
    taken = np.pad(done.actions, ((0, 0), (0, 1)), constant_values=len(skills.world.actions))
    cut = np.flatnonzero(done.steps == skills.step_limit)
    taken[cut, skills.step_limit :] = skills.policies.act(
        done.skills[cut], done.modes[cut], done.starts[cut], done.ends[cut]
    )[:, None]
    return taken.astype(np.uint8)


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


def frames_data(world: World, mdp: TabularMDP) -> tuple[dict[str, object] | None, str]:
    """Return pictures of all states, or None and a note that says why not.

    Returns:
        `FramesData` of `assets/data.js`, or None: the environment does not draw, or too much. The
        note is empty unless the world has too many states.
    """
    painter = environment_painter(world)
    if painter is None:
        return None, ""
    if mdp.n_states > MAX_STATES:
        return None, (
            f"No pictures: {mdp.n_states:,} states are more than the {MAX_STATES:,} that are drawn "
            f"for a page. Values are shown instead."
        )
    height, width = painter(mdp.state(0)).shape[:2]
    side = tile_side(height, width)
    rows, columns = -(-height // side), -(-width // side)
    places = np.empty((mdp.n_states, rows * columns), dtype=np.uint16)
    tiles: dict[bytes, int] = {}
    for number in range(mdp.n_states):
        frame = split_into_tiles(painter(mdp.state(number)), side)
        places[number] = [tiles.setdefault(tile.tobytes(), len(tiles)) for tile in frame]
        if len(tiles) > MAX_TILES:
            return None, ""
    sheet = _png(list(tiles), side)
    if len(sheet) > MAX_SHEET:
        return None, ""
    return {
        "tile": side,
        "rows": rows,
        "columns": columns,
        "width": width,
        "height": height,
        "sheet": f"data:image/png;base64,{base64.b64encode(sheet).decode()}",
        "sheetColumns": SHEET_COLUMNS,
        "tiles": pack_array(places),
    }, ""


def tile_side(height: int, width: int) -> int:
    """Return the side of tiles that suits frames of a size: a divisor of both lengths, if any."""
    common = math.gcd(height, width)
    if common % TILE_SIZE == 0:
        return TILE_SIZE
    fitting = [side for side in range(MIN_TILE, MAX_TILE + 1) if common % side == 0]
    return max(fitting, default=MIN_TILE * 4)


def split_into_tiles(frame: np.ndarray, side: int) -> np.ndarray:
    """Return a frame's tiles, uint8 [n, side, side, 3], row by row; the last ones are padded."""
    height, width = frame.shape[:2]
    padded = np.pad(frame, ((0, -height % side), (0, -width % side), (0, 0)), mode="edge")
    rows, columns = padded.shape[0] // side, padded.shape[1] // side
    split = padded.reshape(rows, side, columns, side, 3).swapaxes(1, 2)
    return split.reshape(-1, side, side, 3)


def _png(tiles: list[bytes], side: int) -> bytes:
    """Return tiles as one picture, with a palette where that is smaller."""
    rows = -(-len(tiles) // SHEET_COLUMNS)
    blank = [bytes(side * side * 3)] * (rows * SHEET_COLUMNS - len(tiles))
    every = np.frombuffer(b"".join([*tiles, *blank]), np.uint8)
    every = every.reshape(rows, SHEET_COLUMNS, side, side, 3).swapaxes(1, 2)
    image = Image.fromarray(every.reshape(rows * side, SHEET_COLUMNS * side, 3))
    files = []
    for picture in (image, image.quantize(256, dither=Image.Dither.NONE)):
        out = io.BytesIO()
        picture.save(out, "PNG", optimize=True)
        files.append(out.getvalue())
    return min(files, key=len)
