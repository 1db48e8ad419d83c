"""Side effects (Equation 1 of the paper) and control of the targets, exact or sampled.

Exact: the distribution of the last state s_T is propagated from each first state; nothing is
drawn. Where a world hides something the table cannot say, runs are sampled instead, and the
averages come with 90 % intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from skillfocus.errors import UserError
from skillfocus.metrics.reachability import fair_starts, fresh_starts, most_starts, some_of
from skillfocus.skills.skills import Skills

Z90 = 1.6448536269514722
"""The normal quantile of a two-sided 90 % interval."""
NEGLIGIBLE = 1e-12
"""Less probability than this is not followed further, but taken to end where it is: most of the
states a skill could come to it reaches by eight slips in a row, and all of those together change
nothing before the eighth digit."""


@njit(cache=True, nogil=True)
def propagate(successors, probabilities, policy, context, start, limit, mass, moved, active, final):
    """Add the distribution of s_T to `final`; returns the expected number of steps. `mass`,
    `moved` (zeros) and `active` are working space."""
    terminate = successors.shape[1]
    mass[start] = 1.0
    active[0] = start
    n = 1
    steps = 0.0
    for _ in range(limit):
        n_next = 0
        for i in range(n):
            s = active[i]
            p = mass[s]
            mass[s] = 0.0
            a = policy[s, context]
            if a == terminate:
                final[s] += p
                continue
            steps += p
            for m in range(successors.shape[2]):
                q = p * probabilities[s, a, m]
                if q > 0.0:
                    following = successors[s, a, m]
                    if moved[following] == 0.0:
                        active[active.shape[0] // 2 + n_next] = following
                        n_next += 1
                    moved[following] += q
        n = 0
        for i in range(n_next):
            s = active[active.shape[0] // 2 + i]
            if moved[s] < NEGLIGIBLE:
                final[s] += moved[s]
            else:
                active[n] = s
                mass[s] = moved[s]
                n += 1
            moved[s] = 0.0
    for i in range(n):
        final[active[i]] += mass[active[i]]
        mass[active[i]] = 0.0
    return steps


@njit(cache=True, nogil=True)
def evaluate(successors, probabilities, values, amounts, policy, contexts, starts, limit, targets):
    """Per first state: P(variable changed) [start, variable], mean |change| likewise, P(all
    targets changed), expected steps; and the mean distribution of the last state."""
    n_states, n_variables = values.shape
    changed = np.zeros((starts.shape[0], n_variables))
    amount = np.zeros((starts.shape[0], n_variables))
    controlled = np.zeros(starts.shape[0])
    steps = np.zeros(starts.shape[0])
    ends = np.zeros(n_states)
    mass = np.zeros(n_states)
    moved = np.zeros(n_states)
    active = np.zeros(2 * n_states, np.int64)
    final = np.zeros(n_states)
    for i in range(starts.shape[0]):
        first = starts[i]
        steps[i] = propagate(
            successors, probabilities, policy, contexts[first], first, limit,
            mass, moved, active, final,
        )  # fmt: skip
        for s in range(n_states):
            p = final[s]
            if p > 0.0:
                final[s] = 0.0
                ends[s] += p / starts.shape[0]
                every = True
                for j in range(n_variables):
                    if values[s, j] != values[first, j]:
                        changed[i, j] += p
                        amount[i, j] += p * amounts[j, values[first, j], values[s, j]]
                    elif targets[j]:
                        every = False
                if every:
                    controlled[i] += p
    return changed, amount, controlled, steps, ends


@dataclass(frozen=True, eq=False)
class SkillEffects:
    """What one skill does, per first state (`starts[i]` is a state's number)."""

    targets: tuple[str, ...]
    variables: tuple[str, ...]
    starts: np.ndarray
    changed: np.ndarray
    """[start, variable]: the probability that the variable ends changed."""
    amount: np.ndarray
    """[start, variable]: the expected distance between its first and its last value."""
    controlled: np.ndarray
    """[start]: the probability that every target ends changed."""
    steps: np.ndarray
    ends: np.ndarray
    """[state]: the distribution of the last state, starts averaged."""
    exact: bool

    @property
    def per_start(self) -> np.ndarray:
        """Equation 1: the expected number of changed variables that are no targets."""
        watched = [j for j, name in enumerate(self.variables) if name not in self.targets]
        return self.changed[:, watched].sum(axis=1)

    @property
    def changes_target(self) -> float | None:
        """How often all targets end changed; None if there are none."""
        return float(self.controlled.mean()) if self.targets else None

    @property
    def side_effects(self) -> float:
        return float(self.per_start.mean())

    @property
    def by_variable(self) -> dict[str, float]:
        """The probability of change of each variable that is no target."""
        means = self.changed.mean(axis=0)
        return {
            name: float(means[j])
            for j, name in enumerate(self.variables)
            if name not in self.targets
        }

    @property
    def interval(self) -> tuple[float, float] | None:
        """A 90 % interval of the mean side effects: of no width if they are exact, and none from a
        sample of one."""
        mean = self.side_effects
        if self.exact:
            return mean, mean
        if len(self.starts) < 2:
            return None
        error = Z90 * float(self.per_start.std(ddof=1)) / len(self.starts) ** 0.5
        return mean - error, mean + error

    def summary(self) -> dict[str, object]:
        """The averages, as JSON can hold them; without first states there are none."""
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


def side_effects(
    skills: Skills,
    starts: str | np.ndarray = "fair",
    *,
    sample: int | None = None,
    rng: np.random.Generator | None = None,
) -> list[SkillEffects]:
    """What each skill does. `starts` are "fair" (see `metrics.reach`), "all" (every state in which
    the targets can still change), or numbers of states; a skill may have no fair start, and then
    has no averages. Exact unless the world hides something, has so many starts that a sample of
    them is taken, or `sample` runs per skill are asked for, which draws from `rng`."""
    if sample is None and skills.mdp.n_marks:
        sample = 4000
    if sample is not None and rng is None:
        raise UserError("sampled side effects need a random generator: pass rng")
    if sample is not None and sample < 2:
        raise UserError(f"sample is {sample}; it must be at least 2")
    chosen = {names: _starts(skills, names, starts) for names in dict.fromkeys(skills.targets)}
    results = []
    for z, names in enumerate(skills.targets):
        if sample is None or rng is None:
            results.append(_exact(skills, z, *chosen[names]))
        else:
            results.append(_sampled(skills, z, chosen[names][0], sample, rng))
    return results


def _starts(
    skills: Skills, names: tuple[str, ...], starts: str | np.ndarray
) -> tuple[np.ndarray, bool]:
    """The first states, and whether they are all there are or a sample of them."""
    mdp = skills.mdp
    targets = [mdp.space.index(name) for name in names]
    every = np.zeros(0, dtype=np.int64)
    if isinstance(starts, np.ndarray):
        if starts.dtype.kind not in "iu" or not ((starts >= 0) & (starts < mdp.n_states)).all():
            raise UserError(f"starts must be numbers of states, 0 to {mdp.n_states - 1}")
        chosen = starts
    elif starts == "fair":
        default_target = mdp.space.index(skills.world.default_target)
        every = fresh_starts(mdp, targets, default_target)
        chosen = fair_starts(mdp, targets, skills.step_limit, default_target)
    elif starts == "all":
        every = np.flatnonzero(mdp.can_change[:, targets].all(axis=1))
        chosen = some_of(every, mdp)
    else:
        raise UserError(f"starts is {starts!r}; it must be 'fair', 'all' or an array of states")
    return chosen.astype(np.int64), len(every) <= most_starts(mdp)


def _amounts(skills: Skills) -> np.ndarray:
    """[variable, first value, last value]: distances, padded to one array."""
    sizes = skills.mdp.space.sizes
    padded = np.zeros((len(sizes), max(sizes), max(sizes)))
    for j, variable in enumerate(skills.mdp.space.variables):
        padded[j, : sizes[j], : sizes[j]] = variable.distances
    return padded


def _exact(skills: Skills, z: int, starts: np.ndarray, complete: bool) -> SkillEffects:
    mdp = skills.mdp
    if mdp.n_marks:
        raise UserError(f"{skills.world.id} hides state, so its side effects can only be sampled")
    names = mdp.space.names
    targets = np.array([name in skills.targets[z] for name in names])
    n_modes = skills.n_modes[z]
    by_mode = [
        evaluate(
            mdp.successors, mdp.probabilities, mdp.values, _amounts(skills),
            skills.policy_of(z, mode), skills.contexts[z], starts, skills.step_limit, targets,
        )
        for mode in range(n_modes)
    ]  # fmt: skip
    changed, amount, controlled, steps, ends = (
        sum(parts[1:], start=parts[0]) / n_modes for parts in zip(*by_mode, strict=True)
    )
    return SkillEffects(
        skills.targets[z], names, starts, changed, amount, controlled, steps, ends, exact=complete
    )


def _sampled(
    skills: Skills, z: int, starts: np.ndarray, n: int, rng: np.random.Generator
) -> SkillEffects:
    """The same from `n` runs, each of which counts as a start of its own."""
    mdp, names = skills.mdp, skills.mdp.space.names
    drawn = starts[rng.integers(len(starts), size=n)] if len(starts) else starts
    n = len(drawn)
    paths, steps = skills.run(np.full(n, z), drawn, rng)
    first, last = mdp.values[drawn], mdp.values[paths[:, -1]]
    changed = first != last
    amounts = _amounts(skills)
    amount = np.stack([amounts[j, first[:, j], last[:, j]] for j in range(len(names))], axis=1)
    targets = [j for j, name in enumerate(names) if name in skills.targets[z]]
    ends = np.bincount(paths[:, -1], minlength=mdp.n_states) / max(n, 1)
    return SkillEffects(
        skills.targets[z], names, drawn, changed.astype(float), amount,
        changed[:, targets].all(axis=1).astype(float), steps.astype(float), ends, exact=False,
    )  # fmt: skip
