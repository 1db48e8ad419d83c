from __future__ import annotations

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from scipy.stats import chisquare

import skillfocus as sf
from probes import RandomWorld, tiny_mud
from skill_sets import moody_skills, random_skills, walkers
from skillfocus.envs import SkillEnv, SkillVectorEnv
from skillfocus.errors import UserError
from skillfocus.metrics.side_effects import side_effects

KINDS = ["multi-discrete", "dict"]


def equal_infos(got, expected):
    assert got.keys() == expected.keys()
    for name, value in expected.items():
        mask = expected[name if name.startswith("_") else f"_{name}"]
        assert (got[name][mask] == value[mask]).all(), name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "world", [tiny_mud(slip=0.3), RandomWorld(3, sizes=(4, 3))], ids=["mud", "random"]
)
def test_a_batch_is_its_episodes_one_by_one(world, kind):
    """Against Gymnasium's own batch of `SkillEnv`s, episodes that end and begin anew included."""
    skills = moody_skills(4, world)
    last = world.space.variables[0]
    task = sf.make_task(
        skills.mdp, "t", (0,) * len(world.space), 9, lambda s: s[last.name] == last.values[-1]
    )
    settings = {"primitives": True, "observation": kind, "start": "random"}
    batch = SkillVectorEnv(skills, task, 5, **settings)
    single = SyncVectorEnv([lambda: SkillEnv(skills, task, **settings)] * 5)
    assert batch.single_observation_space == single.single_observation_space
    assert batch.observation_space == single.observation_space
    assert batch.action_space == single.action_space
    assert batch.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    observations = [env.reset(seed=7)[0] for env in (batch, single)]
    rng = np.random.default_rng(1)
    ended = 0
    for _ in range(120):
        assert str(observations[0]) == str(observations[1])
        assert observations[0] in batch.observation_space
        actions = rng.integers(batch.single_action_space.n, size=5)
        got, expected = batch.step(actions), single.step(actions)
        observations = [got[0], expected[0]]
        for mine, theirs in zip(got[1:4], expected[1:4], strict=True):
            assert mine.dtype == theirs.dtype
            assert (mine == theirs).all()
        for paths, infos in ((got[4].pop("path", ()), expected[4]),):
            for i, path in enumerate(infos.pop("path", ())):
                if infos["_path"][i]:
                    assert paths[i, : len(path)].tolist() == [list(state) for state in path]
                    assert (paths[i, len(path) :] == paths[i, len(path) - 1]).all()
        got[4].pop("_path", None)
        expected[4].pop("_path", None)
        equal_infos(got[4], expected[4])
        ended += int((got[2] | got[3]).sum())
    assert ended > 20


def test_masks_leave_out_an_episode_that_begins():
    env = SkillVectorEnv(walkers(), num_envs=2)
    env.reset(seed=0)
    _, rewards, terminated, _, infos = env.step(np.array([0, 1]))
    assert (rewards.tolist(), terminated.tolist()) == ([1.0, 0.0], [True, False])
    assert infos["_steps"].tolist() == [True, True]
    observations, rewards, terminated, truncated, infos = env.step(np.array([0, 0]))
    assert observations.tolist() == [[0, 0], [2, 1]]
    assert (rewards.tolist(), terminated.tolist()) == ([0.0, 1.0], [False, True])
    assert not truncated.any()
    assert (infos["_steps"].tolist(), infos["steps"].tolist()) == ([False, True], [0, 2])
    assert infos["elapsed"].tolist() == [0, 3]
    assert (infos["skill"][1], infos["targets"][1]) == (0, ("position",))


def test_seeds_may_be_listed_and_some_episodes_reset():
    world = RandomWorld(3, sizes=(4, 3))
    skills = random_skills(1, world)
    task = sf.make_task(skills.mdp, "t", (0, 0), 50, lambda s: s["v0"] == 3)
    one, two = (SkillVectorEnv(skills, task, 3, start="random") for _ in range(2))
    first, _ = one.reset(seed=[4, 5, 6])
    assert (first == two.reset(seed=4)[0]).all()
    one.step(np.zeros(3, int))
    now = one.reset(seed=4, options={"reset_mask": np.array([True, False, False])})[0]
    assert (now[0] == first[0]).all()
    assert len(one.np_random) == 3
    state = one.reset(options={"state": (2, 1)})[0]
    assert state.tolist() == [[2, 1]] * 3


@pytest.mark.parametrize("z", [0, 1, 2])
def test_skills_end_where_exact_effects_say(z):
    world = RandomWorld(8, sizes=(4, 3), n_actions=3)
    skills = moody_skills(8, world)
    exact = side_effects(skills, np.array([skills.mdp.number((1, 1))]))[z]
    nothing = np.zeros(skills.mdp.n_states, dtype=bool)
    task = sf.tasks.task.Task("none", skills.mdp.number((1, 1)), 100, nothing, nothing)
    env = SkillVectorEnv(skills, task, 4000)
    env.reset(seed=z)
    *_, infos = env.step(np.full(4000, z))
    ends = [skills.mdp.number(state) for state in infos["path"][:, -1]]
    counts = np.bincount(ends, minlength=skills.mdp.n_states)
    met = exact.ends > 0
    assert counts[~met].sum() == 0
    if met.sum() > 1:
        assert chisquare(counts[met], 4000 * exact.ends[met] / exact.ends.sum()).pvalue > 0.001
    start = task.start
    at_once = np.mean(
        [
            skills.policy_of(z, mode)[start, skills.contexts[z, start]] == skills.mdp.n_actions
            for mode in range(skills.n_modes[z])
        ]
    )
    assert infos["steps"].mean() == pytest.approx(exact.steps[0] + at_once, abs=0.12)


def test_seeds_of_numpy_and_episodes_that_never_began():
    env = SkillVectorEnv(walkers(), "true", 2)
    with pytest.raises(ResetNeeded):
        env.reset(options={"reset_mask": np.array([True, False])})
    other = SkillVectorEnv(walkers(), "true", 2)
    env.reset(seed=np.int64(3))  # pyright: ignore[reportArgumentType]
    other.reset(seed=3)
    assert [g.random() for g in env.np_random] == [g.random() for g in other.np_random]


def test_mistakes_are_told():
    skills = walkers()
    several = SkillVectorEnv(skills, num_envs=2)
    with pytest.raises(ResetNeeded, match="no episode has begun"):
        several.step(np.zeros(2, int))
    with pytest.raises(ResetNeeded, match="no episode has begun"):
        SkillVectorEnv(skills, render_mode="ansi").render()
    with pytest.raises(UserError, match="3 seeds for 2 episodes"):
        several.reset(seed=[1, 2, 3])
    several.reset()
    with pytest.raises(UserError, match=r"step takes 2 actions, one per episode, got shape \(3,\)"):
        several.step(np.zeros(3, int))
    with pytest.raises(UserError, match="there is no action -1"):
        several.step(np.array([0, -1]))
    with pytest.raises(UserError, match="array of 2 booleans"):
        several.reset(options={"reset_mask": [True, False]})
