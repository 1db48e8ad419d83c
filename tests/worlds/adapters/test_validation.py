from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from skillfocus.worlds.adapters.stepping import validate
from skillfocus.worlds.explored import ExploredWorld, ModelOutcome


class Coin:
    """A simulator: action 0 flips a coin that shows heads with probability `p`, 1 does nothing."""

    def __init__(self, p=0.5, memory=False):
        self.p, self.memory, self.flips = p, memory, 0

    def reset(self, values, seed=None):
        self.values, self.flips = values, 0
        if seed is not None:
            self.rng = np.random.default_rng(seed)

    def state(self):
        return self.values

    def step(self, action):
        if action == 0:
            self.flips += 1
            heads = self.rng.random() < self.p
            self.values = ("edge" if self.memory and self.flips > 2 else int(heads), self.values[1])
        return ModelOutcome(1.0, self.values)


def flip(values, action):
    if action == 1:
        return [ModelOutcome(1.0, values)]
    return [ModelOutcome(0.5, (side, values[1])) for side in (0, 1)]


def world(simulator, model=flip, **changes):
    return ExploredWorld(
        "Coin", names=("side", "table"), actions=("flip", "wait"), starts=[(0, "oak")],
        model=model, simulator=simulator, **changes,
    )  # fmt: skip


def test_a_true_world_passes():
    validate(world(Coin()))
    validate(world(None))


def test_wrong_probabilities_are_found_unless_they_are_not_compared():
    biased = world(Coin(p=0.8))
    with pytest.raises(
        sf.UserError, match=r"'flip' leads to its outcomes .* not \[0.5, 0.5\]; ask"
    ):
        validate(biased, advice="ask")
    validate(biased, frequencies=False)


def test_impossible_outcomes_are_named():
    certain = world(Coin(), model=lambda v, a: [ModelOutcome(1.0, (1, v[1]) if a == 0 else v)])
    with pytest.raises(sf.UserError, match=r"Coin differs from its environment: in \{'side'"):
        validate(certain)


def test_hidden_memory_is_found_by_walks():
    with pytest.raises(sf.UserError, match=r"led to .*'edge'.*which was never reached"):
        validate(world(Coin(memory=True)))


def test_worlds_explored_by_samples_may_miss_a_few_outcomes():
    validate(world(Coin(p=0.51), exact=False))
    missing = world(
        Coin(), model=lambda v, a: [ModelOutcome(1.0, (1, v[1]) if a == 0 else v)], exact=False
    )
    with pytest.raises(sf.UserError, match=r"\d+% of the environment's steps lead where no sample"):
        validate(missing)


def test_rare_outcomes_are_no_difference():
    """One sighting of what happens once in 20,000 times does not refute a model; ten do."""

    def rare(values, action):
        if action == 1:
            return [ModelOutcome(1.0, values)]
        return [ModelOutcome(5e-5, (1, values[1])), ModelOutcome(1 - 5e-5, (0, values[1]))]

    validate(world(Coin(p=1 / 300), model=rare))
    with pytest.raises(sf.UserError, match=r"of the time, not \["):
        validate(world(Coin(p=1 / 30), model=rare))
