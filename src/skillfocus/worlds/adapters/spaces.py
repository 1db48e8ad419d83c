"""The actions and state variables of a Gymnasium environment."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.worlds.adapters.toy_text import TOY_TEXT
from skillfocus.worlds.model import Values

Variables = Sequence[str] | Mapping[str, Callable[[Any], Hashable]]
"""Names for the parts of a state, or {name: function that reads it from a state}."""
MAX_ACTION_COMBINATIONS = 10_000
"""The most combinations of a composite action space; a world has a lower limit still."""


def list_actions(space: Any, world_id: str) -> tuple[list[Any], list[str]]:
    """Return the actions to pass to `step`, and their names.

    Args:
        space: A `Discrete`, `MultiBinary` or `MultiDiscrete` space; the last two become all
            combinations of their parts.
        world_id: The world's id, for errors.

    Raises:
        UserError: If there are infinitely many actions, or too many.
    """
    from gymnasium.spaces import Discrete, MultiBinary, MultiDiscrete

    if isinstance(space, Discrete):
        codes = [int(space.start) + a for a in range(int(space.n))]
        return codes, [str(code) for code in codes]
    if isinstance(space, MultiBinary):
        sizes = [2] * int(np.prod(space.shape))
    elif isinstance(space, MultiDiscrete):
        sizes = [int(n) for n in space.nvec.ravel()]
    else:
        raise UserError(f"{world_id} has actions {space}; only a finite number can be explored")
    if np.prod(sizes, dtype=float) > MAX_ACTION_COMBINATIONS:
        raise UserError(
            f"{world_id} has more than {MAX_ACTION_COMBINATIONS:,} actions; wrap it to offer fewer"
        )
    combined = [np.array(c).reshape(space.shape) for c in itertools.product(*map(range, sizes))]
    return combined, [",".join(map(str, code.ravel())) for code in combined]


def state_reader(
    inner: Any, example: Any, variables: Variables | None, world_id: str
) -> tuple[tuple[str, ...], Callable[[Any], Values]]:
    """Return the names of the variables, and a function that reads their values from a state.

    Args:
        inner: The unwrapped environment.
        example: Any of its states.
        variables: Names or functions given by the user, if any.
        world_id: The world's id, for errors.

    Raises:
        UserError: If states have no parts, or not as many as there are names.
    """
    if isinstance(variables, Mapping):
        functions = list(variables.values())
        return tuple(variables), lambda state: tuple(to_python(f(state)) for f in functions)
    names, read = _split_state(inner, example, world_id)
    if variables is None:
        return names, read
    if len(variables) != len(names):
        raise UserError(
            f"the states of {world_id} have {len(names)} parts, but {len(variables)} names are "
            f"given"
        )
    return tuple(variables), read


def _split_state(
    inner: Any, example: Any, world_id: str
) -> tuple[tuple[str, ...], Callable[[Any], Values]]:
    """Find the parts of a state: known, named by keys or fields, or numbered."""
    toy_text = TOY_TEXT.get(type(inner).__name__)
    if toy_text is not None:
        return toy_text.names, lambda state: toy_text.read(inner, state)
    if isinstance(example, Mapping):
        keys = list(example)
        return tuple(map(str, keys)), lambda state: tuple(to_python(state[key]) for key in keys)
    if callable(getattr(inner, "decode", None)):
        split = inner.decode
    elif isinstance(example, (tuple, list, np.ndarray)):
        split = np.ravel if isinstance(example, np.ndarray) else tuple
    else:
        raise UserError(
            f"the states of {world_id} are single values such as {example!r}: say what they mean, "
            f"as in variables={{'row': lambda s: s // 4, 'column': lambda s: s % 4}}"
        )
    numbered = tuple(f"part_{i + 1}" for i in range(len(split(example))))
    names = getattr(example, "_fields", numbered)
    return names, lambda state: tuple(to_python(part) for part in split(state))


def to_python(value: Any) -> Hashable:
    """Return NumPy numbers as Python numbers, arrays and lists as tuples."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return to_python(value.tolist())
    if isinstance(value, (list, tuple)):
        return tuple(map(to_python, value))
    return value
