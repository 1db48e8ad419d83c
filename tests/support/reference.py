"""Slow reference versions of the kernels in plain Python, which the fast ones must equal."""

from __future__ import annotations

import numpy as np


def plain_values(mdp, stop, step_share, gamma, loss_discount, event_cost, stop_share=1.0):
    """The exact values of one context, swept until nothing changes: terminating pays
    stop_share * stop[s];
    moving pays step_share * stop[s] and what follows, less its cost, times gamma if that is a gain and
    times `loss_discount` if it is a loss."""
    values = stop_share * np.array(stop, dtype=float)
    while True:
        following = mdp.probabilities * (values[mdp.successors] - event_cost)
        best = following.sum(axis=2).max(axis=1)
        moving = step_share * stop + np.where(best > 0, gamma, loss_discount) * best
        better = np.maximum(stop_share * stop, moving)
        if np.abs(better - values).max() < 1e-11:
            return better
        values = better


class PlainQ:
    """Q-learning of one skill in plain Python: dictionaries, one context at a time."""

    def __init__(self, problem, params, z, learner):
        self.problem, self.params, self.skill, self.learner = (
            problem,
            params,
            problem.skills[z],
            learner,
        )
        predict, formula = problem.estimator.predict.py_func, problem.objective.reward.formula
        self.reward = lambda *arguments: formula(*predict(*arguments))
        self.update = problem.estimator.update.py_func
        self.q = {}
        self.terminate = problem.mdp.n_actions

    def value(self, s, a, c):
        return self.q.get((s, a, c), 0.0)

    def earned(self, s, c):
        """T(s, c): the terms' rewards minus the penalty on what can be changed back."""
        skill, total = self.skill, 0.0
        for term in skill.terms:
            group = self.problem.groups[term.group]
            total += term.weight * self.reward(
                self.params[term.group], group.coordinates, term.component,
                self.start(term, group, c), group.values.of_state[s],
            )  # fmt: skip
        then = skill.penalty_then[c] if self.problem.uses_context else skill.penalty_now[self.first]
        return total - skill.penalty[skill.penalty_now[s], then]

    def start(self, term, group, c):
        """The context's, or, for a skill without memory, that of the episode."""
        if self.problem.uses_context:
            return term.start_in_context[c]
        return group.starts.of_state[self.first]

    def best(self, s, c):
        """The greedy action; to terminate on ties."""
        values = [self.value(s, a, c) for a in range(self.terminate)]
        stop = self.value(s, self.terminate, c)
        return self.terminate if max(values) <= stop else values.index(max(values))

    def reset_marks(self, s, rng):
        mdp = self.problem.mdp
        self.marked = set()
        while len(self.marked) < mdp.marks_in[s]:
            self.marked.add(int(rng.random() * mdp.n_marks))

    def step(self, s, a, rng):
        """What follows, and the penalty if that changed something for good."""
        mdp, u = self.problem.mdp, rng.random()
        m = next(m for m, limit in enumerate(mdp.cumulative[s, a]) if u < limit)
        mark = int(mdp.marks[s, a, m])
        again = mark in self.marked
        if mark >= 0:
            self.marked.add(mark)
        following = int((mdp.again if again else mdp.successors)[s, a, m])
        return following, 0.0 if again else self.skill.event_cost[s, a, m]

    def episodes(self, count, step_size, rng):
        learner, skill, objective = self.learner, self.skill, self.problem.objective
        gamma = learner.gamma
        dense = 1 - gamma if objective.reward.timing == "step" else 0.0
        n_contexts = skill.context.size
        for _ in range(count):
            greedy = rng.random() < learner.greedy_share
            hindsight = learner.hindsight and self.problem.uses_context
            if hindsight and not greedy:
                s = int(rng.random() * self.problem.mdp.n_states)
            else:
                s = int(skill.starts[int(rng.random() * len(skill.starts))])
            own = int(skill.context.of_state[s])
            contexts = range(n_contexts) if hindsight else [own]
            self.first = s
            path = [s]
            self.reset_marks(s, rng)
            if learner.all_stop_values:
                for c in contexts:
                    self.q[s, self.terminate, c] = self.earned(s, c)
            while len(path) <= self.problem.step_limit:
                if not greedy and rng.random() < learner.epsilon:
                    a = int(
                        rng.random() * (self.terminate + (not learner.explore_without_stopping))
                    )
                else:
                    a = self.best(s, own)
                    if a == self.terminate and learner.explore_without_stopping and not greedy:
                        a = int(rng.random() * self.terminate)
                if a == self.terminate:
                    break
                following, cost = self.step(s, a, rng)
                for c in contexts:
                    if learner.all_stop_values:
                        self.q[following, self.terminate, c] = self.earned(following, c)
                    best = max(self.value(following, b, c) for b in range(self.terminate + 1))
                    target = dense * self.earned(s, c) + gamma * (best - cost)
                    old = self.value(s, a, c)
                    self.q[s, a, c] = old + step_size * (target - old)
                s = following
                path.append(s)
            learns = greedy or not learner.update_on_greedy_only
            first = learner.update_first and objective.reward.timing == "final"
            if learns and first:
                self.learn(path)
                if learner.all_stop_values:
                    for c in contexts:
                        self.q[s, self.terminate, c] = self.earned(s, c)
            if not learner.all_stop_values:
                for c in contexts:
                    old = self.value(s, self.terminate, c)
                    self.q[s, self.terminate, c] = old + step_size * (self.earned(s, c) - old)
            if learns and not first:
                self.learn(path)

    def learn(self, path):
        limit = self.problem.step_limit
        times = range(1, limit + 1) if self.problem.objective.reward.timing == "step" else [limit]
        for term in self.skill.terms:
            group = self.problem.groups[term.group]
            for t in times:
                seen = path[min(t, len(path) - 1)]
                self.update(
                    self.params[term.group], group.coordinates, term.component,
                    group.starts.of_state[path[0]], group.values.of_state[seen],
                    self.problem.rate * self.learner.estimator_rate_scale,
                )  # fmt: skip

    def table(self):
        """[state, action, context], as the kernel has it."""
        n = self.problem.mdp.n_states
        values = np.zeros((n, self.terminate + 1, self.skill.context.size))
        for (s, a, c), value in self.q.items():
            values[s, a, c] = value
        return values


