"""Explore and play environments that can only be stepped.

Such an environment is described by three functions: get its state, set it, take an action. If
`step` is random, each action is sampled several times, and frequencies stand for probabilities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol

from skillfocus.errors import UserError
from skillfocus.worlds.model import Model, ModelOutcome, Values

N_ROUND_TRIPS = 200
"""States in which it is checked that setting and then getting the state is the identity."""
MAX_SAMPLES = 10_000
"""The most samples of an action in a state: seconds of stepping."""


class Steppable(Protocol):
    """An environment whose state can be read and set."""

    def get(self) -> Values:
        """Return the current values of the variables."""
        ...

    def set(self, values: Values, seed: int | None = None) -> None:
        """Go to a state; a seed resets the random number generator."""

    def step(self, action: int) -> bool:
        """Take an action; return whether the episode has ended."""
        ...


class SteppedSimulator:
    """A steppable environment as a `Simulator`."""

    def __init__(self, env: Steppable) -> None:
        self.env = env

    def reset(self, values: Values, seed: int | None = None) -> None:
        """Go to a state; a seed resets the random number generator."""
        self.env.set(values, seed)

    def state(self) -> Values:
        """Return the current values of the variables."""
        return self.env.get()

    def step(self, action: int) -> ModelOutcome:
        """Take an action and return what happened."""
        ended = self.env.step(action)
        return ModelOutcome(1.0, self.env.get(), ended)


def stepped_model(env: Steppable, samples: int) -> Model:
    """Return a model that sets the state, steps and reads the state.

    Args:
        env: The environment.
        samples: How often each action is tried in each state.

    Raises:
        UserError: If `samples` is less than 1 or above `MAX_SAMPLES`, and from the model, if a
            state that was set is not the one that is read.
    """
    if not 1 <= samples <= MAX_SAMPLES:
        raise UserError(f"samples is {samples}; it must be 1 to {MAX_SAMPLES:,}")

    checked: set[Values] = set()

    def model(values: Values, action: int) -> Iterable[ModelOutcome]:
        if values not in checked and len(checked) < N_ROUND_TRIPS:
            checked.add(values)
            env.set(values)
            if env.get() != values:
                raise UserError(
                    f"setting the state {values} and getting it again gives {env.get()}: what sets "
                    f"the state must set everything that is read"
                )
        counts: Counter[tuple[Values, bool]] = Counter()
        for _ in range(samples):
            env.set(values)
            ended = env.step(action)
            counts[env.get(), ended] += 1
        return [ModelOutcome(n / samples, *key) for key, n in counts.items()]

    return model


def sampling_note(samples: int) -> tuple[str, ...]:
    """Return a note for worlds whose probabilities are frequencies; none for a single sample."""
    if samples == 1:
        return ()
    return (f"probabilities are frequencies of {samples:,} samples of each action, not exact",)


def truncation_note(max_episode_steps: int) -> str:
    """Return a note on the environment's own limit of steps, which worlds do not have."""
    return (
        f"the environment cuts episodes after {max_episode_steps:,} steps (truncation, not "
        f"termination); skills and tasks have limits of their own"
    )


def changed_settings(
    settings: Mapping[str, object], **own: tuple[object, object]
) -> dict[str, object]:
    """Return an environment's settings and those of the adapter's that differ from their defaults.

    Args:
        settings: Settings of the environment, all of which are included.
        **own: Per setting of the adapter, its value and its default.
    """
    changed = {name: value for name, (value, default) in own.items() if value != default}
    return {**settings, **changed}
