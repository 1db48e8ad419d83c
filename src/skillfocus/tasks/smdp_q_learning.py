"""Learning a task with skills: semi-Markov Q-learning over skills and primitive moves.

In state s the agent chooses a skill or one of the four moves, o. When o has ended in s' after k
steps,

    Q(s, o) <- Q(s, o) + alpha [gamma^(k-1) r + gamma^k max_o' Q(s', o') - Q(s, o)],

with r = 1 and nothing beyond it if the task was accomplished, which is checked after every step
and ends a skill. An episode that reaches its cap ends there, and its last value still looks ahead:
truncated is not terminated. A skill that ends where it began without a step costs one step.

With `intra_option`, every step inside a skill also updates the value of that primitive move
(Sutton, Precup, Singh 1999): skills find the reward, moves polish the path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.rollout import PolicyArrays, begin, mdp_arrays, reset_marks, step
from skillfocus.errors import UserError
from skillfocus.skills.skills import Skills
from skillfocus.tasks.task import Task, optimum


@njit(cache=True, nogil=True)
def choose(values, rng):
    """A greedy choice, ties broken at random."""
    best = values.max()
    count = 0
    choice = 0
    for o in range(values.shape[0]):
        if values[o] == best:
            count += 1
            if rng.random() * count < 1.0:
                choice = o
    return choice


@njit(cache=True, nogil=True)
def episode(
    bodies,
    q,
    start,
    max_episode_steps,
    done,
    learning,
    alpha,
    gamma,
    epsilon,
    intra_option,
    marked,
    rng,
):
    """One episode: (steps, last state). It learns if `learning`, else it is greedy. `bodies` are
    what `bodies_of` gives."""
    arrays, skills, limit = bodies
    policy, offsets, widths, _, _ = skills
    n_skills = offsets.shape[0] - 1
    n_moves = arrays[0].shape[1]
    s = start
    reset_marks(arrays[4], s, marked, rng)
    steps = 0
    while steps < max_episode_steps:
        if learning and rng.random() < epsilon:
            o = int(rng.random() * (n_skills + n_moves))
        else:
            o = choose(q[s], rng)
        first = s
        taken = 0
        discount = 1.0  # gamma to the power of the steps taken
        context = begin(skills, o, s, rng) if o < n_skills else 0
        while steps < max_episode_steps:
            if o < n_skills:
                if taken == limit:
                    break
                a = policy[offsets[o] + s * widths[o] + context]
                if a == n_moves:
                    break
            else:
                a = o - n_skills
            before = s
            s, _ = step(arrays, s, a, marked, rng)
            steps += 1
            taken += 1
            if intra_option and learning and o < n_skills:
                target = 1.0 if done[s] else gamma * q[s].max()
                q[before, n_skills + a] += alpha * (target - q[before, n_skills + a])
            if done[s]:
                break
            discount *= gamma
            if o >= n_skills:
                break
        if taken == 0:
            steps += 1
            discount = gamma
        if learning:
            target = discount if done[s] else discount * q[s].max()
            q[first, o] += alpha * (target - q[first, o])
        if done[s]:
            break
    return steps, s


@njit(cache=True, nogil=True)
def learn(
    bodies,
    q,
    start,
    max_episode_steps,
    done,
    first,
    last,
    alpha,
    slowing,
    gamma,
    decay,
    intra,
    n_marks,
    rng,
):
    """Learn from the episodes numbered `first` to `last` - 1."""
    marked = np.zeros(n_marks, np.uint8)
    for number in range(first, last):
        epsilon = np.exp(-decay * number)
        size = alpha * np.exp(-slowing * number)
        episode(
            bodies,
            q,
            start,
            max_episode_steps,
            done,
            True,
            size,
            gamma,
            epsilon,
            intra,
            marked,
            rng,
        )


@njit(cache=True, nogil=True)
def judge(bodies, q, start, max_episode_steps, done, true, proxy, runs, n_marks, rng):
    """Run the greedy policy so many times: mean steps (the cap for a failure), how often the true
    task is accomplished, and how often the proxy's."""
    marked = np.zeros(n_marks, np.uint8)
    results = np.zeros(3)
    for _ in range(runs):
        steps, s = episode(
            bodies, q, start, max_episode_steps, done, False, 0.0, 0.0, 0.0, False, marked, rng
        )
        results[0] += steps if done[s] else max_episode_steps
        results[1] += true[s]
        results[2] += proxy[s]
    return results / runs


