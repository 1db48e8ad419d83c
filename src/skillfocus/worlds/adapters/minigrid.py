"""MiniGrid environments as worlds.

Variables   x, y and direction of the agent; carrying (what it holds, or "nothing"); for each object
            that can be picked up its place (a cell, "carried", "inside" a box, or "gone"); for each
            door its state (locked, closed or open). Objects are named by colour and type; several
            alike are numbered in reading order (yellow_key, grey_door_1, grey_door_2).
Actions     the environment's: left, right, forward, pick up, drop, toggle, done
Starts      the state after a reset with the seed; one seed is one layout
Final       states that end the episode: the goal, lava, whatever the environment says

The environment is explored by stepping it. What it remembers besides its grid, as BabyAI does with
its instructions, is not a variable; validation reveals it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from skillfocus.errors import UserError, unknown
from skillfocus.world import STATE_LIMIT, check_seed
from skillfocus.worlds.adapters.stepping import (
    changed_settings,
    environment_notes,
    find_env,
    stepped_model,
    validate,
)
from skillfocus.worlds.explored import ExploredWorld, Groups, ModelOutcome, Values

DIRECTIONS = ("right", "down", "left", "up")
ACTIONS = ("left", "right", "forward", "pick up", "drop", "toggle", "done")
"""Names of MiniGrid's actions and directions, in its order."""
_NEUTRAL_WRAPPERS = ("TimeLimit", "OrderEnforcing", "PassiveEnvChecker")
"""Wrappers that do not change the dynamics; the environment below them is stepped."""
_ADVICE = (
    "if objects move at random, raise samples=…; if the environment remembers something that its "
    "grid does not show, check=False takes the world as it was explored"
)


def from_minigrid(
    env: Any,
    *,
    groups: Groups | None = None,
    seed: int = 0,
    samples: int = 1,
    step_limit: int = 40,
    limit: int = STATE_LIMIT,
    check: bool = True,
    **settings: object,
) -> ExploredWorld:
    """Make a world from a MiniGrid environment.

    Example::

        world = sf.adapters.from_minigrid("DoorKey-5x5", seed=3)

    Args:
        env: An environment, or its id in full or in short (`MiniGrid-DoorKey-5x5-v0`,
            `DoorKey-5x5`).
        groups: Variables to join.
        seed: The seed of the reset that makes the layout.
        samples: How often each action is tried in each state; more than 1 if objects move at
            random.
        step_limit: The most steps a skill may take.
        limit: The most states to accept.
        check: Whether to compare the world with `env.step`.
        **settings: Arguments for `gymnasium.make`.

    Raises:
        UserError: If the environment cannot be made or explored, or has hidden state.
    """
    check_seed(seed)
    seed = int(seed)
    if not isinstance(env, str) and not is_minigrid(env):
        raise UserError(f"from_minigrid takes a MiniGrid environment or its id, not {env!r}")
    changed = changed_settings(from_minigrid, locals())
    arguments = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
    env, world_id = find_env(_full_id(env) if isinstance(env, str) else env, arguments, "MiniGrid")
    grid = _SteppedGrid(env, seed)
    is_bundled = type(grid.inner).__module__.startswith("minigrid.")
    return ExploredWorld(
        world_id,
        names=grid.names,
        actions=[ACTIONS[a] if a < len(ACTIONS) else str(a) for a in range(env.action_space.n)],
        starts=[grid.state()],
        model=stepped_model(grid, samples),
        limit=limit,
        settings=changed,
        groups=groups,
        step_limit=step_limit,
        simulator=grid,
        exact=samples == 1,
        notes=environment_notes(samples, grid.inner.max_steps),
        packages=("minigrid", "gymnasium") if is_bundled else (),
        check=partial(validate, seed=seed, advice=_ADVICE) if check else None,
    )


def is_minigrid(env: object) -> bool:
    """Return whether this is a MiniGrid environment, or the id of one."""
    if isinstance(env, str):
        return env.startswith(("MiniGrid-", "BabyAI-"))
    kinds = type(getattr(env, "unwrapped", env)).__mro__
    return any(kind.__name__ == "MiniGridEnv" for kind in kinds)


def register_minigrid() -> None:
    """Register MiniGrid's environments with Gymnasium.

    Raises:
        UserError: If MiniGrid is not installed.
    """
    import gymnasium

    try:
        import minigrid
    except ImportError:
        raise UserError(
            "MiniGrid worlds need minigrid: pip install 'skillfocus[minigrid]'"
        ) from None
    if not any(is_minigrid(known) for known in gymnasium.registry):
        minigrid.register_minigrid_envs()


