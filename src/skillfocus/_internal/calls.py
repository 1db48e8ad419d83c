"""Calls of the wrong form (an argument missing, unknown, or by position): one sentence that names
the way out. Python's own error says what is wrong, but not what the function takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from skillfocus.errors import UserError, unknown

T = TypeVar("T")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


MAX_OPTIONAL = 5
"""Optional arguments that are listed."""


class CallError(UserError, TypeError):
    """A `UserError` about the form of a call, which is a `TypeError` as Python's own is."""


def explain_calls(function: T) -> T:
    """Decorate a function, a method or a class: calls of the wrong form are a `CallError`.

    Calls that succeed cost nothing but one more frame.
    """
    made: Any = function
    if isinstance(made, type):
        made.__init__ = _explaining(made.__init__, made.__name__)  # pyright: ignore[reportAttributeAccessIssue]
        return made  # pyright: ignore[reportReturnType]
    return _explaining(made, made.__name__)  # pyright: ignore[reportReturnType]


def _explaining(function: Callable, name: str) -> Callable:
    @wraps(function)
    def explaining(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError:
            signature = inspect.signature(function)
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                wrong = _explain(name, signature, args, kwargs, str(error))
            else:  # something inside failed
                raise
        raise wrong

    return explaining


def _explain(
    name: str,
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    reason: str,
) -> CallError:
    parameters = [p for p in signature.parameters.values() if p.kind not in _VARIADIC]
    method = bool(parameters) and parameters[0].name in ("self", "cls")
    shown = parameters[1:] if method else parameters
    positions = [p for p in shown if p.kind in _POSITIONAL]
    given = len(args) - method
    takes_any = any(p.kind is _VARIADIC[1] for p in signature.parameters.values())
    for key in kwargs:
        if key not in signature.parameters and not takes_any:
            return CallError(str(unknown(f"argument of {name}:", key, [p.name for p in shown])))
    form = f"{name}({', '.join(_forms(shown, takes_any))})"
    if given > len(positions):
        count = "1 argument" if len(positions) == 1 else f"{len(positions)} arguments"
        return CallError(
            f"{name} takes {count} by position, got {given}: name the others, as in {form}"
        )
    return CallError(f"{name}: {reason}; write {form}")


def _forms(parameters: Sequence[inspect.Parameter], more: bool) -> list[str]:
    """Return arguments as a call would write them, first those that it needs."""
    required = [p for p in parameters if p.default is inspect.Parameter.empty]
    optional = [p.name for p in parameters if p.default is not inspect.Parameter.empty]
    return [
        *(p.name if p.kind in _POSITIONAL else f"{p.name}=…" for p in required),
        *(f"[{name}=…]" for name in optional[:MAX_OPTIONAL]),
        *(["…"] if more or len(optional) > MAX_OPTIONAL else []),
    ]
