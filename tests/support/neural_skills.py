"""Skills of networks with random weights, in worlds with and without a table. Needs JAX."""

from __future__ import annotations

import numpy as np

import skillfocus as sf
from skillfocus.learners.cost_network.rewards import NetworkReward, make_rewards
from skillfocus.learners.discovery import make_problem
from skillfocus.objectives.kinds import lay_out
from skillfocus.skills.actor import ActorModel, SkillEstimates
from skillfocus.skills.network import NeuralPolicy, SkillModel, init_network
from skillfocus.worlds.continuous import ContinuousBase
from skillfocus.worlds.jax.rooms import Rooms
from skillfocus.worlds.jax.table import TableWorld, from_table

SMALL_ROOM = "######\n#...T#\n#.#..#\n#T...#\n######"


def small_room(step_limit: int = 8) -> Rooms:
    """Eleven cells and two tools, without a table."""
    return Rooms(SMALL_ROOM, slip=0.1, step_limit=step_limit)


class Tableless(TableWorld):
    """A finite world that does not show its table."""

    @property
    def mdp(self):  # pyright: ignore[reportIncompatibleMethodOverride]
        return None

    def states(self):
        raise AssertionError("a world without a table was enumerated")

    def transition(self, state, action):
        raise AssertionError("a world without a table was enumerated")


def neural_skills(
    world, objective=None, seed: int = 0, targets=None, n_skills: int | None = None,
    hidden: int = 8, scale: float = 30.0,
) -> sf.Skills:  # fmt: skip
    """Skills of networks that were never trained; `scale` makes their outputs differ."""
    objective = sf.focused(sf.vic()) if objective is None else objective
    if targets is None and n_skills is None and objective.targeted:
        targets = {"tool_1": 2, "position": 3}
    problem = make_problem(world, objective, targets=targets, n_skills=n_skills)
    jax_world = world if hasattr(world, "one_way") else from_table(world, problem.mdp)
    model = SkillModel(
        world.space, jax_world.one_way, len(world.actions), objective, problem.assignment
    )
    rng = np.random.default_rng(seed)
    rewards = make_rewards(model, 0.98, rng)
    parts = [
        {
            **each.parts(held=False),
            **({"network": each.network} if isinstance(each, NetworkReward) else {}),
        }
        for each in rewards
    ]
    costs = init_network([model.n_inputs, hidden, hidden, model.n_outputs], rng, output_bias=2.0)
    costs["w2"] *= scale
    strength = 0.0 if objective.penalty is None else objective.penalty.strength
    weights = {
        "costs": costs, "groups": parts, "strength": np.float32(strength),
        "unit": np.ones(model.n_skills, np.float32),
        "temperature": np.float32(0.0),
    }  # fmt: skip
    policies = NeuralPolicy(model, weights, problem.modes, jax_world.mdp)
    first = np.cumsum((0, *problem.modes[:-1]))
    names = world.space.names
    chosen = tuple(tuple(names[i] for i in problem.assignment.targets(z)) for z in first)
    info = {"objective": objective.to_dict(), "learner": {"name": "neural"}, "seed": seed}
    return sf.Skills(world, policies, chosen, problem.step_limit, info)


ACTOR_TARGETS = [{"agent": 3}, {"box": sf.Sphere(2)}, {"agent": 3, "box": sf.Sphere(2)}, {}]


def untrained_actor(objective=None, targets=ACTOR_TARGETS, world="two-rooms", **more):
    """Skills of an actor with random weights, in a continuous world."""
    made, rng = sf.make(world), np.random.default_rng(0)
    assert isinstance(made, ContinuousBase)
    objective = objective or sf.focused(sf.metra())
    layout = lay_out(made.space, objective, targets, **more)
    model, estimates = (
        ActorModel(made, objective, layout, 5),
        SkillEstimates(made.space, objective, layout),
    )
    weights = {
        "actor": init_network([model.n_inputs, 8, 8, model.n_outputs], rng),
        "judges": estimates.init(4, rng),
        "shift": np.zeros(made.observation_size, np.float32),
        "scale": np.ones(made.observation_size, np.float32),
    }
    return sf.ContinuousSkills(made, objective, layout, weights, 5, {"seed": 0})
