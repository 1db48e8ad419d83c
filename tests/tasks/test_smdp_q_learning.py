from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import RandomWorld, corridor, tiny_mud
from reference import plain_episode
from skill_sets import LEFT, RIGHT, at_the_end, moody_skills, random_skills, walkers
from skillfocus.errors import UserError
from skillfocus.tasks.solving import (
    Learning,
    SMDPQLearning,
    choose,
    episode,
    options_of,
    solve,
    task_arrays,
    workspace_of,
)
from skillfocus.tasks.task import make_task, optimum, task_of

ALPHA, GAMMA = 0.5, 0.9


def one_episode(
    skills, q, max_episode_steps, intra_option=False, learning=True, epsilon=0.0, seed=0
):
    task = make_task(skills.mdp, "end", (0, 0), max_episode_steps, at_the_end)
    options = options_of(skills.mdp, skills)
    return episode(
        options, task_arrays(task), Learning(learning, ALPHA, GAMMA, epsilon, intra_option, False), q,
        workspace_of(skills.mdp, options), np.random.default_rng(seed),
    )  # fmt: skip


def number(skills, cell, tool):
    return skills.mdp.number((cell, tool))


def test_an_update_by_hand():
    """The first skill walks the two steps to the end: 0.1 + 0.5 (0.9 - 0.1) = 0.5."""
    skills = walkers()
    q = np.zeros((6, 6))
    q[0, 0] = 0.1
    assert one_episode(skills, q, max_episode_steps=10) == (2, number(skills, 2, 1))
    assert q[0, 0] == pytest.approx(0.5)
    assert np.count_nonzero(q) == 1


def test_steps_inside_a_skill_teach_the_moves_too():
    """(0, 0) to the right: 0.5 * 0.9 * 0; then (1, 0) to the right: 0.5 * 1."""
    skills = walkers()
    q = np.zeros((6, 6))
    q[0, 0] = 0.1
    one_episode(skills, q, max_episode_steps=10, intra_option=True)
    assert q[number(skills, 1, 0), 2 + RIGHT] == pytest.approx(0.5)
    assert q[0, 2 + RIGHT] == 0.0
    q[0, 0] = 1.0
    one_episode(skills, q, max_episode_steps=10, intra_option=True)
    assert q[0, 2 + RIGHT] == pytest.approx(0.5 * 0.9 * 0.5)
    assert q[number(skills, 1, 0), 2 + RIGHT] == pytest.approx(0.75)


def test_a_move_is_a_choice_of_one_step():
    """0.2 + 0.5 (0.9 * 0.4 - 0.2): what follows is looked up in the second cell."""
    skills = walkers()
    q = np.zeros((6, 6))
    q[0, 2 + RIGHT] = 0.2
    q[number(skills, 1, 0), 2 + RIGHT] = 0.4
    assert one_episode(skills, q, max_episode_steps=1) == (1, number(skills, 1, 0))
    assert q[0, 2 + RIGHT] == pytest.approx(0.28)


def test_cut_short_is_not_done():
    """One step allowed: the skill is cut in the second cell, whose value 0.4 still counts."""
    skills = walkers()
    q = np.zeros((6, 6))
    q[0, 0] = 0.2
    q[number(skills, 1, 0), 5] = 0.4
    assert one_episode(skills, q, max_episode_steps=1) == (1, number(skills, 1, 0))
    assert q[0, 0] == pytest.approx(0.2 + 0.5 * (0.9 * 0.4 - 0.2))


def test_a_skill_that_does_nothing_costs_a_step():
    skills = walkers()
    q = np.zeros((6, 6))
    q[0, 1] = 1.0
    assert one_episode(skills, q.copy(), max_episode_steps=7, learning=False) == (7, 0)
    one_episode(skills, q, max_episode_steps=1)
    assert q[0, 1] == pytest.approx(1.0 + 0.5 * (0.9 - 1.0))


def test_a_skill_ends_at_its_own_limit():
    skills = walkers(limit=1)
    q = np.zeros((6, 6))
    q[0, 0] = 0.2
    q[number(skills, 1, 0), 0] = 0.2
    one_episode(skills, q, max_episode_steps=10)
    assert q[number(skills, 1, 0), 0] == pytest.approx(0.2 + 0.5 * (1 - 0.2))
    assert q[0, 0] == pytest.approx(0.2 + 0.5 * (0.9 * 0.2 - 0.2))


def test_nothing_is_learned_without_learning():
    skills = walkers()
    q = np.zeros((6, 6))
    q[0, 0] = 0.1
    before = q.copy()
    one_episode(skills, q, max_episode_steps=10, learning=False, intra_option=True)
    assert (q == before).all()


