"""Sampled side effects of skills in continuous worlds.

The change of a variable is its distance from its first value, relative to its scale. A skill's side
effects are the sum of the changes of non-target variables: Equation 1, with the size of a change in
place of an indicator. A second metric is how often one of them exceeds a threshold, because a mean
hides rare changes.

Skills with components for several variables at once (DUSDi) are evaluated one component at a time;
the others are sampled, or kept from the previous skill.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skillfocus.metrics.statistics import Interval, bootstrap_interval, success_interval
from skillfocus.objectives.kinds import SkillLayout
from skillfocus.skills.continuous import ContinuousSkills, choices
from skillfocus.skills.policy import draw_keys

THRESHOLD = 0.1
"""Changes above this count, relative to the variable's scale."""
DIRECTIONS = 8
"""Number of directions that represent a sphere."""


@dataclass(frozen=True, eq=False)
class ContinuousEffects:
    """Effects of one skill.

    Attributes:
        skill: Its component: a number, or a direction.
        target: The component's variable; None for skills without targets.
        variables: Names of all variables.
        changes: Change of each variable in every rollout, float [n, n_variables].
        ends: Values of the variables at the end, float [n, size].
        threshold: Changes above this count, relative to the scale.
    """

    skill: Any
    target: str | None
    variables: tuple[str, ...]
    changes: np.ndarray
    ends: np.ndarray
    threshold: float

    @property
    def others(self) -> np.ndarray:
        """Non-target variables, bool [n_variables].

        For a skill without targets, the variable that it changes most counts as its target.
        """
        own: np.ndarray = np.zeros(len(self.variables), bool)
        if self.target is not None:
            own[self.variables.index(self.target)] = True
        else:
            own[self.changes.mean(axis=0).argmax()] = True
        return ~own

    @property
    def target_changes(self) -> np.ndarray:
        """Change of the target in every rollout, float [n]."""
        return self.changes[:, ~self.others].sum(axis=1)

    @property
    def side_effects(self) -> np.ndarray:
        """Sum of the changes of non-target variables in every rollout, float [n]."""
        return self.changes[:, self.others].sum(axis=1)

    @property
    def exceeds(self) -> np.ndarray:
        """Whether a non-target variable changed by more than the threshold, bool [n]."""
        above = self.changes[:, self.others] > self.threshold
        return above.sum(axis=1) > 0

    def interval(self, rng: np.random.Generator, level: float = 0.9) -> Interval:
        """Return the mean side effects with a bootstrap interval."""
        return bootstrap_interval(_mean, self.side_effects, rng=rng, level=level)

    def exceeding(self, level: float = 0.9) -> Interval:
        """Return how often the threshold is exceeded, with an exact interval."""
        return success_interval(int(self.exceeds.sum()), len(self.exceeds), level)


def continuous_side_effects(
    skills: ContinuousSkills,
    *,
    rng: np.random.Generator,
    n: int = 256,
    settled: bool = False,
    directions: int = DIRECTIONS,
    threshold: float = THRESHOLD,
    noise: float = 0.0,
) -> list[ContinuousEffects]:
    """Return the effects of every skill, by component.

    Args:
        skills: The skills.
        rng: Source of randomness.
        n: Rollouts per skill.
        settled: Whether to start in states in which another skill ended. For skills on several
            variables at once, that skill differs only in the evaluated component. Otherwise,
            rollouts start in initial states of the world.
        directions: Number of directions that represent a sphere.
        threshold: Changes above this count, relative to the scale.
        noise: Factor of the policy's standard deviation; 0 takes the mean action.
    """
    layout, space, found = skills.layout, skills.world.space, []
    for k, slot in enumerate(layout.slots):
        for value in choices(slot.component, directions):
            kind = min((kind for kind in layout.kinds if k in kind), key=len)
            z = draw_z(layout, [kind] * n, rng)
            z[:, layout.places[k]] = np.eye(slot.width)[value] if slot.is_discrete else value
            states = skills.draw_starts(n, rng)
            if settled:
                before = [kind] * n
                earlier = z.copy()
                if len(kind) == 1:
                    before = [layout.kinds[i] for i in rng.integers(len(layout.kinds), size=n)]
                    earlier = draw_z(layout, before, rng)
                else:
                    earlier[:, layout.places[k]] = draw_z(layout, before, rng)[:, layout.places[k]]
                states = _run(skills, states, before, earlier, rng, noise).states
            done = _run(skills, states, [kind] * n, z, rng, noise)
            start, end = done.values[:, 0], done.values[:, -1]
            target = None if slot.variable is None else space.names[slot.variable]
            changes = np.asarray(space.change(start, end), float)
            found.append(ContinuousEffects(value, target, space.names, changes, end, threshold))
    return found


