"""Tasks in short: by name, as a condition, as values by name, or in a file of the user's.

"true", "proxy", "treasure"      the world's own task (see `task.py`)
"key=1,door=open"                a condition as text
{"key": 1, "door": "open"}       the same as values by name
lambda state: state["key"] == 1  a condition as a function of {variable: value}
"my.py:goal"                     a function, or values by name, in your own file
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import NamedTuple

from skillfocus.core.factored import FactoredSpace, State
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.world import World
from skillfocus.errors import UserError, unknown
from skillfocus.own_files import is_own, load_own, own_code
from skillfocus.tasks.task import TASKS, Condition, Task, make_task, optimum, task_of, world_task

ShortTask = Task | Condition | Mapping[str, Hashable] | str
"""A task, or one of the short forms."""
STEP_LIMITS_PER_EPISODE = 8
"""How many skills of full length an episode may take by default, as in the paper's FourRooms."""


class Goal(NamedTuple):
    """A task and the reward to learn it from, "true" or "proxy"."""

    task: Task
    reward: str


def as_task(
    task: ShortTask,
    mdp: TabularMDP,
    world: World | None = None,
    *,
    start: State | Mapping[str, Hashable] | str | None = None,
    max_episode_steps: int | None = None,
    step_limit: int | None = None,
) -> Goal:
    """Return the task of a short form.

    Args:
        task: The task or its short form.
        mdp: The world's MDP.
        world: The world, for tasks by name.
        start: Where episodes start: a state, values by name, or those as text (default: the task's
            own start, or the first state that does not accomplish it).
        max_episode_steps: Primitive steps after which an episode is truncated (default: the task's
            own, or eight times the step limit).
        step_limit: The step limit of skills (default: the world's).

    Raises:
        UserError: If there is no such task, or it is accomplished from the start.
    """
    if isinstance(start, str):
        start = parse_values(mdp.space, start)
    if isinstance(task, str) and world is not None and _is_name(task, world):
        own = task_of(world, mdp)
        reward = "proxy" if task == "proxy" else "true"
        return Goal(_changed(own, mdp, start, max_episode_steps), reward)
    if isinstance(task, Task):
        return Goal(_changed(task, mdp, start, max_episode_steps), "true")
    condition = as_condition(task, mdp.space, world)
    name = task if isinstance(task, str) else getattr(task, "__name__", str(task))
    if max_episode_steps is None:
        limit = step_limit or (40 if world is None else world.step_limit)
        max_episode_steps = STEP_LIMITS_PER_EPISODE * limit
    first = mdp.state(0) if start is None else start
    made = make_task(mdp, name, first, max_episode_steps, condition)  # pyright: ignore[reportArgumentType]
    if start is None and made.true[made.start]:
        open_states = (~made.true).nonzero()[0]
        if not len(open_states):
            raise UserError(f"every state accomplishes the task {name}: check its condition")
        made = _changed(made, mdp, mdp.state(int(open_states[0])), None)
    if made.true[made.start]:
        raise UserError(
            f"the task {name} is accomplished where it starts, in "
            f"{mdp.space.labels(mdp.state(made.start))}: start elsewhere"
        )
    if optimum(mdp, made)[1] == 0:
        raise UserError(
            f"the task {name} cannot be accomplished within {made.max_episode_steps} steps from "
            f"{mdp.space.labels(mdp.state(made.start))}: allow more, or start elsewhere"
        )
    return Goal(made, "true")


def as_condition(
    task: Condition | Mapping[str, Hashable] | str, space: FactoredSpace, world: World | None = None
) -> Condition:
    """Return a condition from a function, values by name, text or `FILE.py:NAME`.

    Raises:
        UserError: If it is none of these, or names what does not exist.
    """
    if isinstance(task, str) and is_own(task):
        return _own_condition(task, space)
    if isinstance(task, str):
        if "=" not in task:
            raise _unknown_task(task, world)
        task = parse_values(space, task)
    if isinstance(task, Mapping):
        if not task:
            raise UserError("a task without a condition is accomplished everywhere")
        wanted = {str(name): value for name, value in task.items()}
        space.state(**wanted)  # names and values exist
        return lambda state: all(state[name] == value for name, value in wanted.items())
    return task


def parse_values(space: FactoredSpace, text: str) -> dict[str, Hashable]:
    """Return values by name from text such as `key=1,position=(6, 9)`.

    Raises:
        UserError: If a part cannot be read, or there is no such variable or value.
    """
    values: dict[str, Hashable] = {}
    for part in re.split(r",(?![^()]*\))", text):  # values such as (6, 9) have commas too
        name, equals, written = (word.strip() for word in part.partition("="))
        if not equals or not name:
            raise UserError(f"cannot read {part.strip()!r} in {text!r}; write NAME=VALUE,…")
        known = space.variables[space.index(name)].values
        plain = written.replace(" ", "")
        found = [v for v in known if plain in (_plain(str(v)), _plain(repr(v)))]
        if not found:
            raise unknown(f"value of {name}", written, [str(value) for value in known])
        values[name] = found[0]
    return values


def _plain(text: str) -> str:
    return text.replace(" ", "")


def _is_name(task: str, world: World) -> bool:
    """Return whether a text names the world's own task."""
    if task in ("true", "proxy"):
        return True
    return any(task == own.name for own in TASKS.values()) and task == world_task(world).name


def _unknown_task(task: str, world: World | None) -> UserError:
    names = ["true", "proxy"]
    try:
        names += [] if world is None else [world_task(world).name]
    except UserError:
        names = []
    return unknown("task", task, [*names, "NAME=VALUE,…", "FILE.py:NAME"])


def _own_condition(name: str, space: FactoredSpace) -> Condition:
    """Return the condition that a file defines."""
    definition = load_own(name)
    if isinstance(definition, str) and is_own(definition):
        raise UserError(f"{name} names another file, {definition}: name that one")
    condition = as_condition(definition, space)

    def guarded(state: dict) -> bool:
        with own_code(name):
            return bool(condition(state))

    return guarded


def _changed(
    task: Task,
    mdp: TabularMDP,
    start: State | Mapping[str, Hashable] | None,
    max_episode_steps: int | None,
) -> Task:
    """Return a task with another start or length, if they are given."""
    steps = task.max_episode_steps if max_episode_steps is None else max_episode_steps
    if steps < 1:
        raise UserError(f"max_episode_steps must be at least 1, got {steps}")
    number = task.start if start is None else mdp.number(start)
    return Task(task.name, number, steps, task.true, task.proxy)
