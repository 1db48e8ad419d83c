"""The targets of an update, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor

jax = pytest.importorskip("jax")

from skillfocus.learners.cost_network.training import Trainer, jax_world, make_model
from skillfocus.learners.problem import make_problem
from skillfocus.skills.network import init_network

SETTINGS = sf.Neural(environments=2, hidden=4, step_cost=0.25, advantage=0.5, gamma=0.9)


def targets(objective, everywhere: float) -> list[float]:
    """What the first of two position skills should expect of three moves, if the network says the
    same cost everywhere: one step to the right, one onto the tool, and one that stays."""
    problem = make_problem(corridor(), objective, targets={"position": 2})
    model = make_model(problem)
    costs = init_network([model.n_inputs, 4, 4, model.n_outputs], np.random.default_rng(0))
    costs = {name: 0 * array for name, array in costs.items()}
    costs["b2"] = costs["b2"] + everywhere
    n_starts = model.groups[0].n_starts
    table = np.zeros((2, n_starts, 3), np.float32)
    table[0, :, 0] = -1.0  # its reward is 1 lower in the first cell
    weights = {
        "q_params": costs, "strength": np.float32(3.0), "reward_scale": np.ones(2, np.float32),
        "groups": [{"table": table}],
    }  # fmt: skip
    starts = np.array([[0, 0], [0, 0], [0, 0]])
    now, then = np.array([[0, 0], [1, 0], [0, 0]]), np.array([[1, 0], [2, 1], [0, 0]])
    trainer = Trainer(jax_world(problem), model, SETTINGS, 6)
    weights, starts, now, then = jax.tree.map(jax.numpy.asarray, (weights, starts, now, then))
    found = trainer._targets(weights, starts, now, then, jax.numpy.zeros(3, int))
    return np.asarray(found)[:, 0].tolist()


def test_costs_of_going_on():
    # a step, 0.25; the tool, 3; then nothing is lost in the second cell, nor in the third; in the
    # first 1 is, unless going on costs less. The gap to stopping is 0.5 - 0 in the second cell.
    vic = sf.focused(sf.vic(), strength=3.0)
    assert targets(vic, 0.5) == pytest.approx([0.25, 0.25 + 3 + 0.5 * 0.5, 0.25 + 0.5])
    # 2 is more than stopping loses, by 1 and by 2: the gap is cut off at a half
    assert targets(vic, 2.0) == pytest.approx([0.5, 0.25 + 3 + 0.25, 0.25 + 1 + 0.25])
    # nothing is gained by a step: a negative cost counts as 0 ahead
    assert targets(vic, -1.0) == pytest.approx([0.25, 3.25, 0.25])


def test_rewards_of_every_step_are_lost_meanwhile_and_discounted():
    diayn = sf.focused(sf.diayn(), strength=3.0)
    # in the first cell (1 - 0.9) of the loss of 1; what follows counts 0.9 times
    assert targets(diayn, 0.5) == pytest.approx(
        [0.25 + 0.1, 0.25 + 3 + 0.25, 0.25 + 0.1 + 0.9 * 0.5]
    )


def test_no_advantage_term_without_weight(monkeypatch):
    monkeypatch.setitem(globals(), "SETTINGS", replace(SETTINGS, advantage=0.0))
    assert targets(sf.focused(sf.vic(), strength=3.0), 0.5) == pytest.approx([0.25, 3.25, 0.75])
