"""Skills of networks with random weights, in worlds with and without a table. Needs JAX."""

from __future__ import annotations

import numpy as np

import skillfocus as sf
from skillfocus.learners.cost_network.rewards import NetworkReward, make_rewards
from skillfocus.learners.cost_network.training import with_networks
from skillfocus.learners.problem import make_problem
from skillfocus.skills.actor import ActorModel, ActorPolicy, make_code
from skillfocus.skills.estimators import SkillEstimates
from skillfocus.skills.network import NeuralPolicy, SkillModel, init_network
from skillfocus.worlds.jax.rooms import Rooms
from skillfocus.worlds.jax.table import TableWorld
from skillfocus.worlds.jax.world import JaxWorld

SMALL_ROOM = "######\n#...T#\n#.#..#\n#T...#\n######"


def small_room(step_limit: int = 8) -> Rooms:
    """Eleven cells and two tools, without a table."""
    return Rooms(SMALL_ROOM, slip=0.1, step_limit=step_limit)


class Tableless(TableWorld):
    """A finite world that does not show its table."""

    def __init__(self, world, mdp):
        super().__init__(world, mdp)
        self.mdp = None

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
    jax_world = world if isinstance(world, JaxWorld) else TableWorld(world, problem.mdp)
    model = SkillModel(world.space, jax_world.one_way, len(world.actions), objective, problem.kinds)
    rng = np.random.default_rng(seed)
    rewards = make_rewards(model, 0.98, rng)
    networks = {i: r.network for i, r in enumerate(rewards) if isinstance(r, NetworkReward)}
    parts = with_networks([each.predict() for each in rewards], networks)
    costs = init_network([model.n_inputs, hidden, hidden, model.n_outputs], rng, output_bias=2.0)
    costs["w2"] *= scale
    strength = 0.0 if objective.penalty is None else objective.penalty.strength
    weights = {
        "q_params": costs, "groups": parts, "strength": np.float32(strength),
        "reward_scale": np.ones(model.n_skills, np.float32),
        "temperature": np.float32(0.0),
    }  # fmt: skip
    policies = NeuralPolicy(model, weights, problem.modes, jax_world.mdp)
    first = np.cumsum((0, *problem.modes[:-1]))
    names = world.space.names
    chosen = tuple(tuple(names[i] for i in problem.kinds.targets(z)) for z in first)
    info = {"objective": objective.to_dict(), "learner": {"name": "neural"}, "seed": seed}
    return sf.Skills(world, policies, chosen, problem.step_limit, info)


ACTOR_TARGETS = {"agent": 3, "box": sf.Sphere(2), "agent+box": None, "nothing": None}


def untrained_actor(objective=None, targets=ACTOR_TARGETS, world="two-rooms", n_skills=None):
    """Skills of an actor with random weights, in a world with real-valued actions."""
    made, rng = sf.make(world), np.random.default_rng(0)
    objective = objective or sf.focused(sf.metra())
    problem = make_problem(made, objective, targets=targets, n_skills=n_skills, step_limit=5)
    code = make_code(problem.kinds, len(made.space))
    model, estimates = (
        ActorModel(made, objective, code, 5),
        SkillEstimates(made.space, objective, code),
    )
    weights = {
        "actor": init_network([model.n_inputs, 8, 8, model.n_outputs], rng),
        "estimators": estimates.init(4, rng),
        "shift": np.zeros(made.observation_size, np.float32),
        "scale": np.ones(made.observation_size, np.float32),
    }
    info = {"objective": objective.to_dict(), "seed": 0}
    return skills_of(problem, ActorPolicy(model, weights, problem.kinds.skills), info)


def skills_of(problem, policy, info=None) -> sf.Skills:
    """The skills of a problem, with policies that no learner returned."""
    names, kinds = problem.world.space.names, problem.kinds
    targets = tuple(tuple(names[j] for j in kinds.targets(z)) for z in range(len(kinds)))
    return sf.Skills(problem.world, policy, targets, problem.step_limit, info or {})
