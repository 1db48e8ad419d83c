from __future__ import annotations

import subprocess
import sys

import gymnasium

from skill_sets import walkers
from skillfocus.envs import SkillVectorEnv, WorldEnv
from skillfocus.worlds.registry import WORLDS


def test_every_built_in_world_is_registered():
    for world in WORLDS.values():
        assert f"skillfocus/{world.id}" in gymnasium.registry


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
