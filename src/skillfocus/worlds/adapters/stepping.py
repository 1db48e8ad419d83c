"""Exploring and playing environments that are known only by stepping them.

An environment is *stepped* by three functions: what its state is, go to a state, take an action.
Where `step` is random, each action is tried `samples` times, and frequencies stand for
probabilities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from skillfocus.errors import UserError
from skillfocus.worlds.explored import ModelOutcome, Values

TRIED = 200
"""In how many states it is tried whether setting and getting them is the identity."""


class Stepped(Protocol):
    def get(self) -> Values: ...

    def set(self, values: Values, seed: int | None = None) -> None: ...

    def step(self, action: int) -> bool:
        """Take an action; whether the episode has ended."""
        ...


class SteppedOriginal:
    """A stepped environment to be played (see `found.Simulator`)."""

    def __init__(self, env: Stepped) -> None:
        self.env = env

    def reset(self, values: Values, seed: int | None = None) -> None:
        self.env.set(values, seed)

    def state(self) -> Values:
        return self.env.get()

    def step(self, action: int) -> ModelOutcome:
        ended = self.env.step(action)
        return ModelOutcome(1.0, self.env.get(), ended)


def by_stepping(env: Stepped, samples: int) -> Callable[[Values, int], Iterable[ModelOutcome]]:
    """A model for `ExploredWorld`: set, step, get."""
    if samples < 1:
        raise UserError(f"samples is {samples}; it must be at least 1")

    tried: set[Values] = set()

    def follow(values: Values, action: int) -> Iterable[ModelOutcome]:
        if values not in tried and len(tried) < TRIED:
            tried.add(values)
            env.set(values)
            if env.get() != values:
                raise UserError(
                    f"setting the state {values} and getting it again gives {env.get()}: what sets "
                    f"the state must set all that is got"
                )
        counts: Counter[tuple[Values, bool]] = Counter()
        for _ in range(samples):
            env.set(values)
            ended = env.step(action)
            counts[env.get(), ended] += 1
        return [ModelOutcome(n / samples, *key) for key, n in counts.items()]

    return follow


def sampling_note(samples: int) -> tuple[str, ...]:
    if samples == 1:
        return ()
    return (f"probabilities are frequencies of {samples:,} samples of each action, not exact",)


def truncation_note(most: int) -> str:
    return (
        f"the environment cuts episodes after {most:,} steps (truncation, not termination); skills "
        f"and tasks have limits of their own"
    )


def changed_settings(
    settings: Mapping[str, object], **own: tuple[object, object]
) -> dict[str, object]:
    """An environment's settings, and of an adapter's own those that are not as usual."""
    return {**settings, **{name: value for name, (value, usual) in own.items() if value != usual}}
