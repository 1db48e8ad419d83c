"""Side effects (Equation 1 of the paper) and control of the targets, exact or sampled.

`side_effects` returns the `SkillEffects` of every skill: per first state, and as averages.

Exact: the distribution of the last state s_T is propagated from each first state, and nothing is
drawn. Where skills have no table, or the world hidden marks that its table does not show, rollouts
are sampled instead, and the averages come with 90 % intervals. A real-valued variable counts as
changed if it has moved by more than its tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.machine import map_on_cores, require_memory
from skillfocus.metrics.propagation import (
    Dynamics,
    SkillMode,
    VariableArrays,
    expected_effects,
)
from skillfocus.metrics.reachability import (
    Restore,
    best_focus,
    fair_starts,
    max_fair_starts,
    max_starts,
    possible_starts,
    sample_starts,
)
from skillfocus.progress import Progress, no_progress
from skillfocus.rollout import Rollouts
from skillfocus.skills.policy import Policy
from skillfocus.skills.skills import Skills

# --------------------
#
# What a skill does, per first state and on average: the results of `side_effects`

Z90 = 1.6448536269514722
"""The normal quantile of a two-sided 90 % interval."""


@dataclass(frozen=True, eq=False)
class SkillEffects:
    """What one skill does, per first state and on average, and where it ends.

    Example:
        >>> effects = sf.metrics.side_effects(skills)[0]
        >>> effects.changes_target, effects.side_effects, effects.by_variable
    """

    targets: tuple[str, ...]
    """The skill's target variables."""
    variables: tuple[str, ...]
    """All variables of the world."""
    starts: np.ndarray
    """int64 [n_starts]: first states, by number; without a table, values [n_starts, width]. Each
    sampled rollout is a start of its own."""
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

    ends: np.ndarray
    """float64 [n_states]: the distribution of the last state, averaged over starts; without a
    table, the values of the last states, [n_starts, width]."""
    sampled_from: int | None = None
    """How many first states there are if `starts` are a sample of them that was evaluated exactly;
    None if `starts` are all, or belong to sampled rollouts."""

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
        amounts = (self.amount.sum(axis=0) / max(len(self.starts), 1)).tolist()
        averages = {
            "changes_target": self.changes_target,
            "changes_alone": self.changes_alone,
            "best_possible": self.best_possible,
            "avoidable": self.avoidable,
            "side_effects": self.side_effects,
            "side_effects_interval": self.interval and list(self.interval),
            "side_effects_by_variable": self.by_variable,
            "mean_change_by_variable": dict(zip(self.variables, amounts, strict=True)),
            "steps": _mean(self.steps),
        }
        if not len(self.starts):
            for name, value in averages.items():
                nothing = dict.fromkeys(self.variables) if isinstance(value, dict) else None
                averages[name] = nothing
        counts = {"starts": len(self.starts), "exact": self.exact}
        if self.sampled_from is not None:
            counts["sampled_from"] = self.sampled_from
        return {**averages, **counts}


def _mean(values: np.ndarray) -> float:
    """Return the mean over first states; NaN if there are none."""
    return float(values.mean()) if len(values) else math.nan


# -------------------- First states of sampled rollouts in a world without a table
#
# They are drawn by the world's `reset`. A skill whose target cannot change any more shows nothing,
# so such starts do not count: those in which a target that never returns to a value it has left
# (`one_way`) is at its last value. Which values are last is not known, and therefore observed: a
# value counts as last if neither random actions nor the skills ever left it, while they did leave
# others of the variable. A *settled* start is a state in which another skill has ended.

EXPLORERS = 1024
"""Environments that take random actions."""
MIN_STEPS = 64
"""Random actions that each of them takes at least; else the skills' step limit."""
TRIES = 64
"""Rollouts of each skill."""
MAX_ROUNDS = 100
"""How often as many starts as are wanted are drawn before there are taken to be too few."""


