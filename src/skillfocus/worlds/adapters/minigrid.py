"""MiniGrid environments as worlds, without code by the user.

Variables   x, y, direction of the agent; carrying (what it holds, or nothing); per object that can
            be picked up its place: a cell, "carried", "inside" a box, or "gone"; per door its
            state: locked, closed or open. Objects are named by colour and type; several alike are
            numbered in reading order (yellow_key, grey_door_1, grey_door_2).
Actions     the environment's: left, right, forward, pick up, drop, toggle, done
Starts      where a reset with the seed leads; one seed is one layout
Final       states that end the episode: the goal, lava, whatever the environment says

The environment is explored by stepping it. What it remembers besides its grid (BabyAI's
instructions do) is no variable; the comparison with `step` tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from skillfocus.core.world import STATE_LIMIT
from skillfocus.errors import UserError, unknown
from skillfocus.worlds.adapters.stepping import (
    SteppedOriginal,
    by_stepping,
    changed_settings,
    sampling_note,
    truncation_note,
)
from skillfocus.worlds.adapters.validation import compare
from skillfocus.worlds.explored import LOCAL_PREFIX, ExploredWorld, Groups, Values

DIRECTIONS = ("right", "down", "left", "up")
ACTIONS = ("left", "right", "forward", "pick up", "drop", "toggle", "done")
HARMLESS = ("TimeLimit", "OrderEnforcing", "PassiveEnvChecker")
"""Wrappers that leave the dynamics as they are; what stands below them is stepped."""
WAY_OUT = (
    "if objects move by chance, raise samples=…; if the environment remembers something that its "
    "grid does not show, check=False takes the world as it was found"
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
    """A world from a MiniGrid environment or its id (`MiniGrid-DoorKey-5x5-v0`, or `DoorKey-5x5`),
    in the layout that a reset with `seed` makes. Where objects move by chance, each action is tried
    `samples` times. `check` compares the world with the environment's `step`."""
    source = LOCAL_PREFIX
    if isinstance(env, str):
        source, env = "minigrid:", _make(env, settings)
    elif settings:
        raise UserError(f"an environment that is made already takes no {', '.join(settings)}")
    grid = _Grid(env, seed)
    world = ExploredWorld(
        f"{source}{env.spec.id if env.spec else type(env.unwrapped).__name__}",
        names=grid.names,
        actions=[ACTIONS[a] if a < len(ACTIONS) else str(a) for a in range(env.action_space.n)],
        starts=[grid.get()],
        model=by_stepping(grid, samples),
        limit=limit,
        settings=changed_settings(
            settings, groups=(groups, None), seed=(seed, 0), samples=(samples, 1),
            step_limit=(step_limit, 40), limit=(limit, STATE_LIMIT), check=(check, True),
        ),
        groups=groups,
        step_limit=step_limit,
        simulator=SteppedOriginal(grid),
        exact=samples == 1,
        notes=(*sampling_note(samples), truncation_note(grid.env.max_steps)),
    )  # fmt: skip
    if check:
        compare(world, seed, way_out=WAY_OUT)
    return world


def is_minigrid(env: object) -> bool:
    """Whether this is one of MiniGrid's environments, or the id of one."""
    if isinstance(env, str):
        return env.startswith(("MiniGrid-", "BabyAI-"))
    kinds = type(getattr(env, "unwrapped", env)).__mro__
    return any(kind.__name__ == "MiniGridEnv" for kind in kinds)


def register() -> None:
    """Let Gymnasium know MiniGrid's environments."""
    import gymnasium

    try:
        import minigrid
    except ImportError:
        raise UserError(
            "MiniGrid worlds need minigrid: pip install 'skillfocus[minigrid]'"
        ) from None
    if not any(is_minigrid(known) for known in gymnasium.registry):
        minigrid.register_minigrid_envs()


def _make(name: str, settings: dict[str, object]) -> Any:
    import gymnasium

    register()
    ids = [known for known in gymnasium.registry if is_minigrid(known)]
    forms = (name, f"MiniGrid-{name}", f"MiniGrid-{name}-v0", f"MiniGrid-{name}-v1")
    found = next((form for form in forms if form in ids), None)
    if found is None:
        raise unknown("MiniGrid environment", name, ids)
    arguments = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
    try:
        made = gymnasium.make(found, disable_env_checker=True, **arguments)  # pyright: ignore[reportArgumentType]
        made.reset(seed=0)
    except Exception as error:  # an environment may fail in any way
        reason = f"{type(error).__name__}: {error}"
        raise UserError(f"MiniGrid cannot make {found} with {settings}: {reason}") from error
    return made


