"""`solve`: learn a task of a JAX world over skills and primitive actions, and evaluate it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.errors import UserError, unknown
from skillfocus.learners.checkpoint import keep_compiled_programs
from skillfocus.metrics.statistics import Interval, success_interval
from skillfocus.progress import Progress, no_progress, part_of
from skillfocus.skills.continuous import ContinuousSkills
from skillfocus.skills.skills import Skills
from skillfocus.tasks.continuous import SkillAgent, learn_skill_task
from skillfocus.tasks.option_learning import Carry, Event, OptionLearner, Options, options_of
from skillfocus.tasks.sampled import JaxTask, OptionLearning, household_task, tasks_of
from skillfocus.world import check_seed
from skillfocus.worlds.jax.mini_behavior.tasks import TASKS
from skillfocus.worlds.jax.world import JaxWorld


class Outcomes(NamedTuple):
    """Outcomes of the greedy agent's episodes, [n_episodes] each.

    Attributes:
        success: Whether the success condition held at some step.
        true_success: Whether it held at the end, with every side condition.
        side_conditions: Whether each side condition held at the end, by name.
        steps: Steps of the episode.
        returned: Discounted return.
    """

    success: np.ndarray
    true_success: np.ndarray
    side_conditions: dict[str, np.ndarray]
    steps: np.ndarray
    returned: np.ndarray


class Rates(NamedTuple):
    """Success rates of an agent, with exact intervals over its episodes.

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
        outcomes: Outcomes of the last evaluation.
    """

    parameters: Any
    curve: dict[int, Rates]
    outcomes: Outcomes

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
    task: JaxTask,
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
    task: JaxTask,
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
    keep_compiled_programs()
    settings = settings or OptionLearning()
    options = options_of(world, skills)
    learner = OptionLearner(world, task, settings)
    rngs = [np.random.default_rng(seed) for seed in seeds]
    parameters = _stack([learner.init(rng, len(options)) for rng in rngs])
    keys = jnp.stack([jax.random.key(int(rng.integers(2**31))) for rng in rngs])
    keys = jax.vmap(jax.random.split)(keys)

    carry = _start(learner, keys[:, 0], parameters, options)
    curves: list[dict[int, Rates]] = [{} for _ in seeds]
    outcomes: list[Outcomes] = []
    for number in range(settings.evaluations):
        steps = number * settings.iterations * settings.environments
        progress(number / settings.evaluations, f"step {steps:,} of {settings.steps:,}")
        carry, losses = _run(learner, carry, options)
        if not np.isfinite(np.asarray(losses)).all():
            raise UserError("learning diverged: the loss is not finite; lower learning_rate")
        is_last = number + 1 == settings.evaluations
        n_episodes = settings.final_episodes if is_last else settings.evaluation_episodes
        # Equal keys at every evaluation: curves change only because the agent does.
        events = _evaluate(learner, n_episodes, keys[:, 1], carry.slow, options)
        steps += settings.iterations * settings.environments
        outcomes = [_outcomes(task, _entry(events, i)) for i in range(len(seeds))]
        for curve, ended in zip(curves, outcomes, strict=True):
            curve[steps] = rates(ended)
    return [
        Solution(_entry(carry.slow, i), curve, ended)
        for i, (curve, ended) in enumerate(zip(curves, outcomes, strict=True))
    ]


def rates(outcomes: Outcomes) -> Rates:
    """Return the rates of an agent's episodes."""
    success = outcomes.success
    return Rates(
        _rate(success),
        _rate(outcomes.true_success),
        {
            name: _rate(held[success]) if success.any() else None
            for name, held in outcomes.side_conditions.items()
        },
        float(outcomes.steps.mean()),
        float(outcomes.returned.mean()),
    )


def rates_over_seeds(solutions: Sequence[Solution]) -> Rates:
    """Return the rates of a newly trained agent, from one episode of each of several agents.

    Episodes of one agent are dependent (in a deterministic world, equal). Those of different agents
    are independent, so the intervals are exact.
    """
    return rates(_stack([_entry(solution.outcomes, 0) for solution in solutions]))


# Batched over seeds; equal learners share a compiled program.


@partial(jax.jit, static_argnums=0)
def _start(learner: OptionLearner, keys: jax.Array, parameters: Any, options: Options) -> Carry:
    return jax.vmap(learner.start, (0, 0, None))(keys, parameters, options)


@partial(jax.jit, static_argnums=0)
def _run(learner: OptionLearner, carry: Carry, options: Options) -> tuple[Carry, jax.Array]:
    return jax.vmap(learner.run, (0, None))(carry, options)


@partial(jax.jit, static_argnums=(0, 1))
def _evaluate(
    learner: OptionLearner, n_episodes: int, keys: jax.Array, parameters: Any, options: Options
) -> Event:
    evaluate = partial(learner.evaluate, n_episodes=n_episodes)
    return jax.vmap(evaluate, (0, 0, None))(keys, parameters, options)


def _outcomes(task: JaxTask, event: Event) -> Outcomes:
    last = jnp.asarray(event.values)
    return Outcomes(
        np.asarray(event.succeeded),
        np.asarray(task.true_success(last)),
        {name: np.asarray(holds(last)) for name, holds in task.side_conditions.items()},
        np.asarray(event.steps),
        np.asarray(event.returned),
    )


def _rate(held: np.ndarray) -> Interval:
    return success_interval(int(held.sum()), len(held))


def _stack(trees: Sequence[Any]) -> Any:
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)


def _entry(tree: Any, i: int) -> Any:
    return jax.tree.map(lambda leaf: np.asarray(leaf[i]), tree)


# --------------------
#
# Learn named tasks in worlds without a table; the records are those of `solve_all`
#
# Households have the tasks of Mini-BEHAVIOR, continuous worlds those of DUSDi and our own. Agents
# are trained on the proxy reward.

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
