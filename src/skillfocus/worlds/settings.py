"""Check a world's settings before it is made: they come from JSON, with any types."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from skillfocus.errors import UserError

MAX_INT = 2**53
"""Whole numbers above this are exact neither in JSON nor in a float."""


def check_settings(
    name: str, factory: Callable[..., Any], settings: Mapping[str, object], *args: object
) -> None:
    """Check that a factory takes these settings, and that they have the types it declares.

    Only types in `_KINDS` are checked; a parameter of another one takes anything.

    Args:
        name: The world's name, for errors.
        factory: What makes the world: a class or a function.
        settings: Its keyword arguments.
        *args: Its positional arguments.

    Raises:
        UserError: Names a setting that is missing, unknown or of another type.
    """
    signature = inspect.signature(factory)
    try:
        signature.bind(*args, **settings)
    except TypeError as error:
        known = ", ".join(
            parameter.name
            for parameter in signature.parameters.values()
            if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        )
        raise UserError(
            f"{name} does not take these settings: {error} (it takes: {known or 'none'})"
        ) from None
    for setting, value in settings.items():
        parameter = signature.parameters.get(setting)
        declared = None if parameter is None else parameter.annotation
        kind = "seed" if setting == "seed" else str(getattr(declared, "__name__", declared))
        if kind in _KINDS and not _KINDS[kind][0](value):
            raise UserError(f"{setting} of {name} is {value!r}; it must be {_KINDS[kind][1]}")


def _is_int(value: object) -> bool:
    return (
        isinstance(value, Integral) and not isinstance(value, bool) and abs(int(value)) <= MAX_INT
    )


def _is_float(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_names(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


def _are_functions(value: object) -> bool:
    return isinstance(value, Mapping) and all(map(callable, value.values()))


def _are_groups(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(names, str) or (_are_names(names) and names) for names in value.values()
    )


_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "int": (_is_int, "a whole number, of up to 15 digits"),
    "float": (_is_float, "a number"),
    "str": (_is_text, "text"),
    "seed": (lambda value: _is_int(value) and value >= 0, "a whole number, 0 or more"),
    "str | Path": (lambda value: isinstance(value, str | Path), "text"),
    "str | int | Path | None": (
        lambda value: value is None or isinstance(value, str | Path) or _is_int(value),
        "text or a whole number",
    ),
    "Sequence[str] | None": (lambda value: value is None or _are_names(value), "a list of names"),
    "Variables | None": (
        lambda value: value is None or _are_names(value) or _are_functions(value),
        "a list of names",
    ),
    "Groups | None": (
        lambda value: value is None or _are_groups(value),
        'an object of names, such as {"at": ["at_*"]}',
    ),
    "Callable[[Any], Any] | None": (
        lambda value: value is None or callable(value),
        "a function, which only Python can give",
    ),
    "Callable[[Any, Any], None] | None": (
        lambda value: value is None or callable(value),
        "a function, which only Python can give",
    ),
}
"""How the parameters of worlds are annotated: what a value must be, and how to say it."""
