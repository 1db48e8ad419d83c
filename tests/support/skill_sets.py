"""Hand-written and random skills, and plain versions of their transition matrices."""

from __future__ import annotations

import json

import numpy as np

import skillfocus as sf
from probes import corridor
from skillfocus.discovery import Discovery
from skillfocus.metrics.side_effects import SkillEffects
from skillfocus.skills.policy import TabularPolicy
from skillfocus.worlds.four_rooms import FourRooms

RIGHT, LEFT, STOP = 1, 3, 4


def make_skills(world, mdp, targets, context_variables, actions, step_limit, modes=()) -> sf.Skills:
    """Skills from one flat array of actions."""
    policies = TabularPolicy(mdp, context_variables, actions, modes)
    return sf.Skills(world, policies, targets, step_limit)


def random_skills(seed: int, world) -> sf.Skills:
    """Three skills with random policies; their context is the start's value of one variable."""
    mdp = sf.tabulate(world)
    name = mdp.space.names[0]
    width = mdp.space.sizes[0]
    rng = np.random.default_rng(seed)
    policy = rng.integers(mdp.n_actions + 1, size=3 * mdp.n_states * width).astype(np.uint8)
    return make_skills(world, mdp, ((name,),) * 3, ((name,),) * 3, policy, world.step_limit)


def scattered_skills() -> sf.Skills:
    """Skills with several modes and with rewards."""
    return sf.discover(
        FourRooms(LONG), sf.scattered(sf.focused(sf.vic())), seed=0, learner=sf.Planning(rounds=2),
        targets={"tool_1": 2, "position": 3},
    )  # fmt: skip


def target_change(effects: SkillEffects) -> float:
    """How often a skill changes its target; it must have one."""
    assert effects.changes_target is not None
    return effects.changes_target


def matrices(skills):
    """P_z(x' | x) [n_skills, n_states, n_states], one step after another in plain Python."""
    mdp, n = skills.mdp, skills.mdp.n_states
    found = np.zeros((len(skills), n, n))
    for z in range(len(skills)):
        for x in range(n):
            now = np.eye(n)[x]
            for _ in range(skills.step_limit):
                then = np.zeros(n)
                for s in np.flatnonzero(now):
                    a = skills.policy_of(z)[s, skills.contexts[z, x]]
                    if a == mdp.n_actions:
                        then[s] += now[s]
                    else:
                        np.add.at(then, mdp.successors[s, a], now[s] * mdp.probabilities[s, a])
                now = then
            found[z, x] = now
    return found


def walkers(limit=6, slip=0.0, actions=(RIGHT, STOP)):
    """Skills of the corridor, each of which takes one action everywhere."""
    world = corridor(slip=slip, step_limit=limit)
    mdp = sf.tabulate(world)
    policy = np.repeat(actions, 6).astype(np.uint8)
    n = len(actions)
    return make_skills(world, mdp, (("position",),) * n, ((),) * n, policy, limit)


def at_the_end(state):
    return state["position"] == (1, 3)


LONG = "#########\n#......T#\n#########"


def moody_skills(seed: int, world, modes=(1, 3, 2)) -> sf.Skills:
    """Random skills, some with several modes."""
    mdp = sf.tabulate(world)
    name, width = mdp.space.names[0], mdp.space.sizes[0]
    rng = np.random.default_rng(seed)
    size = sum(modes) * mdp.n_states * width
    policy = rng.integers(mdp.n_actions + 1, size=size).astype(np.uint8)
    n = len(modes)
    return make_skills(
        world, mdp, ((name,),) * n, ((name,),) * n, policy, world.step_limit, modes=modes
    )


CORRIDOR = json.dumps({"drawing": "######\n#...T#\n######"})
TINY = Discovery(
    "four-rooms", "focused-vic", 1000, sf.Planning(rounds=3), skills=4, world_settings=CORRIDOR
)
