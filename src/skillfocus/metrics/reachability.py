"""What is possible at all: focused changes, the fair starts of skills, and shortest paths.

`best_focus` is the highest probability with which any behavior makes a focused change from a
start, and `best_plan` is such a behavior. A *fair start* is a first state from which some behavior
changes the skill's targets and brings every other variable that can be changed back to its first
value, within the step limit, with probability 0.9 or more. Shortest paths assume that every action
has its likeliest outcome; a *round trip* is the shortest path that does what a fair start asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from skillfocus.compilation import njit
from skillfocus.errors import UserError, unknown
from skillfocus.mdp import Projection, TabularMDP, once_per_mdp, project
from skillfocus.rollout import likeliest_successors

# -------------------- Focused changes: which states a skill may stop in, compared with its start
#
# A change is *focused* if every target differs from its first value (or has the value it is to
# reach, if one is named) and every variable to be restored equals its first value.

Restore = Literal["all", "reversible"]
"""What a focused change restores: all variables but the targets, or those that can be changed back;
the others are then free."""
RESTORES: tuple[Restore, ...] = ("all", "reversible")


@dataclass(frozen=True)
class Change:
    """A focused change: which states are in G, compared with the start.

    Attributes:
        targets: Variables that must end changed.
        restored: Variables that must end as they were.
        values: The values that targets must end with instead; None if any other will do.
    """

    targets: tuple[int, ...]
    restored: tuple[int, ...]
    values: tuple[int, ...] | None = None

    @property
    def compared(self) -> list[int]:
        """The variables whose first values decide what is in G."""
        return [*self.targets, *self.restored] if self.values is None else [*self.restored]

    def done(self, values: np.ndarray, goals: np.ndarray) -> np.ndarray:
        """Return bool [n_rows, n_goals]: whether the change that a start asks for is done.

        Args:
            values: Values of rows, [n_rows, n_variables].
            goals: Values of starts, [n_goals, n_variables].
        """
        done = np.ones((len(values), len(goals)), dtype=bool)
        for number, j in enumerate(self.targets):
            if self.values is None:
                done &= values[:, j][:, None] != goals[None, :, j]
            else:
                done &= (values[:, j] == self.values[number])[:, None]
        for j in self.restored:
            done &= values[:, j][:, None] == goals[None, :, j]
        return done


def restored_variables(
    mdp: TabularMDP, targets: Sequence[int], restore: Restore = "all"
) -> tuple[int, ...]:
    """Return the variables that a focused change of `targets` restores."""
    others = (j for j in range(len(mdp.space)) if j not in targets)
    return tuple(j for j in others if restore == "all" or mdp.reversible[j])


def make_change(
    mdp: TabularMDP,
    targets: Sequence[int | str],
    restore: Restore,
    values: Sequence[int] | None = None,
) -> Change:
    """Return the change of some targets; arguments are those of `best_focus`.

    Raises:
        UserError: If an argument is not what it must be, such as a value that there is not.
    """
    numbers = mdp.space.indices(targets)
    if restore not in RESTORES:
        raise unknown("kind of restoring", str(restore), RESTORES)
    restored = restored_variables(mdp, numbers, restore)
    if values is None:
        return Change(numbers, restored)
    if len(values) != len(numbers):
        raise UserError(f"values must have one value per target, {len(numbers)}, got {len(values)}")
    for j, k in zip(numbers, values, strict=True):
        if not 0 <= k < mdp.space.sizes[j]:
            raise UserError(
                f"{mdp.space.names[j]} has no value number {k}; they are numbered 0 to "
                f"{mdp.space.sizes[j] - 1}"
            )
    return Change(numbers, restored, tuple(int(k) for k in values))


# -------------------- The highest probability of a focused change
#
# A skill may stop whenever it likes, within its step limit. With G the states in which the change
# is done, and t steps left, dynamic programming gives
#
#     V_0(s) = [s in G],    V_t(s) = 1 if s in G, else max_a sum_m p(m | s, a) V_t-1(s_m),
#
# exactly, slips included. G depends on the start, the dynamics do not: starts that agree on the
# targets, unless their values are named, and on what is restored share G, and all sets G are solved
# side by side. Variables that make no difference are projected out, and states in which something
# is changed for good that should be restored are left out, because their value is 0.
#
# Hidden marks: where they make a difference to the variables concerned, each mark is taken to be
# set for the first time, as the table has it. That is exact from starts without marks if the
# variable that counts the marks is a target, or is to be restored.

BLOCK = 256
"""Sets G solved side by side: few enough for their values to stay in the cache."""
CONVERGED = 1e-12
"""Values that change by less in a step are final: later steps change them by no more than that."""
BYTES_AT_ONCE = 16
"""Values of 0 and 1 are bytes, of which a processor compares so many in the time of a product."""


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
    known = _known(mdp, change, step_limit)
    missing = np.unique(starts[np.isnan(known[starts])])
    if len(missing):
        known[missing] = _solve(mdp, change, missing, step_limit)
    return known[starts]


@once_per_mdp
def _known(mdp: TabularMDP, change: Change, step_limit: int) -> np.ndarray:
    """Return what `best_focus` has found, float64 [n_states]; NaN where not computed yet."""
    del change, step_limit
    return np.full(mdp.n_states, np.nan)


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


# -------------------- First states that are evaluated, and fair starts

FAIR_PROBABILITY = 0.9
"""The probability of a focused change that is possible from a fair start, at least. In the paper's
worlds these are the starts whose round trip takes at most three quarters of the step limit."""
MIN_STARTS = 20
"""First states that are evaluated at least, however long it takes."""
MAX_PAIRS = 30_000_000
"""The most (first state, state) pairs that are evaluated; more first states are sampled."""
MAX_PRODUCTS = 1e10
"""The most products in dynamic programming over all first states: a few seconds. Where outcomes
are very many, fewer first states are evaluated."""
BATCHES = 10
"""How many samples of first states are searched for fair ones."""
CHUNK = 20_000_000
"""(First state, state) pairs held in memory at once."""


def max_starts(mdp: TabularMDP) -> int:
    """Return how many first states are evaluated at most."""
    return max(200, MAX_PAIRS // mdp.n_states)


def max_fair_starts(mdp: TabularMDP, targets: Sequence[int], step_limit: int) -> int:
    """Return how many first states are searched for fair ones at once; of more, samples are."""
    if not targets:
        return max_starts(mdp)
    affordable = int(MAX_PRODUCTS // products_per_start(mdp, targets, step_limit, "reversible"))
    return min(max_starts(mdp), max(MIN_STARTS, affordable))


def sample_starts(starts: np.ndarray, mdp: TabularMDP) -> np.ndarray:
    """Return `starts`, or a sorted random sample of `max_starts`, the same on every call."""
    size = max_starts(mdp)
    if len(starts) <= size:
        return starts
    return np.sort(np.random.default_rng(0).choice(starts, size=size, replace=False))


def shortest_steps(mdp: TabularMDP, sources: np.ndarray) -> np.ndarray:
    """Return the fewest steps between states if every action has its likeliest outcome.

    Args:
        mdp: The world's MDP.
        sources: int [n_sources]: first states.

    Returns:
        float64 [n_sources, n_states]; infinite where there is no path.
    """
    sources = np.asarray(sources, dtype=np.int64)
    origins = np.repeat(np.arange(mdp.n_states), mdp.n_actions)
    graph = csr_array(
        (np.ones(len(origins), dtype=np.int8), (origins, likeliest_successors(mdp).ravel())),
        shape=(mdp.n_states, mdp.n_states),
    )
    return dijkstra(graph, indices=sources, unweighted=True)


def round_trips(mdp: TabularMDP, targets: Sequence[int | str], sources: np.ndarray) -> np.ndarray:
    """Return the length of the shortest round trip from each first state.

    At the end of a round trip every target has changed, and every other variable that can be
    changed back has its first value.

    Args:
        mdp: The world's MDP.
        targets: The target variables, by index or name.
        sources: int [n_sources]: first states.

    Returns:
        float64 [n_sources]: steps; infinite where there is no round trip.
    """
    change, sources = make_change(mdp, targets, "reversible"), np.asarray(sources, dtype=np.int64)
    trips = np.empty(len(sources))
    chunk = max(1, CHUNK // mdp.n_states)
    for first in range(0, len(sources), chunk):
        starts = sources[first : first + chunk]
        done = change.done(mdp.values, mdp.values[starts]).T
        steps = np.where(done, shortest_steps(mdp, starts), np.inf)
        trips[first : first + chunk] = steps.min(axis=1)
    return trips


def isolated_change_chances(
    mdp: TabularMDP, step_limit: int, default_target: int = 0
) -> dict[str, float | None]:
    """Return how likely each variable can be made to change alone.

    Args:
        mdp: The world's MDP.
        step_limit: The most steps the change may take.
        default_target: Index of the world's default target.

    Returns:
        Per variable, the highest probability of changing it within `step_limit` steps with every
        other variable at its first value in the end, averaged over the states in which it has a
        value that can change somewhere, without states that no action leaves (with hidden marks,
        over the fresh ones of them); None if there are none. Of many states, a sample is taken.
    """
    max_sources = max(40, min(200, 5_000_000 // mdp.n_states))
    affordable = int(MAX_PRODUCTS // products_per_start(mdp, [0], step_limit)) // len(mdp.space)
    max_sources = max(MIN_STARTS, min(max_sources, affordable))
    sources = np.flatnonzero(~mdp.absorbing)
    if mdp.n_marks:
        sources = fresh_starts(mdp, other_variables(mdp, default_target))
    if len(sources) > max_sources:
        sources = np.random.default_rng(0).choice(sources, size=max_sources, replace=False)
    chances: dict[str, float | None] = {}
    for j, name in enumerate(mdp.space.names):
        changeable = sources[mdp.can_change[sources, j]]
        values = best_focus(mdp, [j], changeable, step_limit)
        chances[name] = float(values.mean()) if len(values) else None
    return chances


def other_variables(mdp: TabularMDP, variable: int) -> list[int]:
    """Return the indices of all variables but one."""
    return [j for j in range(len(mdp.space)) if j != variable]


def fresh_starts(mdp: TabularMDP, variables: Sequence[int]) -> np.ndarray:
    """Return the states in which none of `variables` has changed yet.

    A variable that can be changed back has not changed if it has its first value; any other, if its
    value is one that no transition leads to (see `TabularMDP.pristine`).

    Args:
        mdp: The world's MDP.
        variables: Indices of the variables.

    Returns:
        int64 [n]: numbered states, ascending.
    """
    return np.flatnonzero(mdp.pristine[:, list(variables)].all(axis=1))


def possible_starts(mdp: TabularMDP, targets: Sequence[int], default_target: int) -> np.ndarray:
    """Return the states a skill with these targets could be judged from.

    Some action leaves them, and targets that cannot be changed back are fresh. In a world with
    hidden marks, everything but the default target must be fresh, because the variables do not say
    which marks are set.

    Args:
        mdp: The world's MDP.
        targets: Indices of the skill's targets.
        default_target: Index of the world's default target.

    Returns:
        int64 [n]: numbered states, ascending.
    """
    if mdp.n_marks:
        fresh = fresh_starts(mdp, other_variables(mdp, default_target))
    else:
        fresh = fresh_starts(mdp, [j for j in targets if not mdp.reversible[j]])
    return fresh[~mdp.absorbing[fresh]]


def fair_starts(
    mdp: TabularMDP, targets: Sequence[int | str], step_limit: int, default_target: int | str
) -> np.ndarray:
    """Return the first states a skill is judged from.

    These are the possible starts from which the targets can be changed, and what can be changed
    back restored, with probability `FAIR_PROBABILITY`. There may be none. If there are very many
    possible starts, random samples of them are searched until enough are fair.

    Args:
        mdp: The world's MDP.
        targets: The skill's targets, by index or name; every possible start is fair if there are
            none.
        step_limit: The most steps of the skill.
        default_target: The world's default target, by index or name.

    Returns:
        int64 [n]: numbered states, ascending.
    """
    targets, (default_target,) = mdp.space.indices(targets), mdp.space.indices([default_target])
    possible = possible_starts(mdp, targets, default_target)
    if not targets:
        return sample_starts(possible, mdp)

    def fair_ones(starts: np.ndarray) -> np.ndarray:
        chances = best_focus(mdp, targets, starts, step_limit, "reversible")
        return starts[chances >= FAIR_PROBABILITY]

    size = max_fair_starts(mdp, targets, step_limit)
    if len(possible) <= size:
        return fair_ones(possible)
    order, fair = np.random.default_rng(0).permutation(possible), np.empty(0, np.int64)
    for first in range(0, min(len(order), BATCHES * size), size):
        fair = np.append(fair, fair_ones(order[first : first + size]))
        if len(fair) >= size // 2:
            break
    return np.sort(fair[:size])


# -------------------- The plan that makes a focused change with the highest probability

STOP = -1


@dataclass(frozen=True, eq=False)
class FocusedPlan:
    """The best focused behavior from one start; a baseline for discovered skills.

        plan = best_plan(mdp, [1], start, step_limit=40)
        action = plan.action(state, steps=0)  # None: stop

    Attributes:
        start: Number of the start.
        probability: How likely it makes the focused change.
        actions: int16 [step_limit, n_states], by the steps taken so far; -1 means "stop". What to
            do depends on the time: with few steps left, only a risky way is short enough.
    """

    start: int
    probability: float
    actions: np.ndarray

    def action(self, state: int, steps: int) -> int | None:
        """Return what to do in a state after so many steps; None to stop."""
        action = self.actions[steps, state] if steps < len(self.actions) else STOP
        return None if action == STOP else int(action)


def best_plan(
    mdp: TabularMDP,
    targets: Sequence[int | str],
    start: int,
    step_limit: int,
    restore: Restore = "all",
    values: Sequence[int] | None = None,
) -> FocusedPlan:
    """Return the plan with the highest probability of a focused change from a start.

    It stops where the change is done, and where it has become impossible.

    Args:
        mdp: The world's MDP.
        targets: The variables that must end changed, by index or name.
        start: Number of the start.
        step_limit: Most steps.
        restore: Which of the other variables must end as they were.
        values: The values that targets must end with, as for `best_focus`.

    Raises:
        UserError: If an argument is not what it must be, such as a value that there is not.
    """
    change = make_change(mdp, targets, restore, values)
    done = change.done(mdp.values, mdp.values[[start]])
    v = done.astype(np.float64)
    out, actions = v.copy(), np.empty((step_limit, mdp.n_states), dtype=np.int16)
    for left in range(1, step_limit + 1):
        backup(mdp.successors, mdp.probabilities, v, done, out)
        expected = (mdp.probabilities * v[mdp.successors, 0]).sum(axis=2)
        stops = done[:, 0] | (out[:, 0] == 0)
        actions[step_limit - left] = np.where(stops, STOP, expected.argmax(axis=1))
        v, out = out, v
    return FocusedPlan(int(start), float(v[start, 0]), actions)
