from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import RandomWorld, corridor, tiny_mud
from reference import plain_follow
from skill_sets import LEFT, RIGHT, STOP, moody_skills, random_skills, walkers
from skillfocus.rollout import (
    apply_action,
    draw,
    draw_context,
    follow,
    likeliest_successors,
    mdp_arrays,
    most_likely_path,
    no_skills,
    reset_marks,
    run_many,
)


def follow_skill(skills, z, start, limit, random, over=None, mode=0, marked=None):
    """`follow` with fresh arrays: (states, actions)."""
    path, actions = np.full(limit + 1, -1, np.int32), np.full(limit, -1, np.int32)
    marked = np.zeros(skills.mdp.n_marks, np.uint8) if marked is None else marked
    context = int(skills.contexts[z, start]) * int(skills.n_modes[z]) + mode
    steps = follow(
        mdp_arrays(skills.mdp), skills.arrays, z, start, context, limit, over, marked, random, path,
        actions,
    )  # fmt: skip
    assert (path[steps + 1 :] == -1).all()
    assert (actions[steps:] == -1).all()
    return path[: steps + 1].tolist(), actions[:steps].tolist()


def numbers(mdp, *states):
    return [mdp.number(state) for state in states]


def test_a_skill_by_hand():
    """Three cells in a row, the tool in the third: right, right, then against the wall."""
    skills = walkers(actions=(RIGHT, STOP, LEFT))
    mdp, rng = skills.mdp, np.random.default_rng(0)
    walk = numbers(mdp, (0, 0), (1, 0), (2, 1), (2, 1), (2, 1))
    assert follow_skill(skills, 0, walk[0], 4, rng) == (walk, [RIGHT] * 4)
    assert follow_skill(skills, 0, walk[0], 0, rng) == (walk[:1], [])
    assert follow_skill(skills, 1, walk[0], 4, rng) == (walk[:1], [])
    back = numbers(mdp, (1, 1), (0, 1), (0, 1))
    assert follow_skill(skills, 2, back[0], 2, rng) == (back, [LEFT, LEFT])


def test_entering_a_state_that_is_over_ends_the_rollout():
    skills = walkers()
    over = skills.mdp.values[:, 0] == 1
    path, actions = follow_skill(skills, 0, 0, 6, np.random.default_rng(0), over)
    assert path == numbers(skills.mdp, (0, 0), (1, 0))
    assert actions == [RIGHT]
    # starting in such a state does not
    path, _ = follow_skill(skills, 0, path[-1], 2, np.random.default_rng(0), over)
    assert path == numbers(skills.mdp, (1, 0), (2, 1), (2, 1))


WORLDS = st.one_of(
    st.builds(
        RandomWorld, st.integers(0, 200), st.just((4, 3)), n_actions=st.just(3),
        one_way=st.booleans(),
    ),
    st.builds(tiny_mud, st.sampled_from([0.0, 0.1, 0.5])),
)  # fmt: skip


@given(WORLDS, st.integers(0, 10_000), st.booleans(), st.integers(0, 12))
def test_the_kernel_is_the_plain_loop(world, seed, moody, limit):
    """States, actions, marks and the draws left are those of the loop in plain Python, from a
    generator and from an array."""
    skills = moody_skills(seed, world) if moody else random_skills(seed, world)
    mdp, rng = skills.mdp, np.random.default_rng(seed)
    z, start = int(rng.integers(len(skills))), int(rng.integers(mdp.n_states))
    mode = int(rng.integers(skills.n_modes[z]))
    context = int(skills.contexts[z, start]) * int(skills.n_modes[z]) + mode
    over = rng.random(mdp.n_states) < 0.2 if seed % 2 else None
    before = (rng.random(mdp.n_marks) < 0.5).astype(np.uint8)

    fast, slow = (np.random.default_rng(seed + 1) for _ in range(2))
    marked, marks = before.copy(), set(np.flatnonzero(before).tolist())
    got = follow_skill(skills, z, start, limit, fast, over, mode, marked)
    wanted = plain_follow(skills, z, start, context, limit, over, marks, lambda t: slow.random())
    assert got == wanted
    assert set(np.flatnonzero(marked).tolist()) == marks
    assert fast.random() == slow.random(), "one draw per step, and no more"

    uniforms = rng.random(limit + 1)
    marked, marks = before.copy(), set(np.flatnonzero(before).tolist())
    got = follow_skill(skills, z, start, limit, uniforms, over, mode, marked)
    wanted = plain_follow(skills, z, start, context, limit, over, marks, lambda t: uniforms[t])
    assert got == wanted


