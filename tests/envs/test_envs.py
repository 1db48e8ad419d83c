from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from scipy.stats import chisquare

import skillfocus as sf
from paths import ROOT
from probes import CORRIDOR, TINY_MUD, RandomWorld, corridor, tiny_mud
from skill_sets import LEFT, RIGHT, at_the_end, moody_skills, random_skills, walkers
from skillfocus._internal import gymnasium_ids as registration
from skillfocus.envs import SkillEnv, SkillVectorEnv, WorldEnv
from skillfocus.errors import UserError
from skillfocus.metrics.side_effects import side_effects
from skillfocus.render.palette import COLOURS, FLOOR, WALLS
from skillfocus.render.tiles import AGENT, MUDDY_AGENT, TILE, TRACKED
from skillfocus.worlds.explored import ExploredWorld
from skillfocus.worlds.model import ModelOutcome
from skillfocus.worlds.registry import WORLD_IDS

KINDS = ["multi-discrete", "dict"]
MODES = [None, "ansi", "rgb_array"]
TINY = {
    "FourRooms-v0": {"drawing": CORRIDOR},
    "ForageWorld-v0": {"drawing": "######\n#.RP.#\n######"},
    "MudWorld-v0": {"drawing": TINY_MUD, "most_muddy": 2},
}
STOP_SKILL = 1
EXAMPLE = ROOT / "examples" / "sb3_ppo.py"


def end_task(skills, max_episode_steps):
    return sf.make_task(skills.mdp, "end", (0, 0), max_episode_steps, at_the_end)


# Gymnasium's own checks: every warning is an error.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("world", TINY)
def test_worlds_pass_the_check(world, kind, mode):
    for task in ("true", None):
        made = gymnasium.make(
            f"skillfocus/{world}", task=task, observation=kind, render_mode=mode, **TINY[world]
        )
        check_env(made.unwrapped)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", MODES)
def test_skills_pass_the_check(kind, mode):
    for primitives in (False, True):
        check_env(SkillEnv(walkers(), primitives=primitives, observation=kind, render_mode=mode))
    world = RandomWorld(0)
    check_env(WorldEnv(world, observation=kind, render_mode=mode))
    task = sf.make_task(sf.tabulate(world), "t", (0, 0), 30, lambda state: state["v0"] == 2)
    check_env(SkillEnv(moody_skills(0, world), task, observation=kind, render_mode=mode))


# The ids.


def test_every_built_in_world_is_registered():
    assert set(registration.WORLD_IDS) == set(WORLD_IDS)
    for name in WORLD_IDS:
        assert f"skillfocus/{name}" in gymnasium.registry


def test_worlds_are_registered():
    env = gymnasium.make("skillfocus/MudWorld-v0", slip=0.0)
    inner = env.unwrapped
    assert isinstance(inner, WorldEnv)
    assert inner.world.id == "MudWorld-v0"
    assert inner.world.settings["slip"] == 0.0
    assert env.observation_space == gymnasium.spaces.MultiDiscrete([100, 2, 2, 13])
    assert env.action_space == gymnasium.spaces.Discrete(4)
    observation, info = env.reset(seed=0)
    assert (observation.tolist(), info) == ([0, 0, 0, 0], {})
    wrappers = []
    while env is not inner:
        wrappers.append(type(env).__name__)
        env = env.env
    assert "TimeLimit" not in wrappers, "the environment truncates itself"


def test_skills_are_registered_by_their_file(tmp_path):
    path = walkers().save(tmp_path / "a.skills")
    env = gymnasium.make("skillfocus/Skills-v0", skills=str(path), primitives=True)
    assert env.action_space == gymnasium.spaces.Discrete(2 + 4)
    several = gymnasium.make_vec(
        "skillfocus/Skills-v0", 3, "vector_entry_point", skills=str(path), task="tools"
    )
    assert isinstance(several, SkillVectorEnv)
    assert several.num_envs == 3


