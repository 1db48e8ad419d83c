"""Q-learning of penalized tasks, over primitive actions and over skills.

Like `tasks.smdp_q_learning`, with costs: after an option o that took k steps from state s,

    Q(f, p, s, o) += alpha [ sum_i gamma^i (r_i - beta d_i) + gamma^k max_o' Q(f', p', s', o')
                             - Q(f, p, s, o) ]

where f is the phase of the baseline and p whether the reward was paid. Random outcomes of an action
have its expected cost. A skill that ends at once takes one no-op step. A truncated episode
bootstraps from its last state. With `intra_option`, every step inside a skill also updates the
value of the action it took.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paper.safety.penalties import PenalizedTask
from paper.safety.planning import Episodes
from skillfocus.compilation import njit
from skillfocus.mdp import TabularMDP, noop_action
from skillfocus.rollout import draw_context, follow, reset_marks, step
from skillfocus.skills.skills import Skills
from skillfocus.tasks.solving import SMDPQLearning, choose, options_of, workspace_of


class PenalizedArrays(NamedTuple):
    """A penalized task as arrays for the kernel."""

    start: int
    max_episode_steps: int
    ends: bool
    done: np.ndarray
    """States in which the reward is paid, bool [n_states]."""
    interrupts: np.ndarray
    """States in which a skill is interrupted, bool [n_states]."""
    entering: np.ndarray
    """Cost of entering a state, times the strength, float64 [n_phases, n_states]."""
    acting: np.ndarray
    """Expected cost of an action, times the strength, float64 [n_states, n_actions]."""
    phases: np.ndarray
    """int64 [max_episode_steps + 1]"""
    noop: int
    """The no-op action, -1 if there is none."""


class Pace(NamedTuple):
    """Learning and exploration parameters of one episode."""

    alpha: float
    """Step size; 0 for evaluation."""
    gamma: float
    """Discount per step."""
    epsilon: float
    """Probability of a random option."""
    intra_option: bool
    """Whether steps inside skills also update the values of primitive actions."""


class Learned(NamedTuple):
    """Result of `learn_penalized`."""

    q: np.ndarray
    """Values by phase, paid, state and option, float64 [n_phases, 2, n_states, n_options]."""
    episodes: Episodes
    """Sampled episodes of the greedy policy."""


def learn_penalized(
    mdp: TabularMDP,
    penalized: PenalizedTask,
    skills: Skills | None = None,
    *,
    seed: int,
    settings: SMDPQLearning | None = None,
    runs: int = 200,
) -> Learned:
    """Learn a penalized task, and sample episodes of the greedy policy.

    Args:
        mdp: The world's MDP.
        penalized: The task.
        skills: Skills, in addition to primitive actions.
        seed: Equal seeds give equal results.
        settings: Episodes, step size, discount, exploration and `intra_option`; the others are
            ignored.
        runs: Sampled episodes of the greedy policy.
    """
    settings = settings or SMDPQLearning()
    task = penalized.task
    options = options_of(mdp, skills)
    workspace = workspace_of(mdp, options)
    noop = noop_action(mdp)
    moving = penalized.strength * (mdp.probabilities * penalized.moving).sum(axis=2)
    arrays = PenalizedArrays(
        task.start, task.max_episode_steps, task.ends, penalized.done,
        penalized.done if task.ends else np.zeros_like(penalized.done),
        penalized.strength * penalized.entering, moving, penalized.phases,
        -1 if noop is None else noop,
    )  # fmt: skip
    n_options = (0 if skills is None else len(skills)) + mdp.n_actions
    q = np.zeros((len(penalized.entering), 2, mdp.n_states, n_options))
    learning, evaluation = np.random.default_rng(seed).spawn(2)
    path = np.zeros(task.max_episode_steps + 1, np.int32)
    for n in range(settings.episodes):
        alpha = settings.alpha * np.exp(-settings.alpha_decay * n)
        epsilon = float(np.exp(-settings.epsilon_decay * n))
        pace = Pace(alpha, settings.gamma, epsilon, settings.intra_option)
        _episode(options, arrays, q, pace, workspace, learning, path)
    occupancy, completed, steps = np.zeros((len(path), mdp.n_states)), 0, 0
    greedy = Pace(0.0, settings.gamma, 0.0, False)
    for _ in range(runs):
        when = _episode(options, arrays, q, greedy, workspace, evaluation, path)
        np.add.at(occupancy, (np.arange(len(path)), path), 1.0 / runs)
        completed += when >= 0
        steps += when if when >= 0 else task.max_episode_steps
    return Learned(q, Episodes(occupancy, completed / runs, steps / runs))


@njit(cache=True, nogil=True)
def _episode(options, task, q, pace, workspace, rng, visited):
    """Run one episode; update `q` unless alpha is 0.

    Args:
        options: `Options`.
        task: `PenalizedArrays`.
        q: float64 [n_phases, 2, n_states, n_options]; updated.
        pace: `Pace`.
        workspace: `Workspace`.
        rng: Generator.
        visited: int32 [max_episode_steps + 1]; filled with the states, the last one repeated.

    Returns:
        The step at which the reward was paid, -1 if it was not.
    """
    mdp, policy, step_limit = options
    n_skills = policy.n_modes.shape[0]
    start, max_steps, ends, done, interrupts, entering, acting, phases, noop = task
    alpha, gamma, epsilon, intra_option = pace
    marked, path, actions = workspace
    s = np.int64(start)
    reset_marks(mdp.marks_in, s, marked, rng)
    t, paid, when = 0, 0, -1
    visited[0] = s
    while t < max_steps:
        values = q[phases[t], paid, s]
        if rng.random() < epsilon:
            o = int(rng.random() * values.shape[0])
        else:
            o = choose(values, False, rng)
        if o < n_skills:
            limit = min(step_limit, max_steps - t)
            context = draw_context(policy, o, s, rng)
            k = follow(mdp, policy, o, s, context, limit, interrupts, marked, rng, path, actions)
        else:
            k = 0
        if k == 0 and (
            o >= n_skills or noop >= 0
        ):  # a primitive action, or a no-op for a skill that ends at once
            actions[0] = o - n_skills if o >= n_skills else noop
            path[0] = s
            path[1], _ = step(mdp, s, actions[0], marked, rng)
            k = 1
        target, discount, was_paid, was_at = 0.0, 1.0, paid, t
        over = False
        for i in range(k):
            t += 1
            following = path[i + 1]
            visited[t] = following
            earned = -acting[path[i], actions[i]] - entering[phases[t], following]
            before = paid
            if done[following] and paid == 0:
                earned += 1.0
                paid = 1
                when = t
                over = ends
            target += discount * earned
            discount *= gamma
            if intra_option and o < n_skills and alpha > 0.0:
                # The skill does not depend on q, so its steps can be replayed after it has ended.
                later = 0.0 if over else gamma * q[phases[t], paid, following].max()
                row = q[phases[t - 1], before, path[i]]
                row[n_skills + actions[i]] += alpha * (earned + later - row[n_skills + actions[i]])
        if k == 0:  # a skill ended at once, and there is no no-op: the state stays as it is
            t += 1
            visited[t] = s
            target -= entering[phases[t], s]
            discount *= gamma
        following = np.int64(path[k])
        if alpha > 0.0:
            if not over:
                target += discount * q[phases[t], paid, following].max()
            q[phases[was_at], was_paid, s, o] += alpha * (target - values[o])
        s = following
        if over:
            break
    visited[t:] = s
    return when
