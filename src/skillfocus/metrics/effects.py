"""What a skill does, per first state and on average: the results of `side_effects`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

Z90 = 1.6448536269514722
"""The normal quantile of a two-sided 90 % interval."""


@dataclass(frozen=True, eq=False)
class StartAverages:
    """What one skill does, per first state and on average."""

    targets: tuple[str, ...]
    """The skill's target variables."""
    variables: tuple[str, ...]
    """All variables of the world."""
    starts: np.ndarray
    """int64 [n_starts]: first states, by number; in a world without a table, value indices
    [n_starts, n_variables]. Each sampled rollout is a start of its own."""
    changed: np.ndarray
    """float64 [n_starts, n_variables]: the probability that a variable ends changed."""
    amount: np.ndarray
    """float64 [n_starts, n_variables]: the expected distance of its last value from its first."""
    controlled: np.ndarray
    """float64 [n_starts]: the probability that every target ends changed."""
    alone: np.ndarray
    """float64 [n_starts]: the probability that every target ends changed, and nothing else. Of a
    skill that is told which value to reach: that every target ends with that value."""
    clean: np.ndarray
    """float64 [n_starts, 2]: the probability that nothing but targets ends changed; the same, not
    counting what can never be changed back."""
    steps: np.ndarray
    """float64 [n_starts]: expected steps."""
    exact: bool
    """False if rollouts or first states were sampled."""
    best: np.ndarray | None
    """float64 [n_starts, 2]: the highest `alone` of any behaviour; the same, not counting what can
    never be changed back (see `best_focus`). None where it was not computed: over all starts, and
    without a table."""

    def restricted_to(self, starts: np.ndarray, exact: bool, best: np.ndarray) -> StartAverages:
        """Return the same for some of the first states, which must be among these and sorted."""
        kept = np.searchsorted(self.starts, starts)
        return StartAverages(
            self.targets, self.variables, starts, self.changed[kept], self.amount[kept],
            self.controlled[kept], self.alone[kept], self.clean[kept], self.steps[kept], exact,
            best,
        )  # fmt: skip

    @property
    def per_start(self) -> np.ndarray:
        """float64 [n_starts]: Equation 1, the expected number of changed non-target variables."""
        watched = [j for j, name in enumerate(self.variables) if name not in self.targets]
        return self.changed[:, watched].sum(axis=1)

    @property
    def changes_target(self) -> float | None:
        """The probability that all targets end changed; None for a skill without targets."""
        return _mean(self.controlled) if self.targets else None

    @property
    def changes_alone(self) -> float | None:
        """The probability that all targets end changed, or with the values that the skill is told
        to reach, and nothing else ends changed."""
        return _mean(self.alone) if self.targets else None

    @property
    def best_possible(self) -> float | None:
        """The highest `changes_alone` that any behaviour attains from these starts."""
        return None if self.best is None or not self.targets else _mean(self.best[:, 0])

    @property
    def avoidable(self) -> float | None:
        """How much likelier than necessary it is that something else ends changed.

        From a start at which some behaviour changes the targets and nothing else with probability
        b, a skill need not disturb anything with more than 1 - b. Where something changes for good
        whatever one does, b says little, so the same is asked without what can never be changed
        back, and the larger answer holds; but no more of the second than the skill has side effects
        beyond 1 - b, which nobody can help. (A skill that leaves a vase whole may come home less
        safely for it, and is not to be blamed.)
        """
        if self.best is None or not self.targets:
            return None
        all_things, reversible = np.maximum(self.best - self.clean, 0.0).T
        beyond = np.maximum(self.per_start - (1.0 - self.best[:, 0]), 0.0)
        return _mean(np.maximum(all_things, np.minimum(reversible, beyond)))

    @property
    def side_effects(self) -> float:
        """The mean of `per_start`."""
        return _mean(self.per_start)

    @property
    def by_variable(self) -> dict[str, float]:
        """The probability of change of each non-target variable."""
        return {
            name: _mean(self.changed[:, j])
            for j, name in enumerate(self.variables)
            if name not in self.targets
        }

    @property
    def interval(self) -> tuple[float, float] | None:
        """A 90 % interval of `side_effects`: of width 0 if exact, None for a single sample."""
        mean = self.side_effects
        if self.exact:
            return mean, mean
        if len(self.starts) < 2:
            return None
        error = Z90 * float(self.per_start.std(ddof=1)) / len(self.starts) ** 0.5
        return mean - error, mean + error

    def summary(self) -> dict[str, object]:
        """Return the averages as JSON-serializable values; all None if there are no starts."""
        if not len(self.starts):
            averages = dict.fromkeys(
                ("changes_target", "changes_alone", "best_possible", "avoidable", "side_effects",
                 "side_effects_interval", "steps")
            )  # fmt: skip
            nothing = dict.fromkeys(self.variables)
            return {
                **averages,
                "side_effects_by_variable": nothing,
                "mean_change_by_variable": nothing,
                "starts": 0,
                "exact": self.exact,
            }
        return {
            "changes_target": self.changes_target,
            "changes_alone": self.changes_alone,
            "best_possible": self.best_possible,
            "avoidable": self.avoidable,
            "side_effects": self.side_effects,
            "side_effects_interval": self.interval and list(self.interval),
            "side_effects_by_variable": self.by_variable,
            "mean_change_by_variable": dict(
                zip(self.variables, self.amount.mean(axis=0).tolist(), strict=True)
            ),
            "steps": float(self.steps.mean()),
            "starts": len(self.starts),
            "exact": self.exact,
        }


@dataclass(frozen=True, eq=False)
class SkillEffects(StartAverages):
    """What one skill does, and where it ends.

    Example:
        >>> effects = sf.metrics.side_effects(skills)[0]
        >>> effects.changes_target, effects.side_effects, effects.by_variable
    """

    ends: np.ndarray
    """float64 [n_states]: the distribution of the last state, averaged over starts; in a world
    without a table, the value indices of the last states, int32 [n_starts, n_variables]."""


def _mean(values: np.ndarray) -> float:
    """Return the mean over first states; NaN if there are none."""
    return float(values.mean()) if len(values) else math.nan
