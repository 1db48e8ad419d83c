"""Two targets of one skill: networks begin with wanting the same of both."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from probes import RandomWorld
from skillfocus.learners.problem import make_problem

pytest.importorskip("jax")

from skillfocus.learners.cost_network.rewards import make_rewards
from skillfocus.learners.cost_network.training import make_model


def wants_to_stay(objective, targets, seed):
    """Return, per target, which component would rather stay than change, both values 0 at first."""
    problem = make_problem(RandomWorld(0, sizes=(2, 2, 3)), objective, targets=targets)
    rewards = make_rewards(make_model(problem), 0.5, np.random.default_rng(seed))
    tables = [reward.predict()["table"] for reward in rewards]
    return [int((table[:, 0, 0] - table[:, 0, 1]).argmax()) for table in tables]


@pytest.mark.parametrize("base", [sf.vic, sf.diayn, sf.lsd])
def test_ten_of_ten_seeds(base):
    for seed in range(10):
        first, second = wants_to_stay(sf.focused(base()), {"v0+v1": 2}, seed)
        assert first == second


def test_single_targets_are_dealt_out_independently():
    """Without a skill that has both, they are as they come, and differ in some seeds."""
    found = {
        tuple(wants_to_stay(sf.focused(sf.vic()), {"v0": 2, "v1": 2}, seed)) for seed in range(10)
    }
    assert len({first == second for first, second in found}) == 2


def test_what_networks_do_not_know_is_refused_in_one_sentence():
    walls, inaction = (
        sf.focused(sf.vic(), penalty=sf.path_norm()),
        sf.focused(sf.vic(), baseline="inaction"),
    )
    with pytest.raises(sf.UserError, match="path-norm needs a table of states, which networks do"):
        sf.discover("four-rooms", walls, seed=0, learner="neural")
    with pytest.raises(sf.UserError, match="the baseline 'inaction' needs a table"):
        sf.discover("four-rooms", inaction, seed=0, learner="neural")