@given(st.integers(0, 300), st.booleans())
def test_episodes_are_the_plain_version_s(seed, intra_option):
    world = RandomWorld(seed, sizes=(4, 3), n_actions=3)
    skills = moody_skills(seed, world) if seed % 2 else random_skills(seed, world)
    task = make_task(skills.mdp, "reach", (0, 0), 15, lambda state: state["v0"] == 3)
    fast, slow = (np.zeros((skills.mdp.n_states, 6)) for _ in range(2))
    rng, again = (np.random.default_rng(seed) for _ in range(2))
    options, arrays = options_of(skills.mdp, skills), task_arrays(task)
    workspace = workspace_of(skills.mdp, options)
    for epsilon in (1.0, 0.8, 0.5, 0.2, 0.0):
        learning = Learning(True, ALPHA, GAMMA, epsilon, intra_option, False)
        ended = episode(options, arrays, learning, fast, workspace, rng)
        expected = plain_episode(skills, slow, task, ALPHA, GAMMA, epsilon, intra_option, again)
        assert ended == expected
        assert fast == pytest.approx(slow, abs=1e-15)
        assert rng.random() == again.random()


def test_ties_are_broken_evenly(rng):
    values = np.array([0.5, 1.0, 0.2, 1.0, 1.0])
    counts = np.bincount([choose(values, False, rng) for _ in range(3000)], minlength=5)
    assert counts[[0, 2]].tolist() == [0, 0]
    assert counts[[1, 3, 4]] == pytest.approx(1000, abs=120)
    assert {choose(values, True, rng) for _ in range(20)} == {1}


def test_with_first_ties_an_agent_without_reward_repeats_its_first_option():
    skills = walkers(slip=0.0)
    settings = SMDPQLearning(
        episodes=40, epsilon_decay=100.0, evaluations=1, final_runs=5, ties="first"
    )
    task = make_task(skills.mdp, "end", (0, 0), 30, at_the_end)
    stuck = solve(skills.mdp, task, None, seed=0, settings=settings)
    lucky = solve(
        skills.mdp, task, None, seed=0, settings=replace(settings, ties="random", episodes=2000)
    )
    assert stuck.true_return[-1] == 0
    assert lucky.true_return[-1] == 1


def test_an_agent_may_have_skills_alone():
    skills = walkers(slip=0.1)
    task = make_task(skills.mdp, "end", (0, 0), 30, at_the_end)
    settings = SMDPQLearning(episodes=500, epsilon_decay=0.02, primitives=False)
    solution = solve(skills.mdp, task, skills, seed=0, settings=settings)
    assert solution.q.shape[1] == len(skills)
    assert solution.true_return[-1] == 1
    with pytest.raises(UserError, match="an agent without skills needs primitives=True"):
        solve(skills.mdp, task, None, seed=0, settings=settings)
    with pytest.raises(UserError, match="set primitives=True"):
        SMDPQLearning(primitives=False, intra_option=True)
    with pytest.raises(UserError, match="ties must be 'first' or 'random', got 'last'"):
        SMDPQLearning(ties="last")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("intra_option", [False, True])
@pytest.mark.parametrize("with_skills", [False, True])
def test_a_probe_is_solved_as_well_as_can_be(intra_option, with_skills):
    skills = walkers(slip=0.1)
    task = make_task(skills.mdp, "end", (0, 0), 30, at_the_end)
    settings = SMDPQLearning(
        episodes=500,
        epsilon_decay=0.02,
        intra_option=intra_option,
        evaluation_runs=400,
        evaluations=5,
    )
    found = solve(skills.mdp, task, skills if with_skills else None, seed=0, settings=settings)
    best, _ = optimum(skills.mdp, task)
    assert found.optimum_steps == best
    assert found.steps[-1] == pytest.approx(best, abs=0.15)
    assert found.episodes.tolist() == [100, 200, 300, 400, 500]
    assert found.true_return[-1] == 1.0


def test_judging_does_not_disturb_learning():
    skills = walkers(slip=0.3)
    task = make_task(skills.mdp, "end", (0, 0), 30, at_the_end)
    much, little = (
        solve(
            skills.mdp,
            task,
            skills,
            seed=3,
            settings=SMDPQLearning(episodes=50, evaluations=n, evaluation_runs=n, final_runs=n),
        )
        for n in (50, 1)
    )
    assert (much.q == little.q).all()
    again = solve(skills.mdp, task, skills, seed=3, settings=SMDPQLearning(episodes=50))
    other = solve(skills.mdp, task, skills, seed=4, settings=SMDPQLearning(episodes=50))
    assert (again.q == much.q).all()
    assert (other.q != much.q).any()


def test_the_step_size_falls():
    """So fast that the first episode alone teaches: then further ones change nothing."""
    world = corridor()
    mdp = sf.tabulate(world)
    task = task_of(world, mdp)

    def learned(episodes, alpha_decay):
        settings = SMDPQLearning(
            episodes=episodes, alpha_decay=alpha_decay, evaluations=1, final_runs=1
        )
        return solve(mdp, task, None, seed=0, settings=settings).q

    np.testing.assert_array_equal(learned(40, 1e4), learned(1, 0.0))
    assert (learned(40, 0.0) != learned(40, 0.01)).any()
    with pytest.raises(UserError, match=r"alpha_decay is -1\.0; it must be 0 or more"):
        SMDPQLearning(alpha_decay=-1.0)


