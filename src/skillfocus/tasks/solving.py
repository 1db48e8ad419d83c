"""`solve_all`: learn the tasks of several skill sets, and without skills for comparison."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from skillfocus.core.factored import State
from skillfocus.core.progress import Progress, no_progress, part_of
from skillfocus.core.seeds import seed_range
from skillfocus.core.world import World
from skillfocus.metrics.summary import origin
from skillfocus.skills.skills import Skills
from skillfocus.skills.sources import SkillSource, list_sources, load_source, source_file
from skillfocus.tasks.short_forms import ShortTask, as_task
from skillfocus.tasks.smdp_q_learning import SMDPQLearning, Solution, solve
from skillfocus.tasks.task import Task


def solve_all(
    skills: SkillSource | Iterable[SkillSource],
    *,
    task: ShortTask = "true",
    start: State | Mapping[str, Hashable] | str | None = None,
    max_episode_steps: int | None = None,
    episodes: int = 20_000,
    intra_option: bool = False,
    decay: float = 0.001,
    seed: int = 0,
    seeds: int = 1,
    world: World | None = None,
    progress: Progress = no_progress,
) -> list[dict]:
    """Learn a task with each set of skills, and in each world with primitive moves alone.

    Args:
        skills: Sets of skills or files of them, one or several.
        task: The paper's task by the reward to learn from, `"true"` or the `"proxy"` that ignores
            side effects; or a task of your own, as `solve` takes it.
        start: Where episodes start, see `solve`.
        max_episode_steps: Primitive steps of an episode, see `solve`.
        episodes: Number of training episodes.
        intra_option: Whether steps inside skills also update the values of primitive moves.
        decay: Exploration is exp(-decay n) after n episodes.
        seed: The first seed of learning.
        seeds: Number of seeds.
        world: The world of the skills, for files that cannot name it.
        progress: Callback for the fraction done.

    Returns:
        One record per set and seed, then one per world and seed without skills (whose `file` and
        `seed` are None): `world`, `objective`, `seed`, `file`, `task`, `reward`, `start`,
        `max_episode_steps`, `learning_seed`,
        `steps`, `success`, `proxy_return`, `true_return`, `optimum_steps` and the learning `curve`.

    Raises:
        UserError: If a file cannot be loaded, a world has no task or a number is out of range.
    """
    learning_seeds = seed_range(seeds, seed)
    settings = SMDPQLearning(episodes=episodes, epsilon_decay=decay, intra_option=intra_option)
    sources = list_sources(skills)
    loaded = [load_source(source, world) for source in sources]
    agents: list[tuple[Skills, Skills | None, dict[str, object]]] = [
        (own, own, {**_about(own), "file": source_file(source)})
        for source, own in zip(sources, loaded, strict=True)
    ]
    for own in {own.world.id: own for own in loaded}.values():
        alone = {"world": own.world.id, "objective": "primitives", "seed": None, "file": None}
        agents.append((own, None, alone))
    records = []
    for own, options, about in agents:
        goal, reward = as_task(
            task, own.mdp, own.world, start=start, max_episode_steps=max_episode_steps,
            step_limit=own.step_limit,
        )  # fmt: skip
        for learning_seed in learning_seeds:
            done, every = len(records), len(agents) * seeds
            label = f"{about['objective']}, seed {learning_seed}"
            solution = solve(
                own.mdp, goal, options, seed=learning_seed, reward=reward, settings=settings,
                progress=part_of(progress, done / every, (done + 1) / every, label),
            )  # fmt: skip
            records.append({**about, **_record(own, goal, reward, learning_seed, solution)})
    return records


def _about(skills: Skills) -> dict[str, object]:
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
