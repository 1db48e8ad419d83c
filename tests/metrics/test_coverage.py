from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import RandomWorld, corridor, tiny_mud
from skill_sets import make_skills, matrices, random_skills
from skillfocus.errors import UserError
from skillfocus.metrics.coverage import area, chain_coverage, coverage
from skillfocus.worlds.explored import ExploredWorld, ModelOutcome

RIGHT, STOP = 1, 4


def right_or_stay(slip: float) -> sf.Skills:
    """Two hand-written skills for the corridor: one step to the right, and none at all."""
    world = corridor(slip=slip, step_limit=1)
    policy = np.repeat([RIGHT, STOP], 6).astype(np.uint8)
    return make_skills(world, sf.tabulate(world), (("position",),) * 2, ((), ()), policy, 1)


def plain_coverage(skills, starts, lengths):
    moves = matrices(skills)
    q = 1 - np.eye(skills.mdp.n_states)
    rows = []
    for _ in range(lengths):
        q = np.prod([p @ q for p in moves], axis=0)
        rows.append((1 - q[starts]).mean(axis=1))
    return np.array(rows)


def test_coverage_by_hand():
    """Slip 0.3, from the middle cell. One skill: (2, 1) 0.7, (0, 0) 0.1, (1, 0) for sure: 1.8 of 6.
    Two: (1, 0) for sure; (2, 1) 1 - 0.3 (0.1 + 0.2 * 0.3) = 0.952; (0, 0) 1 - 0.9 (0.7 + 0.2 *
    0.9) = 0.208; (1, 1) by a slip back, 0.7 * 0.1 = 0.07; together 2.23 of 6."""
    skills = right_or_stay(slip=0.3)
    found = coverage(skills, 2)
    assert found.exact
    assert [skills.mdp.state(s) for s in found.starts] == [(0, 0), (1, 0), (2, 0)]
    assert found.fractions[:, 1] == pytest.approx([1.8 / 6, 2.23 / 6])


def test_the_area_is_the_trapezoid_s():
    assert area([1.0, 3.0, 2.0]) == pytest.approx(2.0 + 2.5)
    assert area([0.01, 0.06, 0.36, 0.94, 0.98]) == pytest.approx(1.855)  # the paper's 1.85
    assert area([0.5]) == 0.0


@given(st.integers(0, 1000), st.integers(1, 3))
def test_exact_coverage_is_the_plain_recursion(seed, lengths):
    skills = random_skills(seed, RandomWorld(seed, sizes=(3, 3), one_way=True))
    found = coverage(skills, lengths)
    assert found.fractions == pytest.approx(plain_coverage(skills, found.starts, lengths), abs=1e-5)


@given(st.integers(0, 300))
def test_chains_of_known_matrices_cover_what_skills_do(seed):
    skills = random_skills(seed, RandomWorld(seed, sizes=(3, 2)))
    starts = np.arange(skills.mdp.n_states)
    got = chain_coverage(list(matrices(skills)), starts, 2)
    assert got == pytest.approx(plain_coverage(skills, starts, 2), abs=1e-5)


def test_without_chance_a_tree_is_exact(rng):
    skills = right_or_stay(slip=0.0)
    exact = coverage(skills, 3)
    drawn = coverage(skills, 3, sample=3, rng=rng)
    assert not drawn.exact
    places = [exact.starts.tolist().index(s) for s in drawn.starts]
    assert drawn.fractions == pytest.approx(exact.fractions[:, places])
    # from the left: {0}, {0, 1}, {0, 1, 2 with the tool}, then nothing new
    left = exact.starts.tolist().index(skills.mdp.number((0, 0)))
    assert exact.fractions[:, left] * 6 == pytest.approx([2, 3, 3])


def test_trees_average_to_the_exact_value(rng):
    world = RandomWorld(5, sizes=(4, 3), one_way=True)
    skills = random_skills(5, world)
    exact = coverage(skills, 3)
    trees = [coverage(skills, 3, sample=len(exact.starts), rng=rng) for _ in range(400)]
    curves = np.array([tree.curve for tree in trees])
    error = curves.std(axis=0, ddof=1) / 20
    assert np.all(np.abs(curves.mean(axis=0) - exact.curve) < 4 * error + 1e-6)


def test_hidden_marks_last_from_skill_to_skill(rng):
    """Walking from the second cell into the mud and back marks that cell once, however often."""
    world = tiny_mud(slip=0.0)
    mdp = sf.tabulate(world)
    policy = np.empty((2, mdp.n_states), np.uint8)
    position = mdp.values[:, mdp.space.index("position")]
    policy[0] = np.where(position < 2, 1, 3)  # into the mud, and out of it again
    policy[1] = STOP
    skills = make_skills(world, mdp, (("position",),) * 2, ((), ()), policy.ravel(), 2)
    found = coverage(skills, 4, sample=20, rng=rng)
    assert not found.exact
    from_second = np.isin(found.starts, np.flatnonzero(position == 1))
    assert from_second.any()
    assert found.fractions[:, from_second] * mdp.n_states == pytest.approx(2)
    with pytest.raises(UserError, match="random generator"):
        coverage(skills)


def test_first_states_are_fresh(four_rooms_table):
    """In FourRooms: every cell, no tool taken."""
    world = sf.make("four-rooms")
    policy = np.full(four_rooms_table.n_states, STOP, np.uint8)
    skills = make_skills(world, four_rooms_table, (("position",),), ((),), policy, 1)
    starts = coverage(skills, 1).starts
    assert len(starts) == 104
    assert not four_rooms_table.values[starts, 1:].any()


def test_more_or_longer_never_covers_less_of_what_staying_keeps():
    """With a skill that stays among them, longer chains cover at least as much."""
    found = coverage(right_or_stay(slip=0.3), 5)
    assert (np.diff(found.fractions, axis=0) >= -1e-7).all()
    with pytest.raises(UserError, match="at least 1, got 0"):
        coverage(right_or_stay(slip=0.3), 0)


@pytest.mark.slow
def test_coverage_of_focused_skills_is_the_tree_s(focused_vic, rng):
    exact = coverage(focused_vic)
    drawn = coverage(focused_vic, sample=4, rng=rng)
    places = [exact.starts.tolist().index(s) for s in drawn.starts]
    assert drawn.fractions == pytest.approx(exact.fractions[:, places], abs=0.05)
    assert 1.0 < exact.auc < 1.6


def test_where_first_values_never_meet_chains_begin_where_the_world_does():
    """Two lamps of which one is always on: no state has both at their first value, off."""

    def follow(values, action):
        return [ModelOutcome(1.0, (not values[0], not values[1], (values[2] + action) % 3))]

    world = ExploredWorld(
        "Lamps", names=("a", "b", "hand"), actions=("swap", "move"), model=follow,
        starts=[(False, True, 0)],
    )  # fmt: skip
    skills = sf.discover(world, sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=1))
    found = sf.metrics.coverage(skills)
    assert found.starts.tolist() == [skills.mdp.number((0, 1, 0))]
    assert np.isfinite(found.curve).all()
