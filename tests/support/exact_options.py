"""Options of small deterministic JAX worlds, exactly: ideal skills, and values of options."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.tasks.option_learning import Options


def shortest_path_skills(table, goals, step_limit=50):
    """Return skills that take a shortest way to each goal and stop there, or where there is none.

    Args:
        table: An enumerated world.
        goals: Per skill, {variable: values it may have}.
    """
    space, values = table.space, table.mdp.values
    successors = table.mdp.successors[:, :, 0]
    n_states, n_actions = successors.shape
    codes = space.encode(values)
    actions = np.full((int(np.prod(space.sizes)), len(goals)), n_actions, np.int32)
    for skill, goal in enumerate(goals):
        reached = np.ones(n_states, bool)
        for name, labels in goal.items():
            j = space.index(name)
            fits = np.array([label in labels for label in space.variables[j].values])
            reached &= fits[values[:, j]]
        distance = np.where(reached, 0.0, np.inf)
        while True:
            nearer = np.minimum(distance, 1 + distance[successors].min(axis=1))
            if np.array_equal(nearer, distance):
                break
            distance = nearer
        go = (distance > 0) & np.isfinite(distance)
        actions[codes[go], skill] = distance[successors].argmin(axis=1)[go]
    radix = np.cumprod([1, *space.sizes[:0:-1]])[::-1].astype(np.int32)

    def policy(weights, starts, values):
        del starts
        return weights[(values * radix).sum(axis=1)]

    return Options(policy, jnp.asarray(actions), len(goals), step_limit, n_actions)


def exact_values(mdp, options, task, gamma, interrupt):
    """Return Q*(s, o) of a deterministic world, [n_states, n_options], -inf if not available."""
    values, successors = mdp.values, mdp.successors[:, :, 0]
    done = np.asarray(task.proxy(values))
    n, n_actions = successors.shape
    first = np.asarray(options.actions(jax.random.key(0), *[jnp.asarray(values, jnp.int32)] * 2))
    reward, discount = np.zeros(first.shape), np.zeros(first.shape)
    end = np.zeros(first.shape, int)
    for o in range(len(options)):
        state, paid, over = np.arange(n), np.zeros(n, bool), first[:, o] == n_actions
        action, factor = first[:, o].copy(), np.ones(n)
        for k in range(max(options.step_limit, 1) if o < options.n_skills else 1):
            state = np.where(over, state, successors[state, np.minimum(action, n_actions - 1)])
            pays = done[state] & ~paid & ~over
            reward[:, o] += np.where(pays, gamma**k, 0)
            paid |= pays
            factor = np.where(over, factor, gamma ** (k + 1))
            over = over | (paid & interrupt)
            if o < options.n_skills:
                chosen = options.policy(
                    options.weights, jnp.asarray(values), jnp.asarray(values[state])
                )
                action = np.asarray(chosen)[:, o]
                over = over | (action == n_actions)
        discount[:, o], end[:, o] = np.where(paid, 0, factor), state
    q = np.zeros(first.shape)
    for _ in range(500):
        q = np.where(first < n_actions, reward + discount * q.max(axis=1)[end], -np.inf)
    return q
