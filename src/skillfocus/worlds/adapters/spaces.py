"""What a Gymnasium environment's states and actions consist of."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.worlds.adapters.toy_text import KNOWN
from skillfocus.worlds.explored import Values

Variables = Sequence[str] | Mapping[str, Callable[[Any], Hashable]]
"""Names for the parts of a state, or {name: what it is in a state}."""
MOST_COMBINATIONS = 10_000


def actions_of(space: Any, world_id: str) -> tuple[list[Any], list[str]]:
    """The actions to pass to `step`, and their names."""
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
    if np.prod(sizes, dtype=float) > MOST_COMBINATIONS:
        raise UserError(
            f"{world_id} has more than {MOST_COMBINATIONS:,} actions; wrap it to offer fewer"
        )
    combined = [np.array(c).reshape(space.shape) for c in itertools.product(*map(range, sizes))]
    return combined, [",".join(map(str, code.ravel())) for code in combined]


def reader(
    inner: Any, example: Any, variables: Variables | None, world_id: str
) -> tuple[tuple[str, ...], Callable[[Any], Values]]:
    """The names of the variables, and how to read them off a state like the example."""
    if isinstance(variables, Mapping):
        functions = list(variables.values())
        return tuple(variables), lambda state: tuple(plain(f(state)) for f in functions)
    names, read = _parts(inner, example, world_id)
    if variables is None:
        return names, read
    if len(variables) != len(names):
        raise UserError(
            f"the states of {world_id} have {len(names)} parts, and {len(variables)} names "
            f"are given"
        )
    return tuple(variables), read


def _parts(
    inner: Any, example: Any, world_id: str
) -> tuple[tuple[str, ...], Callable[[Any], Values]]:
    known = KNOWN.get(type(inner).__name__)
    if known is not None:
        return known.names, lambda state: known.read(inner, state)
    if isinstance(example, Mapping):
        keys = list(example)
        return tuple(map(str, keys)), lambda state: tuple(plain(state[key]) for key in keys)
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
    return names, lambda state: tuple(plain(part) for part in split(state))


def plain(value: Any) -> Hashable:
    """NumPy's numbers as Python's, arrays and lists as tuples."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return tuple(map(plain, value))
    return value
