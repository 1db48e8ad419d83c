"""Which (state, context) pairs of a policy can occur: those its skill can reach from a start."""

from __future__ import annotations

import numpy as np

from skillfocus.compilation import njit
from skillfocus.core.indexing import ValueIndex
from skillfocus.core.mdp import TabularMDP


@njit(cache=True, nogil=True)
def _search(columns, contexts, states, begins, successors, probabilities, again, limit):
    """See `keep_reachable`; columns are [n_contexts, n_states], searched breadth-first."""
    terminate = successors.shape[1]
    n = columns.shape[1]
    kept = np.full(columns.shape, np.uint8(terminate))
    found = np.full(n, -1, np.int32)
    queue = np.empty(n, np.int32)
    for i in range(columns.shape[0]):
        actions, into = columns[i], kept[i]
        end = 0
        for k in range(begins[contexts[i]], begins[contexts[i] + 1]):
            queue[end] = states[k]
            found[states[k]] = i
            end += 1
        done = 0
        for _ in range(limit):
            last = end
            while done < last:
                s = queue[done]
                done += 1
                a = actions[s]
                into[s] = a
                if a == terminate:
                    continue
                for m in range(successors.shape[2]):
                    if probabilities[s, a, m] > 0.0:
                        for following in (successors[s, a, m], again[s, a, m]):
                            if found[following] != i:
                                found[following] = i
                                queue[end] = following
                                end += 1
            if end == last:
                break
    return kept


def keep_reachable(
    mdp: TabularMDP, policy: np.ndarray, contexts: np.ndarray, index: ValueIndex, step_limit: int
) -> np.ndarray:
    """Return a policy with "terminate" wherever its skill never has to act.

    A pair of state and context is kept if the skill, started in any state with that context, can
    be in that state with steps left. Nothing that the skill does changes.

    Args:
        mdp: The MDP.
        policy: uint8 [n_states, n], actions in some contexts.
        contexts: int [n], which ones.
        index: Numbers of all contexts.
        step_limit: Most steps of the skill.
    """
    kept = _search(
        np.ascontiguousarray(policy.T), contexts.astype(np.int64), *index.states, mdp.successors,
        mdp.probabilities, mdp.again, step_limit,
    )  # fmt: skip
    return np.ascontiguousarray(kept.T)