def test_the_proxy_teaches_what_it_pays_for():
    """The proxy is content with the second cell, the true task is not."""
    skills = walkers(slip=0.0)
    task = make_task(
        skills.mdp, "t", (0, 0), 20, at_the_end, lambda state: state["position"] != (1, 1)
    )
    settings = SMDPQLearning(episodes=300, epsilon_decay=0.02)
    by_proxy = solve(skills.mdp, task, None, seed=0, reward="proxy", settings=settings)
    assert (by_proxy.proxy_return[-1], by_proxy.true_return[-1]) == (1.0, 0.0)
    by_truth = solve(skills.mdp, task, None, seed=0, settings=settings)
    assert (by_truth.proxy_return[-1], by_truth.true_return[-1]) == (1.0, 1.0)
    assert (by_proxy.steps[-1], by_truth.steps[-1]) == (1.0, 2.0)


@pytest.mark.slow
def test_focused_skills_solve_four_rooms_where_moves_do_not(
    four_rooms, four_rooms_table, focused_vic
):
    task = task_of(four_rooms, four_rooms_table)
    settings = SMDPQLearning(intra_option=True, evaluations=5)
    with_skills = solve(four_rooms_table, task, focused_vic, seed=0, settings=settings)
    alone = solve(four_rooms_table, task, None, seed=0, settings=settings)
    assert with_skills.steps[-1] < 70
    assert alone.steps[1] == 320


def test_settings_and_skills_that_do_not_fit_are_refused(four_rooms_table):
    skills = walkers()
    task = make_task(skills.mdp, "end", (0, 0), 5, at_the_end)
    with pytest.raises(UserError, match="another world"):
        solve(four_rooms_table, task, skills, seed=0)
    with pytest.raises(UserError, match="episodes is 0; it must be at least 1"):
        SMDPQLearning(episodes=0)
    with pytest.raises(UserError, match=r"alpha must be in \(0, 1\], got 0.0"):
        SMDPQLearning(alpha=0.0)
    with pytest.raises(UserError, match="the reward must be 'true' or 'proxy', got 'both'"):
        solve(skills.mdp, task, skills, seed=0, reward="both")


def test_hidden_marks_last_from_option_to_option():
    """Out of the mud to the left, back, and to the left again: the same cell counts once."""
    world = tiny_mud(slip=0.0)
    mdp = sf.tabulate(world)
    skills = random_skills(0, world)
    task = make_task(mdp, "t", (2, 1, 0, 0), 3, lambda state: state["treasure"])
    q = np.zeros((mdp.n_states, 3 + mdp.n_actions))
    for state, action in (((2, 1, 0, 0), LEFT), ((1, 1, 0, 1), RIGHT), ((2, 1, 0, 1), LEFT)):
        q[mdp.number(state), 3 + action] = 1.0
    options = options_of(mdp, skills)
    for seed in range(5):
        steps, last = episode(
            options, task_arrays(task), Learning(), q, workspace_of(mdp, options),
            np.random.default_rng(seed),
        )  # fmt: skip
        assert (steps, mdp.state(int(last))) == (3, (1, 1, 0, 1))


def test_a_task_that_is_done_where_it_starts():
    """The first option still runs: a skill that stops at once pays gamma, by the update rule."""
    skills = walkers()
    task = make_task(skills.mdp, "start", (0, 0), 5, lambda state: state["position"] == (1, 1))
    q = np.zeros((6, 6))
    q[0, 1] = 1.0
    options = options_of(skills.mdp, skills)
    ended = episode(
        options, task_arrays(task), Learning(True, ALPHA, GAMMA, 0.0, False, False), q,
        workspace_of(skills.mdp, options), np.random.default_rng(0),
    )  # fmt: skip
    assert ended == (1, 0)
    assert q[0, 1] == pytest.approx(1.0 + ALPHA * (GAMMA - 1.0))


def test_progress_is_reported_between_parts_that_learn_the_same(monkeypatch):
    skills = walkers()
    task = make_task(skills.mdp, "end", (0, 0), 20, at_the_end)
    settings = SMDPQLearning(episodes=100, evaluations=3)
    whole = solve(skills.mdp, task, skills, seed=0, settings=settings)
    monkeypatch.setattr("skillfocus.tasks.solving.EPISODES_AT_ONCE", 20)
    said = []
    parts = solve(
        skills.mdp, task, skills, seed=0, settings=settings, progress=lambda *now: said.append(now)
    )
    assert (parts.q == whole.q).all()
    assert (parts.steps == whole.steps).all()
    assert parts.episodes.tolist() == whole.episodes.tolist() == [33, 66, 100]
    assert [fraction for fraction, _ in said] == [0.0, 0.2, 0.33, 0.53, 0.66, 0.86]
    assert said[1][1] == "episode 20 of 100"


def test_episodes_that_no_number_can_count_are_refused():
    with pytest.raises(UserError, match="episodes must be up to 1,000,000,000"):
        SMDPQLearning(episodes=10**30)
