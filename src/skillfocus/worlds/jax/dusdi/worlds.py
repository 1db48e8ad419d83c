"""Gunner and Particles, the continuous worlds of DUSDi."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from skillfocus.errors import UserError
from skillfocus.spaces import Space, Variable
from skillfocus.worlds.drawing import Arrow, Circle, Drawing, Line, Number, Text
from skillfocus.worlds.jax.world import EpisodicWorld, jax, jnp

# --------------------
#
# Gunner: a robot on a square floor drives, reaches for things and looks at corners
#
# Variables   base, arm, view: which of four things the base stands on, the gripper holds and the
#             head looks at, one-hot, all zero for none; or, with variables="numbers", the positions
#             of base and gripper, how far the gripper is closed and where the head points
# Actions     base_x, base_y (±0.3), arm_x, arm_y (±0.15), close (±0.15), turn (±0.8)
# Observation base, arm, view one-hot (12), base (2), gripper (2), closed, angle: 18 numbers
# Start       in the centre, the gripper half closed, looking along the second axis; with
#             starts="varied", anywhere
# Versions    v0: 2D-Gunner of DUSDi's public code
#
# Everything moves by adding the action and clipping: base to [0, 4.99]², the arm's offset from it
# to ±4.99 / 3, the gripper to [0, 1], the angle to ±π. While the gripper is at least half closed,
# it holds whatever lies under it, also nothing; below that it keeps what it had. The floor's cells
# say what lies where. The head sees a corner if it points at most π / 10 past it and to its
# quadrant; the corner's direction depends on where the base is.

LIMIT = 4.99
"""The floor's side: five cells, so that every position lies in one of them."""
REACH = LIMIT / 3
"""How far the arm reaches along each axis."""
HALF_CLOSED = 0.5
"""From this value on, the gripper holds what lies under it."""
VIEW_WIDTH = math.pi / 10
"""Largest angle between the head's direction and a corner it sees."""
RANGES = (0.3, 0.3, 0.15, 0.15, 0.15, 0.8)
"""The largest action in each dimension."""
BASE_CELLS = np.array(
    [[0, 0, 0, 0, 0], [0, 1, 0, 2, 0], [0, 0, 0, 0, 0], [0, 3, 0, 4, 0], [0, 0, 0, 0, 0]]
)
"""What the base finds in each cell, by position; 0 for nothing."""
ARM_CELLS = np.array(
    [[0, 3, 0, 1, 0], [4, 0, 2, 0, 4], [0, 1, 0, 3, 0], [2, 0, 4, 0, 2], [0, 3, 0, 1, 0]]
)
"""What the gripper finds in each cell, by position; 0 for nothing."""
CORNERS = np.array([[LIMIT, 0], [LIMIT, LIMIT], [0, 0], [0, LIMIT]])
"""What the head looks at, in the order of the one-hot."""
PAST_LIMIT = LIMIT - float(np.float32(LIMIT))
"""How far the corners at `LIMIT` lie beyond the base's last position: the original rounds the base
to float32, but not the corners. It decides what a base in the very corner sees there."""
N_ITEMS = 4
SPACES = {
    "items": Space(
        tuple(  # one-hot: two different things are at distance √2
            Variable(name, low=(0.0,) * N_ITEMS, high=(1.0,) * N_ITEMS, scale=math.sqrt(2))
            for name in ("base", "arm", "view")
        )
    ),
    "numbers": Space(
        (
            Variable("base", low=(0.0, 0.0), high=(LIMIT, LIMIT)),
            Variable("arm", low=(0.0, 0.0), high=(LIMIT, LIMIT)),
            Variable("gripper", low=(0.0,), high=(1.0,)),
            Variable("view", low=(-math.pi,), high=(math.pi,)),
        )
    ),
}


