"""Pictures of all states of a world for a page: one sheet of tiles, and which tiles a state shows.

Environments draw most states alike but for a few cells, so frames are cut into tiles and equal
tiles are kept once. Taxi's 404 frames are 120 tiles, DoorKey-8x8's 9,210 are some fifty.
"""

from __future__ import annotations

import base64
import io
import math

import numpy as np
from PIL import Image

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.world import World
from skillfocus.viewer.packing import pack_array
from skillfocus.worlds.pictures import TILE_SIZE, Painter, environment_painter

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
