"""Side effects (Equation 1 of the paper) and control of the targets, exact or sampled.

Exact: the distribution of the last state s_T is propagated from each first state, and nothing is
drawn. Where a world has hidden marks that the table does not show, rollouts are sampled instead,
and the averages come with 90 % intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skillfocus.errors import UserError
from skillfocus.metrics.last_states import (
    Dynamics,
    SkillMode,
    StartEffects,
    VariableArrays,
    expected_effects,
)
from skillfocus.metrics.reachability import (
    fair_starts,
    max_starts,
    possible_starts,
    sample_starts,
)
from skillfocus.skills.skills import Skills

Z90 = 1.6448536269514722
"""The normal quantile of a two-sided 90 % interval."""
DEFAULT_SAMPLE = 4000
"""Rollouts per skill in worlds with hidden marks."""


@dataclass(frozen=True, eq=False)
class StartAverages:
    """What one skill does, per first state and on average."""

    targets: tuple[str, ...]
    """The skill's target variables."""
    variables: tuple[str, ...]
    """All variables of the world."""
    starts: np.ndarray
    """int64 [n_starts]: first states, by number. Each sampled rollout is a start of its own."""
    changed: np.ndarray
    """float64 [n_starts, n_variables]: the probability that a variable ends changed."""
    amount: np.ndarray
    """float64 [n_starts, n_variables]: the expected distance of its last value from its first."""
    controlled: np.ndarray
    """float64 [n_starts]: the probability that every target ends changed."""
    steps: np.ndarray
    """float64 [n_starts]: expected steps."""
    exact: bool
    """False if rollouts or first states were sampled."""

    def restricted_to(self, starts: np.ndarray, exact: bool) -> StartAverages:
        """Return the same for some of the first states, which must be among these and sorted."""
        kept = np.searchsorted(self.starts, starts)
        return StartAverages(
            self.targets, self.variables, starts, self.changed[kept], self.amount[kept],
            self.controlled[kept], self.steps[kept], exact,
        )  # fmt: skip

    @property
    def per_start(self) -> np.ndarray:
        """float64 [n_starts]: Equation 1, the expected number of changed non-target variables."""
        watched = [j for j, name in enumerate(self.variables) if name not in self.targets]
        return self.changed[:, watched].sum(axis=1)

    @property
    def changes_target(self) -> float | None:
        """The probability that all targets end changed; None for a skill without targets."""
        return float(self.controlled.mean()) if self.targets else None

    @property
    def side_effects(self) -> float:
        """The mean of `per_start`."""
        return float(self.per_start.mean())

    @property
    def by_variable(self) -> dict[str, float]:
        """The probability of change of each non-target variable."""
        means = self.changed.mean(axis=0)
        return {
            name: float(means[j])
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
                ("changes_target", "side_effects", "side_effects_interval", "steps")
            )
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
    """float64 [n_states]: the distribution of the last state, averaged over starts."""


def side_effects(
    skills: Skills,
    starts: str | np.ndarray = "fair",
    *,
    sample: int | None = None,
    rng: np.random.Generator | None = None,
) -> list[SkillEffects]:
    """Return the effects of each skill.

    They are exact unless the world has hidden marks, there are so many first states that a sample
    of them is evaluated, or `sample` is given.

    Args:
        skills: The skills to evaluate.
        starts: First states: "fair" (see `fair_starts`; a skill may have none, and then has no
            averages), "all" (every state in which the targets can still change), or an int array
            of numbered states.
        sample: Evaluate so many sampled rollouts per skill, 2 or more.
        rng: Generator for sampling.

    Raises:
        UserError: If `starts` or `sample` is not valid, or sampling has no `rng`.
    """
    if sample is None and skills.mdp.n_marks:
        sample = DEFAULT_SAMPLE
    if sample is not None and rng is None:
        raise UserError("sampled side effects need a random generator: pass rng")
    if sample is not None and sample < 2:
        raise UserError(f"sample must be at least 2, got {sample}")
    starts_of = {names: _starts(skills, names, starts) for names in dict.fromkeys(skills.targets)}
    results = []
    for z, names in enumerate(skills.targets):
        chosen, complete = starts_of[names]
        if sample is None or rng is None:
            results.append(_exact(skills, z, chosen, complete))
        else:
            results.append(_sampled(skills, z, chosen, sample, rng))
    return results