def draw_z(
    layout: SkillLayout, kinds: list[tuple[int, ...]], rng: np.random.Generator
) -> np.ndarray:
    """Sample components of skills of given kinds, float32 [n, layout.width]."""
    n, parts = len(kinds), []
    for k, slot in enumerate(layout.slots):
        if slot.is_discrete:
            part = np.eye(slot.width)[rng.integers(slot.width, size=n)]
        else:
            part = rng.standard_normal((n, slot.width))
            part /= np.linalg.norm(part, axis=1, keepdims=True)
        parts.append(part * np.array([[k in kind] for kind in kinds]))
    return np.concatenate(parts, axis=1).astype(np.float32)


def _run(
    skills: ContinuousSkills,
    states: Any,
    kinds: list[tuple[int, ...]],
    z: np.ndarray,
    rng: np.random.Generator,
    noise: float,
) -> Any:
    masks = skills.layout.masks[[skills.layout.kinds.index(kind) for kind in kinds]]
    return skills.runner.follow(states, masks, z, draw_keys(len(z), rng), noise)


def _mean(values: np.ndarray) -> np.ndarray:
    return values.mean(axis=-1)


def summarize(
    effects: list[ContinuousEffects], rng: np.random.Generator, level: float = 0.9
) -> dict[str, Interval]:
    """Return averages over the rollouts of all skills, with intervals.

    Returns:
        `target_change` and `side_effects` with bootstrap intervals, `exceeds` with an exact one.
    """
    changes = np.concatenate([each.target_changes for each in effects])
    others = np.concatenate([each.side_effects for each in effects])
    exceeds = np.concatenate([each.exceeds for each in effects])
    return {
        "target_change": bootstrap_interval(_mean, changes, rng=rng, level=level),
        "side_effects": bootstrap_interval(_mean, others, rng=rng, level=level),
        "exceeds": success_interval(int(exceeds.sum()), len(exceeds), level),
    }


def continuous_records(
    skills: ContinuousSkills, n: int = 256, seed: int = 0, directions: int = DIRECTIONS
) -> list[dict]:
    """Return one JSON record per skill, with the fields that finite worlds have.

    `changes_target` is how often the target changes by more than the threshold, `side_effects` the
    sum of the changes of non-target variables, and `exceeds` how often one of them exceeds the
    threshold. `settled` has the same for states in which other skills ended. `all_starts` repeats
    the record, because continuous worlds have no enumerated starts.
    """
    random, settled = (
        continuous_side_effects(
            skills, rng=np.random.default_rng(seed), n=n, settled=settled, directions=directions
        )
        for settled in (False, True)
    )
    records = []
    for number, (one, other) in enumerate(zip(random, settled, strict=True)):
        first = _summary(one, skills, seed)
        component = one.skill if isinstance(one.skill, int) else list(one.skill)
        records.append(
            {
                "skill": number, "targets": [] if one.target is None else [one.target],
                "component": component, **first, "settled": _summary(other, skills, seed),
                "all_starts": first,
            }
        )  # fmt: skip
    return records


def _summary(effects: ContinuousEffects, skills: ContinuousSkills, seed: int) -> dict:
    interval = effects.interval(np.random.default_rng(seed))
    means = dict(zip(effects.variables, effects.changes.mean(axis=0).tolist(), strict=True))
    others = dict(zip(effects.variables, effects.others.tolist(), strict=True))
    above = effects.target_changes > effects.threshold
    return {
        "changes_target": None if effects.target is None else float(above.mean()),
        "side_effects": interval.estimate,
        "side_effects_interval": [interval.low, interval.high],
        "side_effects_by_variable": {name: means[name] for name in means if others[name]},
        "mean_change_by_variable": means,
        "exceeds": effects.exceeding().estimate,
        "steps": float(skills.step_limit),
        "starts": len(effects.changes),
        "exact": False,
    }
