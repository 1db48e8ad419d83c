from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import skillfocus as sf
from probes import RandomWorld, tiny_mud
from skill_sets import LEFT, RIGHT, STOP, make_skills, moody_skills, random_skills, walkers
from skillfocus.envs import WorldEnv
from skillfocus.errors import UserError
from skillfocus.metrics.side_effects import side_effects
from skillfocus.rollout import mdp_arrays, reset_marks, step
from skillfocus.worlds.four_rooms import FourRooms


def test_a_skill_by_hand():
    """To the right, whatever the state: the limit of three steps ends it; then it begins anew."""
    act = walkers(limit=3).policy(0)
    assert [act((0, 0)) for _ in range(9)] == [RIGHT, RIGHT, RIGHT, None] * 2 + [RIGHT]


def test_a_skill_that_terminates_at_once_has_no_action():
    act = walkers().policy(1)
    assert [act((0, 0)), act((1, 0))] == [None, None]


def test_what_the_skill_remembers_is_where_it_began():
    """From either end to the other: in the middle, the first state decides."""
    world = walkers().world
    mdp = sf.tabulate(world)
    policy = np.full((6, 3), STOP, np.uint8)  # [state, first position]
    for tool in (0, 1):
        policy[[mdp.number((0, tool)), mdp.number((1, tool))], 0] = RIGHT
        policy[[mdp.number((2, tool)), mdp.number((1, tool))], 2] = LEFT
    skills = make_skills(world, mdp, (("position",),), (("position",),), policy.ravel(), 6)
    act = skills.policy(0)
    assert [act((0, 0)), act([1, 0]), act(np.array([2, 1]))] == [RIGHT, RIGHT, None]
    assert [act((2, 1)), act((1, 1)), act((0, 1))] == [LEFT, LEFT, None]


def played(skills, z, start, rng):
    """The states of a skill, played step by step with the draws of `Skills.run`."""
    mdp = skills.mdp
    marked = np.zeros(mdp.n_marks, np.uint8)
    states = [mdp.number(start)]
    reset_marks(mdp.marks_in, states[0], marked, rng)
    act = skills.policy(z, rng)
    while (action := act(mdp.values[states[-1]])) is not None:
        following, _ = step(mdp_arrays(mdp), states[-1], action, marked, rng)
        states.append(following)
    return [mdp.state(s) for s in states]


@given(st.integers(0, 300))
def test_runs_are_those_of_skills(seed):
    world = RandomWorld(seed, sizes=(4, 3), n_actions=3)
    skills = moody_skills(seed, world) if seed % 2 else random_skills(seed, world)
    first, second = (np.random.default_rng(seed) for _ in range(2))
    for start in ((0, 0), (3, 1), (2, 2)):
        for z in range(3):
            assert played(skills, z, start, first) == skills.rollout(z, start, second)


def test_runs_are_those_of_skills_where_a_world_hides_marks():
    skills = random_skills(5, tiny_mud())
    first, second = (np.random.default_rng(0) for _ in range(2))
    for start in [(2, 1, 0, 0), (4, 1, 1, 1), (1, 1, 0, 2)] * 5:
        for z in range(3):
            assert played(skills, z, start, first) == skills.rollout(z, start, second)


@pytest.mark.parametrize("z", [0, 1, 2])
def test_effects_measured_by_playing_are_the_exact_ones(z):
    """2,000 runs of a skill in the environment against the exact distribution of its last state."""
    world = RandomWorld(8, sizes=(4, 3), n_actions=3)
    skills = moody_skills(8, world)
    start = skills.mdp.number((1, 1))
    exact = side_effects(skills, np.array([start]))[z]
    env = WorldEnv(world, mdp=skills.mdp, start=(1, 1))
    act = skills.policy(z, np.random.default_rng(z))
    counts, changed = np.zeros(skills.mdp.n_states), np.zeros(2)
    observation, _ = env.reset(seed=z)
    for _ in range(2000):
        while (action := act(observation)) is not None:
            observation, *_ = env.step(action)
        counts[skills.mdp.number(observation)] += 1
        changed += observation != (1, 1)
        observation, _ = env.reset()
    met = exact.ends > 0
    assert counts[~met].sum() == 0
    if met.sum() > 1:
        assert chisquare(counts[met], 2000 * exact.ends[met] / exact.ends.sum()).pvalue > 0.001
    error = 4 * np.sqrt(exact.changed[0] * (1 - exact.changed[0]) / 2000)
    assert (np.abs(changed / 2000 - exact.changed[0]) <= error + 1e-12).all()


def test_mistakes_are_told():
    skills = moody_skills(1, RandomWorld(1))
    with pytest.raises(UserError, match="draws one of 3 modes when it begins: pass rng"):
        skills.policy(1)
    assert skills.policy(0) is not None
    with pytest.raises(UserError, match="there is no skill 3: skills are numbered 0 to 2"):
        skills.policy(3)
    with pytest.raises(UserError, match=r"\(9, 9\) is not a state"):
        skills.policy(0)((9, 9))


def test_policies_that_are_no_bytes_are_refused():
    """A negative action would index other memory."""
    made = walkers()
    for actions in (made.tabular.flat_actions.astype(np.int64), made.tabular.flat_actions[None]):
        with pytest.raises(UserError, match="must be a flat array of uint8, got"):
            make_skills(made.world, made.mdp, made.targets, made.context_variables, actions, 6)


def test_modes_are_counted_without_overflow():
    """In 64 bits, these modes take as many entries as there are."""
    made = moody_skills(0, FourRooms("...T"), modes=(1, 1))
    need = 2 * 32 + 32 * 2**62
    with pytest.raises(UserError, match=f"have 64 entries where 2 skills need {need:,}"):
        make_skills(
            made.world, made.mdp, made.targets, made.context_variables,
            made.tabular.flat_actions, 6, (1 + 2**62, 1),
        )  # fmt: skip


@pytest.mark.parametrize(("skill", "mode"), [(-1, 0), (3, 0), (0, 1), (1, 3), (1, -1)])
def test_likely_paths_are_those_of_skills_and_modes_that_are_there(skill, mode):
    made = moody_skills(0, tiny_mud())
    with pytest.raises(UserError, match=r"there is no skill|so no mode"):
        made.likely_path(skill, made.mdp.state(0), mode)