def fair_and_all_effects(
    skills: Skills, *, sample: int | None = None, seed: int = 0
) -> list[tuple[StartAverages, StartAverages]]:
    """Return the effects of each skill over fair starts and over all, as `side_effects` would.

    Where effects are exact, those over fair starts are part of the others, and computed once.

    Args:
        skills: The skills to evaluate.
        sample: Evaluate so many sampled rollouts per skill.
        seed: Seed of the sampling.
    """
    everywhere = side_effects(skills, "all", sample=sample, rng=np.random.default_rng(seed))
    if sample is not None or skills.mdp.n_marks:
        fair = side_effects(skills, "fair", sample=sample, rng=np.random.default_rng(seed))
        return list(zip(fair, everywhere, strict=True))
    starts_of = {names: _starts(skills, names, "fair") for names in dict.fromkeys(skills.targets)}
    pairs: list[tuple[StartAverages, StartAverages]] = []
    for z, effects in enumerate(everywhere):
        starts, complete = starts_of[skills.targets[z]]
        among = np.isin(starts, effects.starts, assume_unique=True).all()
        fair = (
            effects.restricted_to(starts, complete)
            if among
            else _exact(skills, z, starts, complete)
        )
        pairs.append((fair, effects))
    return pairs


def _starts(
    skills: Skills, names: tuple[str, ...], starts: str | np.ndarray
) -> tuple[np.ndarray, bool]:
    """Return the first states, and whether they are all there are and not a sample."""
    mdp = skills.mdp
    targets = [mdp.space.index(name) for name in names]
    possible = np.zeros(0, dtype=np.int64)
    if isinstance(starts, np.ndarray):
        if starts.dtype.kind not in "iu" or not ((starts >= 0) & (starts < mdp.n_states)).all():
            raise UserError(f"starts must be numbers of states, 0 to {mdp.n_states - 1}")
        chosen = starts
    elif starts == "fair":
        default_target = mdp.space.index(skills.world.default_target)
        possible = possible_starts(mdp, targets, default_target)
        chosen = fair_starts(mdp, targets, skills.step_limit, default_target)
    elif starts == "all":
        possible = np.flatnonzero(mdp.can_change[:, targets].all(axis=1))
        chosen = sample_starts(possible, mdp)
    else:
        raise UserError(f"starts must be 'fair', 'all' or an array of states, got {starts!r}")
    return chosen.astype(np.int64), len(possible) <= max_starts(mdp)


def _distances(skills: Skills) -> np.ndarray:
    """Return `VariableArrays.distances`."""
    sizes = skills.mdp.space.sizes
    padded = np.zeros((len(sizes), max(sizes), max(sizes)))
    for j, variable in enumerate(skills.mdp.space.variables):
        padded[j, : sizes[j], : sizes[j]] = variable.distances
    return padded


def _exact(skills: Skills, z: int, starts: np.ndarray, complete: bool) -> SkillEffects:
    """Return the exact effects of skill `z`, averaged over its modes."""
    mdp, names, n_modes = skills.mdp, skills.mdp.space.names, skills.n_modes[z]
    dynamics = Dynamics(mdp.successors, mdp.probabilities)
    is_target = np.array([name in skills.targets[z] for name in names])
    variables = VariableArrays(mdp.values, _distances(skills), is_target)
    by_mode = [
        expected_effects(
            dynamics, SkillMode(skills.policy_of(z, mode), skills.contexts[z], skills.step_limit),
            variables, starts,
        )
        for mode in range(n_modes)
    ]  # fmt: skip
    effects = StartEffects(
        *(sum(parts[1:], start=parts[0]) / n_modes for parts in zip(*by_mode, strict=True))
    )
    return SkillEffects(
        skills.targets[z], names, starts, effects.changed, effects.amount, effects.controlled,
        effects.steps, complete, effects.ends,
    )  # fmt: skip


def _sampled(
    skills: Skills, z: int, starts: np.ndarray, n: int, rng: np.random.Generator
) -> SkillEffects:
    """Estimate the effects of skill `z` from `n` rollouts, each from a start of its own."""
    mdp, names = skills.mdp, skills.mdp.space.names
    drawn = starts[rng.integers(len(starts), size=n)] if len(starts) else starts
    n = len(drawn)
    paths, steps = skills.run(np.full(n, z), drawn, rng)
    first, last = mdp.values[drawn], mdp.values[paths[:, -1]]
    changed = first != last
    distances = _distances(skills)
    amount = np.stack([distances[j, first[:, j], last[:, j]] for j in range(len(names))], axis=1)
    targets = [j for j, name in enumerate(names) if name in skills.targets[z]]
    ends = np.bincount(paths[:, -1], minlength=mdp.n_states) / max(n, 1)
    return SkillEffects(
        skills.targets[z], names, drawn, changed.astype(float), amount,
        changed[:, targets].all(axis=1).astype(float), steps.astype(float), False, ends,
    )  # fmt: skip