@dataclass(frozen=True, eq=False)
class RandomActions(Policy):
    """One skill that takes random actions and never stops."""

    n_actions: int
    rng: np.random.Generator
    context_variables = ((),)

    def actions(
        self, skill: int, starts: np.ndarray, states: np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Draw actions; see `Policy.actions`."""
        del skill, starts, mode
        return self.rng.integers(self.n_actions, size=len(states))


def left_values(skills: Skills, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Observe which values of one-way targets are left, bool [n_values] by name; a target that
    nothing changes is absent."""
    world = skills.world
    targets = {name for names in skills.targets for name in names}
    left = {
        variable.name: np.zeros(len(variable.values), dtype=bool)
        for variable in world.space.variables
        if variable.is_finite and variable.name in targets.intersection(world.one_way)
    }
    if not left:
        return {}
    policy = RandomActions(len(world.actions), rng)
    explorers = Skills(world, policy, ((),), max(skills.step_limit, MIN_STEPS))
    numbers = np.repeat(np.arange(len(skills)), TRIES)
    for done in (explorers.run(0, EXPLORERS, rng), skills.run(numbers, len(numbers), rng)):
        for name, seen in left.items():
            path = done.values[:, :, world.space.index(name)]
            seen[path[:, :-1][path[:, :-1] != path[:, 1:]]] = True
    return {name: seen for name, seen in left.items() if seen.any()}


def usable_starts(
    skills: Skills,
    targets: Sequence[str],
    left: dict[str, np.ndarray],
    n: int,
    rng: np.random.Generator,
) -> Any:
    """Draw states in which some targets can still change, or fewer if such states are too rare to
    be found.

    Args:
        skills: The skills.
        targets: Names of variables.
        left: `left_values`.
        n: How many states.
        rng: Source of the draws.

    Returns:
        What `Skills.run` takes as `starts`: values [n, width], or how many there are.
    """
    if not left.keys() & set(targets):
        return n
    space = skills.world.space
    kept = [np.empty((0, space.width), np.int32)]
    for _ in range(MAX_ROUNDS):
        drawn = skills.draw_starts(n, rng)
        usable = [left[name][drawn[:, space.index(name)]] for name in targets if name in left]
        kept.append(drawn[np.all(usable, axis=0)])
        if sum(map(len, kept)) >= n:
            break
    return np.concatenate(kept)[:n]


DEFAULT_SAMPLE = 4000
"""Rollouts per skill where effects are not exact."""
MANY_OUTCOMES = 128
"""From so many outcomes of an action on, skills are evaluated on all cores."""
AT_ONCE = 4096
"""Rollouts that are run at once in a world without a table."""


def side_effects(
    skills: Skills,
    starts: str | np.ndarray = "fair",
    *,
    sample: int | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress = no_progress,
) -> list[SkillEffects]:
    """Return the effects of each skill.

    They are exact unless the world has hidden marks, the skills have no table, there are so many
    first states that a sample of them is evaluated, or `sample` is given.

    Args:
        skills: The skills to evaluate.
        starts: First states: "fair" (see `fair_starts`; a skill may have none, and then has no
            averages), "all" (every state that some action leaves, in which the targets have
            values that can change somewhere), or an int array of numbered states. Without a table
            both names mean the same: starts are drawn (see `usable_starts`), an array holds values
            [n, width], and "settled" are states in which another skill of the set has ended.
        sample: Evaluate so many sampled rollouts per skill, 2 or more (default: 4,000 where effects
            are not exact).
        rng: Generator for sampling.
        progress: Callback for the fraction done.

    Raises:
        UserError: If `starts` or `sample` is not valid, or sampling has no `rng`.
    """
    if sample is None and (not skills.has_table or skills.mdp.n_marks):
        sample = DEFAULT_SAMPLE
    if sample is not None:
        if rng is None:
            raise UserError("sampled side effects need a random generator: pass rng")
        if sample < 2:
            raise UserError(f"sample must be at least 2, got {sample}")
        per_rollout = 4 * (skills.step_limit + 1) + 16 * skills.world.space.width
        require_memory(
            sample * per_rollout, f"{sample:,} rollouts of a skill", "sample fewer of them"
        )
    if not skills.has_table:
        assert sample is not None
        assert rng is not None
        return _sampled_without_table(skills, starts, sample, rng, progress)
    starts_of = {names: _starts(skills, names, starts) for names in dict.fromkeys(skills.targets)}
    compares = isinstance(starts, np.ndarray) or starts == "fair"
    # Many outcomes take minutes, so they are worth all cores; other runs have one each.
    on_each = map_on_cores if skills.mdp.successors.shape[2] >= MANY_OUTCOMES else map
    exact = on_each(
        lambda z: _exact(skills, z, *starts_of[skills.targets[z]], compares), range(len(skills))
    )
    results = []
    for z, names in enumerate(skills.targets):
        progress(z / len(skills), f"skill {z} of {len(skills)}")
        if sample is None or rng is None:
            results.append(next(exact))
        else:
            results.append(_sampled(skills, z, starts_of[names][0], sample, rng, compares))
    return results


def fair_and_all_effects(
    skills: Skills,
    *,
    sample: int | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> list[tuple[SkillEffects, SkillEffects]]:
    """Return the effects of each skill over fair starts and over all, as `side_effects` would.

    Where effects are exact, those over fair starts are part of the others, and computed once.

    Args:
        skills: The skills to evaluate.
        sample: Evaluate so many sampled rollouts per skill.
        seed: Seed of the sampling.
        progress: Callback for the fraction done.
    """
    everywhere = side_effects(
        skills, "all", sample=sample, rng=np.random.default_rng(seed), progress=progress
    )
    if not skills.has_table:
        return list(zip(everywhere, everywhere, strict=True))
    if sample is not None or skills.mdp.n_marks:
        fair = side_effects(skills, "fair", sample=sample, rng=np.random.default_rng(seed))
        return list(zip(fair, everywhere, strict=True))
    starts_of = {names: _starts(skills, names, "fair") for names in dict.fromkeys(skills.targets)}
    pairs = []
    for z, effects in enumerate(everywhere):
        starts, sampled_from = starts_of[skills.targets[z]]
        if np.isin(starts, effects.starts, assume_unique=True).all():
            kept = np.searchsorted(effects.starts, starts)
            per_start = ("changed", "amount", "controlled", "alone", "clean", "steps")
            fair = replace(  # where these end is not known
                effects, starts=starts, exact=sampled_from is None, sampled_from=sampled_from,
                best=_best(skills, z, starts), ends=np.full_like(effects.ends, np.nan),
                **{name: getattr(effects, name)[kept] for name in per_start},
            )  # fmt: skip
        else:
            fair = _exact(skills, z, starts, sampled_from)
        pairs.append((fair, effects))
    return pairs


def _starts(
    skills: Skills, names: tuple[str, ...], starts: str | np.ndarray
) -> tuple[np.ndarray, int | None]:
    """Return the first states and, if they are a sample, how many they were drawn from."""
    mdp = skills.mdp
    targets = list(mdp.space.indices(names))
    possible, most = [], max_starts(mdp)
    if isinstance(starts, np.ndarray):
        if starts.dtype.kind not in "iu" or not ((starts >= 0) & (starts < mdp.n_states)).all():
            raise UserError(f"starts must be numbers of states, 0 to {mdp.n_states - 1}")
        chosen = starts
    elif starts == "fair":
        default_target = mdp.space.index(skills.world.default_target)
        possible = possible_starts(mdp, targets, default_target)
        chosen = fair_starts(mdp, targets, skills.step_limit, default_target)
        most = max_fair_starts(mdp, targets, skills.step_limit)
    elif starts == "all":
        possible = np.flatnonzero(mdp.can_change[:, targets].all(axis=1) & ~mdp.absorbing)
        chosen = sample_starts(possible, mdp)
    else:
        raise UserError(f"starts must be 'fair', 'all' or an array of states, got {starts!r}")
    return chosen.astype(np.int64), len(possible) if len(possible) > most else None


def _best(skills: Skills, z: int, starts: np.ndarray) -> np.ndarray:
    """Return `SkillEffects.best`; without targets there is no change to make: 1."""
    targets = skills.mdp.space.indices(skills.targets[z])
    if not targets:
        return np.ones((len(starts), 2))
    goal = skills.goals[z]
    values = [goal[skills.mdp.space.names[j]] for j in targets] if goal else None
    kinds: tuple[Restore, ...] = ("all", "reversible")
    columns = [
        best_focus(skills.mdp, targets, starts, skills.step_limit, kind, values) for kind in kinds
    ]
    return np.stack(columns, axis=1)


def _distances(skills: Skills) -> np.ndarray:
    """Return `VariableArrays.distances`."""
    sizes = skills.mdp.space.sizes
    require_memory(
        8 * len(sizes) * max(sizes) ** 2, f"distances between up to {max(sizes):,} values of "
        f"{len(sizes)} variables", "use variables with fewer values",
    )  # fmt: skip
    padded = np.zeros((len(sizes), max(sizes), max(sizes)))
    for j, variable in enumerate(skills.mdp.space.variables):
        padded[j, : sizes[j], : sizes[j]] = variable.distances
    return padded


def _exact(
    skills: Skills, z: int, starts: np.ndarray, sampled_from: int | None, compares: bool = True
) -> SkillEffects:
    """Return the exact effects of skill `z`, averaged over its modes."""
    mdp, names, n_modes = skills.mdp, skills.mdp.space.names, skills.n_modes[z]
    dynamics = Dynamics(mdp.successors, mdp.probabilities)
    is_target = np.array([name in skills.targets[z] for name in names])
    wanted = np.array([skills.goals[z].get(name, -1) for name in names], dtype=np.int32)
    variables = VariableArrays(mdp.values, _distances(skills), is_target, mdp.reversible, wanted)
    by_mode = [
        expected_effects(
            dynamics, SkillMode(skills.policy_of(z, mode), skills.contexts[z], skills.step_limit),
            variables, starts,
        )
        for mode in range(n_modes)
    ]  # fmt: skip
    parts = zip(*by_mode, strict=True)
    *effects, ends = (sum(part[1:], start=part[0]) / n_modes for part in parts)
    best = _best(skills, z, starts) if compares else None
    return SkillEffects(
        skills.targets[z], names, starts, *effects, exact=sampled_from is None, best=best,
        ends=ends, sampled_from=sampled_from,
    )  # fmt: skip


def _sampled(
    skills: Skills, z: int, starts: np.ndarray, n: int, rng: np.random.Generator, compares: bool
) -> SkillEffects:
    """Estimate the effects of skill `z` from `n` rollouts, each from a start of its own."""
    mdp = skills.mdp
    drawn = starts[rng.integers(len(starts), size=n)] if len(starts) else starts
    n = len(drawn)
    done = skills.run(np.full(n, z), drawn, rng)
    last = np.empty(0, np.int64) if done.numbers is None else done.numbers[:, -1]
    ends = np.bincount(last, minlength=mdp.n_states) / max(n, 1)
    best = _best(skills, z, drawn) if compares else None
    return replace(observed_effects(skills, z, [done]), starts=drawn, best=best, ends=ends)


def _sampled_without_table(
    skills: Skills, starts: str | np.ndarray, n: int, rng: np.random.Generator, progress: Progress
) -> list[SkillEffects]:
    """Estimate the effects of all skills from `n` rollouts of each."""
    given = isinstance(starts, np.ndarray)
    if given:
        skills.world.space.check_states(starts)
    elif starts not in ("fair", "all", "settled"):
        raise UserError(
            f"starts must be 'fair', 'all', 'settled' or an array of states, got {starts!r}"
        )
    left, results = {} if given else left_values(skills, rng), []
    for z, names in enumerate(skills.targets):
        progress(z / len(skills), f"skill {z} of {len(skills)}")
        if given:
            first: Any = starts[rng.integers(len(starts), size=n)] if len(starts) else starts
        else:
            first = usable_starts(skills, names, left, n, rng)
        size = first if isinstance(first, int) else len(first)
        done = []
        for i in range(0, size, AT_ONCE):
            end = min(i + AT_ONCE, size)
            some = end - i if isinstance(first, int) else first[i:end]
            if not given and starts == "settled":
                others = rng.integers(len(skills), size=end - i)
                some = skills.run(others, some, rng).states
            done.append(skills.run(np.full(end - i, z), some, rng))
        results.append(observed_effects(skills, z, done))
    return results


def observed_effects(skills: Skills, z: int, rollouts: Sequence[Rollouts]) -> SkillEffects:
    """Return the effects of skill `z` in rollouts of it, its first and last states as values."""
    space, goal = skills.world.space, skills.goals[z]
    nothing = np.empty((0, space.width), int)
    first = np.concatenate([each.starts for each in rollouts] or [nothing])
    last = np.concatenate([each.ends for each in rollouts] or [nothing])
    steps = np.concatenate([each.steps for each in rollouts] or [np.empty(0)])
    changed = space.changed(first, last)
    targets = list(space.indices(skills.targets[z]))
    others = [j for j in range(len(space)) if j not in targets]
    reversible = skills.mdp.reversible if skills.has_table else np.ones(len(space), dtype=bool)
    restored = [j for j in others if reversible[j]]
    controlled = done = changed[:, targets].all(axis=1)
    if goal:
        done = np.all([last[:, space.index(name)] == k for name, k in goal.items()], axis=0)
    clean = np.stack([~changed[:, some].any(axis=1) for some in (others, restored)], axis=1)
    per_start = (
        changed, space.distances(first, last), controlled, done & clean[:, 0], clean, steps,
    )  # fmt: skip
    arrays = (np.asarray(each, float) for each in per_start)
    return SkillEffects(
        skills.targets[z], space.names, first, *arrays, exact=False, best=None, ends=last
    )
