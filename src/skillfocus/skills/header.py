"""The header of a skills file: what each of its fields must be.

`check_header` holds a header against `HEADER` before anything in it is used, so that the code that
follows can rely on types and ranges. Whether the header, the arrays and the world belong together
is checked where they meet (`TabularPolicy`, `IntrinsicReward`, `Skills`).
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from skillfocus.core.world import MAX_STEPS
from skillfocus.errors import UserError
from skillfocus.objectives.targets import MAX_SKILLS

VERSION = 7
"""The newest version of the format."""
WITH_TABLES, WITH_NETWORKS, PACKED, WITH_ACTORS = 4, 5, 6, 7
"""The versions of files that are written: of tables, of networks, of packed tables, and of skills
in continuous worlds."""
MAX_ENTRIES = 512_000_000
"""The most bytes that a file's policies may have once they are decompressed: as many entries as
planning makes for tables, and numbers of blocks for sixteen times as many where they are packed."""
MAX_NAME = 100
"""The most characters of an objective's name, which has a variant per word."""
MAX_DEPTH = 20
"""How deep lists and objects may be nested in `info` and in the world's settings."""


class Leaf(NamedTuple):
    """A value that `fits`."""

    expected: str
    fits: Callable[[Any], bool]


def whole(least: int, most: int) -> Leaf:
    """Return what an integer in a range must be; JSON's true is none."""
    return Leaf(
        f"a whole number from {least} to {most:,}",
        lambda value: type(value) is int and least <= value <= most,
    )


def _is_shallow(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        lists = [part for part in level if isinstance(part, list)]
        lists += [list(part.values()) for part in level if isinstance(part, dict)]
        level = [part for parts in lists for part in parts]
    return not level


def _is_names(value: Any) -> bool:
    texts = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return texts and len(set(value)) == len(value)


def _is_number(value: Any, most: float = sys.float_info.max) -> bool:
    return type(value) in (int, float) and 0 <= value <= most


TEXT = Leaf("text", lambda value: isinstance(value, str))
FLAG = Leaf("true or false", lambda value: isinstance(value, bool))
NAMES = Leaf("a list of different names", _is_names)
WEIGHT = Leaf(
    "a positive number",
    lambda value: type(value) in (int, float) and 0 < value <= sys.float_info.max,
)
NUMBER = Leaf("a number of at least 0", _is_number)
SHORT_TEXT = Leaf(
    f"text of at most {MAX_NAME} characters",
    lambda value: isinstance(value, str) and len(value) <= MAX_NAME,
)
PRIOR = Leaf('a probability or "learned"', lambda value: value == "learned" or _is_number(value, 1))
OBJECT = Leaf(
    f"an object of at most {MAX_DEPTH} levels",
    lambda value: isinstance(value, dict) and _is_shallow(value),
)

COMPONENT = Leaf(
    "a number of skills or a sphere",
    lambda value: (
        (type(value) is int and 2 <= value <= MAX_SKILLS)
        or (isinstance(value, dict) and [*value] == ["sphere"] and type(value["sphere"]) is int)
    ),
)
TARGET = Leaf("a variable's name or null", lambda value: value is None or isinstance(value, str))

Shape = Leaf | list | tuple | dict
"""A leaf; `[shape]`, a list of such values; `(shape, shape)`, a list of these; or
`{name: shape}`, an object with these fields, of which names with a `?` may be missing."""
OBJECTIVE: Shape = {
    "name": SHORT_TEXT,
    "rate?": WEIGHT,
    "strength?": NUMBER,
    "weight?": NUMBER,
    "prior?": PRIOR,
}
ACTORS: Shape = {
    "format": TEXT,
    "version": whole(1, VERSION),
    "world": {"id": TEXT, "settings": OBJECT},
    "fingerprint": TEXT,
    "step_limit": whole(1, MAX_STEPS),
    "info": OBJECT,
    "objective": OBJECTIVE,
    "kinds": [[(TARGET, COMPONENT)]],
}
"""The header of skills in a continuous world."""
HEADER: Shape = {
    "format": TEXT,
    "version": whole(1, VERSION),
    "world": {"id": TEXT, "settings": OBJECT},
    "fingerprint": TEXT,
    "targets": [NAMES],
    "remembered": [NAMES],
    "step_limit": whole(1, MAX_STEPS),
    "info": OBJECT,
    "modes?": [whole(1, MAX_ENTRIES)],
    "learned?": {
        "groups": [{"variables": NAMES, "start_variables": NAMES, "separable": FLAG}],
        "terms": [[[(whole(0, MAX_ENTRIES), whole(0, MAX_ENTRIES), WEIGHT)]]],
    },
    "networks?": {
        "objective": OBJECTIVE,
        "components": [[(TEXT, whole(0, MAX_SKILLS - 1))]],
    },
}


def check_header(header: object) -> None:
    """Raise a `UserError` for the first field of a header that is not what it must be."""
    if isinstance(header, dict) and header.get("version") == WITH_ACTORS:
        _check(header, ACTORS, "")
        return
    _check(header, HEADER, "")
    assert isinstance(header, dict)
    if not header["targets"]:
        raise UserError("targets is empty: there are no skills")
    if ("networks" in header) != (header["version"] == WITH_NETWORKS):
        raise UserError(
            f"networks belong to version {WITH_NETWORKS}, and the version is {header['version']}"
        )


def _check(value: Any, shape: Shape, name: str) -> None:
    if isinstance(shape, Leaf):
        _require(shape.fits(value), value, name, shape.expected)
    elif isinstance(shape, dict):
        _require(isinstance(value, dict), value, name, "an object")
        for field, inner in shape.items():
            key, place = field.rstrip("?"), f"{name}.{field.rstrip('?')}".lstrip(".")
            if key in value:
                _check(value[key], inner, place)
            elif key == field:
                raise UserError(f"{place} is missing")
    else:
        _require(isinstance(value, list), value, name, "a list")
        if isinstance(shape, tuple):
            _require(len(value) == len(shape), value, name, f"a list of {len(shape)}")
        else:
            shape = tuple(shape) * len(value)
        for place, (part, inner) in enumerate(zip(value, shape, strict=True)):
            _check(part, inner, f"{name}[{place}]")


def _require(fits: bool, value: object, name: str, expected: str) -> None:
    if not fits:
        raise UserError(f"{name or 'the header'} is {reprlib.repr(value)}, not {expected}")
