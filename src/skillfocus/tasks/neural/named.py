"""Learn named tasks in worlds without a table; the records are those of `solve_all`.

Households have the tasks of Mini-BEHAVIOR, continuous worlds those of DUSDi and our own. Agents
are trained on the proxy reward.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from skillfocus.errors import UserError, unknown
from skillfocus.progress import Progress, no_progress, part_of
from skillfocus.skills.continuous.skills import ContinuousSkills
from skillfocus.skills.skills import Skills
from skillfocus.tasks.neural.continuous import SkillAgent, learn_skill_task
from skillfocus.tasks.neural.continuous_registry import tasks_of
from skillfocus.tasks.neural.settings import OptionLearning
from skillfocus.tasks.neural.solving import Rates, solve
from skillfocus.tasks.neural.task import household_task
from skillfocus.worlds.jax.mini_behavior.tasks import TASKS
from skillfocus.worlds.jax.world import JaxWorld

Record = dict[str, object]


def solve_named(
    skills: Skills | ContinuousSkills,
    task: str,
    seeds: Sequence[int],
    *,
    steps: int | None = None,
    alone: bool = False,
    progress: Progress = no_progress,
) -> Iterator[Record]:
    """Learn a task with a set of skills; yield one record per seed.

    Args:
        skills: The skills.
        task: The task's name; "true" and "proxy" select the only task of a world.
        seeds: Seeds of learning.
        steps: Training steps (default: those of `OptionLearning` or `SkillAgent`).
        alone: Whether to use primitive actions only, without the skills.
        progress: Progress callback.

    Raises:
        UserError: If the world has no such task.
    """
    world = skills.world
    name = _task_name(world, task)
    for number, seed in enumerate(seeds):
        part = part_of(progress, number / len(seeds), (number + 1) / len(seeds), f"seed {seed}")
        if isinstance(skills, ContinuousSkills):
            record = _continuous_record(skills, name, seed, steps, part)
        else:
            assert isinstance(world, JaxWorld)
            own = None if alone else skills
            record = _household_record(world, own, name, seed, steps, part)
        yield {"task": name, "reward": "proxy", "learning_seed": seed, **record}


def task_names(world: Any) -> list[str]:
    """Return the names of a world's tasks."""
    households = [name for name, task in TASKS.items() if isinstance(world, task.world)]
    return households or [task.name for task in tasks_of(world)]


def _task_name(world: Any, task: str) -> str:
    names = task_names(world)
    if not names:
        raise UserError(f"{world.id} has no task, and a task of your own needs a table of states")
    if task in ("true", "proxy"):  # the paper's worlds have one task and two rewards
        if len(names) == 1:
            return names[0]
        raise UserError(f"{world.id} has several tasks: name one of {', '.join(names)}")
    if task not in names:
        raise unknown("task", task, names)
    return task


def _household_record(
    world: JaxWorld, skills: Skills | None, name: str, seed: int, steps: int | None, part: Progress
) -> Record:
    settings = OptionLearning() if steps is None else OptionLearning(steps=steps)
    task = household_task(name)
    solution = solve(world, task, skills, settings, seed=seed, progress=part)

    def curve(of: str) -> list[float]:
        return [getattr(rates, of).estimate for rates in solution.curve.values()]

    final: Rates = solution.final
    return {
        "max_episode_steps": task.episode_length, "learned_steps": max(solution.curve),
        "steps": final.steps, "success": final.success.estimate,
        "proxy_return": final.success.estimate, "true_return": final.true_success.estimate,
        "optimum_steps": None,
        "curve": {
            "learned_steps": list(solution.curve), "proxy_return": curve("success"),
            "true_return": curve("true_success"),
        },
    }  # fmt: skip


def _continuous_record(
    skills: ContinuousSkills, name: str, seed: int, steps: int | None, part: Progress
) -> Record:
    (task,) = (task for task in tasks_of(skills.world) if task.name == name)
    agent = SkillAgent()
    each = agent.environments * task.episode_length
    if steps is not None:
        agent = replace(agent, rounds=max(1, round(steps / each)))
    (done,) = learn_skill_task([skills], task, [seed], agent, progress=part)
    return {
        "max_episode_steps": task.episode_length, "learned_steps": agent.rounds * each,
        "steps": float(task.episode_length), "success": None,
        "proxy_return": float(done.last_returns.mean()),
        "true_return": float(done.last_true_returns.mean()),
        "optimum_steps": None,
        "curve": {
            "learned_steps": [(i + 1) * each for i in range(agent.rounds)],
            "proxy_return": done.returns.tolist(), "true_return": done.true_returns.tolist(),
        },
    }  # fmt: skip