class _Grid:
    """A MiniGrid environment as something stepped. Its objects stay the same Python objects all
    the time; a state says where each of them is."""

    def __init__(self, outer: Any, seed: int) -> None:
        outer.reset(seed=seed)
        self.env, self.wrapped = (env := outer.unwrapped), outer
        while type(self.wrapped).__name__ in HARMLESS:
            self.wrapped = self.wrapped.env
        things = list(_things(env.grid.grid))
        labels = _labels([f"{thing.color}_{thing.type}" for thing in things])
        named = list(zip(things, labels, strict=True))
        self.doors = [(thing, label) for thing, label in named if thing.type == "door"]
        self.items = [(thing, label) for thing, label in named if thing.type != "door"]
        self.label = {id(thing): label for thing, label in named}
        self.contents = [id(thing.contains) for thing in things if thing.contains is not None]
        moving = {id(thing) for thing, _ in self.items}
        self.bare = [None if id(cell) in moving else cell for cell in env.grid.grid]
        self.names = (
            "x", "y", "direction", *(["carrying"] if self.items else []),
            *(label for _, label in self.items), *(label for _, label in self.doors),
        )  # fmt: skip

    def get(self) -> Values:
        env = self.env
        place: dict[int, Any] = {
            id(cell): (i % env.grid.width, i // env.grid.width)
            for i, cell in enumerate(env.grid.grid)
            if cell is not None
        }
        if env.carrying is not None:
            place[id(env.carrying)] = "carried"
        for content in self.contents:
            place.setdefault(content, "inside")
        held = "nothing" if env.carrying is None else self.label.get(id(env.carrying))
        if held is None:
            raise UserError("this MiniGrid environment makes new objects, which have no variables")
        return (
            int(env.agent_pos[0]), int(env.agent_pos[1]), DIRECTIONS[env.agent_dir],
            *([held] if self.items else []),
            *(place.get(id(thing), "gone") for thing, _ in self.items),
            *(_door_state(door) for door, _ in self.doors),
        )  # fmt: skip

    def set(self, values: Values, seed: int | None = None) -> None:
        env, parts = self.env, iter(values)
        if seed is not None:
            env.np_random = np.random.default_rng(seed)
        x, y, direction = next(parts), next(parts), next(parts)
        env.agent_pos, env.agent_dir = (x, y), DIRECTIONS.index(str(direction))
        env.carrying = None
        env.grid.grid = list(self.bare)
        if self.items:
            next(parts)
        for thing, _ in self.items:
            where = next(parts)
            thing.cur_pos = np.array((-1, -1))
            if isinstance(where, tuple):
                thing.cur_pos = where
                env.grid.set(*where, thing)
            elif where == "carried":
                env.carrying = thing
        for door, _ in self.doors:
            state = next(parts)
            door.is_locked, door.is_open = state == "locked", state == "open"

    def step(self, action: int) -> bool:
        if self.wrapped is not self.env:
            return bool(self.wrapped.step(action)[2])
        self.env.gen_obs = dict  # what the agent sees plays no part, and takes most of the time
        try:
            return bool(self.env.step(action)[2])
        finally:
            del self.env.gen_obs


def _things(cells: list[Any]) -> Iterator[Any]:
    """Doors and what can be picked up, in reading order, each box followed by its contents."""
    for cell in cells:
        if cell is not None and (cell.type == "door" or cell.can_pickup()):
            yield cell
            yield from _things([cell.contains])


def _labels(names: list[str]) -> list[str]:
    """Names told apart by numbers where they are alike."""
    count, used, labels = Counter(names), Counter(), []
    for name in names:
        used[name] += 1
        labels.append(name if count[name] == 1 else f"{name}_{used[name]}")
    return labels


def _door_state(door: Any) -> str:
    return "open" if door.is_open else "locked" if door.is_locked else "closed"
