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
from typing import NamedTuple

import numpy as np
from PIL import Image

from skillfocus.errors import UserError
from skillfocus.mdp import TabularMDP
from skillfocus.skills.skills import Skills
from skillfocus.spaces import State
from skillfocus.world import World
from skillfocus.worlds.grid import TILE_SIZE, GridWorld, environment_painter

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
        starts = draw_starts(sets[0], np.random.default_rng(seed))
        self.n_starts = len(starts)
        self._numbers = {start: number for number, start in enumerate(starts)}
        self._runs = [(skills, self._record(skills, starts, seed)) for skills in sets]
        self.values = np.array(list(self._numbers), dtype=np.int32)
        states = [run.states for _, recorded in self._runs for runs in recorded for run in runs]
        pairs = [np.stack([each[:-1], each[1:]], axis=1) for each in states]
        self.moves = np.unique(np.concatenate(pairs), axis=0)

    def runs_of(self, skills: Skills, z: int) -> list[Recording]:
        """Return the recorded runs of a skill, those from one start after those from another."""
        return next(recorded[z] for one, recorded in self._runs if one is skills)

    def _record(self, skills: Skills, starts: list[State], seed: int) -> list[list[Recording]]:
        rng = np.random.default_rng(seed)
        numbers = np.repeat(np.arange(len(skills)), len(starts) * RUNS)
        first = np.tile(np.repeat(np.array(starts), RUNS, axis=0), (len(skills), 1))
        done = skills.run(numbers, first, rng)
        # What each skill does in its last state: it stops, unless its steps are used up.
        stop = np.full((len(numbers), 1), len(skills.world.actions))
        taken = np.concatenate([done.actions, stop], axis=1)
        cut = np.flatnonzero(done.steps == skills.step_limit)
        taken[cut, skills.step_limit :] = skills.policies.act(
            numbers[cut], done.modes[cut], first[cut], done.ends[cut]
        )[:, None]
        runs: list[list[Recording]] = [[] for _ in range(len(skills))]
        for z, path, actions, steps in zip(numbers, done.values, taken, done.steps, strict=True):
            states = [
                self._numbers.setdefault(tuple(state), len(self._numbers))
                for state in path[: steps + 1].tolist()
            ]
            runs[z].append(Recording(np.array(states), actions[: steps + 1]))
        return runs


def draw_starts(skills: Skills, rng: np.random.Generator) -> list[State]:
    """Return different states to record runs from: a map's showcase, and some that are drawn."""
    drawn = [tuple(state) for state in skills.draw_starts(STARTS, rng).tolist()]
    showcase = [tuple(skills.world.showcase)] if isinstance(skills.world, GridWorld) else []
    return list(dict.fromkeys([*showcase, *drawn]))[:STARTS]


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
    """Return the page's pictures of a world whose environment draws, and why there are none.

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
        frame = cut(painter(mdp.state(number)), side)
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
