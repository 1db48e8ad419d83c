"""`solve_all`: learn the tasks of several skill sets, and without skills for comparison."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from skillfocus.core.factored import State
from skillfocus.core.seeds import seed_range
from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.metrics.summary import origin
from skillfocus.progress import Progress, no_progress, part_of
from skillfocus.skills.continuous.skills import ContinuousSkills
from skillfocus.skills.skills import Skills
from skillfocus.skills.sources import SkillSource, list_sources, load_any, source_file
from skillfocus.tasks.short_forms import ShortTask, as_task
from skillfocus.tasks.smdp_q_learning import SMDPQLearning, Solution, solve
from skillfocus.tasks.task import Task
from skillfocus.worlds.jax.world import require_jax

EPISODES, DECAY = 20_000, 0.001
"""Training episodes and the decay of exploration, unless told otherwise."""


def solve_all(
    skills: SkillSource | Iterable[SkillSource],
    *,
    task: ShortTask = "true",
    start: State | Mapping[str, Hashable] | str | None = None,
    max_episode_steps: int | None = None,
    steps: int | None = None,
    episodes: int = EPISODES,
    intra_option: bool = False,
    decay: float = DECAY,
    seed: int = 0,
    seeds: int = 1,
    world: World | None = None,
    progress: Progress = no_progress,
) -> list[dict]:
    """Learn a task with each set of skills, and in each world with primitive moves alone.

    Args:
        skills: Sets of skills or files of them, one or several.
        task: The paper's task by the reward to learn from, `"true"` or the `"proxy"` that ignores
            side effects; or a task of your own, as `solve` takes it. In worlds without a table, the
            name of one of their tasks, which is learned from its proxy reward.
        start: Where episodes start, see `solve`.
        max_episode_steps: Primitive steps of an episode, see `solve`.
        steps: Steps to learn from, in worlds without a table.
        episodes: Number of training episodes, in worlds with one.
        intra_option: Whether steps inside skills also update the values of primitive moves.
        decay: Exploration is exp(-decay n) after n episodes.
        seed: The first seed of learning.
        seeds: Number of seeds.
        world: The world of the skills, for files that cannot name it.
        progress: Callback for the fraction done.

    Returns:
        One record per set and seed, then one per world and seed without skills (whose `file` and
        `seed` are None; continuous worlds have none): `world`, `objective`, `seed`, `file`, `task`,
        `reward`, `start`, `max_episode_steps`, `learning_seed`, `steps`, `success`, `proxy_return`,
        `true_return`, `optimum_steps` and the learning `curve`. Without a table there is no
        `start`, the optimum is None, and `learned_steps` says how many steps were learned from.

    Raises:
        UserError: If a file cannot be loaded, a world has no task or a number is out of range.
    """
    learning_seeds = seed_range(seeds, seed)
    settings = SMDPQLearning(episodes=episodes, epsilon_decay=decay, intra_option=intra_option)
    given = {
        "start": start is not None, "max_episode_steps": max_episode_steps is not None,
        "episodes": episodes != EPISODES, "decay": decay != DECAY, "intra_option": intra_option,
    }  # fmt: skip
    sources = list_sources(skills)
    loaded = [load_any(source, world) for source in sources]
    agents: list[tuple[Skills | ContinuousSkills, bool, dict[str, object]]] = [
        (own, False, {**_about(own), "file": source_file(source)})
        for source, own in zip(sources, loaded, strict=True)
    ]
    for own in {own.world.id: own for own in loaded if isinstance(own, Skills)}.values():
        about = {"world": own.world.id, "objective": "primitives", "seed": None, "file": None}
        agents.append((own, True, about))
    records = []
    for number, (own, alone, about) in enumerate(agents):
        part = part_of(
            progress, number / len(agents), (number + 1) / len(agents), str(about["objective"])
        )
        if isinstance(own, ContinuousSkills) or not own.has_table:
            made = _solve_named(own, alone, task, learning_seeds, steps, given, part)
        elif steps is not None:
            raise UserError(f"{own.world.id} has a table of states: give episodes, not steps")
        else:
            goal, reward = as_task(
                task, own.mdp, own.world, start=start, max_episode_steps=max_episode_steps,
                step_limit=own.step_limit,
            )  # fmt: skip
            made = _solve_table(own, alone, goal, reward, learning_seeds, settings, part)
        records += [{**about, **record} for record in made]
    return records


def _solve_table(
    skills: Skills,
    alone: bool,
    goal: Task,
    reward: str,
    seeds: Sequence[int],
    settings: SMDPQLearning,
    progress: Progress,
) -> Iterator[dict[str, object]]:
    for number, seed in enumerate(seeds):
        part = part_of(progress, number / len(seeds), (number + 1) / len(seeds), f"seed {seed}")
        solution = solve(
            skills.mdp, goal, None if alone else skills, seed=seed, reward=reward,
            settings=settings, progress=part,
        )  # fmt: skip
        yield _record(skills, goal, reward, seed, solution)


def _solve_named(
    skills: Skills | ContinuousSkills,
    alone: bool,
    task: ShortTask,
    seeds: Sequence[int],
    steps: int | None,
    given: Mapping[str, bool],
    progress: Progress,
) -> Iterator[dict[str, object]]:
    require_jax("learning a task without a table of states")
    from skillfocus.tasks.neural.named import solve_named

    if wrong := [name for name, is_given in given.items() if is_given]:
        raise UserError(f"{wrong[0]} belongs to tasks of worlds with a table: leave it out here")
    if not isinstance(task, str):
        raise UserError(
            f"a task of your own needs a table of states, and {skills.world.id} has none"
        )
    return solve_named(skills, task, seeds, steps=steps, alone=alone, progress=progress)


def _about(skills: Skills | ContinuousSkills) -> dict[str, object]:
    about = origin(skills)
    return {key: about[key] for key in ("world", "objective", "seed")}


def _record(
    skills: Skills, task: Task, reward: str, seed: int, solution: Solution
) -> dict[str, object]:
    """Return the JSON record of one solution; single numbers are those at the end of learning."""
    learned = solution.true_return if reward == "true" else solution.proxy_return
    return {
        "task": task.name,
        "reward": reward,
        "start": {
            name: str(v)
            for name, v in skills.mdp.space.labels(skills.mdp.state(task.start)).items()
        },
        "max_episode_steps": task.max_episode_steps,
        "learning_seed": seed,
        "steps": solution.steps[-1],
        "success": learned[-1],
        "proxy_return": solution.proxy_return[-1],
        "true_return": solution.true_return[-1],
        "optimum_steps": solution.optimum_steps,
        "curve": {
            "episodes": solution.episodes.tolist(),
            "steps": solution.steps.tolist(),
            "true_return": solution.true_return.tolist(),
            "proxy_return": solution.proxy_return.tolist(),
        },
    }
