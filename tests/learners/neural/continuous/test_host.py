"""Actors in worlds that are stepped on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

import skillfocus as sf
from skillfocus.errors import UserError
from skillfocus.learners.actor.rewards import Fixed
from skillfocus.learners.actor.training import HostEnvironments, init_training, make_trainer
from skillfocus.learners.problem import make_problem
from skillfocus.skills.network import init_network
from skillfocus.spaces import Space, Variable
from skillfocus.worlds.host import HostStep, HostWorld


class Counter:
    """Environments that count their steps; the first one's episodes end after three."""

    def __init__(self, n):
        self.counts = np.zeros((n, 2), np.float32)
        self.is_closed = False

    def reset_batch(self, seed):
        self.counts[:] = 0
        return self.counts.copy()

    def step_batch(self, actions):
        self.counts += 1
        last, over = self.counts.copy(), np.zeros(len(self.counts), bool)
        over[0] = self.counts[0, 0] == 3
        self.counts[over] = 0
        return HostStep(last, over, np.zeros_like(over), self.counts.copy())

    def close(self):
        self.is_closed = True


class Counting(HostWorld):
    id = "Counting-v0"
    space = Space(tuple(Variable(name, low=(0.0,), high=(10.0,)) for name in "ab"))
    actions, action_low, action_high = ("push",), (-1.0,), (1.0,)
    step_limit = 5

    def make_batch(self, n):
        return Counter(n)

    def values(self, observations):
        return observations


def test_what_follows_an_episode_s_end_does_not_count():
    problem = make_problem(Counting(), sf.focused(sf.diayn()), targets={"a": 2})
    trainer = make_trainer(sf.Actor(environments=2, hidden=4), problem)
    actor = init_network([trainer.model.n_inputs, 4, 4, 2], np.random.default_rng(0))
    fixed = Fixed(jnp.zeros(2), jnp.ones(2), {}, jnp.float32(0), jnp.ones(()))
    with HostEnvironments(trainer, np.random.default_rng(0)) as environments:
        done = environments.round(jax.random.key(0), actor, fixed)
        assert done.values[:, 0, 0].tolist() == [0, 1, 2, 3, 3, 3]
        assert done.counts[:, 0].tolist() == [1, 1, 1, 0, 0]
        assert done.values[:, 1, 0].tolist() == [0, 1, 2, 3, 4, 5]
        assert done.counts[:, 1].all()
        # the next skill begins where the environments are
        again = environments.round(jax.random.key(1), actor, fixed)
        assert again.values[0, :, 0].tolist() == [2, 5]
    assert environments.batch.is_closed


def test_the_noise_of_actions_persists():
    problem = make_problem(Counting(), sf.focused(sf.diayn()), targets={"a": 2})
    fixed = Fixed(jnp.zeros(2), jnp.ones(2), {}, jnp.float32(0), jnp.ones(()))
    correlation = []
    for noise_correlation in (0.0, 0.9):
        actor = sf.Actor(environments=200, hidden=4, noise_correlation=noise_correlation)
        trainer = make_trainer(actor, problem)
        net = init_network([trainer.model.n_inputs, 4, 4, 2], np.random.default_rng(0))
        net = {name: 0 * array for name, array in net.items()}  # mean 0, the same deviation
        with HostEnvironments(trainer, np.random.default_rng(0)) as environments:
            u = np.asarray(environments.round(jax.random.key(0), net, fixed).u)[:, :, 0]
        correlation.append(np.corrcoef(u[:-1].ravel(), u[1:].ravel())[0, 1])
        assert u.std() == pytest.approx(u[0].std(), rel=0.15)
    assert correlation == pytest.approx([0.0, 0.9], abs=0.1)


@pytest.mark.slow
def test_the_penalty_has_its_strength():
    problem = make_problem(Counting(), sf.focused(sf.diayn()), targets={"a": 2})
    actor = sf.Actor(
        steps=20, environments=2, hidden=4, estimator_hidden=4, penalty_delay=0.0, penalty_ramp=0.0
    )
    penalties = []
    for strength in (0.0, 2.0):
        with HostEnvironments(make_trainer(actor, problem), np.random.default_rng(0)) as counters:
            carry, fixed = init_training(
                counters.trainer, np.random.default_rng(0), strength, counters
            )
            carry, _ = counters.run(carry, fixed)
            _, report = counters.run(carry, fixed)
        penalties.append(-float(report["rewards"][-1]))
    assert penalties[0] == 0
    assert penalties[1] > 0


@pytest.mark.slow
def test_a_gymnasium_environment_trains():
    world = sf.make(
        "gymnasium:Pendulum-v1", variables={"angle": [0, 2], "velocity": 2}, step_limit=10
    )
    learner = sf.Actor(steps=3 * 4 * 10, environments=4, batch=40, hidden=8)
    one, other = (
        sf.discover(
            world, sf.focused(sf.diayn()), seed=0, learner=learner,
            targets={"angle": 2, "velocity": 2},
        )
        for _ in range(2)
    )  # fmt: skip
    assert one == other
    effects = sf.metrics.side_effects(one, "settled", sample=4, rng=np.random.default_rng(0))
    assert [each.targets[0] for each in effects] == ["angle", "angle", "velocity", "velocity"]


def test_credit_needs_a_world_in_jax():
    problem = make_problem(Counting(), sf.focused(sf.diayn()), targets={"a": 2})
    with pytest.raises(UserError, match="Counting-v0 is stepped outside JAX, so the influence"):
        sf.Actor(credit=1.0).check(problem)
