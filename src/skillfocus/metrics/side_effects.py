"""Side effects (Equation 1 of the paper) and control of the targets, exact or sampled.

Exact: the distribution of the last state s_T is propagated from each first state, and nothing is
drawn. Where a world has no table, or hidden marks that its table does not show, rollouts are
sampled instead, and the averages come with 90 % intervals.
"""

from __future__ import annotations

import numpy as np

from skillfocus.core.seeds import check_seed
from skillfocus.errors import UserError
from skillfocus.machine import map_on_cores, require_memory
from skillfocus.metrics.best_focus import best_focus
from skillfocus.metrics.drawn_starts import DrawnStarts
from skillfocus.metrics.effects import SkillEffects, StartAverages
from skillfocus.metrics.focused_change import Restore
from skillfocus.metrics.last_states import (
    Dynamics,
    SkillMode,
    StartEffects,
    VariableArrays,
    expected_effects,
)
from skillfocus.metrics.reachability import (
    fair_starts,
    max_fair_starts,
    max_starts,
    possible_starts,
    sample_starts,
)
from skillfocus.progress import Progress, no_progress
from skillfocus.skills.reached_values import told_values
from skillfocus.skills.skills import Skills

DEFAULT_SAMPLE = 4000
"""Rollouts per skill in worlds with hidden marks or without a table."""
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

    They are exact unless the world has hidden marks or no table, there are so many first states
    that a sample of them is evaluated, or `sample` is given.

    Args:
        skills: The skills to evaluate.
        starts: First states: "fair" (see `fair_starts`; a skill may have none, and then has no
            averages), "all" (every state that some action leaves, in which the targets have
            values that can change somewhere), or an int array of numbered states. In a world
            without a table both names mean the same: starts are drawn (see `drawn_starts`), and an
            array holds value indices [n, n_variables].
        sample: Evaluate so many sampled rollouts per skill, 2 or more.
        rng: Generator for sampling.
        progress: Callback for the fraction done.

    Raises:
        UserError: If `starts` or `sample` is not valid, or sampling has no `rng`.
    """
    if sample is None and (not skills.has_table or skills.mdp.n_marks):
        sample = DEFAULT_SAMPLE
    if sample is not None and rng is None:
        raise UserError("sampled side effects need a random generator: pass rng")
    if sample is not None and sample < 2:
        raise UserError(f"sample must be at least 2, got {sample}")
    if sample is not None:
        per_rollout = 4 * (skills.step_limit + 1) + 16 * len(skills.world.space)
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
) -> list[tuple[StartAverages, StartAverages]]:
    """Return the effects of each skill over fair starts and over all, as `side_effects` would.

    Where effects are exact, those over fair starts are part of the others, and computed once.

    Args:
        skills: The skills to evaluate.
        sample: Evaluate so many sampled rollouts per skill.
        seed: Seed of the sampling.
        progress: Callback for the fraction done.
    """
    check_seed(seed)
    everywhere = side_effects(
        skills, "all", sample=sample, rng=np.random.default_rng(seed), progress=progress
    )
    if not skills.has_table:
        return list(zip(everywhere, everywhere, strict=True))
    if sample is not None or skills.mdp.n_marks:
        fair = side_effects(skills, "fair", sample=sample, rng=np.random.default_rng(seed))
        return list(zip(fair, everywhere, strict=True))
    starts_of = {names: _starts(skills, names, "fair") for names in dict.fromkeys(skills.targets)}
    pairs: list[tuple[StartAverages, StartAverages]] = []
    for z, effects in enumerate(everywhere):
        starts, complete = starts_of[skills.targets[z]]
        among = np.isin(starts, effects.starts, assume_unique=True).all()
        fair = (
            effects.restricted_to(starts, complete, _best(skills, z, starts))
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
    possible, most = np.zeros(0, dtype=np.int64), max_starts(mdp)
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
    return chosen.astype(np.int64), len(possible) <= most


def _best(skills: Skills, z: int, starts: np.ndarray) -> np.ndarray:
    """Return `StartAverages.best`; without targets there is no change to make: 1."""
    targets = [skills.mdp.space.index(name) for name in skills.targets[z]]
    if not targets:
        return np.ones((len(starts), 2))
    wanted = told_values(skills, z)
    values = None if wanted is None else [wanted[j] for j in targets]
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
    skills: Skills, z: int, starts: np.ndarray, complete: bool, compares: bool = True
) -> SkillEffects:
    """Return the exact effects of skill `z`, averaged over its modes."""
    mdp, names, n_modes = skills.mdp, skills.mdp.space.names, skills.n_modes[z]
    dynamics = Dynamics(mdp.successors, mdp.probabilities)
    is_target = np.array([name in skills.targets[z] for name in names])
    wanted = np.full(len(names), -1, dtype=np.int32)
    for j, value in (told_values(skills, z) or {}).items():
        wanted[j] = value
    variables = VariableArrays(mdp.values, _distances(skills), is_target, mdp.reversible, wanted)
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
        effects.alone, effects.clean, effects.steps, complete,
        _best(skills, z, starts) if compares else None, effects.ends,
    )  # fmt: skip


def _sampled(
    skills: Skills, z: int, starts: np.ndarray, n: int, rng: np.random.Generator, compares: bool
) -> SkillEffects:
    """Estimate the effects of skill `z` from `n` rollouts, each from a start of its own."""
    mdp = skills.mdp
    drawn = starts[rng.integers(len(starts), size=n)] if len(starts) else starts
    n = len(drawn)
    paths, steps = skills.run(np.full(n, z), drawn, rng)
    ends = np.bincount(paths[:, -1], minlength=mdp.n_states) / max(n, 1)
    first, last = mdp.values[drawn], mdp.values[paths[:, -1]]
    best = _best(skills, z, drawn) if compares else None
    return _observed(skills, z, drawn, first, last, steps, ends, best)


def _sampled_without_table(
    skills: Skills, starts: str | np.ndarray, n: int, rng: np.random.Generator, progress: Progress
) -> list[SkillEffects]:
    """Estimate the effects of all skills from `n` rollouts of each."""
    given = isinstance(starts, np.ndarray)
    if given:
        skills.world.space.check_states(starts)
    elif starts not in ("fair", "all"):
        raise UserError(f"starts must be 'fair', 'all' or an array of states, got {starts!r}")
    drawn_starts, results = DrawnStarts(skills, rng), []
    for z, names in enumerate(skills.targets):
        progress(z / len(skills), f"skill {z} of {len(skills)}")
        if given:
            first = starts[rng.integers(len(starts), size=n)] if len(starts) else starts
        else:
            first = drawn_starts.draw(names, n)
        last, steps = np.empty_like(first), np.empty(len(first), dtype=np.int32)
        for i in range(0, len(first), AT_ONCE):
            some = first[i : i + AT_ONCE]
            paths, steps[i : i + AT_ONCE] = skills.run(np.full(len(some), z), some, rng)
            last[i : i + AT_ONCE] = paths[:, -1]
        results.append(_observed(skills, z, first, first, last, steps, last, None))
    return results


def _observed(
    skills: Skills, z: int, starts: np.ndarray, first: np.ndarray, last: np.ndarray,
    steps: np.ndarray, ends: np.ndarray, best: np.ndarray | None,
) -> SkillEffects:  # fmt: skip
    """Return the effects of skill `z` in rollouts.

    Args:
        skills: The skills.
        z: The skill's number.
        starts: `SkillEffects.starts`.
        first: Value indices of the first states, int [n, n_variables].
        last: Value indices of the last states, int [n, n_variables].
        steps: int [n].
        ends: `SkillEffects.ends`.
        best: `SkillEffects.best`.
    """
    space, changed = skills.world.space, first != last
    amount = [v.distances[first[:, j], last[:, j]] for j, v in enumerate(space.variables)]
    targets = [space.index(name) for name in skills.targets[z]]
    others = [j for j in range(len(space)) if j not in targets]
    reversible = skills.mdp.reversible if skills.has_table else np.ones(len(space), dtype=bool)
    restored = [j for j in others if reversible[j]]
    controlled = done = changed[:, targets].all(axis=1)
    if wanted := told_values(skills, z):
        done = np.all([last[:, j] == value for j, value in wanted.items()], axis=0)
    clean = np.stack([~changed[:, some].any(axis=1) for some in (others, restored)], axis=1)
    return SkillEffects(
        skills.targets[z], space.names, starts, changed.astype(float), np.stack(amount, axis=1),
        controlled.astype(float), (done & clean[:, 0]).astype(float), clean.astype(float),
        steps.astype(float), False, best, ends,
    )  # fmt: skip
