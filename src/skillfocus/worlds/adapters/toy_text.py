"""What the observations and actions of Gymnasium's toy-text environments mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from skillfocus.worlds.explored import Values

PLACES = ("red", "green", "yellow", "blue")


class Known(NamedTuple):
    names: tuple[str, ...]
    actions: tuple[str, ...]
    read: Callable[[Any, Any], Values]
    """read(environment, its state): the values of the variables"""
    get: Callable[[Any], Any] | None = None
    set: Callable[[Any, Any], None] | None = None


def _taxi(env: Any, state: int) -> Values:
    row, column, passenger, destination = env.decode(state)
    return int(row), int(column), (*PLACES, "in taxi")[passenger], PLACES[destination]


def _lake(env: Any, state: int) -> Values:
    return divmod(int(state), int(env.ncol))


def _cliff(env: Any, state: int) -> Values:
    return divmod(int(state), int(env.shape[1]))


def _hand(env: Any, state: tuple) -> Values:
    del env
    player, dealer, ace = state
    return int(player), int(dealer), int(ace)


def _deal(env: Any, state: tuple) -> None:
    """A hand with this sum, and the dealer's first card; cards are drawn with replacement, so
    which cards make the sum plays no part."""
    player, dealer, ace = state
    env.player = [1, player - 11] if ace else [player]
    env.dealer = [dealer, 10]


KNOWN = {
    "TaxiEnv": Known(
        ("taxi_row", "taxi_column", "passenger", "destination"),
        ("south", "north", "east", "west", "pick up", "drop off"),
        _taxi,
    ),
    "FrozenLakeEnv": Known(("row", "column"), ("left", "down", "right", "up"), _lake),
    "CliffWalkingEnv": Known(("row", "column"), ("up", "right", "down", "left"), _cliff),
    "BlackjackEnv": Known(
        ("player", "dealer", "usable_ace"),
        ("stick", "hit"),
        _hand,
        lambda env: env._get_obs(),
        _deal,
    ),
}
"""By the name of the environment's class."""
