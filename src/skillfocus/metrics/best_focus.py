"""The highest probability of a focused change (`focused_change.py`).

A skill may stop whenever it likes, within its step limit. With G the states in which the change is
done, and t steps left, dynamic programming gives

    V_0(s) = [s in G],    V_t(s) = 1 if s in G, else max_a sum_m p(m | s, a) V_t-1(s_m),

exactly, slips included. G depends on the start, the dynamics do not: starts that agree on the
targets, unless their values are named, and on what is restored share G, and all sets G are solved
side by side. Variables that make no difference are projected out, and states in which something is
changed for good that should be restored are left out, because their value is 0.

Hidden marks: where they make a difference to the variables concerned, each mark is taken to be set
for the first time, as the table has it. That is exact from starts without marks if the variable
that counts the marks is a target, or is to be restored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from skillfocus.compilation import njit
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.projection import Projection, project
from skillfocus.metrics.focused_change import Change, Restore, make_change, restored_variables

BLOCK = 256
"""Sets G solved side by side: few enough for their values to stay in the cache."""
CONVERGED = 1e-12
"""Values that change by less in a step are final: later steps change them by no more than that."""
BYTES_AT_ONCE = 16
"""Values of 0 and 1 are bytes, of which a processor compares so many in the time of a product."""
_known: WeakKeyDictionary[TabularMDP, dict[tuple, np.ndarray]] = WeakKeyDictionary()
"""Per MDP, (change, step limit): float64 [n_states], NaN where not computed yet."""


@njit(cache=True, nogil=True)
def backup(successors, probabilities, v, done, out):
    """out = V_t from v = V_t-1, both float64 [n_rows, n_goals]; return the largest change.

    `done` is bool [n_rows, n_goals], whether a row is in G. Rows of `v` after the last row of
    `successors` keep their value.
    """
    n_goals = v.shape[1]
    value = np.empty(n_goals)
    change = 0.0
    for s in range(successors.shape[0]):
        best = out[s]
        for g in range(n_goals):
            best[g] = 1.0 if done[s, g] else 0.0
        for a in range(successors.shape[1]):
            value[:] = 0.0
            for m in range(successors.shape[2]):
                p = probabilities[s, a, m]
                if p > 0.0:
                    after = v[successors[s, a, m]]
                    for g in range(n_goals):
                        value[g] += p * after[g]
            for g in range(n_goals):
                best[g] = max(best[g], value[g])
        for g in range(n_goals):
            change = max(change, best[g] - v[s, g])
    return change


@njit(cache=True, nogil=True)
def backup_certain(successors, v, done, out):
    """`backup` for actions with one outcome, successors [n_rows, n_actions]: values are 0 or 1,
    uint8; return whether any changed."""
    n_goals = v.shape[1]
    changed = np.uint8(0)
    for s in range(successors.shape[0]):
        best = out[s]
        for g in range(n_goals):
            best[g] = done[s, g]
        for a in range(successors.shape[1]):
            after = v[successors[s, a]]
            for g in range(n_goals):
                best[g] |= after[g]
        for g in range(n_goals):
            changed |= best[g] ^ v[s, g]
    return changed


def best_focus(
    mdp: TabularMDP,
    targets: Sequence[int | str],
    starts: np.ndarray | Sequence[int],
    step_limit: int,
    restore: Restore = "all",
    values: Sequence[int] | None = None,
) -> np.ndarray:
    """Return the highest probability of a focused change from each start.

        best_focus(mdp, ["tool_1"], starts, world.step_limit)
        best_focus(mdp, ["passenger"], starts, 40, values=[2])  # end with the third value

    Args:
        mdp: The world's MDP.
        targets: The variables that must end changed, by index or name, at least one.
        starts: int [n_starts], numbers of states.
        step_limit: Most steps.
        restore: Which of the other variables must end as they were.
        values: Per target, the index of the value that it must end with instead of any other than
            its first. Where it has that value already, to do nothing is enough.

    Returns:
        float64 [n_starts].

    Raises:
        UserError: If an argument is not what it must be, such as a value that there is not.
    """
    starts = np.asarray(starts, dtype=np.int64)
    change = make_change(mdp, targets, restore, values)
    key = (change, step_limit)
    known = _known.setdefault(mdp, {}).setdefault(key, np.full(mdp.n_states, np.nan))
    unknown = np.unique(starts[np.isnan(known[starts])])
    if len(unknown):
        known[unknown] = _solve(mdp, change, unknown, step_limit)
    return known[starts]


def products_per_start(
    mdp: TabularMDP, targets: Sequence[int], step_limit: int, restore: Restore = "all"
) -> float:
    """Return how many products `best_focus` computes for a start at most, which takes about a
    nanosecond each; where nothing happens by chance, it is that many bytes that are compared."""
    model = project(mdp, [*targets, *restored_variables(mdp, targets, restore)])
    certain = model.successors.shape[2] == 1
    return model.successors.size * step_limit / (BYTES_AT_ONCE if certain else 1)


def _solve(mdp: TabularMDP, change: Change, starts: np.ndarray, step_limit: int) -> np.ndarray:
    model = project(mdp, [*change.targets, *change.restored])
    rows = model.of_state[starts]
    codes = mdp.space.encode(model.values[rows], change.compared)
    _, first, goal = np.unique(codes, return_index=True, return_inverse=True)
    goals = model.values[rows[first]]  # one state that shows each G: [n_goals, n_variables]
    for_good = [j for j in change.restored if not mdp.reversible[j]]
    found = np.empty(len(starts))
    for members, alive in _blocks(model.values, goals, for_good):
        mine = np.flatnonzero(np.isin(goal, members))
        done = change.done(model.values[alive], goals[members])
        values = _sweep(model, alive, done, step_limit)
        place = np.searchsorted(alive, rows[mine])
        found[mine] = values[place, np.searchsorted(members, goal[mine])]
    return found


def _blocks(
    values: np.ndarray, goals: np.ndarray, for_good: list[int]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield goals that are solved together and the rows, sorted, that their values depend on: of
    what cannot be changed back, all have the same values."""
    kinds, kind = np.unique(goals[:, for_good], axis=0, return_inverse=True)
    for number, values_for_good in enumerate(kinds):
        alive = np.flatnonzero((values[:, for_good] == values_for_good).all(axis=1))
        members = np.flatnonzero(kind.ravel() == number)
        for begin in range(0, len(members), BLOCK):
            yield members[begin : begin + BLOCK], alive


def _sweep(model: Projection, alive: np.ndarray, done: np.ndarray, step_limit: int) -> np.ndarray:
    """Return V [n_alive, n_goals] with all steps left. Other rows count as one more, of value 0."""
    number = np.full(len(model.values), len(alive), dtype=np.int32)
    number[alive] = np.arange(len(alive))
    successors, probabilities = number[model.successors[alive]], model.probabilities[alive]
    likeliest = probabilities.argmax(axis=2)[:, :, None]
    certain = bool((np.take_along_axis(probabilities, likeliest, axis=2) > 1 - CONVERGED).all())
    following = np.take_along_axis(successors, likeliest, axis=2)[:, :, 0]
    v = np.zeros((len(alive) + 1, done.shape[1]), dtype=np.uint8 if certain else np.float64)
    v[:-1] = done
    out = v.copy()
    for _ in range(step_limit):
        if certain:
            change = backup_certain(following, v, done.view(np.uint8), out)
        else:
            change = backup(successors, probabilities, v, done, out)
        v, out = out, v
        if change <= CONVERGED:
            break
    return v[:-1]
