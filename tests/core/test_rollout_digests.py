"""Results of every caller of `core.rollout.follow`, recorded before they shared one kernel.

A digest that changes means that random numbers are drawn in another order, or that a rollout ends
elsewhere. Change it only together with a new version of stored results.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor, tiny_mud
from skill_sets import moody_skills
from skillfocus.envs import SkillEnv, SkillVectorEnv
from skillfocus.metrics import coverage

WORLDS = {"corridor": lambda: corridor(slip=0.2), "mud": lambda: tiny_mud(slip=0.3)}


def digest(*values) -> str:
    """The first 12 digits of a hash; floats count to 10 digits."""
    plain = [np.round(np.asarray(value, dtype=float), 10).tolist() for value in values]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()[:12]


def last_value_task(skills):
    variable = skills.world.space.variables[0]
    start = (0,) * len(skills.world.space)
    return sf.make_task(
        skills.mdp, "t", start, 12, lambda s: s[variable.name] == variable.values[-1]
    )


def run(skills):
    rng = np.random.default_rng(1)
    chosen, starts = rng.integers(3, size=300), rng.integers(skills.mdp.n_states, size=300)
    done = skills.run(chosen, starts, rng)
    paths = np.pad(done.numbers, ((0, 0), (0, skills.step_limit + 1)), mode="edge")
    return digest(paths[:, : skills.step_limit + 1], done.steps, rng.random())


def trees(skills):
    rng = np.random.default_rng(2)
    found = coverage(skills, 3, sample=4, rng=rng)
    return digest(found.fractions, found.starts, rng.random())


def learned(skills, intra_option):
    settings = sf.SMDPQLearning(
        episodes=300, epsilon_decay=0.01, alpha_decay=0.001, intra_option=intra_option,
        evaluations=3, evaluation_runs=7, final_runs=50,
    )  # fmt: skip
    found = sf.solve(skills.mdp, last_value_task(skills), skills, seed=5, settings=settings)
    return digest(found.q, found.steps, found.true_return)


def played(skills):
    env = SkillEnv(skills, last_value_task(skills), primitives=True, start="random")
    env.reset(seed=5)
    trail = []
    for action in np.random.default_rng(0).integers(env.action_space.n, size=150).tolist():
        observation, reward, terminated, truncated, info = env.step(action)
        trail.append([*observation.tolist(), reward, terminated, truncated, info["steps"]])
        if terminated or truncated:
            env.reset()
    return digest(trail)


def played_in_a_batch(skills):
    env = SkillVectorEnv(skills, last_value_task(skills), 4, primitives=True, start="random")
    env.reset(seed=5)
    trail = []
    for actions in np.random.default_rng(0).integers(env.single_action_space.n, size=(80, 4)):
        observations, *rest, infos = env.step(actions)
        trail += [observations, *rest, infos.get("steps", 0), infos.get("path", 0)]
    return digest(*trail)


def likely_paths(skills):
    return digest(
        *(
            skills.likely_path(z, skills.mdp.state(start), mode)
            for z in range(3)
            for mode in range(skills.n_modes[z])
            for start in range(skills.mdp.n_states)
        )
    )


CALLERS = {
    "Skills.run": run,
    "sampled coverage": trees,
    "SMDP Q-learning": lambda skills: learned(skills, intra_option=False),
    "intra-option learning": lambda skills: learned(skills, intra_option=True),
    "SkillEnv": played,
    "SkillVectorEnv": played_in_a_batch,
    "Skills.likely_path": likely_paths,
}
RECORDED = {
    "corridor": {
        "Skills.run": "5378b2bbd659",
        "sampled coverage": "7e8683816a3a",
        "SMDP Q-learning": "c3ac47005ed3",
        "intra-option learning": "9483cfff7384",
        "SkillEnv": "29a0dcc42cb4",
        "SkillVectorEnv": "ca5832c710f8",
        "Skills.likely_path": "ea8440a2d4f9",
    },
    "mud": {
        "Skills.run": "cadb9951e1e8",
        "sampled coverage": "90cf62a3d12d",
        "SMDP Q-learning": "f5febb1e2ed5",
        "intra-option learning": "1211d15643df",
        "SkillEnv": "0bb8f582d216",
        "SkillVectorEnv": "588495a90efc",
        "Skills.likely_path": "2a6aef6f6e10",
    },
}


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("world", WORLDS)
def test_rollouts_are_those_recorded(world, caller):
    skills = moody_skills(4, WORLDS[world]())
    assert CALLERS[caller](skills) == RECORDED[world][caller]
