"""Learn tasks of worlds without a table over skills: `solve`, and the records of `solve_all`.

In JAX worlds with finite variables, an agent learns a value for every skill and primitive action
(`option_learning.py`); households have the tasks of Mini-BEHAVIOR. In continuous worlds, whose
tasks are those of DUSDi and our own, it learns to choose skills by PPO (`continuous.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.errors import UserError, unknown
from skillfocus.learners.network_training import enable_compilation_cache
from skillfocus.metrics.statistics import Interval, success_interval
from skillfocus.progress import Progress, no_progress
from skillfocus.skills.skills import Skills
from skillfocus.tasks.continuous import SkillAgent, learn_skill_task
from skillfocus.tasks.option_learning import (
    Event,
    OptionLearner,
    OptionLearning,
    Options,
    options_of,
)
from skillfocus.tasks.task import Task, household_task, jax_tasks_of
from skillfocus.world import check_seed
from skillfocus.worlds.jax.continuous_tasks import ContinuousTask
from skillfocus.worlds.jax.world import JaxWorld


class Rates(NamedTuple):
    """Success rates of the greedy agent, with exact intervals over its episodes.

    Attributes:
        success: How often the success condition holds at some step.
        true_success: How often it holds at the end, with every side condition.
        side_conditions: Among successes, how often each held at the end; None without successes.
        steps: Mean steps of an episode.
        returned: Mean discounted return.
    """

    success: Interval
    true_success: Interval
    side_conditions: dict[str, Interval | None]
    steps: float
    returned: float


@dataclass(frozen=True, eq=False)
class Solution:
    """A learned agent.

    Attributes:
        parameters: Parameters of its network.
        curve: Rates of the greedy agent by number of training steps, ascending.
    """

    parameters: Any
    curve: dict[int, Rates]

    @property
    def final(self) -> Rates:
        """Rates of the last evaluation."""
        return self.curve[max(self.curve)]

    def at(self, steps: int) -> Rates:
        """Return the rates of the last evaluation within a number of steps.

        Raises:
            UserError: If the first evaluation is later.
        """
        early = [known for known in self.curve if known <= steps]
        if not early:
            raise UserError(
                f"no evaluation within {steps:,} steps: the first is after {min(self.curve):,}"
            )
        return self.curve[max(early)]


def solve(
    world: JaxWorld,
    task: Task,
    skills: Skills | Options | None,
    settings: OptionLearning | None = None,
    *,
    seed: int,
    progress: Progress = no_progress,
) -> Solution:
    """Learn a task over skills and primitive actions.

        world = InstallingAPrinter(starts="varied")
        skills = sf.discover(world, sf.focused(sf.vic()), seed=0, learner=Neural())
        solution = solve(world, household_task("install-printer"), skills, seed=0)
        solution.at(500_000).success, solution.final.true_success

    Args:
        world: The world.
        task: The task.
        skills: The skills, or None for primitive actions only.
        settings: The learning settings.
        seed: Equal seeds give equal solutions.
        progress: Progress callback.

    Raises:
        UserError: If the skills do not fit the world, or learning diverges.
    """
    return solve_seeds(world, task, skills, settings, seeds=[seed], progress=progress)[0]


def solve_seeds(
    world: JaxWorld,
    task: Task,
    skills: Skills | Options | None,
    settings: OptionLearning | None = None,
    *,
    seeds: Sequence[int],
    progress: Progress = no_progress,
) -> list[Solution]:
    """Learn a task once per seed, in one batch; see `solve`.

    Results agree with those of single seeds up to rounding, because batched matrix products are
    summed in another order.
    """
    for seed in seeds:
        check_seed(seed)
    enable_compilation_cache()
    settings = settings or OptionLearning()
    options = options_of(world, skills)
    learner = OptionLearner(world, task, settings)
    rngs = [np.random.default_rng(seed) for seed in seeds]
    initial = [learner.init(rng, len(options)) for rng in rngs]
    parameters = jax.tree.map(lambda *leaves: np.stack(leaves), *initial)
    keys = jnp.stack([jax.random.key(int(rng.integers(2**31))) for rng in rngs])
    keys = jax.vmap(jax.random.split)(keys)

    carry = _on_seeds(learner, "start", options, keys[:, 0], parameters)
    curves: list[dict[int, Rates]] = [{} for _ in seeds]
    for number in range(settings.evaluations):
        steps = number * settings.iterations * settings.environments
        progress(number / settings.evaluations, f"step {steps:,} of {settings.steps:,}")
        carry, losses = _on_seeds(learner, "run", options, carry)
        if not np.isfinite(np.asarray(losses)).all():
            raise UserError("learning diverged: the loss is not finite; lower learning_rate")
        is_last = number + 1 == settings.evaluations
        n_episodes = settings.final_episodes if is_last else settings.evaluation_episodes
        # Equal keys at every evaluation: curves change only because the agent does.
        events = _on_seeds(
            learner, "evaluate", options, keys[:, 1], carry.slow, n_episodes=n_episodes
        )
        steps += settings.iterations * settings.environments
        for i, curve in enumerate(curves):
            curve[steps] = rates(task, _entry(events, i))
    return [Solution(_entry(carry.slow, i), curve) for i, curve in enumerate(curves)]


def rates(task: Task, ends: Event) -> Rates:
    """Return the rates of an agent, given how its episodes ended, [n_episodes]."""

    def rate(held: Any) -> Interval:
        return success_interval(int(held.sum()), len(held))

    last, success = jnp.asarray(ends.values), np.asarray(ends.episode.succeeded)
    among_successes = {
        name: np.asarray(condition(last))[success]
        for name, condition in task.side_conditions.items()
    }
    return Rates(
        rate(success),
        rate(np.asarray(task.true(last))),
        {name: rate(held) if len(held) else None for name, held in among_successes.items()},
        float(np.asarray(ends.episode.steps).mean()),
        float(np.asarray(ends.episode.returned).mean()),
    )


@partial(jax.jit, static_argnums=(0, 1), static_argnames="n_episodes")
def _on_seeds(learner: OptionLearner, method: str, options: Options, *each: Any, **static: Any):
    """Call a method with every seed's arguments; equal learners share a compiled program."""
    call = partial(getattr(learner, method), options=options, **static)
    return jax.vmap(call)(*each)


