"""Variants: functions from an objective to an objective.

focused()     Equation 5: control the targets, leave everything else unchanged
dusdi()       Hu et al. 2024: tell the skill by its target, and not by anything else
scattered()   choose a part of a variable's values, and keep the entropy within it
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from skillfocus.errors import UserError, unknown
from skillfocus.machine import array_namespace
from skillfocus.objectives.objective import Discriminator, Objective, Representation
from skillfocus.spaces import Space

if TYPE_CHECKING:
    from skillfocus.mdp import TabularMDP


# --------------------
#
# Penalties on side effects (Definition 4): zero where no watched variable changed, else positive
#
# A penalty compares two states, row by row. `Penalty` sees the values of the variables; a
# `StatePenalty` sees the whole states and the MDP, for measures that depend on what is reachable.

MAX_STRENGTH = 1e30
"""The largest strength: learners hold penalties in float32."""
Baseline = Literal["start", "inaction", "stepwise"]
"""What a penalty compares with: the first state, what would have become of it by itself, or what
would have become of the state before (docs/focused.md, docs/safety.md)."""
BASELINES: tuple[str, ...] = get_args(Baseline)
Measure = Callable[[Space, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""`measure(space, start, end, watched) -> [n]`. start and end are value indices
[n, n_variables], watched is bool [n_variables]."""
StateMeasure = Callable[["TabularMDP", np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""`measure(mdp, start, end, watched) -> [n]`. start and end are state numbers [n], watched is bool
[n_variables]."""


@dataclass(frozen=True)
class Penalty:
    """What it costs to change non-target variables.

        penalty = Penalty("changed-variables", 4.0, measure)
        skills = discover(world, focused(vic(), penalty=penalty), seed=0)

    Attributes:
        name: Name in files and reports.
        strength: Factor lambda of the measure.
        measure: Compares two states; it must be 0 where no watched variable changed.
        baseline: What variables that move by themselves are compared with; see `focused`.
        auto: Whether `discover` finds the strength, by raising this one: `focused(…,
            strength="auto")`.
    """

    name: str
    strength: float
    measure: Measure
    baseline: Baseline = "start"
    auto: bool = False

    def __post_init__(self) -> None:
        if self.baseline not in BASELINES:
            raise unknown("baseline", self.baseline, BASELINES)
        if not 0 <= self.strength <= MAX_STRENGTH:
            raise UserError(
                f"the penalty's strength must be 0 to {MAX_STRENGTH:g}, got {self.strength}"
            )

    def __call__(
        self, space: Space, start: np.ndarray, end: np.ndarray, watched: np.ndarray
    ) -> np.ndarray:
        """Return the penalties [n] of going from start to end, value indices [n, n_variables]."""
        return self.strength * self.measure(space, start, end, watched)

    def between(
        self, mdp: TabularMDP, start: np.ndarray, end: np.ndarray, watched: np.ndarray
    ) -> np.ndarray:
        """Return the penalties [n] of going from start to end, state numbers [n]."""
        return self(mdp.space, mdp.values[start], mdp.values[end], watched)

    def unpenalized(self, targets: Sequence[int], n_variables: int) -> list[int]:
        """Return the variables that a skill with these targets may change for free."""
        del n_variables
        return list(targets)

    def watched(self, targets: Sequence[int], n_variables: int) -> np.ndarray:
        """Return which variables a skill with these targets must not change, bool [n_variables]."""
        return ~np.isin(np.arange(n_variables), self.unpenalized(targets, n_variables))

    def compared_with_start(self, watched: np.ndarray, reversible: np.ndarray) -> np.ndarray:
        """Return the variables whose start value the penalty compares with at the end.

        The other watched variables only ever move on: their penalty is paid when they change.

        Args:
            watched: Variables that must not change, bool [n_variables].
            reversible: Variables that can return to a value they have left, bool [n_variables].
        """
        return watched & reversible


@dataclass(frozen=True)
class PathPenalty(Penalty):
    """A penalty that sees the values of the variables and the MDP, which knows where walls are.

    Its measure takes `(mdp, start, end, watched)` with state numbers [n] in place of value indices,
    but may depend on the watched variables alone. So policies remember what they do for a
    `Penalty`.
    """

    measure: StateMeasure  # pyright: ignore[reportIncompatibleVariableOverride]

    def __call__(self, space: Any, start: Any, end: Any, watched: Any) -> np.ndarray:
        """Refuse: values of variables say neither where walls are nor what is reachable."""
        del space, start, end, watched
        raise UserError(f"{self.name} needs the MDP: use between(mdp, start, end, watched)")

    def between(
        self, mdp: TabularMDP, start: np.ndarray, end: np.ndarray, watched: np.ndarray
    ) -> np.ndarray:
        """Return the penalties [n] of going from start to end, state numbers [n]."""
        return self.strength * self.measure(mdp, start, end, watched)


@dataclass(frozen=True)
class StatePenalty(PathPenalty):
    """A penalty that sees the full states and the MDP, such as reachability of the start.

    Policies remember the whole start state, so memory grows with the square of the states.
    """

    def compared_with_start(self, watched: np.ndarray, reversible: np.ndarray) -> np.ndarray:
        """Return all variables: the whole start state is compared with."""
        del reversible
        return np.ones_like(watched)


def _norm(space: Space, start: np.ndarray, end: np.ndarray, watched: np.ndarray) -> np.ndarray:
    xp = array_namespace(end)
    return xp.sqrt(((space.change(start, end) * watched) ** 2).sum(axis=1))


def _changed(space: Space, start: np.ndarray, end: np.ndarray, watched: np.ndarray) -> np.ndarray:
    return (space.changed(start, end) & watched).sum(axis=1).astype(float)


def _path_norm(
    mdp: TabularMDP, start: np.ndarray, end: np.ndarray, watched: np.ndarray
) -> np.ndarray:
    from skillfocus.mdp import relative_path_distances  # SciPy: not for `--help`

    squares = np.zeros(len(start))
    for j in np.flatnonzero(watched).tolist():
        way_back = relative_path_distances(mdp, j)
        squares += way_back[mdp.values[end, j], mdp.values[start, j]] ** 2
    return np.sqrt(squares)


def weighted_norm(strength: float = 4.0) -> Penalty:
    """Return the paper's penalty: the 2-norm of the changes, each relative to its variable's scale.

    Args:
        strength: Factor lambda.
    """
    return Penalty("weighted-norm", strength, _norm)


def path_norm(strength: float = 4.0) -> Penalty:
    """Return the 2-norm of the ways back, each relative to its variable's longest way.

    The way back of a variable is the fewest changes of it that lead from its last value to its
    first, around walls, with the other variables at whatever values (`mdp.py`). Where no way
    leads back it counts as the longest. The weighted norm measures as the crow flies instead, and
    lets a skill stop behind a wall, two cells from home and thirty steps.

    Args:
        strength: Factor lambda.
    """
    return PathPenalty("path-norm", strength, _path_norm)


def changed_variables(strength: float = 4.0) -> Penalty:
    """Return the penalty that counts watched variables that changed: Equation 1 itself.

    Args:
        strength: Factor lambda.
    """
    return Penalty("changed-variables", strength, _changed)


def check_penalty(
    penalty: Penalty, mdp: TabularMDP, sample: int = 200, *, complete: bool = True
) -> None:
    """Check Definition 4 on a world, over pairs of states and sets of watched variables.

    Args:
        penalty: The penalty to check.
        mdp: The world's table, from `tabulate(world)`.
        sample: All pairs of states are checked if there are at most this many; otherwise pairs of
            this many states, evenly spread. Of a world with more than 10 variables the single
            ones, the pairs and the full set are watched; else every set.
        complete: Whether every change must cost something, as Definition 4 has it. `discover`
            leaves that to the user, and checks that nothing costs nothing.

    Raises:
        UserError: With a counterexample.
    """
    space = mdp.space
    chosen = np.unique(np.linspace(0, mdp.n_states - 1, sample).astype(int))
    start, end = np.repeat(chosen, len(chosen)), np.tile(chosen, len(chosen))
    differs = mdp.values[start] != mdp.values[end]
    for watched in _watched_sets(len(space)):
        given = penalty.between(mdp, start, end, watched)
        changed = (differs & watched).any(axis=1)
        wrong = (complete & changed & ~(given > 0)) | (~changed & (given != 0))
        if wrong.any():
            row = int(np.argmax(wrong))
            names = [name for name, seen in zip(space.names, watched, strict=True) if seen]
            what = "positive because one changed" if changed[row] else "0 because none changed"
            before, after = (space.labels(mdp.values[each[row]]) for each in (start, end))
            raise UserError(
                f"{penalty.name} is {given[row]:g} from {before} to {after} watching {names}, but "
                f"must be {what}"
            )


def _watched_sets(n: int) -> list[np.ndarray]:
    sizes = range(n + 1) if n <= 10 else (1, 2, n)
    return [
        np.isin(np.arange(n), members)
        for size in sizes
        for members in itertools.combinations(range(n), size)
    ]


OWNED_SHARE = 0.9
"""Smallest initial probability of the mode that a value is assigned to. A mode owns a value or two:
if they paid less than the detour to a second target, it would never reach that one."""


def focused(
    objective: Objective,
    *,
    strength: float | Literal["auto"] | None = None,
    penalty: Penalty | None = None,
    baseline: Baseline | None = None,
) -> Objective:
    """Return the focused variant of any objective (Equation 5).

        r_focused(z, h_t) = sum over targets i of r_i(z^i, h_t^i)  -  l(h_t, non-targets)

    Args:
        objective: A plain objective, such as `vic()` or your own.
        strength: Strength of the penalty (default: the appendix's, 4, and 2 for LSD); "auto" has
            `discover` raise it until side effects cannot fall further or targets suffer, as
            `find_strength` does.
        penalty: The penalty (default: the paper's weighted 2-norm).
        baseline: What the penalty compares variables with that move by themselves (default: the
            penalty's, "start"): "start", their first values, so that a skill has a reason to stop
            them; "inaction", the nearest values they would have had on their own since the skill
            began; "stepwise", at every step, the values they would have taken on their own. In a
            world that stands still while nobody acts, all three are the same.
    """
    if isinstance(strength, str) and strength != "auto":
        raise UserError(f"strength must be a number or 'auto', got {strength!r}")
    if penalty is None:
        penalty = weighted_norm(objective.reward.penalty_strength)
    if strength == "auto":
        penalty = replace(penalty, auto=True)
    elif strength is not None:
        penalty = replace(penalty, strength=strength, auto=False)
    if baseline is not None:
        penalty = replace(penalty, baseline=baseline)
    return objective.with_targets("focused", penalty=penalty)


def dusdi(objective: Objective, *, weight: float = 0.1) -> Objective:
    """Return the DUSDi variant of an objective that learns a discriminator.

        r(z, s) = sum over targets i of [log q_i(z | s^i) - log nu] - w [log e_i(z | s^-i) - log nu]

    e_i is a second discriminator that sees every variable but i. It penalizes *decodability*, not
    change: skills that all disturb the others in the same way pay nothing.

    Args:
        objective: A plain objective with a discriminator: `vic()`, `diayn()` or your own.
        weight: Weight w of decoding the skill from the non-target variables.

    Raises:
        UserError: If the objective has no discriminator, or one that learns a prior.
    """
    if not objective.reward.estimate.discriminates:
        raise UserError(
            f"dusdi() needs an objective with a discriminator (vic, diayn), got {objective.name}; "
            f"focused() takes any"
        )
    if objective.reward.estimate.learns_prior:
        raise UserError("dusdi() takes no learned prior: its two discriminators would learn two")
    if not 0 <= weight < float("inf"):
        raise UserError(f"DUSDi's weight must be 0 or more and finite, got {weight}")
    return objective.with_targets("dusdi", weight=weight)


def scattered(objective: Objective) -> Objective:
    """Return the scattered variant of an objective whose skills have, or will have, targets.

    With K skills on a variable of V values, each is split into M = V // K modes, and all K M modes
    are told apart. For a discriminator,

        log q(z, m | s) - log 1/(K M) = [log q(z | s) - log 1/K] + [log q(m | z, s) - log 1/M],

    the reward of the skill plus that of its mode: the skill can be told, and within what it owns
    its last states are as many and as different as possible. A skill draws one of its modes
    uniformly when it starts. Variables with fewer than two values per skill (a tool with two
    skills) have one mode, and nothing changes for them.

    LSD tells modes apart by directions, <phi(s_T) - phi(s_0), z>. A phi that is linear in a cell's
    two coordinates is largest in corners, wherever z points; a scattered skill's phi is linear in
    the indicators of the values instead, so that any value can be a mode's own.
    """
    estimate = objective.reward.estimate
    if isinstance(estimate, Representation):
        estimate = replace(estimate, features="indicators")
    elif isinstance(estimate, Discriminator):
        estimate = replace(estimate, owned_share=OWNED_SHARE)
    return replace(
        objective, name=f"scattered-{objective.name}", modes="scattered",
        reward=replace(objective.reward, estimate=estimate),
    )  # fmt: skip
