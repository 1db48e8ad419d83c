"""What the states and actions of Gymnasium's toy-text environments mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from skillfocus.worlds.model import Model, ModelOutcome, Values

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
    model: Model | None = None
    """What can follow, where the environment offers no model but its rules are known."""
    starts: tuple[Values, ...] = ()
    """Where episodes begin, if there is such a model."""


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


_CARDS = {**dict.fromkeys(range(1, 10), 1 / 13), 10: 4 / 13}
"""Cards by their value, the ace as 1, with their probabilities: they are drawn with replacement."""
_STICK = 0
_LIMIT = 21


def _total(points: int, ace: bool) -> tuple[int, int]:
    """Return a hand's sum and whether an ace counts as 11 in it, from the sum with aces as 1."""
    usable = ace and points + 10 <= _LIMIT
    return points + 10 * usable, int(usable)


def _play_hand(state: Values, action: int) -> list[ModelOutcome]:
    """Return what follows in Blackjack: the dealer's other cards are seen by nobody.

    An ace that counts as 1 never becomes usable again, so it need not be known.
    """
    player, dealer, ace = state
    if action == _STICK:
        return [ModelOutcome(1.0, state, ended=True)]
    outcomes = []
    for card, probability in _CARDS.items():
        points = player - 10 * ace + card  # pyright: ignore[reportOperatorIssue]
        total, usable = _total(points, bool(ace) or card == 1)
        outcomes.append(ModelOutcome(probability, (total, dealer, usable), ended=total > _LIMIT))
    return outcomes


_HANDS = tuple(
    dict.fromkeys(
        (player, dealer, usable)
        for first in _CARDS
        for second in _CARDS
        for player, usable in [_total(first + second, 1 in (first, second))]
        for dealer in _CARDS
    )
)
"""The first hands: two cards, and one of the dealer's."""

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
        _play_hand,
        _HANDS,
    ),
}
"""Toy-text environments by the name of their class."""