class GunnerState(NamedTuple):
    """A state, in arrays of float32."""

    base: jax.Array
    """Position, [2]."""
    offset: jax.Array
    """The arm's offset from the base, [2]."""
    gripper: jax.Array
    """How far it is closed, []."""
    view: jax.Array
    """Where the head points, []: 0 is along the second axis, π / 2 along the first."""
    held: jax.Array
    """What the gripper holds, one-hot [4]."""

    @property
    def arm(self) -> jax.Array:
        """The gripper's position, [2]: never off the floor."""
        return jnp.clip(self.base + self.offset, 0, LIMIT)


class Gunner(EpisodicWorld):
    """Drive, reach and look: `sf.make("gunner", variables="numbers")`."""

    id = "Gunner-v0"
    actions = ("base_x", "base_y", "arm_x", "arm_y", "close", "turn")
    action_low = tuple(-bound for bound in RANGES)
    action_high = RANGES
    notes = (
        "what the arm holds and what the head sees depend on where the base is",
        "DUSDi's skills take 50 steps and its episodes 1,000",
    )

    def __init__(
        self,
        variables: str = "items",
        starts: str = "centre",
        step_limit: int = 50,
        episode_steps: int = 1000,
    ) -> None:
        """Make a Gunner.

        Args:
            variables: "items" for what base, arm and view are at, as in DUSDi, or "numbers" for
                positions, gripper and angle.
            starts: "centre", as in DUSDi, or "varied".
            step_limit: Steps of a skill.
            episode_steps: Steps of an episode.
        """
        if variables not in SPACES:
            raise UserError(f"variables of Gunner is {variables!r}; it must be items or numbers")
        if starts not in ("centre", "varied"):
            raise UserError(f"starts of Gunner is {starts!r}; it must be centre or varied")
        super().__init__(step_limit, episode_steps)
        self.variables, self.starts = variables, starts
        self.space = SPACES[variables]

    @property
    def observation_size(self) -> int:
        """Size of three one-hots, two positions, the gripper and the angle."""
        return 3 * N_ITEMS + 6

    def reset(self, key: jax.Array) -> GunnerState:
        """Return the start in the centre, or sample a varied one."""
        if self.starts == "centre":
            base = jnp.full(2, LIMIT / 2, jnp.float32)
            half = jnp.float32(HALF_CLOSED)
            state = GunnerState(base, jnp.zeros(2), half, jnp.float32(0), jnp.zeros(N_ITEMS))
        else:
            keys = jax.random.split(key, 5)
            state = GunnerState(
                jax.random.uniform(keys[0], (2,), maxval=LIMIT),
                jax.random.uniform(keys[1], (2,), minval=-REACH, maxval=REACH),
                jax.random.uniform(keys[2]),
                jax.random.uniform(keys[3], minval=-math.pi, maxval=math.pi),
                _one_hot(jax.random.randint(keys[4], (), 0, N_ITEMS + 1)),
            )
        return _grasp(state)

    def step(self, key: jax.Array, state: GunnerState, action: jax.Array) -> GunnerState:
        """Move base, arm, head and gripper, then grasp."""
        del key
        action = jnp.clip(action, -jnp.array(RANGES), jnp.array(RANGES))
        return _grasp(
            GunnerState(
                jnp.clip(state.base + action[:2], 0, LIMIT),
                jnp.clip(state.offset + action[2:4], -REACH, REACH),
                jnp.clip(state.gripper + action[4], 0, 1),
                jnp.clip(state.view + action[5], -math.pi, math.pi),
                state.held,
            )
        )

    def values(self, state: GunnerState) -> jax.Array:
        """Return the items, float32 [12], or the numbers, float32 [6]."""
        observation = self.observation(state)
        split = 3 * N_ITEMS
        return observation[:split] if self.variables == "items" else observation[split:]

    def observation(self, state: GunnerState) -> jax.Array:
        """Return all 18 numbers, in DUSDi's order."""
        base = _one_hot(_under(BASE_CELLS, state.base))
        numbers = jnp.stack([state.gripper, state.view])
        return jnp.concatenate([base, state.held, seen(state), state.base, state.arm, numbers])

    def place(self, key: jax.Array, values: jax.Array) -> GunnerState:
        """Return a state with given numbers; what an open gripper holds is sampled.

        Raises:
            UserError: With variables="items", which do not determine positions.
        """
        if self.variables == "items":
            raise UserError(
                "Gunner cannot be set to given items, which do not determine positions: use "
                'variables="numbers"'
            )
        offset = values[2:4] - values[:2]
        held = _one_hot(jax.random.randint(key, (), 0, N_ITEMS + 1))
        return _grasp(GunnerState(values[:2], offset, values[4], values[5], held))

    def drawing(self) -> Drawing:
        """Return the floor, its things, and the robot."""
        things = [
            Text((x + 0.5, y + 0.5), f"{'base' if cells is BASE_CELLS else 'arm'} {cells[x, y]}")
            for cells in (BASE_CELLS, ARM_CELLS)
            for x, y in np.argwhere(cells)
        ]
        base, arm = (Number(12), Number(13)), (Number(14), Number(15))
        return Drawing(
            (0.0, 0.0, 5.0, 5.0),
            (
                *things,
                *(
                    Text((min(max(x, 0.3), 4.7), min(max(y, 0.15), 4.85)), f"view {i + 1}")
                    for i, (x, y) in enumerate(CORNERS.tolist())
                ),
                Circle(base, 0.18, variable="base", trail=True),
                Circle(arm, 0.1, variable="arm", trail=True),
                Arrow(base, Number(17), 0.8, variable="view"),
            ),
        )


