"""Validate an explored world against the environment it was explored in.

Single steps from random states reveal what the world leaves out, random walks what the environment
remembers from one step to the next, and many steps from the same state wrong probabilities.
"""

from __future__ import annotations

from collections import Counter
from typing import NoReturn

import numpy as np

from skillfocus.core.factored import State
from skillfocus.errors import UserError
from skillfocus.worlds.explored import ExploredWorld
from skillfocus.worlds.model import Simulator

N_STEPS = 400
"""State-action pairs that are tried once."""
N_WALKS, WALK_LENGTH = 20, 30
"""Random walks from starts, and their steps."""
N_REPEATED_PAIRS, N_REPEATS = 20, 300
"""State-action pairs with several outcomes whose frequencies are compared, and steps for each."""
MIN_P_VALUE = 1e-8
"""Frequencies less likely than this are taken to be wrong."""
MIN_EXPECTED_COUNT = 5
"""Rarer outcomes are pooled for the chi-square test."""
MAX_MISSED_SHARE = 0.05
"""The share of steps that may lead elsewhere in a world explored by sampling."""


def validate(
    world: ExploredWorld, seed: int = 0, *, frequencies: bool = True, advice: str = ""
) -> None:
    """Compare a world with its simulator; does nothing if it has none.

    A world explored by sampling (not `exact`) may miss rare outcomes.

    Args:
        world: The world.
        seed: Seed of the random states, actions and simulator resets.
        frequencies: Whether to compare probabilities with frequencies too.
        advice: What the user can do about a difference, for the error.

    Raises:
        UserError: Names the first state and action where the simulator does what the world does
            not.
    """
    if world.simulator is None or len(world.final_states) == len(world.all_states):
        return
    comparison = _Comparison(world, world.simulator, np.random.default_rng(seed), advice)
    comparison.try_steps()
    comparison.try_walks()
    if world.exact and frequencies:
        comparison.try_frequencies()
    if comparison.n_missed > MAX_MISSED_SHARE * comparison.n_steps:
        share = comparison.n_missed / comparison.n_steps
        raise UserError(
            f"{world.id}: {share:.0%} of the environment's steps lead where no sample did; raise "
            f"samples=…"
        )


def pool_rare_outcomes(counts: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pool outcomes too rare for a chi-square test.

    Args:
        counts: Observed counts, [n_outcomes].
        expected: Expected counts, [n_outcomes].

    Returns:
        Counts and expected counts, with all outcomes expected fewer than five times as one,
        together with the next rarest if that is needed to reach five.
    """
    order = np.argsort(expected)
    counts, expected = counts[order].astype(float), expected[order]
    n_rare = max(int((expected < MIN_EXPECTED_COUNT).sum()), 1)
    while n_rare < len(expected) and expected[:n_rare].sum() < MIN_EXPECTED_COUNT:
        n_rare += 1
    pooled = [np.append(part[:n_rare].sum(), part[n_rare:]) for part in (counts, expected)]
    return pooled[0], pooled[1]


class _Comparison:
    """A world beside its simulator, stepped together."""

    def __init__(
        self, world: ExploredWorld, simulator: Simulator, rng: np.random.Generator, advice: str
    ) -> None:
        self.world, self.simulator, self.rng, self.advice = world, simulator, rng, advice
        self.live_states = [s for s in world.all_states if s not in world.final_states]
        self.n_steps = self.n_missed = 0

    def try_steps(self) -> None:
        """Try single steps from random states."""
        for _ in range(N_STEPS):
            self.step_from(*self.random_pair())

    def try_walks(self) -> None:
        """Try random walks from the starts."""
        final = self.world.final_states
        starts = [state for state in self.world.states() if state not in final]
        for _ in range(N_WALKS if starts else 0):
            state: State | None = starts[self.rng.integers(len(starts))]
            self.reset(state)
            for _ in range(WALK_LENGTH):
                state = self.step(state, int(self.rng.integers(len(self.world.actions))))
                if state is None or state in final:
                    break

    def try_frequencies(self) -> None:
        """Compare probabilities with the frequencies of repeated steps."""
        from scipy.stats import chisquare

        pairs = dict.fromkeys(self.random_pair() for _ in range(N_STEPS))
        random_pairs = [pair for pair in pairs if len(self.world.transition(*pair)) > 1]
        for state, action in random_pairs[:N_REPEATED_PAIRS]:
            outcomes = {o.state: o.probability for o in self.world.transition(state, action)}
            counts = Counter(self.step_from(state, action) for _ in range(N_REPEATS))
            observed, expected = pool_rare_outcomes(
                np.array([counts[after] for after in outcomes]),
                np.array(list(outcomes.values())) * N_REPEATS,
            )
            if len(observed) > 1 and chisquare(observed, expected).pvalue < MIN_P_VALUE:
                self.fail(
                    state,
                    action,
                    f"leads to its outcomes {(observed / N_REPEATS).round(3).tolist()} of the "
                    f"time, not {(expected / N_REPEATS).round(3).tolist()}",
                )

    def random_pair(self) -> tuple[State, int]:
        """Return a random state that is not final, and a random action."""
        state = self.live_states[self.rng.integers(len(self.live_states))]
        return state, int(self.rng.integers(len(self.world.actions)))

    def reset(self, state: State) -> None:
        """Set the simulator to a state, with a random seed."""
        self.simulator.reset(self.world.values_of(state), int(self.rng.integers(2**31)))

    def step_from(self, state: State, action: int) -> State | None:
        """Reset to a state and step from there."""
        self.reset(state)
        return self.step(state, action)

    def step(self, state: State, action: int) -> State | None:
        """Step the simulator and return the next state, or `None` if the world lacks it."""
        _, values, ended = self.simulator.step(action)
        self.n_steps += 1
        after = self.world.state_of(values, ended)
        if after is not None and after in (o.state for o in self.world.transition(state, action)):
            return after
        if self.world.exact:
            labels = dict(zip(self.world.model_variables, values, strict=True))
            problem = "which was never reached" if after is None else "which has probability 0"
            ending = " and ended" if ended else ""
            self.fail(state, action, f"led to {labels}{ending}, {problem}")
        self.n_missed += 1
        return after

    def fail(self, state: State, action: int, problem: str) -> NoReturn:
        """Raise an error about a state and an action."""
        labels, name = self.world.space.labels(state), self.world.actions[action]
        advice = f"; {self.advice}" if self.advice else ""
        raise UserError(
            f"{self.world.id} differs from its environment: in {labels} the action {name!r} "
            f"{problem}{advice}"
        )