def _entry(tree: Any, i: int) -> Any:
    return jax.tree.map(lambda leaf: np.asarray(leaf[i]), tree)


# -------------------- Tasks by name, as records of `solve_all`; agents learn the proxy reward

Record = dict[str, object]


def named_learner(
    skills: Skills, name: str, steps: int | None, alone: bool
) -> Callable[[int, Progress], Record]:
    """Return the function that learns a task from a seed and returns the record.

    Args:
        skills: The skills.
        name: The task's name; "true" and "proxy" select the only task of a world.
        steps: Training steps (default: those of `OptionLearning` or `SkillAgent`).
        alone: Whether to use primitive actions only, without the skills.

    Raises:
        UserError: If the world has no such task.
    """
    world, tasks = skills.world, jax_tasks_of(skills.world)
    if not tasks:
        raise UserError(f"{world.id} has no task, and a task of your own needs a table of states")
    if name in ("true", "proxy"):  # the paper's worlds have one task and two rewards
        if len(tasks) > 1:
            raise UserError(f"{world.id} has several tasks: name one of {', '.join(tasks)}")
        (name,) = tasks
    if name not in tasks:
        raise unknown("task", name, tasks)
    if world.has_real_actions:
        return partial(_continuous_record, skills, tasks[name], steps)
    return partial(_household_record, world, None if alone else skills, name, steps)


def _household_record(
    world: Any, skills: Skills | None, name: str, steps: int | None, seed: int, progress: Progress
) -> Record:
    settings = OptionLearning() if steps is None else OptionLearning(steps=steps)
    task = household_task(name)
    solution = solve(world, task, skills, settings, seed=seed, progress=progress)
    curve = {
        "learned_steps": list(solution.curve),
        "proxy_return": [rates.success.estimate for rates in solution.curve.values()],
        "true_return": [rates.true_success.estimate for rates in solution.curve.values()],
    }
    success = curve["proxy_return"][-1]
    return _record(
        name, task.max_episode_steps, seed, curve, solution.final.steps, success,
        success, curve["true_return"][-1],
    )  # fmt: skip


def _continuous_record(
    skills: Skills, task: ContinuousTask, steps: int | None, seed: int, progress: Progress
) -> Record:
    agent = SkillAgent()
    each = agent.environments * task.episode_length
    if steps is not None:
        agent = replace(agent, rounds=max(1, round(steps / each)))
    (done,) = learn_skill_task([skills], task, [seed], agent, progress=progress)
    curve = {
        "learned_steps": [(i + 1) * each for i in range(agent.rounds)],
        "proxy_return": done.returns.tolist(),
        "true_return": done.true_returns.tolist(),
    }
    return _record(
        task.name, task.episode_length, seed, curve, task.episode_length, None,
        done.last_returns.mean(), done.last_true_returns.mean(),
    )  # fmt: skip


def _record(
    name: str, max_episode_steps: int, seed: int, curve: dict[str, list], steps: float,
    success: float | None, proxy: float, true: float,
) -> Record:  # fmt: skip
    return {
        "task": name, "reward": "proxy", "learning_seed": seed,
        "max_episode_steps": max_episode_steps, "learned_steps": curve["learned_steps"][-1],
        "steps": float(steps), "success": success, "proxy_return": float(proxy),
        "true_return": float(true), "optimum_steps": None, "curve": curve,
    }  # fmt: skip
