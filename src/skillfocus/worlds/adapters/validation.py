"""Is a found world what its environment does? Its steps are tried and compared.

One step from many random states shows what the world leaves out; walks show what the environment
remembers from one step to the next; many steps from the same state show whether probabilities are
right.
"""

from __future__ import annotations

from collections import Counter
from typing import NoReturn

import numpy as np

from skillfocus.core.factored import State
from skillfocus.errors import UserError
from skillfocus.worlds.explored import ExploredWorld, Simulator

PAIRS, WALKS, STEPS, REPEATS = 400, 20, 30, 300
"""States and actions tried once; walks, and their steps; states and actions with several outcomes
that are tried as often as there are walks, and how often."""
DOUBT = 1e-8
"""Frequencies less likely than this are taken to be wrong."""
RARE = 5
TOLERATED = 0.05
"""The share of steps that may lead elsewhere in a world found by samples."""


def compare(
    world: ExploredWorld, seed: int = 0, *, frequencies: bool = True, way_out: str = ""
) -> None:
    """An error names the first state and action where the environment the world was found in does
    what the world does not. A world found by samples (not `exact`) may miss what is rare."""
    if world.simulator is None or len(world.final_states) == len(world.all_states):
        return
    comparison = _Comparison(world, world.simulator, np.random.default_rng(seed), way_out)
    comparison.try_pairs()
    comparison.try_walks()
    if world.exact and frequencies:
        comparison.try_frequencies()
    if comparison.missed > TOLERATED * comparison.steps:
        share = comparison.missed / comparison.steps
        raise UserError(
            f"{world.id}: {share:.0%} of its environment's steps lead where no sample did; raise "
            f"samples=…"
        )


def pooled(seen: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Counts and expected counts, with outcomes too rare for a chi-square test (fewer than five
    expected) counted as one, together with the next rarest if need be."""
    order = np.argsort(wanted)
    seen, wanted = seen[order].astype(float), wanted[order]
    rare = max(int((wanted < RARE).sum()), 1)
    while rare < len(wanted) and wanted[:rare].sum() < RARE:
        rare += 1
    together = [np.append(part[:rare].sum(), part[rare:]) for part in (seen, wanted)]
    return together[0], together[1]


class _Comparison:
    def __init__(
        self, world: ExploredWorld, original: Simulator, rng: np.random.Generator, way_out: str
    ) -> None:
        self.world, self.simulator, self.rng, self.way_out = world, original, rng, way_out
        self.live = [state for state in world.all_states if state not in world.final_states]
        self.steps = self.missed = 0

    def try_pairs(self) -> None:
        for _ in range(PAIRS):
            self.step_from(*self.draw())

    def try_walks(self) -> None:
        starts = [state for state in self.world.states() if state not in self.world.final_states]
        for _ in range(WALKS if starts else 0):
            state: State | None = starts[self.rng.integers(len(starts))]
            self.reset(state)
            for _ in range(STEPS):
                state = self.step(state, int(self.rng.integers(len(self.world.actions))))
                if state is None or state in self.world.final_states:
                    break

    def try_frequencies(self) -> None:
        from scipy.stats import chisquare

        drawn = dict.fromkeys(self.draw() for _ in range(PAIRS))
        several = [pair for pair in drawn if len(self.world.transition(*pair)) > 1]
        for state, action in several[:WALKS]:
            chances = {o.state: o.probability for o in self.world.transition(state, action)}
            counts = Counter(self.step_from(state, action) for _ in range(REPEATS))
            seen, wanted = pooled(
                np.array([counts[after] for after in chances]),
                np.array(list(chances.values())) * REPEATS,
            )
            if len(seen) > 1 and chisquare(seen, wanted).pvalue < DOUBT:
                self.differs(
                    state,
                    action,
                    f"leads to its outcomes {(seen / REPEATS).round(3).tolist()} of the time, "
                    f"not {(wanted / REPEATS).round(3).tolist()}",
                )

    def draw(self) -> tuple[State, int]:
        state = self.live[self.rng.integers(len(self.live))]
        return state, int(self.rng.integers(len(self.world.actions)))

    def reset(self, state: State) -> None:
        self.simulator.reset(self.world.values_of(state), int(self.rng.integers(2**31)))

    def step_from(self, state: State, action: int) -> State | None:
        self.reset(state)
        return self.step(state, action)

    def step(self, state: State, action: int) -> State | None:
        """The state that followed; none if no sample had led there."""
        _, values, ended = self.simulator.step(action)
        self.steps += 1
        after = self.world.state_of(values, ended)
        if after is not None and after in (o.state for o in self.world.transition(state, action)):
            return after
        if self.world.exact:
            met = dict(zip(self.world.model_variables, values, strict=True))
            never = "which was never found" if after is None else "which has probability 0"
            self.differs(state, action, f"led to {met}{' and ended' if ended else ''}, {never}")
        self.missed += 1
        return after

    def differs(self, state: State, action: int, what: str) -> NoReturn:
        labels, name = self.world.space.labels(state), self.world.actions[action]
        way_out = f"; {self.way_out}" if self.way_out else ""
        raise UserError(
            f"{self.world.id} is not what its step does: in {labels} the action {name!r} {what}"
            f"{way_out}"
        )
