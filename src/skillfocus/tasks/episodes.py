"""Compiled episodes over options; `smdp_q_learning` states the update rule."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skillfocus.compilation import njit
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.rollout import (
    Options,
    draw_context,
    follow,
    mdp_arrays,
    no_skills,
    reset_marks,
    step,
)
from skillfocus.skills.skills import Skills
from skillfocus.tasks.task import Task


class TaskArrays(NamedTuple):
    """A task as the kernels take it."""

    start: int
    max_episode_steps: int
    done: np.ndarray
    """bool [n_states]: where the learning reward is paid, which ends an episode."""
    true: np.ndarray
    """bool [n_states]: where the true task is accomplished."""
    proxy: np.ndarray
    """bool [n_states]: where the proxy reward is paid."""


class Schedule(NamedTuple):
    """How all episodes learn: the settings of `SMDPQLearning` with the same names."""

    alpha: float
    alpha_decay: float
    gamma: float
    epsilon_decay: float
    intra_option: bool
    first_ties: bool


class Learning(NamedTuple):
    """How one episode chooses and learns."""

    active: bool
    """False for a greedy episode that learns nothing."""
    alpha: float
    """Step size of the updates."""
    gamma: float
    """Discount per primitive step."""
    epsilon: float
    """Probability of a random option."""
    intra_option: bool
    """Whether steps inside skills also update the values of primitive actions."""
    first_ties: bool
    """Whether the first of several best options is taken; otherwise one of them at random."""


def greedy_learning(first_ties: bool) -> Learning:
    """Return an episode that takes the best option everywhere and learns nothing."""
    return Learning(
        active=False, alpha=0.0, gamma=1.0, epsilon=0.0, intra_option=False, first_ties=first_ties
    )


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
    return TaskArrays(
        task.start, task.max_episode_steps, task.reward(reward), task.true, task.proxy
    )


def options_of(mdp: TabularMDP, skills: Skills | None) -> Options:
    """Return what an agent with these skills, or with primitive actions only, chooses among."""
    if skills is None:
        return Options(mdp_arrays(mdp), no_skills(), 0)
    return Options(mdp_arrays(mdp), skills.arrays, skills.step_limit)


def workspace_of(mdp: TabularMDP, options: Options) -> Workspace:
    """Allocate what episodes over `options` overwrite."""
    longest = max(options.step_limit, 1)
    return Workspace(
        np.zeros(mdp.n_marks, np.uint8),
        np.zeros(longest + 1, np.int32),
        np.zeros(longest, np.int32),
    )


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
def _update(q, s, o, target, alpha):
    q[s, o] += alpha * (target - q[s, o])


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
    start, max_steps, done, _, _ = task
    active, alpha, gamma, epsilon, intra_option, first_ties = learning
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
                    _update(q, path[t], n_skills + actions[t], target, alpha)
            discount = 1.0
            for _ in range(k - 1 if done[s] and k > 0 else max(k, 1)):
                discount *= gamma
            _update(q, first, o, discount if done[s] else discount * q[s].max(), alpha)
        if done[s]:
            break
    return steps, s


@njit(cache=True, nogil=True)
def learn(options, task, schedule, q, first, last, workspace, rng):
    """Learn from the episodes numbered `first` to `last` - 1.

    In episode n, alpha is multiplied by exp(-alpha_decay n), and epsilon is exp(-epsilon_decay n).

    Args:
        schedule: `Schedule`.
        options, task, q, workspace, rng: As for `episode`.
    """
    for n in range(first, last):
        alpha = schedule.alpha * np.exp(-schedule.alpha_decay * n)
        epsilon = np.exp(-schedule.epsilon_decay * n)
        learning = Learning(
            True, alpha, schedule.gamma, epsilon, schedule.intra_option, schedule.first_ties
        )
        episode(options, task, learning, q, workspace, rng)


@njit(cache=True, nogil=True)
def evaluate_greedy(options, task, greedy, q, n_runs, workspace, rng):
    """Run the greedy policy of `q` `n_runs` times.

    Args:
        greedy: `greedy_learning`.
        n_runs: Number of runs.
        options, task, q, workspace, rng: As for `episode`.

    Returns:
        float64 [3]: the mean number of steps (`max_episode_steps` for a failure), and the shares
        of runs that accomplish the true task and that earn the proxy reward.
    """
    results = np.zeros(3)
    for _ in range(n_runs):
        steps, s = episode(options, task, greedy, q, workspace, rng)
        results[0] += steps if task.done[s] else task.max_episode_steps
        results[1] += task.true[s]
        results[2] += task.proxy[s]
    return results / n_runs
