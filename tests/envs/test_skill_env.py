from __future__ import annotations

import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

import skillfocus as sf
from probes import RandomWorld, tiny_mud
from skill_sets import LEFT, RIGHT, at_the_end, moody_skills, random_skills, walkers
from skillfocus.envs import SkillEnv, WorldEnv
from skillfocus.errors import UserError

KINDS = ["multi-discrete", "dict"]
MODES = [None, "ansi", "rgb_array"]
STOP_SKILL = 1


def end_task(skills, max_episode_steps):
    return sf.make_task(skills.mdp, "end", (0, 0), max_episode_steps, at_the_end)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", MODES)
def test_skills_pass_the_check(kind, mode):
    for primitives in (False, True):
        check_env(SkillEnv(walkers(), primitives=primitives, observation=kind, render_mode=mode))
    world = RandomWorld(0)
    check_env(WorldEnv(world, observation=kind, render_mode=mode))
    task = sf.make_task(sf.tabulate(world), "t", (0, 0), 30, lambda state: state["v0"] == 2)
    check_env(SkillEnv(moody_skills(0, world), task, observation=kind, render_mode=mode))


def test_a_skill_by_hand():
    env = SkillEnv(walkers())
    assert env.action_space == gymnasium.spaces.Discrete(2)
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(0)
    assert (observation.tolist(), reward, terminated, truncated) == ([2, 1], 1.0, True, False)
    assert info == {
        "steps": 2, "discount": pytest.approx(0.9801), "skill": 0, "targets": ("position",),
        "path": [(0, 0), (1, 0), (2, 1)], "success": True, "elapsed": 2,
    }  # fmt: skip


def test_a_skill_that_does_nothing_costs_a_step():
    env = SkillEnv(walkers(), end_task(walkers(), 3), gamma=0.5)
    env.reset(seed=0)
    for elapsed in (1, 2, 3):
        *_, terminated, truncated, info = env.step(STOP_SKILL)
        assert (terminated, truncated) == (False, elapsed == 3)
        assert (info["steps"], info["discount"], info["elapsed"]) == (1, 0.5, elapsed)
        assert info["path"] == [(0, 0), (0, 0)]


def test_a_skill_ends_at_its_limit_at_the_cap_and_at_the_goal():
    for limit, max_episode_steps, steps, ends in (
        (1, 9, 1, (False, False)),
        (6, 1, 1, (False, True)),
        (6, 2, 2, (True, False)),
        (6, 9, 2, (True, False)),
    ):
        skills = walkers(limit=limit)
        env = SkillEnv(skills, end_task(skills, max_episode_steps))
        env.reset(seed=0)
        *_, terminated, truncated, info = env.step(0)
        assert (info["steps"], (terminated, truncated)) == (steps, ends)


def test_moves_come_after_the_skills():
    env = SkillEnv(walkers(), primitives=True)
    env.reset(seed=0)
    observation, *_, info = env.step(2 + RIGHT)
    assert observation.tolist() == [1, 0]
    assert (info["skill"], info["targets"], info["steps"]) == (-1, (), 1)


def test_marks_last_from_one_skill_to_the_next():
    world = tiny_mud(slip=0.0)
    skills = random_skills(0, world)
    task = sf.make_task(skills.mdp, "never", (2, 1, 0, 0), 50, lambda s: s["treasure"] == 1)
    env = SkillEnv(skills, task, primitives=True)
    env.reset(seed=0)
    counts = [env.step(3 + action)[0][3].item() for action in (LEFT, RIGHT, LEFT, LEFT)]
    assert counts == [1, 1, 1, 2]


def trail(env, seed, actions):
    """Everything that an environment says."""
    said = [repr(env.reset(seed=seed))]
    for action in actions:
        answer = env.step(action)
        said.append(repr(answer))
        if answer[2] or answer[3]:
            said.append(repr(env.reset()))
    return said


@pytest.mark.parametrize(
    "world", [tiny_mud(slip=0.3), RandomWorld(3, sizes=(4, 3))], ids=["mud", "random"]
)
def test_equal_seeds_give_equal_episodes(world):
    skills = moody_skills(3, world)
    where = world.space.names[0]
    task = sf.make_task(
        skills.mdp,
        "t",
        (0,) * len(world.space),
        12,
        lambda s: s[where] == world.space.variables[0].values[-1],
    )
    actions = np.random.default_rng(0).integers(3, size=60).tolist()
    one, two = (SkillEnv(skills, task, start="random") for _ in range(2))
    assert trail(one, 5, actions) == trail(two, 5, actions)
    assert trail(one, 5, actions) == trail(pickle.loads(pickle.dumps(one)), 5, actions)
    assert trail(one, 5, actions) != trail(two, 6, actions)


def test_mistakes_are_told():
    skills = walkers()
    with pytest.raises(UserError, match="unknown task 'tool': did you mean 'tools'"):
        SkillEnv(skills, "tool")
    with pytest.raises(UserError, match="unknown kind of observation 'dicts': did you mean 'dict'"):
        SkillEnv(skills, observation="dicts")
    with pytest.raises(UserError, match="unknown render mode 'human'"):
        SkillEnv(skills, render_mode="human")
    with pytest.raises(UserError, match=r"gamma must be in \(0, 1\], got 0"):
        SkillEnv(skills, gamma=0.0)
    with pytest.raises(UserError, match="a state's value indices, got 'anywhere'"):
        SkillEnv(skills, start="anywhere")
    env = SkillEnv(skills)
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset()
    with pytest.raises(UserError, match="there is no action 2: actions are 0 to 1"):
        env.step(2)
    with pytest.raises(UserError, match="unknown option of reset 'sate': did you mean 'state'"):
        env.reset(options={"sate": (0, 0)})
    with pytest.raises(ResetNeeded, match="no episode has begun"):
        SkillEnv(skills, render_mode="ansi").render()