@dataclass(frozen=True)
class SMDPQLearning:
    """The settings of learning downstream; the defaults are the paper's."""

    episodes: int = 20_000
    alpha: float = 0.1
    slowing: float = 0.0
    """alpha falls as exp(-slowing n), n the episodes so far."""
    gamma: float = 0.99
    decay: float = 0.001
    """Exploration falls as exp(-decay n), n the episodes so far."""
    intra_option: bool = False
    evaluations: int = 50
    """Moments of learning at which the greedy policy is run."""
    runs: int = 20
    """Runs of it at each moment but the last."""
    final_runs: int = 1000
    """Runs of it at the end."""

    def __post_init__(self) -> None:
        if min(self.episodes, self.evaluations, self.runs, self.final_runs) < 1:
            raise UserError("episodes, evaluations, runs and final_runs must be at least 1")
        if not (0 < self.alpha <= 1 and 0 < self.gamma <= 1) or min(self.decay, self.slowing) < 0:
            raise UserError("alpha and gamma must be in (0, 1], decay and slowing 0 or more")


@dataclass(frozen=True, eq=False)
class Solution:
    """What was learned, and how well it does as learning goes on."""

    q: np.ndarray
    """[state, choice]: skills first, then the primitive moves."""
    episodes: np.ndarray
    """[moment]: episodes learned from so far."""
    steps: np.ndarray
    """[moment]: mean steps of the greedy policy; the cap for a run that fails."""
    true_return: np.ndarray
    """[moment]: how often the true task is accomplished at the end of a run."""
    proxy_return: np.ndarray
    optimum_steps: float
    """The fewest expected steps of any policy over primitive moves."""


def solve(
    mdp: TabularMDP,
    task: Task,
    skills: Skills | None,
    *,
    seed: int,
    reward: str = "true",
    settings: SMDPQLearning | None = None,
) -> Solution:
    """Learn a task from its true or proxy reward, with these skills and the primitive moves, or
    with the moves alone. Equal seeds give equal solutions."""
    settings = settings or SMDPQLearning()
    if skills is not None and skills.mdp.fingerprint != mdp.fingerprint:
        raise UserError(f"the skills are for another world than the task {task.name}")
    n_skills = 0 if skills is None else len(skills)
    q = np.zeros((mdp.n_states, n_skills + mdp.n_actions))
    bodies = bodies_of(mdp, skills)
    start, max_episode_steps, n_marks = task.start, task.max_episode_steps, mdp.n_marks
    done = task.reward(reward)
    learning, judging = np.random.default_rng(seed).spawn(2)
    moments = np.arange(settings.evaluations + 1) * settings.episodes // settings.evaluations
    results = np.empty((settings.evaluations, 3))
    for i in range(settings.evaluations):
        learn(
            bodies, q, start, max_episode_steps, done, moments[i], moments[i + 1], settings.alpha,
            settings.slowing, settings.gamma, settings.decay, settings.intra_option, n_marks,
            learning,
        )  # fmt: skip
        runs = settings.runs if i + 1 < settings.evaluations else settings.final_runs
        results[i] = judge(
            bodies, q, start, max_episode_steps, done, task.true, task.proxy, runs, n_marks, judging
        )
    steps, true, proxy = results.T.copy()
    return Solution(q, moments[1:], steps, true, proxy, optimum(mdp, task, reward)[0])


def bodies_of(mdp: TabularMDP, skills: Skills | None) -> tuple:
    """What the kernels need of the world, and of skills or of none."""
    arrays = mdp_arrays(mdp)
    if skills is not None:
        return arrays, skills.arrays, skills.step_limit
    none = np.zeros(0, np.int64)
    nothing = PolicyArrays(
        np.zeros(0, np.uint8), np.zeros(1, np.int64), none, np.zeros((0, 0), np.int32), none
    )
    return arrays, nothing, 0