def test_importing_the_package_registers_and_loads_nothing_heavy():
    code = (
        "import sys, skillfocus, gymnasium; "
        "sys.exit('skillfocus/MudWorld-v0' not in gymnasium.registry or 'numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# WorldEnv.


def test_a_world_by_hand():
    env = WorldEnv(corridor(), "true")
    assert env.reset(seed=0)[0].tolist() == [0, 0]
    observation, *rest = env.step(RIGHT)
    assert (observation.tolist(), rest) == ([1, 0], [0.0, False, False, {"success": False}])
    observation, *rest = env.step(np.int64(RIGHT))
    assert (observation.tolist(), rest) == ([2, 1], [1.0, True, False, {"success": True}])


def test_a_dict_holds_the_variables_by_name():
    env = WorldEnv(corridor(), "true", observation="dict")
    observation, _ = env.reset(options={"state": (2, 1)})
    assert observation == {"position": 2, "tool_1": 1}
    assert list(env.observation_space) == ["position", "tool_1"]


def test_the_cap_truncates_and_the_task_terminates():
    skills = walkers()
    for max_episode_steps, at_the_second in ((2, (True, False)), (1, None)):
        env = WorldEnv(skills.world, end_task(skills, max_episode_steps))
        env.reset(seed=0)
        assert env.step(RIGHT)[2:4] == (False, max_episode_steps == 1)
        if at_the_second is None:
            with pytest.raises(ResetNeeded, match="no episode is under way"):
                env.step(RIGHT)
        else:
            assert env.step(RIGHT)[2:4] == at_the_second


def test_the_proxy_pays_and_success_tells_the_truth():
    """ForageWorld's proxy does not mind that the plant in the way was destroyed."""
    for reward, answer in (
        ("proxy", (1.0, True)),
        ("true", (0.0, False)),
        ("resources", (0.0, False)),
    ):
        env = WorldEnv("forage-world", reward, slip=0.0, needed=1, drawing="#####\n#RP.#\n#####")
        env.reset(options={"state": (1, 1, 1)})
        assert env.step(RIGHT)[1:] == (*answer, False, {"success": False})


def test_without_a_task_nothing_ends():
    env = WorldEnv(corridor())
    first = {tuple(env.reset(seed=seed)[0].tolist()) for seed in range(60)}
    assert len(first) == 6
    for _ in range(500):
        assert env.step(env.action_space.sample())[1:4] == (0.0, False, False)


def chain() -> ExploredWorld:
    """0, 1, 2, 3: forward or back; 3 ends an episode."""

    def follow(values, action):
        place = values[0] + (1 if action == 0 else -1)
        yield ModelOutcome(1.0, (max(place, 0),), place == 3)

    return ExploredWorld(
        "chain", names=["place"], actions=["on", "back"], starts=[(1,), (2,)], model=follow
    )


def test_final_states_of_a_found_world_terminate():
    world = chain()
    env = WorldEnv(world)
    assert {env.reset(seed=seed)[0].item() for seed in range(20)} == {1, 2}, "only the first states"
    env.reset(options={"state": (2,)})
    assert env.step(0)[1:4] == (0.0, True, False)
    task = sf.make_task(sf.tabulate(world), "zero", (1,), 10, lambda state: state["place"] == 0)
    env = WorldEnv(world, task)
    env.reset()
    assert env.step(1)[1:4] == (1.0, True, False)
    env.reset()
    assert (env.step(0)[1:4], env.step(0)[1:4]) == ((0.0, False, False), (0.0, True, False))


def test_where_episodes_start():
    world = corridor()
    assert WorldEnv(world, "true", start=(1, 1)).reset()[0].tolist() == [1, 1]
    env = WorldEnv(world, "true", start="random")
    starts = [tuple(env.reset(seed=seed)[0].tolist()) for seed in range(80)]
    assert set(starts) == {(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)}, "not where the task is done"


def test_hidden_marks_are_kept_within_an_episode_and_drawn_at_its_start():
    env = WorldEnv(tiny_mud(slip=0.0))
    for _ in range(3):
        env.reset(options={"state": (2, 1, 0, 0)})
        counts = [env.step(action)[0][3].item() for action in (LEFT, RIGHT, LEFT, LEFT)]
        assert counts == [1, 1, 1, 2]
    new = 0
    for seed in range(400):  # one of the two cells is muddy already: this one half of the time
        env.reset(seed=seed, options={"state": (2, 1, 0, 1)})
        new += env.step(LEFT)[0][3].item() == 2
    assert new == pytest.approx(200, abs=40)


# SkillEnv.


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


# SkillVectorEnv.


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


def test_a_batch_draws_its_episodes():
    for mode, kind in (("ansi", str), ("rgb_array", np.ndarray)):
        env = SkillVectorEnv(walkers(), num_envs=2, render_mode=mode)
        env.reset(seed=0)
        env.step(np.array([0, 1]))
        frames = env.render()
        assert [type(frame) for frame in frames] == [kind, kind]
        assert pickle.dumps(frames[0]) != pickle.dumps(frames[1])
    assert SkillVectorEnv(walkers(), num_envs=2).render() is None


# Rendering.


def rgb(colour):
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def tile(frame, row, column, inside=0.5):
    at = int(TILE * inside)
    return frame[row * TILE + at, column * TILE + at].tolist()


def test_a_map_is_drawn_in_colours():
    env = WorldEnv(corridor(), render_mode="rgb_array")
    env.reset(options={"state": (0, 0)})
    frame = env.render()
    assert (frame.dtype, frame.shape[2]) == (np.uint8, 3)
    assert [tile(frame, 1, c) for c in range(5)] == [
        rgb(c) for c in (WALLS, AGENT, FLOOR, COLOURS["tool"], WALLS)
    ]
    env.reset(options={"state": (1, 1)})
    taken = env.render()
    assert taken.shape == frame.shape
    assert [tile(taken, 1, c) for c in (1, 2, 3)] == [rgb(c) for c in (FLOOR, AGENT, FLOOR)]
    assert tile(taken, 1, 3, 0.25) == rgb(COLOURS["tool"]), (
        "a tool that was taken leaves an outline"
    )


def test_mud_is_drawn_where_it_lies():
    env = WorldEnv(tiny_mud(slip=0.0), render_mode="rgb_array")
    env.reset(options={"state": (2, 1, 1, 0)})
    env.step(LEFT)
    env.step(RIGHT)
    frame = env.render()
    assert [tile(frame, 1, c) for c in range(1, 7)] == [
        rgb(c)
        for c in (FLOOR, TRACKED, MUDDY_AGENT, COLOURS["mud"], COLOURS["mud"], COLOURS["puddle"])
    ]
    assert tile(frame, 1, 4, 0.25) == rgb(COLOURS["treasure"])


def test_a_skill_s_way_is_drawn():
    env = SkillEnv(walkers(limit=1), render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    env.step(0)
    after = env.render()
    assert tile(before, 1, 1) == rgb(AGENT)
    assert tile(after, 1, 1) not in (rgb(AGENT), rgb(FLOOR))


def test_worlds_without_a_map_are_drawn_as_text():
    env = WorldEnv(RandomWorld(0), render_mode="rgb_array")
    frames = []
    for state in ((0, 0), (0, 1), (0, 0)):
        env.reset(options={"state": state})
        frames.append(env.render())
    assert frames[0].min() < 100
    assert (frames[0] != frames[1]).any()
    assert (frames[0] == frames[2]).all()
    text = WorldEnv(RandomWorld(0), render_mode="ansi")
    text.reset(options={"state": (2, 1)})
    assert text.render() == "v0=2\nv1=1"
    assert WorldEnv(RandomWorld(0)).render() is None


# Mistakes.


def test_mistakes_are_told():
    skills = walkers()
    with pytest.raises(UserError, match="unknown task 'tool': did you mean 'tools'"):
        SkillEnv(skills, "tool")
    with pytest.raises(UserError, match="has no task of its own"):
        WorldEnv(RandomWorld(0), "true")
    with pytest.raises(UserError, match="is for 6 states, FourRooms-v0 has 1,664"):
        WorldEnv("four-rooms", end_task(skills, 3))
    with pytest.raises(UserError, match="unknown kind of observation 'dicts': did you mean 'dict'"):
        SkillEnv(skills, observation="dicts")
    with pytest.raises(UserError, match="unknown render mode 'human'"):
        SkillEnv(skills, render_mode="human")
    with pytest.raises(UserError, match="gamma is 0"):
        SkillEnv(skills, gamma=0.0)
    with pytest.raises(UserError, match="start is 'anywhere'"):
        SkillEnv(skills, start="anywhere")
    with pytest.raises(UserError, match="is made already: give it slip itself"):
        WorldEnv(corridor(), slip=0.0)
    with pytest.raises(UserError, match="the table is not of"):
        WorldEnv(corridor(), mdp=sf.tabulate(tiny_mud()))
    with pytest.raises(UserError, match="num_envs is 0"):
        SkillVectorEnv(skills, num_envs=0)
    env = SkillEnv(skills)
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset()
    with pytest.raises(UserError, match="there is no action 2: actions are 0 to 1"):
        env.step(2)
    with pytest.raises(UserError, match="unknown option of reset 'sate': did you mean 'state'"):
        env.reset(options={"sate": (0, 0)})
    several = SkillVectorEnv(skills, num_envs=2)
    with pytest.raises(ResetNeeded, match="no episode has begun"):
        several.step(np.zeros(2, int))
    for unbegun in (
        SkillEnv(skills, render_mode="ansi"),
        SkillVectorEnv(skills, render_mode="ansi"),
    ):
        with pytest.raises(ResetNeeded, match="no episode has begun"):
            unbegun.render()
    with pytest.raises(UserError, match="3 seeds for 2 episodes"):
        several.reset(seed=[1, 2, 3])
    several.reset()
    with pytest.raises(UserError, match="step takes 2 actions"):
        several.step(np.zeros(3, int))
    with pytest.raises(UserError, match="there is no action -1"):
        several.step(np.array([0, -1]))
    with pytest.raises(UserError, match="array of 2 booleans"):
        several.reset(options={"reset_mask": [True, False]})


# Stable-Baselines3.


@pytest.mark.slow
def test_stable_baselines3_learns_with_skills(focused_vic):
    pytest.importorskip("stable_baselines3", reason="pip install stable-baselines3 to run this")
    spec = importlib.util.spec_from_file_location("sb3_ppo", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    skills = focused_vic
    agent, used = example.learn(lambda: example.with_skills(skills), 80_000, seed=0)
    assert 80_000 <= used.used < 80_000 + 16 * 40
    share, steps = example.evaluate(agent, example.with_skills(skills), 50, seed=0)
    assert share >= 0.9
    assert steps < 220
    agent, used = example.learn(lambda: example.with_moves(skills), 20_000, seed=0)
    assert example.evaluate(agent, example.with_moves(skills), 10, seed=0) == (0.0, 320.0)


def test_seeds_of_numpy_and_episodes_that_never_began():
    env = SkillVectorEnv(walkers(), "true", 2)
    with pytest.raises(ResetNeeded):
        env.reset(options={"reset_mask": np.array([True, False])})
    other = SkillVectorEnv(walkers(), "true", 2)
    env.reset(seed=np.int64(3))
    other.reset(seed=3)
    assert [g.random() for g in env.np_random] == [g.random() for g in other.np_random]
