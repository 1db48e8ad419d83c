"""Particles: agents on a square, each with its own landmark; agents do not interact.

Variables   distance_0 … distance_9: how far each agent is from its landmark
Actions     x and y of every agent's acceleration, -1 to 1
Observation the distances (10), velocity and position of every agent (4 each), the landmarks (2
            each): 70 numbers
Start       agents at rest and landmarks uniform on [-1, 1]²
Versions    v0: the multi-particle world of DUSDi's public code

In every step an agent first moves by a tenth of its velocity. Then the velocity is multiplied by
three quarters, and half the action is added. Positions are clipped to the square but velocities are
not, so an agent at the edge keeps its speed. Landmarks do not move.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from skillfocus.errors import UserError
from skillfocus.spaces import Space, Variable
from skillfocus.worlds.drawing import Circle, Drawing, Line, Number
from skillfocus.worlds.jax.lazy import jax, jnp
from skillfocus.worlds.jax.world import EpisodicWorld

TIME_STEP = 0.1
DAMPING = 0.25
"""The share of its velocity that an agent loses in a step."""
SENSITIVITY = 5.0
"""The acceleration of a full action."""
MAX_AGENTS = 100


class ParticlesState(NamedTuple):
    """A state, in arrays of float32."""

    position: jax.Array
    """The agents' positions, [n, 2]."""
    velocity: jax.Array
    """Their velocities, [n, 2]."""
    landmark: jax.Array
    """The landmarks' positions, [n, 2]."""


class Particles(EpisodicWorld):
    """Move many agents: `sf.make("particles", agents=10)`."""

    id = "Particles-v0"
    notes = (
        "agents do not interact, so every skill can leave the others alone",
        "DUSDi's skills take 50 steps and its episodes 1,000",
    )

    def __init__(self, agents: int = 10, step_limit: int = 50, episode_steps: int = 1000) -> None:
        """Make particles.

        Args:
            agents: Number of agents, each with a landmark.
            step_limit: Steps of a skill.
            episode_steps: Steps of an episode.
        """
        self.agents = agents
        if agents > MAX_AGENTS:
            raise UserError(f"agents is {agents}; it must be at most {MAX_AGENTS}")
        super().__init__(step_limit, episode_steps)
        self.space = Space(
            tuple(
                Variable(f"distance_{i}", low=(0.0,), high=(2 * math.sqrt(2),))
                for i in range(agents)
            )
        )
        self.actions = tuple(f"agent_{i}_{axis}" for i in range(agents) for axis in "xy")
        self.action_low, self.action_high = (-1.0,) * 2 * agents, (1.0,) * 2 * agents

    @property
    def observation_size(self) -> int:
        """Size of distance, velocity, position and landmark of every agent."""
        return 7 * self.agents

    def reset(self, key: jax.Array) -> ParticlesState:
        """Sample positions of agents, at rest, and of landmarks."""
        shape = (2, self.agents, 2)
        position, landmark = jax.random.uniform(key, shape, minval=-1.0, maxval=1.0)
        return ParticlesState(position, jnp.zeros(shape[1:]), landmark)

    def step(self, key: jax.Array, state: ParticlesState, action: jax.Array) -> ParticlesState:
        """Move every agent, then change its velocity."""
        del key
        acceleration = SENSITIVITY * jnp.clip(action, -1, 1).reshape(self.agents, 2)
        return ParticlesState(
            jnp.clip(state.position + state.velocity * TIME_STEP, -1, 1),
            state.velocity * (1 - DAMPING) + acceleration * TIME_STEP,
            state.landmark,
        )

    def values(self, state: ParticlesState) -> jax.Array:
        """Return the distances, float32 [n]."""
        return jnp.sqrt(jnp.square(state.position - state.landmark).sum(-1))

    def observation(self, state: ParticlesState) -> jax.Array:
        """Return all 7 n numbers, in DUSDi's order."""
        moving = jnp.concatenate([state.velocity, state.position], axis=-1)
        return jnp.concatenate([self.values(state), moving.ravel(), state.landmark.ravel()])

    def place(self, key: jax.Array, values: jax.Array) -> ParticlesState:
        """Raise `UserError`: distances do not determine positions."""
        del key, values
        raise UserError(
            "Particles cannot be set to given distances, which do not determine positions: give a "
            "number of starts"
        )

    def drawing(self) -> Drawing:
        """Return agents and landmarks, joined by lines."""
        n = self.agents
        shapes = []
        for i in range(n):
            agent = Number(n + 4 * i + 2), Number(n + 4 * i + 3)
            landmark = Number(5 * n + 2 * i), Number(5 * n + 2 * i + 1)
            name = f"distance_{i}"
            shapes += [
                Line(agent, landmark, variable=name),
                Circle(landmark, 0.02, variable=name, hollow=True),
                Circle(agent, 0.03, variable=name, trail=True),
            ]
        return Drawing((-1.0, -1.0, 1.0, 1.0), tuple(shapes))