def seen(state: GunnerState) -> jax.Array:
    """Return which corner the head looks at, one-hot float32 [4]."""
    # The quadrant decides which corner can be seen, and π / 10 whether it is.
    positive = jnp.where(state.view > math.pi / 2, 0, 1)
    quadrant = jnp.where(state.view > 0, positive, jnp.where(state.view < -math.pi / 2, 2, 3))
    corners = jnp.asarray(CORNERS, jnp.float32)
    toward = (corners[quadrant] - state.base) + jnp.where(corners[quadrant] > 0, PAST_LIMIT, 0)
    angle = jnp.arctan2(toward[0], toward[1])
    visible = jnp.abs(angle - state.view) <= VIEW_WIDTH
    return _one_hot(jnp.where(visible, quadrant + 1, 0))


def _grasp(state: GunnerState) -> GunnerState:
    """Update what the gripper holds: if at least half closed, what lies under it."""
    found = _one_hot(_under(ARM_CELLS, state.arm))
    return state._replace(held=jnp.where(state.gripper >= HALF_CLOSED, found, state.held))


def _under(cells: np.ndarray, position: jax.Array) -> jax.Array:
    """Return what lies in the cell of a position, int []: 0 for nothing."""
    row, column = position.astype(jnp.int32)
    return jnp.asarray(cells)[row, column]


def _one_hot(number: jax.Array) -> jax.Array:
    """Return things 1 to 4 as one-hot float32 [4], and 0 as zeros."""
    return (jnp.arange(1, N_ITEMS + 1) == number).astype(jnp.float32)


# --------------------
#
# Particles: agents on a square, each with its own landmark; agents do not interact.
#
# Variables   distance_0 … distance_9: how far each agent is from its landmark
# Actions     x and y of every agent's acceleration, -1 to 1
# Observation the distances (10), velocity and position of every agent (4 each), the landmarks (2
#             each): 70 numbers
# Start       agents at rest and landmarks uniform on [-1, 1]²
# Versions    v0: the multi-particle world of DUSDi's public code
#
# In every step an agent first moves by a tenth of its velocity. Then the velocity is multiplied by
# three quarters, and half the action is added. Positions are clipped to the square, velocities are
# not, so an agent at the edge keeps its speed. Landmarks do not move.

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
