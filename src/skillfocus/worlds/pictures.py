"""Pictures of states, drawn by the environment that a world was explored in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from skillfocus.core.factored import State
from skillfocus.core.world import World
from skillfocus.worlds.explored import ExploredWorld

TILE_SIZE = 32
"""Pixels of a cell of MiniGrid."""
_WITHOUT_SCREEN = {"SDL_VIDEODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}
Painter = Callable[[State], np.ndarray]
"""From a state to its picture, uint8 [height, width, 3], the same size for all states."""


def environment_painter(world: World) -> Painter | None:
    """Return what draws states as the world's environment does; None if it cannot draw.

    Gymnasium's toy texts (Taxi, FrozenLake, CliffWalking, Blackjack) need pygame for it, and
    MiniGrid draws by itself. Whether an environment can draw is tried out in the world's first
    state: it may lack a package, or have no `render` for pictures.

    Args:
        world: The world.
    """
    env = getattr(getattr(world, "simulator", None), "env", None)
    outer = getattr(env, "env", None)
    if not isinstance(world, ExploredWorld) or outer is None:
        return None
    inner = outer.unwrapped

    def paint(state: State) -> np.ndarray:
        assert world.simulator is not None
        world.simulator.reset(world.values_of(state))
        return _frame(inner)

    try:
        picture = paint(world.all_states[0])
    except Exception:  # an environment may fail in any way, and then there are no pictures
        return None
    fits = isinstance(picture, np.ndarray) and picture.ndim == 3 and picture.shape[2] == 3
    return paint if fits and picture.dtype == np.uint8 else None


def _frame(inner: Any) -> np.ndarray:
    """Return the picture of an environment's present state."""
    if hasattr(inner, "get_frame"):  # MiniGrid; `get_frame` works out first what the agent sees
        return np.asarray(inner.grid.render(TILE_SIZE, inner.agent_pos, inner.agent_dir))
    if hasattr(inner, "lastaction"):  # which way things look is no part of the state
        inner.lastaction = None
    mode = getattr(inner, "render_mode", None)
    inner.render_mode = "rgb_array"
    try:
        with _without_screen():
            return np.asarray(inner.render())
    finally:
        inner.render_mode = mode


@contextmanager
def _without_screen() -> Iterator[None]:
    """Let pygame draw where there is no screen, and say nothing."""
    before = {name: os.environ.get(name) for name in _WITHOUT_SCREEN}
    os.environ.update({n: v for n, v in _WITHOUT_SCREEN.items() if before[n] is None})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
