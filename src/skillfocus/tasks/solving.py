"""Learn tasks with skills and primitive actions by SMDP Q-learning, in worlds with a table.

In state s the agent chooses an option o: a skill or a primitive action. When o has ended in s'
after k steps,

    Q(s, o) <- Q(s, o) + alpha [gamma^(k-1) r + gamma^k max_o' Q(s', o') - Q(s, o)],

with r = 1 and no bootstrapping if s' accomplishes the task, which is checked after every step and
interrupts a skill. An episode truncated at `max_episode_steps` still bootstraps from its last
state. A skill that terminates without a step costs one step.

With `intra_option`, every step inside a skill also updates the value of the primitive action it
took (Sutton, Precup, Singh 1999): skills find the reward, primitive actions shorten the path.

`solve` learns one task; `solve_all`, behind `skillfocus solve`, several sets of skills of any
world, and for comparison without skills; worlds without a table are those of `networks.py`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from skillfocus.compilation import njit
from skillfocus.errors import UserError, check_ranges
from skillfocus.mdp import TabularMDP
from skillfocus.metrics.summary import origin
from skillfocus.progress import Progress, no_progress, part_of
from skillfocus.rollout import (
    Options,
    draw_context,
    follow,
    mdp_arrays,
    no_skills,
    reset_marks,
    step,
)
from skillfocus.skills.skills import Skills, SkillSource, list_sources, load_source, source_file
from skillfocus.spaces import State
from skillfocus.tasks.task import Goal, ShortTask, Task, as_task, optimum
from skillfocus.world import World, check_seed, seed_range
from skillfocus.worlds.jax.world import require_jax

MAX_EPISODES = 10**9
"""The most training episodes: days of learning."""
EPISODES_AT_ONCE = 10_000
"""Episodes between two reports of progress, when Ctrl-C is noticed too."""


@dataclass(frozen=True)
class SMDPQLearning:
    """Settings of SMDP Q-learning; the defaults are the paper's, which does not say how ties end.

    Example:
        >>> settings = sf.SMDPQLearning(episodes=5_000, intra_option=True)
        >>> solution = sf.solve(mdp, sf.task_of(world, mdp), skills, seed=0, settings=settings)
    """

    episodes: int = 20_000
    alpha: float = 0.1
    """Step size of the updates, in (0, 1]."""
    alpha_decay: float = 0.0
    """In episode n, alpha is multiplied by exp(-alpha_decay n)."""
    gamma: float = 0.99
    """Discount per primitive step, in (0, 1]."""
    epsilon_decay: float = 0.001
    """In episode n, a random option is chosen with probability exp(-epsilon_decay n)."""
    intra_option: bool = False
    """Whether steps inside skills also update the values of primitive actions."""
    ties: Literal["first", "random"] = "random"
    """Which of several best options is taken. With "random", an agent that has found no reward
    walks at random; with "first", as `argmax` has it, it repeats its first option for ever."""
    primitives: bool = True
    """Whether the agent may choose primitive actions beside skills."""
    evaluations: int = 50
    """How often the greedy policy is evaluated, evenly spaced over the episodes."""
    evaluation_runs: int = 20
    """Runs per evaluation, except the last."""
    final_runs: int = 1000
    """Runs of the last evaluation."""

    def __post_init__(self) -> None:
        if self.ties not in ("first", "random"):
            raise UserError(f"ties must be 'first' or 'random', got {self.ties!r}")
        if self.intra_option and not self.primitives:
            raise UserError("intra_option updates the values of primitives; set primitives=True")
        counts = ("episodes", "evaluations", "evaluation_runs", "final_runs")
        decays = ("alpha_decay", "epsilon_decay")
        check_ranges(self, {"at least 1": counts, "0 or more and finite": decays})
        if self.episodes > MAX_EPISODES:
            raise UserError(f"episodes must be up to {MAX_EPISODES:,}, got {self.episodes:,}")
        for name in ("alpha", "gamma"):
            if not 0 < getattr(self, name) <= 1:
                raise UserError(f"{name} must be in (0, 1], got {getattr(self, name)}")


@dataclass(frozen=True, eq=False)
class Solution:
    """A learned solution of a task, and its learning curve over n_evaluations moments."""

    q: np.ndarray
    """float64 [n_states, n_options]: option values, skills first, then primitive actions."""
    episodes: np.ndarray
    """int [n_evaluations]: episodes learned from before each evaluation."""
    steps: np.ndarray
    """float64 [n_evaluations]: mean steps of the greedy policy; a run that fails counts as
    `max_episode_steps`."""
    true_return: np.ndarray
    """float64 [n_evaluations]: the share of runs that end with the true task accomplished."""
    proxy_return: np.ndarray
    """float64 [n_evaluations]: the share of runs that end with the proxy reward."""
    optimum_steps: float
    """The expected steps of the best policy over primitive actions, see `optimum`."""


def solve(
    mdp: TabularMDP | Skills,
    task: ShortTask,
    skills: Skills | None = None,
    *,
    seed: int,
    reward: str | None = None,
    settings: SMDPQLearning | None = None,
    start: State | Mapping[str, Hashable] | str | None = None,
    max_episode_steps: int | None = None,
    progress: Progress = no_progress,
) -> Solution:
    """Learn a task by SMDP Q-learning over skills and primitive actions.

        solve(skills, "key=1,door=open", seed=0).steps[-1]

    Args:
        mdp: The skills to choose among; or the world's MDP, where `skills` or none follow.
        task: What to accomplish: a `Task`, "true" or "proxy" for the world's own, a condition such
            as "key=1", values by name, or a function of {variable: value}.
        skills: The skills to choose among, or None for primitive actions only.
        seed: Equal seeds give equal solutions. Evaluation draws from a stream of its own.
        reward: The reward to learn from, "true" (the default) or "proxy".
        settings: Learning settings; the paper's by default.
        start: Where episodes start (default: as the task says, or the world's first state).
        max_episode_steps: Primitive steps of an episode (default: as the task says, or eight times
            the step limit).
        progress: Callback for the fraction done.

    Returns:
        The option values and the learning curve.

    Raises:
        UserError: If the skills belong to another world, `reward` is unknown, or there is nothing
            to choose among.
    """
    check_seed(seed)
    if isinstance(mdp, Skills):
        if skills is not None:
            raise UserError("solve takes the skills once: solve(skills, task, seed=0)")
        mdp, skills = mdp.mdp, mdp
    task, of_task = as_task(
        task, mdp, None if skills is None else skills.world, start=start,
        max_episode_steps=max_episode_steps,
        step_limit=None if skills is None else skills.step_limit,
    )  # fmt: skip
    reward = of_task if reward is None else reward
    settings = settings or SMDPQLearning()
    if skills is None and not settings.primitives:
        raise UserError("an agent without skills needs primitives=True")
    if skills is not None and skills.mdp.fingerprint != mdp.fingerprint:
        raise UserError(
            f"the skills are for another world than the task {task.name}: pass the MDP they were "
            f"learned in, skills.mdp, and a task made from it"
        )
    n_skills = 0 if skills is None else len(skills)
    q = np.zeros((mdp.n_states, n_skills + mdp.n_actions * settings.primitives))
    options = options_of(mdp, skills)
    workspace = workspace_of(mdp, options)
    arrays = task_arrays(task, reward)
    greedy = Learning(first_ties=settings.ties == "first")
    learning = greedy._replace(
        active=True, alpha=settings.alpha, gamma=settings.gamma, epsilon=1.0,
        intra_option=settings.intra_option, alpha_decay=settings.alpha_decay,
        epsilon_decay=settings.epsilon_decay,
    )  # fmt: skip
    learning_rng, evaluation_rng = np.random.default_rng(seed).spawn(2)
    moments = [
        i * settings.episodes // settings.evaluations for i in range(settings.evaluations + 1)
    ]
    results = np.empty((settings.evaluations, 3))
    for i in range(settings.evaluations):
        for first in range(moments[i], moments[i + 1], EPISODES_AT_ONCE):
            progress(first / settings.episodes, f"episode {first:,} of {settings.episodes:,}")
            last = min(first + EPISODES_AT_ONCE, moments[i + 1])
            run_episodes(options, arrays, learning, q, first, last, workspace, learning_rng)
        is_last = i + 1 == settings.evaluations
        n_runs = settings.final_runs if is_last else settings.evaluation_runs
        n_steps, ends = run_episodes(
            options, arrays, greedy, q, 0, n_runs, workspace, evaluation_rng
        )
        n_steps[~arrays.done[ends]] = task.max_episode_steps
        results[i] = n_steps.mean(), task.true[ends].mean(), task.proxy[ends].mean()
    steps, true, proxy = results.T.copy()
    return Solution(q, np.array(moments[1:]), steps, true, proxy, optimum(mdp, task, reward)[0])


# -------------------- Tasks of several sets of skills, as records


def solve_all(
    skills: SkillSource | Iterable[SkillSource],
    *,
    task: ShortTask = "true",
    start: State | Mapping[str, Hashable] | str | None = None,
    max_episode_steps: int | None = None,
    steps: int | None = None,
    episodes: int = SMDPQLearning.episodes,
    intra_option: bool = False,
    decay: float = SMDPQLearning.epsilon_decay,
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
    sources = list_sources(skills)
    loaded = [load_source(source, world) for source in sources]
    agents: list[tuple[Skills, bool, dict[str, object]]] = []
    for source, own in zip(sources, loaded, strict=True):
        about = {key: origin(own)[key] for key in ("world", "objective", "seed")}
        agents.append((own, False, {**about, "file": source_file(source)}))
    for own in {own.world.id: own for own in loaded if not own.world.has_real_actions}.values():
        about = {"world": own.world.id, "objective": "primitives", "seed": None, "file": None}
        agents.append((own, True, about))
    records = []
    for number, (own, alone, about) in enumerate(agents):
        if own.has_table:
            if steps is not None:
                raise UserError(f"{own.world.id} has a table of states: give episodes, not steps")
            goal = as_task(
                task, own.mdp, own.world, start=start, max_episode_steps=max_episode_steps,
                step_limit=own.step_limit,
            )  # fmt: skip
            learn_task = partial(_record, own, alone, goal, settings)
        else:
            given = {
                "start": start is not None, "max_episode_steps": max_episode_steps is not None,
                "episodes": episodes != SMDPQLearning.episodes,
                "decay": decay != SMDPQLearning.epsilon_decay, "intra_option": intra_option,
            }  # fmt: skip
            if wrong := [name for name, is_given in given.items() if is_given]:
                raise UserError(
                    f"{wrong[0]} belongs to tasks of worlds with a table: leave it out here"
                )
            require_jax("learning a task without a table of states")
            from skillfocus.tasks.networks import named_learner

            if not isinstance(task, str):
                raise UserError(
                    f"a task of your own needs a table of states, and {own.world.id} has none"
                )
            learn_task = named_learner(own, task, steps, alone)
        part = part_of(
            progress, number / len(agents), (number + 1) / len(agents), str(about["objective"])
        )
        for i, learning_seed in enumerate(learning_seeds):
            own_part = part_of(part, i / seeds, (i + 1) / seeds, f"seed {learning_seed}")
            records.append({**about, **learn_task(learning_seed, own_part)})
    return records


def _record(
    skills: Skills, alone: bool, goal: Goal, settings: SMDPQLearning, seed: int, progress: Progress
) -> dict[str, object]:
    """Learn a task in a world with a table, and return its JSON record.

    Single numbers are those at the end of learning.
    """
    (task, reward), mdp = goal, skills.mdp
    solution = solve(
        mdp, task, None if alone else skills, seed=seed, reward=reward, settings=settings,
        progress=progress,
    )  # fmt: skip
    curves = ("episodes", "steps", "true_return", "proxy_return")
    curve = {name: getattr(solution, name).tolist() for name in curves}
    last = {name: values[-1] for name, values in curve.items()}
    first = mdp.space.labels(mdp.state(task.start))
    return {
        "task": task.name, "reward": reward,
        "start": {name: str(value) for name, value in first.items()},
        "max_episode_steps": task.max_episode_steps, "learning_seed": seed,
        "steps": last["steps"], "success": last[f"{reward}_return"],
        "proxy_return": last["proxy_return"], "true_return": last["true_return"],
        "optimum_steps": solution.optimum_steps, "curve": curve,
    }  # fmt: skip


# -------------------- Compiled episodes over options


class TaskArrays(NamedTuple):
    """A task as the kernels take it."""

    start: int
    max_episode_steps: int
    done: np.ndarray
    """bool [n_states]: where the learning reward is paid, which ends an episode."""


class Learning(NamedTuple):
    """How episodes choose and learn."""

    active: bool = False
    """False for greedy episodes that learn nothing."""
    alpha: float = 0.0
    """Step size of the updates."""
    gamma: float = 1.0
    """Discount per primitive step."""
    epsilon: float = 0.0
    """Probability of a random option."""
    intra_option: bool = False
    """Whether steps inside skills also update the values of primitive actions."""
    first_ties: bool = False
    """Whether the first of several best options is taken; otherwise one of them at random."""
    alpha_decay: float = 0.0
    """In episode n, alpha is multiplied by exp(-alpha_decay n)."""
    epsilon_decay: float = 0.0
    """In episode n, epsilon is multiplied by exp(-epsilon_decay n)."""


class Workspace(NamedTuple):
    """Arrays that episodes overwrite, allocated once."""

    marked: np.ndarray
    """uint8 [n_marks]: the hidden marks that are set."""
    path: np.ndarray
    """int32 [step limit + 1]: the states of the last option, at least 2."""
    actions: np.ndarray
    """int32 [step limit]: its actions, at least 1."""


def task_arrays(task: Task, reward: str = "true") -> TaskArrays:
    """Return a task as the kernels take it, learned from its "true" or "proxy" reward."""
    return TaskArrays(task.start, task.max_episode_steps, task.reward(reward))


def options_of(mdp: TabularMDP, skills: Skills | None) -> Options:
    """Return what an agent with these skills, or with primitive actions only, chooses among."""
    if skills is None:
        return Options(mdp_arrays(mdp), no_skills(), 0)
    return Options(mdp_arrays(mdp), skills.arrays, skills.step_limit)


def workspace_of(mdp: TabularMDP, options: Options) -> Workspace:
    """Allocate what episodes over `options` overwrite."""
    path = np.zeros(max(options.step_limit, 1) + 1, np.int32)
    return Workspace(np.zeros(mdp.n_marks, np.uint8), path, np.zeros_like(path[1:]))


@njit(cache=True, nogil=True)
def choose(values, first_ties, rng):
    """Return the index of the largest value: the first of several, or one of them at random."""
    best = values.max()
    count = 0
    choice = 0
    for o in range(values.shape[0]):
        if values[o] == best:
            if first_ties:
                return o
            count += 1
            if rng.random() * count < 1.0:
                choice = o
    return choice


@njit(cache=True, nogil=True)
def episode(options, task, learning, q, workspace, rng):
    """Run one episode, which updates `q` if `learning.active` and is greedy otherwise.

    Args:
        options: `Options`.
        task: `TaskArrays`.
        learning: `Learning`.
        q: float64 [n_states, n_skills + n_actions], or without the actions; updated.
        workspace: `Workspace`.
        rng: Generator.

    Returns:
        The number of steps and the last state.
    """
    mdp, policy, step_limit = options
    n_skills = policy.n_modes.shape[0]
    start, max_steps, done = task
    active, alpha, gamma, epsilon, intra_option, first_ties, _, _ = learning
    marked, path, actions = workspace
    s = start
    reset_marks(mdp.marks_in, s, marked, rng)
    steps = 0
    while steps < max_steps:
        if active and rng.random() < epsilon:
            o = int(rng.random() * q.shape[1])
        else:
            o = choose(q[s], first_ties, rng)
        first = s
        if o < n_skills:
            limit = min(step_limit, max_steps - steps)
            context = draw_context(policy, o, s, rng)
            k = follow(mdp, policy, o, s, context, limit, done, marked, rng, path, actions)
            s = np.int64(path[k])
        else:
            s, _ = step(mdp, s, o - n_skills, marked, rng)
            k = 1
        steps += max(k, 1)
        if active:
            if intra_option and o < n_skills:
                # The skill did not depend on q, so its steps can be learned from afterwards.
                for t in range(k):
                    following = path[t + 1]
                    target = 1.0 if done[following] else gamma * q[following].max()
                    before, a = path[t], n_skills + actions[t]
                    q[before, a] += alpha * (target - q[before, a])
            discount = 1.0
            for _ in range(k - 1 if done[s] and k > 0 else max(k, 1)):
                discount *= gamma
            target = discount if done[s] else discount * q[s].max()
            q[first, o] += alpha * (target - q[first, o])
        if done[s]:
            break
    return steps, s


@njit(cache=True, nogil=True)
def run_episodes(options, task, learning, q, first, last, workspace, rng):
    """Run the episodes numbered `first` to `last` - 1.

    Args:
        learning: `Learning` of episode 0.
        options, task, q, workspace, rng: As for `episode`.

    Returns:
        The number of steps and the last state of each, int64 [last - first].
    """
    active, alpha, gamma, epsilon, intra_option, first_ties, alpha_decay, epsilon_decay = learning
    steps = np.empty(last - first, np.int64)
    ends = np.empty_like(steps)
    for n in range(first, last):
        now = Learning(
            active, alpha * np.exp(-alpha_decay * n), gamma, epsilon * np.exp(-epsilon_decay * n),
            intra_option, first_ties, 0.0, 0.0,
        )  # fmt: skip
        steps[n - first], ends[n - first] = episode(options, task, now, q, workspace, rng)
    return steps, ends
