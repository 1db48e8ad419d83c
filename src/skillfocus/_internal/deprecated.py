"""Old names that still work for one release, each with a DeprecationWarning.

Old module paths are listed in `old_modules.py`, old top-level names in the package's `__init__`,
and old attributes and arguments beside the class or function that has them.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")


def warn(message: str, stacklevel: int = 3) -> None:
    """Issue a DeprecationWarning that points at the caller's caller."""
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)


def renamed_attribute(old: str, new: str) -> Any:
    """Return a property under which an attribute's old name still works."""

    def get(self: object) -> Any:
        warn(f"{type(self).__name__}.{old} is deprecated; use {new}")
        return getattr(self, new)

    return property(get, doc=f"Deprecated: use `{new}`.")


def translate_arguments(
    is_old: Callable[[dict[str, Any]], bool],
    translate: Callable[[dict[str, Any]], dict[str, Any]],
    message: str,
) -> Callable[[T], T]:
    """Return a class decorator that accepts an earlier version's arguments.

    Args:
        is_old: Whether some arguments, by name, are an earlier version's.
        translate: The arguments to use instead.
        message: What the warning says.
    """

    def decorate(cls: Any) -> Any:
        present = cls.__init__
        names = [name for name in inspect.signature(present).parameters if name != "self"]

        @wraps(present)
        def __init__(self: object, *args: Any, **kwargs: Any) -> None:
            if len(args) <= len(names):
                given = {**dict(zip(names, args, strict=False)), **kwargs}
                if is_old(given):
                    warn(message)
                    args, kwargs = (), translate(given)
            present(self, *args, **kwargs)

        cls.__init__ = __init__
        return cls

    return decorate


def renamed_arguments(**new_names: str) -> Callable[[T], T]:
    """Return a decorator for functions and classes whose keyword arguments have new names.

    @renamed_arguments(table="mdp")
    def discover(world, *, mdp=None): ...
    """

    def decorate(function: Any) -> Any:
        if isinstance(function, type):
            function.__init__ = _accepting(function.__init__, function.__name__, new_names)
            return function
        return _accepting(function, function.__name__, new_names)

    return decorate


def _accepting(function: Callable, name: str, new_names: dict[str, str]) -> Callable:
    @wraps(function)
    def accepting(*args: Any, **kwargs: Any) -> Any:
        for old in kwargs.keys() & new_names.keys():
            warn(f"{name}({old}=…) is deprecated; use {new_names[old]}=")
            kwargs[new_names[old]] = kwargs.pop(old)
        return function(*args, **kwargs)

    return accepting
