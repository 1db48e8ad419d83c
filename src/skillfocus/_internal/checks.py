"""Checks of arguments: a wrong type is one sentence that names the argument and the value."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from skillfocus.errors import UserError

_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "bool": (lambda value: isinstance(value, bool | np.bool_), "True or False"),
    "int": (lambda value: is_whole(value), "a whole number"),
    "float": (lambda value: is_number(value), "a number"),
    "str": (lambda value: isinstance(value, str), "text"),
    "None": (lambda value: value is None, "None"),
}
"""Types of dataclass fields as they are annotated: what a value must be, and how to say it."""


def is_whole(value: object) -> bool:
    """Return whether this is an integer, NumPy's included; True and False are none."""
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


def is_number(value: object) -> bool:
    """Return whether this is a real number, NumPy's included; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def whole(name: str, value: Any, at_least: int | None = None) -> int:
    """Return an integer argument as an `int`.

    Raises:
        UserError: If it is no integer, or too small.
    """
    if not is_whole(value):
        raise wrong(name, "a whole number", value)
    if at_least is not None and value < at_least:
        raise UserError(f"{name} must be at least {at_least}, got {value}")
    return int(value)


def number(name: str, value: Any) -> float:
    """Return a real argument as it is.

    Raises:
        UserError: If it is no number.
    """
    if not is_number(value):
        raise wrong(name, "a number", value)
    return value


def function(name: str, value: Any, example: str) -> None:
    """Raise a `UserError` unless this can be called; the example shows one that can."""
    if not callable(value):
        raise UserError(f"{name} must be a function, such as {example}, got {shown(value)}")


def file_path(value: Any) -> Path:
    """Return the name of a file as a path.

    Raises:
        UserError: If it is neither text nor a path.
    """
    if not isinstance(value, str | os.PathLike):
        raise UserError(f"the name of a file is text or a path, got {shown(value)}")
    return Path(value)


def check_fields(instance: Any) -> None:
    """Check the fields of a dataclass that are numbers, text or None by their annotations.

    NumPy's numbers become Python's, so that files and ids hold the same for both.

    Raises:
        UserError: Names a field of another type.
    """
    for field in fields(instance):
        kinds = str(field.type).split(" | ")
        if not all(kind in _KINDS for kind in kinds):
            continue
        value = getattr(instance, field.name)
        if not any(_KINDS[kind][0](value) for kind in kinds):
            raise wrong(field.name, " or ".join(_KINDS[kind][1] for kind in kinds), value)
        if isinstance(value, np.generic):
            object.__setattr__(instance, field.name, value.item())


def wrong(name: str, what: str, value: object) -> UserError:
    """Return the error for an argument of another type."""
    advice = ""
    if isinstance(value, str) and "number" in what and name.isidentifier() and _is_numeral(value):
        advice = f"; try {name}={value.strip()}"
    return UserError(f"{name} must be {what}, got {shown(value)}{advice}")


def listed(values: Sequence[object], most: int = 8) -> str:
    """Return values as text for an error message, the first few of them."""
    return ", ".join(map(repr, values[:most])) + (", …" if len(values) > most else "")


def shown(value: object) -> str:
    """Return a value for an error; functions and classes by their names."""
    kind = "the class " if isinstance(value, type) else "the function "
    if callable(value) and hasattr(value, "__name__"):
        return f"{kind}{value.__name__}"
    return reprlib.repr(value)


def _is_numeral(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
