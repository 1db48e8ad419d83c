"""A corridor in JAX, small enough to work out by hand."""

from __future__ import annotations

import jax.numpy as jnp

from skillfocus.spaces import Space, Variable
from skillfocus.tasks.option_learning import Options
from skillfocus.tasks.task import jax_task
from skillfocus.worlds.jax.world import JaxWorld

LEFT, RIGHT, PRESS = range(3)
STOP = 3


class Corridor(JaxWorld):
    """Cells 0 to 6. Pressing toggles a lamp; walking right out of cell 2 breaks a vase for good."""

    id = "Corridor-v0"
    actions = ("left", "right", "press")
    space = Space(
        (Variable("cell", tuple(range(7))), Variable("lamp", (0, 1)), Variable("broken", (0, 1)))
    )
    one_way = ("broken",)
    step_limit = 10

    def reset(self, key):
        return jnp.zeros(3, jnp.int32)

    def step(self, key, state, action):
        cell, lamp, broken = state
        move = jnp.where(action == LEFT, -1, jnp.where(action == RIGHT, 1, 0))
        broken = jnp.where((cell == 2) & (action == RIGHT), 1, broken)
        lamp = jnp.where(action == PRESS, 1 - lamp, lamp)
        return jnp.stack([jnp.clip(cell + move, 0, 6), lamp, broken]).astype(jnp.int32)


def walkers(step_limit=10, width=3):
    """Return a skill that walks `width` cells to the right, and one that lights the lamp, takes two
    steps to the right, and puts it out again."""

    def policy(_, starts, values):
        gone = values[:, 0] - starts[:, 0]
        walk = jnp.where((gone < width) & (values[:, 0] < 6), RIGHT, STOP)
        lit = values[:, 1] == 1
        errand = jnp.where(
            gone >= 2,
            jnp.where(lit, PRESS, STOP),
            jnp.where(lit, RIGHT, jnp.where(gone == 0, PRESS, STOP)),
        )
        return jnp.stack([walk, errand], axis=1)

    return Options(policy, None, 2, step_limit, 3)


def at_cell(cell, **changes):
    """Return the task of reaching a cell, with the lamp off and nothing broken."""
    settings = {
        "max_episode_steps": 20,
        "side_conditions": {
            "lamp off": lambda values: values[..., 1] == 0,
            "vase whole": lambda values: values[..., 2] == 0,
        },
        **changes,
    }
    return jax_task(f"cell {cell}", lambda values: values[..., 0] == cell, **settings)
