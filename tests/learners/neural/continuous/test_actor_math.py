"""Advantages, rewards, constraints and densities of continuous skills, worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp
from scipy.special import i0, iv

import skillfocus as sf
from skillfocus.learners.actor.rewards import (
    Fixed,
    RewardRule,
    choose_prototypes,
    prototype_outputs,
)
from skillfocus.learners.ppo import advantages
from skillfocus.objectives.kinds import Sphere, make_kinds
from skillfocus.skills.actor import log_densities, log_squashing, make_code
from skillfocus.skills.estimators import (
    EstimatorBatch,
    SkillEstimates,
    divide_by_norms,
    init_vectors,
    log_density_on_sphere,
    spectral_norms,
)
from sliders import Sliders

SPACE = Sliders.space


def estimates_of(objective, targets=None, **more) -> SkillEstimates:
    kinds = make_kinds(Sliders(), objective, more.get("n_skills"), targets)
    return SkillEstimates(SPACE, objective, make_code(kinds, len(SPACE)))


def test_advantages_by_hand():
    # backwards: delta 3 - 0.5 = 2.5; 0 + 0.5 * 0.5 - 1 = -0.75, plus 0.25 * 2.5 = -0.125;
    # 1 + 0.5 * 1 - 2 = -0.5, plus 0.25 * -0.125 = -0.53125
    rewards, values = jnp.array([1.0, 0.0, 3.0]), jnp.array([2.0, 1.0, 0.5])
    gained, returns = advantages(rewards, values, gamma=0.5, gae_lambda=0.5)
    assert gained.tolist() == [-0.53125, -0.125, 2.5]
    assert returns.tolist() == [1.46875, 0.875, 3.0]
    both, _ = advantages(
        jnp.stack([rewards, 0 * rewards], 1), jnp.stack([values, 0 * values], 1), 0.5, 0.5
    )
    assert both[:, 0].tolist() == gained.tolist()  # a head does not see the others
    assert not both[:, 1].any()


def test_density_of_actions():
    u, mean, log_std = (
        np.array([[0.5, 1.0]]),
        np.array([[0.5, 0.0]]),
        np.array([[0.0, math.log(2)]]),
    )
    by_hand = -math.log(2 * math.pi) - math.log(2) - 0.5 * 0.25
    assert log_densities(u, mean, log_std).sum(axis=-1) == pytest.approx([by_hand])
    assert log_squashing(u) == pytest.approx(np.log(1 - np.tanh(u) ** 2).sum(axis=1))


@pytest.mark.parametrize("dimensions", [2, 3, 6])
def test_density_on_a_sphere_is_von_mises_fisher(dimensions):
    m = np.zeros(dimensions)
    m[0] = 3.0
    z = np.eye(dimensions)[:2]
    length = 10 * math.tanh(0.3)
    order = dimensions / 2 - 1
    # the density over the uniform one, with its normaliser written with Bessel functions
    bessel = (length / 2) ** order / (iv(order, length) * math.gamma(dimensions / 2))
    found = log_density_on_sphere(np.stack([m, m]), z, dimensions)
    assert found == pytest.approx([length + math.log(bessel), math.log(bessel)], rel=1e-6)
    if dimensions == 2:
        assert found[0] == pytest.approx(length - math.log(i0(length)))


def fixed(strength=4.0, prototypes=None):
    return Fixed(jnp.zeros(3), jnp.ones(3), prototypes or {}, jnp.float32(strength), jnp.ones(()))


def prototypes_of(estimates):
    """Prototypes among 50 places that were reached."""
    reached = np.random.default_rng(1).uniform(-1, 1, (50, 3))
    return choose_prototypes(estimates, reached, np.random.default_rng(2))


Z = jnp.array([[1.0, 0, 0, 0], [0, 0, 0, 1.0]])
"""The first component of a, and the second of c."""


def walk() -> tuple[jnp.ndarray, jnp.ndarray]:
    """Values of two skills, [3 states, 2 skills, 3 sliders], and their kinds: a, then c."""
    first = [[0.0, 0.0, 0.0], [0.4, 0.2, 0.0], [0.8, 0.0, 0.2]]
    second = [[0.5, 0.5, 0.5], [0.5, 0.5, 0.1], [0.5, 0.1, -0.3]]
    return jnp.asarray(np.stack([first, second], 1), jnp.float32), jnp.array([0, 1])


def test_rewards_are_the_formula_of_what_discriminators_say():
    targets = {"a": 2, "c": 2}
    estimates = estimates_of(sf.focused(sf.diayn()), targets)
    estimators = estimates.init(8, np.random.default_rng(0))
    values, kind = walk()
    prototypes = prototypes_of(estimates)
    found = RewardRule(estimates, n_grace=1).rewards(
        estimators, fixed(prototypes=prototypes), values, kind, Z, jnp.float32(1.0)
    )
    flat = np.asarray(values).reshape(6, 3)
    outputs = np.asarray(estimates.outputs(estimators, flat, flat)).reshape(2, 3, 2, 2)
    logits = outputs[0, 2, 0]  # of a's discriminator, for the first skill's last state
    log_q = logits[0] - np.log(np.exp(logits).sum())
    assert found[1, 0].tolist()[:2] == pytest.approx([log_q + math.log(2), 0.0], abs=1e-5)
    assert not found[0, :, :2].any()  # the first step is for settling
    # penalty: 4 times the norm of what changed, over the scale of 2; a and c are the targets
    assert found[:, 0, 2].tolist() == pytest.approx([0.0, -4 * 0.1])  # settling costs nothing
    assert found[:, 1, 2].tolist() == pytest.approx([0.0, -4 * 0.2])


def test_final_rewards_are_paid_as_they_grow():
    estimates = estimates_of(sf.focused(sf.vic()), {"a": 2, "c": 2})
    estimators = estimates.init(8, np.random.default_rng(0))
    values, kind = walk()
    prototypes = prototypes_of(estimates)
    rule = RewardRule(estimates, n_grace=1)
    found = rule.rewards(
        estimators, fixed(prototypes=prototypes), values, kind, Z, jnp.float32(1.0)
    )
    start, last = np.asarray(values[0]), np.asarray(values[2])
    paid = [
        estimates.log_ratios(estimates.outputs(estimators, start, state), np.asarray(Z))[0]
        for state in (start, last)
    ]
    assert float(found[:, 0, 0].sum()) == pytest.approx(float((paid[1] - paid[0])[0, 0]), abs=1e-5)
    # a ends with b where it was and c moved by 0.2, over a scale of 2
    assert float(found[:, 0, 2].sum()) == pytest.approx(-4 * 0.1)
    assert float(found[0, 0, 2]) == pytest.approx(-4 * 0.1)  # b had moved
    before = rule.rewards(
        estimators, fixed(prototypes=prototypes), values, kind, Z, jnp.float32(0.0)
    )
    by_prototypes = estimates.log_ratios(prototype_outputs(estimates, prototypes, values[2]), Z)[0]
    by_prototypes -= estimates.log_ratios(prototype_outputs(estimates, prototypes, values[0]), Z)[0]
    assert float(before[:, 0, 0].sum()) == pytest.approx(float(by_prototypes[0, 0]), abs=1e-5)


def test_no_strength_is_no_penalty_bit_for_bit():
    values, kind = walk()
    focused = estimates_of(sf.focused(sf.diayn(), strength=0.0), {"a": 2, "c": 2})
    without = SkillEstimates(SPACE, replace(focused.objective, penalty=None), focused.code)
    estimators = focused.init(8, np.random.default_rng(0))
    prototypes = prototypes_of(focused)
    one, other = (
        RewardRule(each, 1).rewards(
            estimators, fixed(0.0, prototypes), values, kind, Z, jnp.float32(0.5)
        )
        for each in (focused, without)
    )
    assert jnp.array_equal(one, other)
    assert one[:, :, :2].any()


def test_dusdi_pays_for_what_others_tell():
    both = estimates_of(sf.dusdi(sf.diayn(), weight=0.25), {"a": 2, "c": 2})
    assert both.code.kinds == ((0, 1),)  # at once
    assert both.weights.tolist() == [1.0, 1.0, -0.25, -0.25]
    assert both.input_mask[:, 0].tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 0]]
    estimators = both.init(8, np.random.default_rng(0))
    values, _ = walk()
    z = jnp.array([[1.0, 0, 0, 1.0], [0, 1.0, 1.0, 0]])
    prototypes = prototypes_of(both)
    found = RewardRule(both, 0).rewards(
        estimators, fixed(prototypes=prototypes), values, jnp.zeros(2, int), z, jnp.float32(1.0)
    )
    log_q, log_nu = both.log_ratios(both.outputs(estimators, values[0], values[1]), z)
    ratio = log_q - log_nu
    by_hand = np.asarray(ratio[:2] - 0.25 * ratio[2:]).T
    assert np.asarray(found[0, :, :2]) == pytest.approx(by_hand, abs=1e-5)


def test_directions_of_discrete_skills_sum_to_zero():
    estimates = estimates_of(sf.focused(sf.lsd()), {"a": 3, "c": Sphere(2)})
    z = np.array([[0, 1, 0, 0, 0], [0, 0, 0, 0.6, 0.8]], np.float32)
    directions = estimates.directions(z)
    assert directions[0, 0] == pytest.approx([-0.5, 1.0, -0.5])
    assert directions[1, 1] == pytest.approx([0.6, 0.8, 0.0])


def test_the_dual_step_by_hand():
    estimates = estimates_of(sf.focused(sf.metra(rate=0.5)), {"a": 2, "c": Sphere(2)})
    change = jnp.array([[[0.6, 0.0], [0.0, 2.0]], [[0.0, 1.0], [0.0, 0.0]]])
    room = estimates.constraint_room(change)
    assert np.asarray(room) == pytest.approx(np.array([[0.001, -3.0], [0.0, 0.001]]), abs=1e-6)
    log_dual = jnp.log(jnp.array([30.0, 30.0]))
    found = jnp.exp(estimates.dual_step(log_dual, room.mean(axis=1)))
    # broken by the first: lambda rises; kept by the second: it falls, slowly
    assert found.tolist() == pytest.approx(
        [30 * math.exp(0.5 * 2.999 / 2), 30 * math.exp(-0.5 * 0.001 / 2)], rel=1e-5
    )


def test_the_loss_of_metra_by_hand():
    estimates = estimates_of(sf.metra(), Sphere(2))
    estimators = {
        # phi is twice the first two numbers, as long as they are positive
        "w0": np.array([[[2.0, 0], [0, 2.0], [0, 0]]], np.float32), "b0": np.zeros((1, 1, 2)),
        "w1": np.eye(2, dtype=np.float32)[None], "b1": np.zeros((1, 1, 2)),
        "w2": np.eye(2, dtype=np.float32)[None], "b2": np.zeros((1, 1, 2)),
    }  # fmt: skip
    before, after = jnp.array([[0.1, 0.1, 0.0]]), jnp.array([[0.5, 0.4, 0.0]])
    seen = EstimatorBatch(before, before, after, jnp.ones((1, 1)), jnp.array([[1.0, 0.0]]))
    loss, room = estimates.loss(estimators, jnp.log(jnp.array([30.0])), seen)
    # change (0.8, 0.6), of length 1: along z 0.8, and no room
    assert room.tolist() == pytest.approx([0.0], abs=1e-5)
    assert float(loss) == pytest.approx(-0.8, abs=1e-4)


def test_layers_of_lsd_have_norm_one():
    estimates = estimates_of(sf.lsd(), n_skills=3)
    estimators = estimates.init(16, np.random.default_rng(0))
    vectors = init_vectors(estimators, np.random.default_rng(1))
    assert spectral_norms(estimators).max() > 1.2
    for _ in range(60):
        estimators, vectors = divide_by_norms(estimators, vectors)
    assert spectral_norms(estimators) == pytest.approx(np.ones((1, 3)), abs=0.02)
    x, y = np.random.default_rng(2).uniform(-1, 1, (2, 500, 3)).astype(np.float32)
    phi = [np.asarray(estimates.outputs(estimators, v, v))[0] for v in (x, y)]
    ratio = np.linalg.norm(phi[0] - phi[1], axis=1) / np.linalg.norm(x - y, axis=1)
    assert 0.05 < ratio.max() <= spectral_norms(estimators).prod() + 1e-6


def test_prototypes_are_far_apart():
    estimates = estimates_of(sf.focused(sf.diayn()), {"a": 3, "c": Sphere(2)})
    reached = np.random.default_rng(0).uniform(-1, 1, (2000, 3)).astype(np.float32)
    prototypes = choose_prototypes(estimates, reached, np.random.default_rng(1))
    assert np.sort(prototypes["prototypes"][0, :, 0]) == pytest.approx([-1, 0, 1], abs=0.02)
    assert not prototypes["prototypes"][0, :, 1:].any()  # of a alone
    outputs = prototype_outputs(estimates, prototypes, jnp.asarray(prototypes["prototypes"][0]))
    assert np.asarray(outputs[0]).argmax(axis=1).tolist() == [0, 1, 2]
    # c has one number, so its directions lie on a line, and opposite values own opposite ones
    ends = np.asarray(
        prototype_outputs(estimates, prototypes, jnp.array([[0, 0, 1.0], [0, 0, -1.0]]))[1]
    )
    middle = prototypes["mean"][1, 0, 2]
    assert ends[0] / (1 - middle) == pytest.approx(-ends[1] / (1 + middle), abs=1e-3)


def test_values_that_are_never_reached_are_drawn_from_the_box():
    estimates = estimates_of(sf.focused(sf.diayn()), {"a": 3, "c": 2})
    prototypes = choose_prototypes(
        estimates, np.zeros((10, 3), np.float32), np.random.default_rng(0)
    )
    assert len(np.unique(prototypes["prototypes"][0, :, 0])) == 3
