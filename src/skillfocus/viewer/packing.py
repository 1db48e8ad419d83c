"""Arrays and data as parts of a page.

An array is `{"type": "u16", "data": …}`: its little-endian bytes, compressed with zlib, in base64.
"""

from __future__ import annotations

import base64
import json
import math
import zlib

import numpy as np

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
