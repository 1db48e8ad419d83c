from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import RandomWorld, corridor
from skill_sets import LONG, make_skills, matrices, moody_skills
from skillfocus.errors import UserError
from skillfocus.metrics.coverage import coverage
from skillfocus.objectives.registry import make_objective
from skillfocus.worlds.four_rooms import FourRooms


def mean_matrices(skills):
    """P_z(x' | x) as the mean over modes, each mode a skill of its own."""
    parts = [
        matrices(
            make_skills(
                skills.world, skills.mdp, skills.targets[z : z + 1], skills.context_variables[z : z + 1],
                skills.policy_of(z, mode).ravel(), skills.step_limit,
            )
        )[0]
        for z in range(len(skills)) for mode in range(skills.n_modes[z])
    ]  # fmt: skip
    ends = np.cumsum(skills.n_modes)
    return np.array(
        [np.mean(parts[b - n : b], axis=0) for b, n in zip(ends, skills.n_modes, strict=True)]
    )


def test_skills_are_split_by_their_share_of_the_values():
    world = FourRooms(LONG)
    assignment = sf.assign(world, targets={"tool_1": 2, "position": 3})
    parts, modes = assignment.split(world.space)
    assert modes == (1, 1, 2, 2, 2)  # 2 // 2 and 7 // 3
    assert parts.skills == ({1: 0}, {1: 1}, {0: 0}, {0: 1}, {0: 2}, {0: 3}, {0: 4}, {0: 5})
    world = FourRooms(LONG.replace("#.", "#T", 1))
    targets = {"tool_1": 2, "position": 2, "tool_1+position": 1}
    both, modes = sf.assign(world, targets=targets).split(world.space)
    assert modes == (1, 1, 2, 2, 2)  # tool: 2 // 2; position: 7 // 3
    assert both.skills[-2:] == ({1: 0, 0: 4}, {1: 0, 0: 5})


@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 100))
def test_the_reward_of_a_part_is_the_skill_s_plus_the_mode_s(k, m, seed):
    """log d(z, m | s) - log 1/(K M) is the sum of the two log ratios, for any discriminator."""
    d = np.random.default_rng(seed).dirichlet(np.ones(k * m)).reshape(k, m)
    whole = math.log(d[0, 0] * k * m)
    skill, mode = math.log(d[0].sum() * k), math.log(d[0, 0] / d[0].sum() * m)
    assert whole == pytest.approx(skill + mode)


def test_a_scattered_skill_ends_in_more_places_and_is_as_focused():
    world = FourRooms(LONG, slip=0.05, step_limit=20)
    learner = sf.Planning(rounds=25)

    def ends(objective):
        skills = sf.discover(
            world, objective, seed=1, learner=learner, targets={"tool_1": 2, "position": 2}
        )
        effects = sf.metrics.side_effects(skills, np.array([skills.mdp.number((3, 0))]))[2:]
        entropies = [-(e.ends[e.ends > 0] * np.log(e.ends[e.ends > 0])).sum() for e in effects]
        return skills, np.mean(entropies), max(e.side_effects for e in effects)

    plain, entropy, _ = ends(sf.focused(sf.vic()))
    scattered, more, effects = ends(sf.scattered(sf.focused(sf.vic())))
    assert plain.n_modes.tolist() == [1, 1, 1, 1]
    assert scattered.n_modes.tolist() == [1, 1, 3, 3]
    assert len(plain) == len(scattered) == 4
    assert more > entropy + 0.5
    assert effects < 0.1


def test_equal_seeds_equal_skills_and_either_order_of_the_two_words():
    world = FourRooms(LONG)
    learner = sf.Planning(rounds=2)
    first, second = (
        sf.discover(world, objective, seed=3, learner=learner, targets={"tool_1": 2, "position": 3})
        for objective in (sf.scattered(sf.focused(sf.vic())), sf.focused(sf.scattered(sf.vic())))
    )
    assert (first.tabular.flat_actions == second.tabular.flat_actions).all()
    assert make_objective("scattered-focused-vic").name == "scattered-focused-vic"
    assert make_objective("scattered-dusdi-diayn").modes == "scattered"


@given(st.integers(0, 200))
def test_exact_numbers_are_the_mean_over_modes(seed):
    skills = moody_skills(seed, RandomWorld(seed, sizes=(3, 2), one_way=True))
    moves = mean_matrices(skills)
    everywhere = np.arange(skills.mdp.n_states)
    values = skills.mdp.values
    for z, effects in enumerate(sf.metrics.side_effects(skills, everywhere)):
        changed = np.einsum("xy,xyj->xj", moves[z], values[:, None] != values[None])
        assert effects.changed == pytest.approx(changed)
        assert effects.ends == pytest.approx(moves[z].mean(axis=0), abs=1e-8)
    q = np.prod([p @ (1 - np.eye(len(everywhere))) for p in moves], axis=0)
    found = coverage(skills, 1)
    assert found.fractions[0] == pytest.approx((1 - q[found.starts]).mean(axis=1), abs=1e-5)


def test_runs_draw_every_mode_as_often(rng):
    world = corridor(slip=0.0, step_limit=1)
    mdp = sf.tabulate(world)
    policy = np.tile([1, 3, 4], 6).astype(np.uint8)  # right, left, or stay where it is
    skills = make_skills(world, mdp, (("position",),), ((),), policy, 1, modes=(3,))
    done = skills.run(np.zeros(6000, int), np.full(6000, mdp.number((1, 0))), rng)
    cells = np.bincount(done.ends[:, 0], minlength=3)
    assert cells == pytest.approx(2000, abs=150)
    (effects,) = sf.metrics.side_effects(skills, np.array([mdp.number((1, 0))]))
    assert effects.changes_target == pytest.approx(2 / 3)


def test_trees_and_exact_coverage_agree(rng):
    skills = moody_skills(7, RandomWorld(7, sizes=(4, 3), one_way=True))
    exact = coverage(skills, 2)
    curves = np.array(
        [coverage(skills, 2, sample=len(exact.starts), rng=rng).curve for _ in range(500)]
    )
    error = curves.std(axis=0, ddof=1) / 500**0.5
    assert np.all(np.abs(curves.mean(axis=0) - exact.curve) < 4 * error + 1e-6)


def test_files_keep_modes(tmp_path):
    world = corridor()
    learner = sf.Planning(rounds=1)
    objective = sf.scattered(sf.focused(sf.vic()))
    targets = {"tool_1": 2, "position": 2}
    for place, several in ((world, False), (FourRooms(LONG), True)):
        made = sf.discover(place, objective, seed=0, learner=learner, targets=targets)
        path = made.save(tmp_path / "a.skills")
        again = sf.Skills.load(path)
        assert again == made
        assert again.n_modes.tolist() == made.n_modes.tolist()
        assert (made.n_modes.max() > 1) == several


def test_what_has_no_meaning_is_refused():
    with pytest.raises(UserError, match="apply focused or dusdi too"):
        sf.discover(corridor(), sf.scattered(sf.vic()), seed=0)
    skills = moody_skills(0, RandomWorld(0))
    with pytest.raises(UserError, match="cannot have the modes"):
        make_skills(skills.world, skills.mdp, skills.targets, skills.context_variables, skills.tabular.flat_actions, 5, modes=(1, 2))  # fmt: skip