def _full_id(name: str) -> str:
    """Return the id of an environment from its id in full or in short."""
    import gymnasium

    register_minigrid()
    ids = [known for known in gymnasium.registry if is_minigrid(known)]
    forms = (name, f"MiniGrid-{name}", f"MiniGrid-{name}-v0", f"MiniGrid-{name}-v1")
    env_id = next((form for form in forms if form in ids), None)
    if env_id is None:
        raise unknown("MiniGrid environment", name, ids)
    return env_id


class _SteppedGrid:
    """A MiniGrid environment as a `Simulator`.

    Its objects remain the same Python objects throughout; a state says where each of them is.
    """

    def __init__(self, outer: Any, seed: int) -> None:
        """Reset an environment with a seed and name its objects."""
        outer.reset(seed=seed)
        self.env = self.wrapped = outer
        self.inner = env = outer.unwrapped
        while type(self.wrapped).__name__ in _NEUTRAL_WRAPPERS:
            self.wrapped = self.wrapped.env
        things = list(_find_objects(env.grid.grid))
        kinds = [f"{thing.color}_{thing.type}" for thing in things]
        labels = [
            kind if kinds.count(kind) == 1 else f"{kind}_{kinds[: i + 1].count(kind)}"
            for i, kind in enumerate(kinds)
        ]
        self.label_by_id = dict(zip(map(id, things), labels, strict=True))
        self.doors = [thing for thing in things if thing.type == "door"]
        self.items = [thing for thing in things if thing.type != "door"]
        self.contents = [id(thing.contains) for thing in things if thing.contains is not None]
        movable = set(map(id, self.items))
        self.empty_grid = [None if id(cell) in movable else cell for cell in env.grid.grid]
        self.names = (
            "x", "y", "direction", *(["carrying"] if self.items else []),
            *(self.label_by_id[id(thing)] for thing in (*self.items, *self.doors)),
        )  # fmt: skip

    def state(self) -> Values:
        """Return the current values of the variables."""
        env = self.inner
        place: dict[int, Any] = dict.fromkeys(self.contents, "inside")
        for i, cell in enumerate(env.grid.grid):
            if cell is not None:
                place[id(cell)] = (i % env.grid.width, i // env.grid.width)
        held = "nothing"
        if env.carrying is not None:
            place[id(env.carrying)] = "carried"
            held = self.label_by_id.get(id(env.carrying))
            if held is None:
                raise UserError(
                    "this MiniGrid environment creates new objects, which have no variables"
                )
        return (
            int(env.agent_pos[0]), int(env.agent_pos[1]), DIRECTIONS[env.agent_dir],
            *([held] if self.items else []),
            *(place.get(id(thing), "gone") for thing in self.items),
            *(
                "open" if door.is_open else "locked" if door.is_locked else "closed"
                for door in self.doors
            ),
        )  # fmt: skip

    def reset(self, values: Values, seed: int | None = None) -> None:
        """Place the agent and all objects; a seed resets the random number generator."""
        env = self.inner
        if seed is not None:
            env.np_random = np.random.default_rng(seed)
        x, y, direction, *rest = values
        env.agent_pos, env.agent_dir = (x, y), DIRECTIONS.index(str(direction))
        env.carrying = None
        env.grid.grid = list(self.empty_grid)
        for thing, where in zip(self.items, rest[1:], strict=False):  # after what is carried
            thing.cur_pos = np.array((-1, -1))
            if isinstance(where, tuple):
                thing.cur_pos = where
                env.grid.set(*where, thing)
            elif where == "carried":
                env.carrying = thing
        for door, state in zip(self.doors, rest[len(rest) - len(self.doors) :], strict=True):
            door.is_locked, door.is_open = state == "locked", state == "open"

    def step(self, action: int) -> ModelOutcome:
        """Take an action and return what happened."""
        if self.wrapped is not self.inner:
            ended = self.wrapped.step(action)[2]
        else:
            self.inner.gen_obs = dict  # observations are not used, and take most of the time
            try:
                ended = self.inner.step(action)[2]
            finally:
                del self.inner.gen_obs
        return ModelOutcome(1.0, self.state(), bool(ended))


def _find_objects(cells: list[Any]) -> Iterator[Any]:
    """Yield doors and objects that can be picked up, in reading order, boxes before contents."""
    for cell in cells:
        if cell is not None and (cell.type == "door" or cell.can_pickup()):
            yield cell
            yield from _find_objects([cell.contains])
