"""DUSDi's downstream tasks, as in its public code.

Every constant is from github.com/JiahengHu/DUSDi (`custom_env/moma_2d_downstream_env.py`,
`env_helper.py`, `train.py`) or github.com/JiahengHu/Pettingzoo-skill
(`pettingzoo/utils/wrappers/centralized_wrapper.py`). Three points are unclear there:

- `env_helper.py` names landmarks 1 and 2 for the easy food-poison task, and `train.py` landmark 1
  alone. The published return of 17.6 fits one, whose best is 20.
- There is one sequential task. Its agents are those of the paper's *mid* one; for *hard* we take
  the eight agents of the hard food-poison task.
- The lowest possible return of the public sequential task is -20, but the paper shows -35. Its
  penalties must have differed, so our returns of sequential tasks are not comparable with it.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from skillfocus.worlds.jax.continuous_tasks import ContinuousTask, TaskStep, TimedTask
from skillfocus.worlds.jax.dusdi.worlds import N_ITEMS, Gunner, Particles

AGENTS = 10
"""`env/env_config.yaml`: particle.N."""
CYCLE = 50
"""Steps after which landmarks and targets may change: `cycle_step`, which is a skill's length."""
NEAR = 0.6
"""Largest distance at which an agent is at its landmark: `distance_threshold`."""
MID = (0, 2, 4, 6, 9)
"""Agents of the tasks of medium difficulty: `poison_m` and `sequential` in `env_helper.py`."""
HARD = (0, 1, 2, 3, 4, 6, 7, 9)
"""Agents of the hard tasks: `poison_l` in `env_helper.py`."""


class GunnerTask(TimedTask):
    """Stand on and look at the right item, which changes every 250 steps.

    In the i-th quarter of the episode, it is item i. Each step earns 1 for the base and 1 for the
    view; in the limited task only while the gripper holds item 1.
    """

    world = Gunner
    world_settings = {"starts": "centre"}
    best_return = 40.0
    quarter = 250

    def __init__(self, limited: bool) -> None:
        """Make the limited or the unlimited task."""
        self.name = f"gunner-{'limited' if limited else 'unlimited'}"
        self.limited = limited

    def step(
        self, key: jax.Array, state: jax.Array, before: jax.Array, after: jax.Array
    ) -> TaskStep:
        """Reward base and view after the step; the count includes this step."""
        del key, before
        count = state + 1
        goal = jnp.minimum(count // self.quarter, 3)
        base, arm, view = after[: 3 * N_ITEMS].reshape(3, N_ITEMS)
        reward = base[goal] + view[goal]
        if self.limited:
            reward *= arm[0]
        return TaskStep(count, reward, reward)


class PoisonState(NamedTuple):
    """State of a food-poison task."""

    poisoned: jax.Array
    """Which landmarks are poison, float32 [10]; 0 is food."""
    steps: jax.Array
    """Steps taken, int32 []."""


class FoodPoison(ContinuousTask):
    """Be near food and away from poison; every 50 steps, each landmark is resampled as either.

    For each landmark that counts, a step earns 1 if its agent is right, and -1 otherwise.
    """

    world = Particles
    observation_size = AGENTS + 1

    def __init__(self, difficulty: str, landmarks: tuple[int, ...]) -> None:
        """Make a task from the landmarks that count."""
        self.name = f"food-poison-{difficulty}"
        self.landmarks = landmarks
        self.best_return = 20.0 * len(landmarks)

    def reset(self, key: jax.Array, observation: jax.Array) -> PoisonState:
        """Sample which landmarks are poison."""
        del observation
        return PoisonState(_coins(key), jnp.int32(0))

    def step(
        self, key: jax.Array, state: PoisonState, before: jax.Array, after: jax.Array
    ) -> TaskStep:
        """Reward distances after the step; resample the poison at the end of a cycle."""
        del before
        count = state.steps + 1
        distance, poisoned = after[:AGENTS], state.poisoned > 0
        right = jnp.where(poisoned, distance > NEAR, distance < NEAR)
        reward = jnp.where(right, 1.0, -1.0)[jnp.array(self.landmarks)].sum()
        resampled = jnp.where(count % CYCLE == 0, _coins(key), state.poisoned)
        return TaskStep(PoisonState(resampled, count), reward, reward)

    def observation(self, state: PoisonState) -> jax.Array:
        """Return what is poison, and the number of cycles since the start, float32 [11]."""
        return jnp.append(state.poisoned, state.steps / CYCLE)


class SequentialState(NamedTuple):
    """State of a sequential task."""

    progress: jax.Array
    """Number of agents that are done, int32 []."""
    charge: jax.Array
    """Steps that the current agent was near its landmark, int32 []."""
    steps: jax.Array
    """Steps taken, int32 []."""


class Sequential(ContinuousTask):
    """Bring one agent after the other near its landmark, and keep the others away.

    An agent is done at the end of a cycle of 50 steps if it was near for more than 40 steps since
    its turn began. Until all are done, each step costs 0.1 per agent that is wrong; after that,
    each step earns 10.
    """

    world = Particles
    observation_size = AGENTS + 1
    needed = 40
    penalty = 0.1
    prize = 10.0

    def __init__(self, difficulty: str, sequence: tuple[int, ...]) -> None:
        """Make a task from the agents, in their order."""
        self.name = f"sequential-{difficulty}"
        self.sequence = sequence
        cycles = self.episode_length // CYCLE
        self.best_return = self.prize * (cycles - len(sequence))

    def reset(self, key: jax.Array, observation: jax.Array) -> SequentialState:
        """Start with the first agent."""
        del key, observation
        return SequentialState(jnp.int32(0), jnp.int32(0), jnp.int32(0))

    def turn(self, state: SequentialState) -> jax.Array:
        """Return whose turn it is, one-hot float32 [10]; all zero when all are done."""
        agents = jnp.array((*self.sequence, AGENTS))
        return (jnp.arange(AGENTS) == agents[state.progress]).astype(jnp.float32)

    def step(
        self, key: jax.Array, state: SequentialState, before: jax.Array, after: jax.Array
    ) -> TaskStep:
        """Reward distances after the step, then pass the turn on at the end of a cycle."""
        del key, before
        count = state.steps + 1
        distance, turn = after[:AGENTS], self.turn(state) > 0
        right = jnp.where(turn, distance < NEAR, distance > NEAR)
        done = state.progress == len(self.sequence)
        reward = jnp.where(done, self.prize, -self.penalty * (~right).sum())
        charge = state.charge + (turn & right).sum(dtype=jnp.int32)
        passes = (count % CYCLE == 0) & ~done & (charge > self.needed)
        after_cycle = SequentialState(state.progress + passes, jnp.where(passes, 0, charge), count)
        return TaskStep(after_cycle, reward, reward)

    def observation(self, state: SequentialState) -> jax.Array:
        """Return whose turn it is, and the number of cycles since the start, float32 [11]."""
        return jnp.append(self.turn(state), state.steps / CYCLE)


def _coins(key: jax.Array) -> jax.Array:
    """Sample what is poison, float32 [10]."""
    return jax.random.bernoulli(key, 0.5, (AGENTS,)).astype(jnp.float32)


TASKS: dict[str, ContinuousTask] = {
    task.name: task
    for task in (
        FoodPoison("easy", (1,)),
        FoodPoison("mid", MID),
        FoodPoison("hard", HARD),
        Sequential("mid", MID),
        Sequential("hard", HARD),
        GunnerTask(limited=False),
        GunnerTask(limited=True),
    )
}
"""The tasks by name."""
