from __future__ import annotations

import math
from typing import cast

import numpy as np
import pytest

import skillfocus as sf
from probes import RandomWorld, corridor
from problems import make_problem
from skillfocus.learners.q_learning import literal_q_learning
from skillfocus.objectives.kinds import assign
from skillfocus.reference.algorithm_1 import focused_vic, greedy, penalty, update


class KernelDraws:
    """The kernel's draws, which run the skills in blocks: a coin, then the start."""

    def __init__(self, seeds, block):
        self.sources = [np.random.default_rng(seed) for seed in seeds]
        self.block, self.calls = block, 0

    @property
    def skill(self):
        return (self.calls - 1) // 2 // self.block

    def integers(self, n):
        self.calls += 1
        if self.calls % 2 == 0:
            return self.skill
        self.random()  # whether the episode is greedy
        return int(self.random() * n)

    def random(self):
        return self.sources[self.skill].random()


@pytest.mark.parametrize("seed", range(4))
def test_the_kernel_with_the_paper_s_settings_is_algorithm_1(seed):
    """In worlds whose variables all return, as what changes for good is paid when it changes."""
    world = RandomWorld(seed, sizes=(3, 2), n_actions=2)
    mdp = sf.tabulate(world)
    assert mdp.reversible.all()
    learner = literal_q_learning()
    learner = type(learner)(**{**vars(learner), "update_first": True})
    problem = make_problem(
        mdp, sf.focused(sf.vic(random_start=False)), assign(world, targets={"v0": 3}),
        step_limit=5, world_id=world.id, start_where_controllable=False,
    )  # fmt: skip
    params = problem.initial_params(np.random.default_rng(0))
    q, d = focused_vic(
        mdp, [0, 0, 0], problem.skills[0].starts.tolist(), 600,
        cast(np.random.Generator, KernelDraws((5, 6, 7), 200)),
        kappa=0.0, max_steps=5,
    )  # fmt: skip
    for z, draws in enumerate((5, 6, 7)):
        shape = mdp.n_states, mdp.n_actions + 1, int(problem.index.widths[z])
        learned = np.zeros(shape, np.float32)
        runner = learner.runner(problem, params, z, learned, np.random.default_rng(draws))
        runner(200, np.float32(0.1))
        for start, s_0 in enumerate(problem.skills[z].starts):
            context = problem.skills[z].context.of_state[s_0]
            assert learned[:, :, context] == pytest.approx(q[z, start], abs=1e-4)
        assert abs(learned).max() > 0.1
    assert np.exp(params[0][:, :-1]) == pytest.approx(d[0], abs=1e-4)


def test_one_episode_by_hand():
    """Two skills in the corridor; the only episode never moves, as greedy ties terminate: d moves
    from 1/2 to 0.3 / 2 + 0.7 = 0.85, and terminating earns a tenth of log 0.85 + log 2. So the last
    state looks like success to whichever skill ended there: by the letter, standing still pays."""
    mdp = sf.tabulate(corridor())
    q, d = focused_vic(mdp, [1, 1], [0], 1, np.random.default_rng(0), epsilon=0.0)
    (z,) = np.flatnonzero(np.abs(q).sum(axis=(1, 2, 3)))
    assert d[1][:, 0, 0] == pytest.approx([0.85, 0.15] if z == 0 else [0.15, 0.85])
    assert d[1][:, 1, 0] == pytest.approx([0.5, 0.5])
    assert q[z, 0, 0, -1] == pytest.approx(0.1 * math.log(2 * 0.85))
    assert np.count_nonzero(q) == 1


def test_penalty_and_update_by_hand():
    """Two cells of a corridor of three: half of the largest distance; the tool is the target."""
    mdp = sf.tabulate(corridor())
    s_0, s_t = mdp.number((0, 0)), mdp.number((1, 1))
    assert penalty(mdp, s_0, s_t, 1, 4.0) == pytest.approx(4.0 * 0.5)
    assert penalty(mdp, s_0, s_t, 0, 4.0) == pytest.approx(4.0)
    d = np.full((2, 1, 1), 0.5)
    for _ in range(8):
        update(d, 0, 0, 0, 0.7)
    assert d[:, 0, 0] == pytest.approx([1 - 0.5 * 0.3**8, 1e-4])
    assert greedy(np.array([0.0, 1.0, 1.0])) == 2
    assert greedy(np.array([0.0, 2.0, 1.0])) == 1
