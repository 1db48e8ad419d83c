"""What networks report while they train."""

from __future__ import annotations

import numpy as np
import pytest

jnp = pytest.importorskip("jax").numpy

import skillfocus as sf
from probes import corridor
from skillfocus.learners.cost_network.training import Ends, finished, outcomes
from skillfocus.learners.problem import make_problem
from sliders import Sliders


def test_control_and_side_effects_by_hand():
    problem = make_problem(corridor(), sf.focused(sf.vic()), targets={"tool_1": 2, "position": 2})
    # skills 0 and 2 ended twice each: one took the tool and came home, one took it and stayed away;
    # one moved, one did nothing; what has not ended does not count
    ends = Ends(
        jnp.array([True, True, True, True, False]), jnp.array([0, 0, 2, 2, 0]),
        jnp.zeros((5, 2), int), jnp.array([[0, 1], [2, 1], [1, 0], [0, 0], [2, 1]]),
    )  # fmt: skip
    assert outcomes(problem, *finished(ends)) == {"control": 0.75, "side_effects": 0.25}
    none = ends._replace(ended=jnp.zeros(5, bool))
    assert all(np.isnan(value) for value in outcomes(problem, *finished(none)).values())


@pytest.mark.parametrize("learner", ["neural", "actor"])
def test_the_callback_is_told_and_changes_nothing(learner):
    told = []

    def discover(on_metrics):
        if learner == "actor":
            made = sf.Actor(
                steps=4 * 8 * 12, environments=8, batch=96, hidden=8, estimator_hidden=4,
                rounds_per_jit=2, on_metrics=on_metrics,
            )  # fmt: skip
            return sf.discover(
                Sliders(), sf.focused(sf.diayn()), seed=0, learner=made, targets={"a": 2}
            )
        made = sf.Neural(
            steps=32, updates_per_jit=2, environments=8, batch=8, memory=64, hidden=8,
            on_metrics=on_metrics,
        )  # fmt: skip
        return sf.discover(corridor(), sf.focused(sf.vic()), seed=0, learner=made)

    assert discover(told.append) == discover(None)
    assert len(told) == 2
    assert [set(each) for each in told] == [{"steps", "loss", "control", "side_effects"}] * 2
    assert told[-1]["steps"] == (4 * 8 * 12 if learner == "actor" else 32)