def plain_follow(skills, z, start, context, limit, over, marked, draw):
    """One skill, step by step: (states, actions). `draw(t)` gives the uniform number of draw t;
    `marked` is a set of hidden marks, updated."""
    mdp = skills.mdp
    offset, width = int(skills.arrays.offsets[z]), int(skills.arrays.widths[z])
    path, actions = [start], []
    for t in range(limit):
        action = int(skills.arrays.actions[offset + path[-1] * width + context])
        if action == mdp.n_actions:
            break
        u, s = draw(t + 1), path[-1]
        m = next(m for m, total in enumerate(mdp.cumulative[s, action]) if u < total)
        mark = int(mdp.marks[s, action, m])
        known = mark in marked
        if mark >= 0:
            marked.add(mark)
        path.append(int((mdp.again if known else mdp.successors)[s, action, m]))
        actions.append(action)
        if over is not None and over[path[-1]]:
            break
    return path, actions


def plain_episode(skills, q, task, alpha, gamma, epsilon, intra_option, rng):
    """One episode of SMDP Q-learning over skills and primitive actions, in plain Python."""
    mdp = skills.mdp
    n_skills, n_moves = len(skills), mdp.n_actions

    def greedy(values):
        best = [o for o in range(len(values)) if values[o] == max(values)]
        choice = best[0]
        for count, o in enumerate(best, start=1):
            if rng.random() * count < 1:
                choice = o
        return choice

    def move(s, a):
        u = rng.random()
        total = 0.0
        for m in range(mdp.successors.shape[2]):
            total = mdp.cumulative[s, a, m]
            if u < total:
                return int(mdp.successors[s, a, m])
        raise AssertionError

    s, steps = task.start, 0
    while steps < task.max_episode_steps and not (steps and task.true[s]):
        o = int(rng.random() * (n_skills + n_moves)) if rng.random() < epsilon else greedy(q[s])
        path = [s]
        context = skills.contexts[o, s] if o < n_skills else None
        mode = (
            int(rng.random() * skills.n_modes[o]) if o < n_skills and skills.n_modes[o] > 1 else 0
        )
        while steps < task.max_episode_steps:
            if o >= n_skills:
                a = o - n_skills
            elif len(path) - 1 == skills.step_limit:
                break
            else:
                a = int(skills.policy_of(o, mode)[path[-1], context])
                if a == n_moves:
                    break
            path.append(move(path[-1], a))
            steps += 1
            if intra_option and o < n_skills:
                before, after = path[-2:]
                target = 1.0 if task.true[after] else gamma * max(q[after])
                q[before, n_skills + a] += alpha * (target - q[before, n_skills + a])
            if task.true[path[-1]] or o >= n_skills:
                break
        first, s, k = path[0], path[-1], len(path) - 1
        if k == 0:
            steps += 1
            target = gamma * max(q[s]) if not task.true[s] else gamma
        else:
            target = gamma ** (k - 1) if task.true[s] else gamma**k * max(q[s])
        q[first, o] += alpha * (target - q[first, o])
    return steps, s


def best_focus_plainly(mdp, targets, restored, limit, wanted=None):
    """Per start, the highest probability of a focused change, by recursion over (state, steps);
    `wanted` are values that the targets must end with."""
    values, found = mdp.values.tolist(), []
    for first in values:
        known = {}

        def value(s, left, first=first, known=known):
            now = values[s]
            reached = [now[j] for j in targets] == wanted
            changed = wanted is None and all(now[j] != first[j] for j in targets)
            if (reached or changed) and all(now[j] == first[j] for j in restored):
                return 1.0
            if not left:
                return 0.0
            if (s, left) not in known:
                known[s, left] = max(
                    sum(
                        p * value(int(after), left - 1)
                        for after, p in zip(
                            mdp.successors[s, a], mdp.probabilities[s, a], strict=True
                        )
                        if p > 0
                    )
                    for a in range(mdp.n_actions)
                )
            return known[s, left]

        found.append(value(len(found), limit))
    return np.array(found)
