"""What the states and actions of Gymnasium's toy-text environments mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from skillfocus.worlds.model import Values

_LOCATIONS = ("red", "green", "yellow", "blue")


class ToyText(NamedTuple):
    """Names for an environment whose states are bare numbers or tuples."""

    names: tuple[str, ...]
    """Names of the variables."""
    actions: tuple[str, ...]
    """Names of the actions."""
    read: Callable[[Any, Any], Values]
    """`read(env, state)`: the values of the variables."""
    get: Callable[[Any], Any] | None = None
    """`get(env)`: the state, for environments without a model."""
    set: Callable[[Any, Any], None] | None = None
    """`set(env, state)`, for environments without a model."""


def _read_taxi(env: Any, state: int) -> Values:
    row, column, passenger, destination = env.decode(state)
    return int(row), int(column), (*_LOCATIONS, "in taxi")[passenger], _LOCATIONS[destination]


def _read_lake(env: Any, state: int) -> Values:
    return divmod(int(state), int(env.ncol))


def _read_cliff(env: Any, state: int) -> Values:
    return divmod(int(state), int(env.shape[1]))


def _read_hand(env: Any, state: tuple) -> Values:
    del env
    player, dealer, ace = state
    return int(player), int(dealer), int(ace)


def _set_hand(env: Any, state: tuple) -> None:
    """Deal a hand with this sum, and the dealer's first card.

    Cards are drawn with replacement, so it does not matter which cards make the sum.
    """
    player, dealer, ace = state
    env.player = [1, player - 11] if ace else [player]
    env.dealer = [dealer, 10]


TOY_TEXT = {
    "TaxiEnv": ToyText(
        ("taxi_row", "taxi_column", "passenger", "destination"),
        ("south", "north", "east", "west", "pick up", "drop off"),
        _read_taxi,
    ),
    "FrozenLakeEnv": ToyText(("row", "column"), ("left", "down", "right", "up"), _read_lake),
    "CliffWalkingEnv": ToyText(("row", "column"), ("up", "right", "down", "left"), _read_cliff),
    "BlackjackEnv": ToyText(
        ("player", "dealer", "usable_ace"),
        ("stick", "hit"),
        _read_hand,
        lambda env: env._get_obs(),
        _set_hand,
    ),
}
"""Toy-text environments by the name of their class."""
