"""Planning: exact value-iteration sweeps that alternate with updates of the rewards.

Each round, every skill's values over (state, context) are swept towards the optimum of its
current reward T(s, c):

    V(s, c) = max( T(s, c),  e T(s, c) + later( max_a sum_m p_m [V(s_m, c) - cost_m] ) )

Terminating takes T. Of what comes a step later, gains count gamma times, and losses 1 / gamma
times: if losses were discounted, a skill that can only lose would put its end off for ever. For
rewards earned at the end, e = 0; for rewards earned at every step, e = 1 - gamma, both count gamma
times, and a skill that terminates goes on earning, which in these units is worth T too. Then the
skills are run, and what they did updates the rewards' parameters. At the end the values are solved
from scratch, because a warm start forgets rewards that have dropped only slowly.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numba import njit

from skillfocus.core.progress import Progress
from skillfocus.core.rollout import PolicyArrays, mdp_arrays, run_many
from skillfocus.errors import UserError
from skillfocus.learners.tabular.kernels import learn_rewards, skill_reward
from skillfocus.learners.tabular.problem import Problem
from skillfocus.objectives.objective import Objective

TOLERANCE = 1e-5
BLOCK = 256
"""Contexts swept together: few enough for their values to stay in the cache."""


@njit(cache=True, nogil=True, fastmath={"contract"})
def backup(v, s, a, successors, probabilities, costs, value):
    """value[c] = sum_m p_m v[s_m, c] - cost, with the outcomes padded to a multiple of four."""
    for m in range(0, successors.shape[2], 4):
        p0 = probabilities[s, a, m]
        p1 = probabilities[s, a, m + 1]
        p2 = probabilities[s, a, m + 2]
        p3 = probabilities[s, a, m + 3]
        v0 = v[successors[s, a, m]]
        v1 = v[successors[s, a, m + 1]]
        v2 = v[successors[s, a, m + 2]]
        v3 = v[successors[s, a, m + 3]]
        if m == 0:
            cost = costs[s, a]
            for c in range(value.shape[0]):
                value[c] = p0 * v0[c] + p1 * v1[c] + p2 * v2[c] + p3 * v3[c] - cost
        else:
            for c in range(value.shape[0]):
                value[c] += p0 * v0[c] + p1 * v1[c] + p2 * v2[c] + p3 * v3[c]


@njit(cache=True, nogil=True, fastmath={"contract"})
def sweep(v, t, earned, gamma, waiting, successors, probabilities, costs, backwards):
    """One in-place sweep over all states, all contexts at once; `costs` are the expected event
    costs [s, a]. Returns the largest change. (Plain loops over c are what vectorises.)"""
    n, width = v.shape
    best = np.empty(width, np.float32)
    value = np.empty(width, np.float32)
    change = np.zeros(width, np.float32)
    for i in range(n):
        s = n - 1 - i if backwards else i
        backup(v, s, 0, successors, probabilities, costs, best)
        for a in range(1, successors.shape[1]):
            if successors.shape[2] == 4:  # the same as below in one pass: twice as fast
                cost = costs[s, a]
                p0 = probabilities[s, a, 0]
                p1 = probabilities[s, a, 1]
                p2 = probabilities[s, a, 2]
                p3 = probabilities[s, a, 3]
                v0 = v[successors[s, a, 0]]
                v1 = v[successors[s, a, 1]]
                v2 = v[successors[s, a, 2]]
                v3 = v[successors[s, a, 3]]
                for c in range(width):
                    q = p0 * v0[c] + p1 * v1[c] + p2 * v2[c] + p3 * v3[c] - cost
                    best[c] = max(best[c], q)
            else:
                backup(v, s, a, successors, probabilities, costs, value)
                for c in range(width):
                    best[c] = max(best[c], value[c])
        row = v[s]
        stop = t[s]
        for c in range(width):
            later = min(gamma * best[c], waiting * best[c])
            new = max(stop[c], earned * stop[c] + later)
            change[c] = max(change[c], abs(new - row[c]))
            row[c] = new
    return change.max()


@njit(cache=True, nogil=True, fastmath={"contract"})
def greedy(v, t, earned, gamma, waiting, successors, probabilities, costs):
    """The best action for every state and context; to terminate wherever nothing is better."""
    n, width = v.shape
    n_actions = successors.shape[1]
    policy = np.empty((n, width), np.uint8)
    best = np.empty(width, np.float32)
    value = np.empty(width, np.float32)
    choice = np.empty(width, np.int32)
    tolerance = np.float32(TOLERANCE)
    for s in range(n):
        choice[:] = 0
        backup(v, s, 0, successors, probabilities, costs, best)
        for a in range(1, n_actions):
            backup(v, s, a, successors, probabilities, costs, value)
            for c in range(width):
                better = value[c] > best[c] + tolerance
                best[c] = value[c] if better else best[c]
                choice[c] = a if better else choice[c]
        stop = t[s]
        for c in range(width):
            later = min(gamma * best[c], waiting * best[c])
            stops = earned * stop[c] + later <= stop[c] + tolerance
            policy[s, c] = n_actions if stops else choice[c]
    return policy


@njit(cache=True, nogil=True)
def pick(values, columns):
    """values[:, columns], in less time"""
    out = np.empty((values.shape[0], columns.shape[0]), values.dtype)
    for s in range(out.shape[0]):
        row, into = values[s], out[s]
        for i in range(columns.shape[0]):
            into[i] = row[columns[i]]
    return out


@njit(cache=True, nogil=True)
def put(values, columns, out):
    """out[:, columns] = values, in less time"""
    for s in range(out.shape[0]):
        row, into = values[s], out[s]
        for i in range(columns.shape[0]):
            into[columns[i]] = row[i]


@dataclass(frozen=True)
class Planning:
    """The settings of the planner."""

    rounds: int = 40
    sweeps: int = 2
    rollouts: int = 500
    """Runs of each skill per round that update the rewards."""
    gamma: float = 0.99
    final_sweeps: int = 300
    start_where_controllable: bool = field(default=True, metadata={"stored_as": "teachable"})
    """Runs start where the skill's targets can still change."""
    name: str = "planning"

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        if min(self.rounds, self.sweeps, self.rollouts, self.final_sweeps) < 1:
            raise UserError("rounds, sweeps, rollouts and final_sweeps must be at least 1")

    def uses_context(self, objective: Objective) -> bool:
        """Whether policies see the context of s_0: always, the tables fit."""
        del objective
        return True

    def learn(
        self, problem: Problem, rng: np.random.Generator, progress: Progress
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """The skills' policies (flat, see `simulation`) and the rewards' parameters."""
        model = Model(problem, self.gamma)
        params = problem.initial_params(rng)
        modes = np.ones(len(problem.skills), dtype=np.int64)
        for number in range(self.rounds):
            progress(number / (self.rounds + 1), f"round {number + 1} of {self.rounds}")
            skills, starts = draw_starts(problem, params, self.rollouts, rng)
            for z, skill in enumerate(problem.skills):
                contexts, sweeps = None, self.sweeps
                if skill.context.size > self.rollouts:  # more than a round's runs can begin in
                    contexts = np.unique(skill.context.of_state[starts[skills == z]])
                    sweeps *= -(-skill.context.size // self.rollouts)  # as many in all as others
                model.improve(z, params, sweeps, contexts)
            bodies = PolicyArrays(
                model.policy, problem.offsets, problem.widths, problem.contexts, modes
            )
            paths, _ = run_many(
                mdp_arrays(problem.mdp), bodies, skills, starts, problem.step_limit,
                problem.mdp.n_marks, rng,
            )  # fmt: skip
            learn_rewards(problem, params, skills, paths, problem.rate, rng)
        for z in range(len(problem.skills)):
            done = (self.rounds + z / len(problem.skills)) / (self.rounds + 1)
            progress(done, f"solving for skill {z} of {len(problem.skills)}")
            model.known[z][:] = False
            model.improve(z, params, self.final_sweeps)
        return model.policy, params


LARGEST_GAMMA = 0.9999
"""Without any discount every way is as good as every other, the one that never arrives too."""


def check_gamma(gamma: float) -> None:
    if not 0 < gamma <= 1:
        raise UserError(f"gamma is {gamma}; it must be above 0 and at most 1")


def earned_share(objective: Objective, gamma: float) -> float:
    """e: the share of its reward that a skill earns by passing through a state."""
    return 1 - gamma if objective.every_step else 0.0


class Model:
    """What the sweeps need of a problem, laid out for them, and what they find."""

    def __init__(self, problem: Problem, gamma: float) -> None:
        gamma = min(gamma, LARGEST_GAMMA)
        self.problem = problem
        self.gamma = np.float32(gamma)
        self.earned = np.float32(earned_share(problem.objective, gamma))
        self.waiting = self.gamma if self.earned else np.float32(1 / gamma)
        """How often a loss counts that comes a step later; what is earned at every step does not
        wait for the end."""
        mdp = problem.mdp
        self.costs = [
            (mdp.probabilities * skill.event_cost).sum(axis=2).astype(np.float32)
            for skill in problem.skills
        ]
        padding = ((0, 0), (0, 0), (0, -mdp.successors.shape[2] % 4))
        self.successors = np.ascontiguousarray(np.pad(mdp.successors, padding))
        self.probabilities = np.pad(mdp.probabilities, padding).astype(np.float32)
        self.values = np.zeros(problem.offsets[-1], dtype=np.float32)
        self.policy = np.zeros(problem.offsets[-1], dtype=np.uint8)
        self.known = [np.zeros(width, dtype=bool) for width in problem.widths]
        """[skill][context]: whether values have been swept. Those that have not begin as what
        terminating at once would earn."""

    def improve(
        self,
        z: int,
        params: tuple[np.ndarray, ...],
        sweeps: int,
        contexts: np.ndarray | None = None,
    ) -> None:
        """Sweep skill z's values in these contexts (default: in all), and find its policy there."""
        problem, known = self.problem, self.known[z]
        if contexts is None:
            contexts = np.arange(len(known))
        part = slice(problem.offsets[z], problem.offsets[z + 1])
        shape = problem.mdp.n_states, len(known)
        values, policy = self.values[part].reshape(shape), self.policy[part].reshape(shape)
        for first in range(0, len(contexts), BLOCK):
            block = contexts[first : first + BLOCK]
            t = skill_reward(problem, params, z, block)
            here = pick(values, block)
            if not known[block].all():
                np.copyto(here, t, where=~known[block])
            arguments = (
                t, self.earned, self.gamma, self.waiting, self.successors, self.probabilities,
                self.costs[z],
            )  # fmt: skip
            for number in range(sweeps):
                if sweep(here, *arguments, number % 2 == 1) < TOLERANCE:
                    break
            put(here, block, values)
            put(greedy(here, *arguments), block, policy)
        known[contexts] = True


def draw_starts(
    problem: Problem, params: tuple[np.ndarray, ...], per_skill: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Skills and first states to run, in random order: skills uniformly, or by a learned prior."""
    n = per_skill * len(problem.skills)
    wished = rng.integers(problem.mdp.n_states, size=n)
    if problem.objective.learns_prior:
        shares = prior(problem, params).cumsum(axis=0)[:, wished]
        skills = np.minimum((rng.random(n) >= shares).sum(axis=0), len(problem.skills) - 1)
    else:
        skills = rng.integers(len(problem.skills), size=n)
    starts = np.empty(n, dtype=np.int64)
    for z, skill in enumerate(problem.skills):
        mine = np.flatnonzero(skills == z)
        teaches = np.isin(wished[mine], skill.starts)
        other = skill.starts[rng.integers(len(skill.starts), size=len(mine))]
        starts[mine] = np.where(teaches, wished[mine], other)
    return skills, starts


def prior(problem: Problem, params: tuple[np.ndarray, ...]) -> np.ndarray:
    """[skill, state]: the learned probability of each skill in a first state."""
    shares = np.ones((len(problem.skills), problem.mdp.n_states))
    for z, skill in enumerate(problem.skills):
        for term in skill.terms:
            group = problem.groups[term.group]
            nu = np.exp(params[term.group][term.component, -1, group.starts.of_state])
            shares[z] *= group.n_components * nu
    return shares / shares.sum(axis=0)
