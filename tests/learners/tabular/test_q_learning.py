from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from probes import RandomWorld, corridor, tiny_mud
from problems import make_problem
from reference import PlainQ
from skill_sets import target_change
from skillfocus.errors import UserError
from skillfocus.learners.q_learning import QLearning, greedy_policy, paper_q_learning
from skillfocus.objectives.kinds import assign

FAST = {"estimator_rate_scale": 0.05, "epsilon": 0.7, "greedy_share": 0.4}
SWITCHES = [
    {}, {"hindsight": False}, {"explore_without_stopping": False},
    {"update_on_greedy_only": False},
    {"all_stop_values": False}, {"start_where_controllable": False}, {"sees_start": False},
    {"update_first": True}, {"update_first": True, "all_stop_values": False},
]  # fmt: skip


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda s: next(iter(s), "default"))
@pytest.mark.parametrize(
    "objective", [sf.focused(sf.vic()), sf.focused(sf.diayn()), sf.focused(sf.lsd()), sf.dusdi(sf.vic())],
    ids=lambda o: o.name,
)  # fmt: skip
def test_the_kernel_does_what_the_plain_version_does(objective, switch):
    compare(corridor(slip=0.1), objective, switch)


@pytest.mark.parametrize(
    "objective", [sf.focused(sf.vic()), sf.focused(sf.diayn())], ids=lambda o: o.name
)
def test_it_does_so_where_state_is_hidden(objective):
    compare(tiny_mud(), objective, {})


def compare(world, objective, switch):
    learner = QLearning(episodes=60, **{**FAST, **switch})
    problem = make_problem(
        sf.tabulate(world), objective, assign(world, 4), step_limit=6, world_id=world.id,
        start_where_controllable=learner.start_where_controllable, use_context=learner.sees_start,
    )  # fmt: skip
    for z in range(4):
        params = problem.initial_params(np.random.default_rng(3))
        twin = tuple(array.copy() for array in params)
        q = np.zeros((problem.mdp.n_states, 5, int(problem.index.widths[z])), np.float32)
        learner.runner(problem, params, z, q, np.random.default_rng(7))(60, np.float32(0.1))
        plain = PlainQ(problem, twin, z, learner)
        plain.episodes(60, 0.1, np.random.default_rng(7))
        assert q == pytest.approx(plain.table(), abs=2e-4)
        for fast, slow in zip(params, twin, strict=True):
            assert fast == pytest.approx(slow, abs=2e-4)
        assert abs(q).max() > 0.01


def test_it_finds_what_planning_finds_in_a_random_world():
    world = RandomWorld(5, sizes=(3, 2), n_actions=2)
    objective = sf.focused(sf.lsd(rate=1e-9), strength=1.0)  # a reward that stays as it is
    targets = {"v0": 2}
    planned = sf.discover(world, objective, seed=0, targets=targets, learner=sf.Planning(rounds=1))
    learned = sf.discover(
        world, objective, seed=0, targets=targets,
        learner=QLearning(episodes=60_000, decay=0.0002),
    )  # fmt: skip
    assert (planned.tabular.flat_actions != learned.tabular.flat_actions).mean() < 0.05


def test_plain_objectives_learn_without_memory():
    skills = sf.discover(corridor(), sf.vic(), seed=0, n_skills=3, learner=QLearning(episodes=500))
    assert skills.context_variables == ((), (), ())
    assert skills.tabular.index.widths.tolist() == [1, 1, 1]


def test_the_learned_prior_is_drawn_from():
    skills = sf.discover(
        corridor(), sf.focused(sf.vic(prior="learned")), seed=0, n_skills=4,
        learner=QLearning(episodes=500),
    )  # fmt: skip
    assert len(skills) == 4


@pytest.mark.slow
def test_it_fetches_and_returns_in_four_rooms(four_rooms):
    """The whole thing at a tenth of its default length, one tool."""
    skills = sf.discover(
        four_rooms, sf.focused(sf.vic()), seed=0, targets={"tool_2": 2},
        learner=QLearning(episodes=100_000, estimator_rate_scale=0.002),
    )  # fmt: skip
    effects = max(sf.metrics.side_effects(skills), key=target_change)
    assert effects.changes_target > 0.9
    assert effects.side_effects < 0.3


def test_greedy_policies_terminate_on_ties():
    q = np.array([[[0.0, 1.0], [0.0, 2.0], [0.0, 1.5]]], dtype=np.float32)
    assert greedy_policy(q).tolist() == [[2, 1]]


def test_the_paper_s_preset_departs_where_it_must():
    preset = paper_q_learning()
    assert (preset.alpha, preset.gamma) == (0.1, 0.99)
    assert not any(
        [preset.update_on_greedy_only, preset.all_stop_values, preset.start_where_controllable]
    )
    assert preset.sees_start
    assert preset.hindsight


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"gamma": -1.0}, "gamma"), ({"episodes": 0}, "episodes"), ({"alpha": 0.0}, "alpha"),
     ({"epsilon": 2.0}, "epsilon"), ({"greedy_share": 0.0}, "greedy_share")],
)  # fmt: skip
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(UserError, match=message):
        QLearning(**settings)