@given(st.integers(0, 300), st.booleans())
def test_runs_are_rollouts_one_after_another(seed, hidden):
    world = tiny_mud() if hidden else RandomWorld(seed, sizes=(4, 3), n_actions=3)
    skills = moody_skills(seed, world)
    mdp, picks = skills.mdp, np.random.default_rng(seed)
    chosen, starts = picks.integers(3, size=8), picks.integers(mdp.n_states, size=8)
    fast, slow = (np.random.default_rng(seed) for _ in range(2))
    paths, steps = run_many(
        mdp_arrays(mdp), skills.arrays, chosen, starts, 5, mdp.n_marks, fast, None
    )
    for z, start, path, n in zip(chosen.tolist(), starts.tolist(), paths, steps, strict=True):
        marks = set()
        while len(marks) < mdp.marks_in[start]:
            marks.add(int(slow.random() * mdp.n_marks))
        modes = int(skills.n_modes[z])
        context = int(skills.contexts[z, start]) * modes
        context += int(slow.random() * modes) if modes > 1 else 0
        wanted, _ = plain_follow(skills, z, start, context, 5, None, marks, lambda t: slow.random())
        assert path.tolist() == wanted + wanted[-1:] * (6 - len(wanted))
        assert n == len(wanted) - 1
    assert fast.random() == slow.random()


def test_modes_are_drawn_evenly_and_only_where_there_are_several(rng):
    skills = moody_skills(0, corridor())  # 1, 3 and 2 modes
    start = skills.mdp.number((1, 0))
    untouched = np.random.default_rng(7)
    assert draw_context(skills.arrays, 0, start, untouched) == skills.contexts[0, start]
    assert untouched.random() == np.random.default_rng(7).random()
    first = 3 * skills.contexts[1, start]
    drawn = np.array([draw_context(skills.arrays, 1, start, rng) for _ in range(3000)])
    counts = np.bincount(drawn - first)
    assert counts == pytest.approx([1000] * 3, abs=120)
    uniforms = np.array([0.7, 0.1])
    assert draw_context(skills.arrays, 1, start, uniforms) == first + 2
    assert [draw(uniforms, t) for t in (0, 1)] == [0.7, 0.1]


def test_hidden_marks_are_set_once():
    """Leaving the mud to the left marks the cell; the second time the count stays."""
    mdp = sf.tabulate(tiny_mud(slip=0.0))
    arrays, marked = mdp_arrays(mdp), np.zeros(2, np.uint8)
    muddy = mdp.number((2, 1, 0, 0))
    new, _ = apply_action(arrays, muddy, LEFT, marked, 0.5)
    assert (mdp.state(new), marked.sum()) == ((1, 1, 0, 1), 1)
    again, _ = apply_action(arrays, muddy, LEFT, marked, 0.5)
    assert (mdp.state(again), marked.sum()) == ((1, 1, 0, 0), 1)
    reset_marks(mdp.marks_in, new, marked, np.random.default_rng(0))
    assert marked.sum() == 1
    reset_marks(mdp.marks_in, muddy, marked, np.random.default_rng(0))
    assert marked.sum() == 0


def plain_likely_path(skills, z, start, mode):
    mdp, path = skills.mdp, [start]
    policy, context = skills.policy_of(z, mode), skills.contexts[z, start]
    for _ in range(skills.step_limit):
        action = policy[path[-1], context]
        if action == mdp.n_actions:
            break
        outcome = mdp.probabilities[path[-1], action].argmax()
        path.append(int(mdp.successors[path[-1], action, outcome]))
    return path


@given(WORLDS, st.integers(0, 1000))
def test_the_most_likely_path_takes_every_likeliest_outcome(world, seed):
    skills = moody_skills(seed, world)
    for z in range(3):
        for mode in range(skills.n_modes[z]):
            for start in range(0, skills.mdp.n_states, 3):
                got = most_likely_path(skills.mdp, skills.arrays, z, start, mode, skills.step_limit)
                assert got.tolist() == plain_likely_path(skills, z, start, mode)


def test_likeliest_outcomes_by_hand():
    mdp = sf.tabulate(corridor(slip=0.3))
    left_end = mdp.number((0, 0))
    assert likeliest_successors(mdp)[left_end].tolist() == [
        left_end, mdp.number((1, 0)), left_end, left_end,
    ]  # fmt: skip


def test_an_empty_set_of_skills_has_none():
    policy = no_skills()
    assert len(policy.n_modes) == len(policy.widths) == len(policy.offsets) - 1 == 0
