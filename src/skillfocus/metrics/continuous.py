"""Side effects of skills in continuous worlds, sampled.

The change of a variable is its distance from where it was when the skill began, over its scale. A
skill's side effects are the changes of the variables that it does not target, added up (Equation 1
with the size of a change in place of whether there is one); how often one of them exceeds a
threshold is said beside, since an average hides what is rare.

Skills that have components for several variables at once (DUSDi) are judged by one component at a
time: the others are drawn at random, or kept as they were in the skill before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skillfocus.core.seeds import check_generator
from skillfocus.errors import UserError
from skillfocus.metrics.statistics import Interval, bootstrap_interval, success_interval
from skillfocus.objectives.skill_layout import SkillLayout
from skillfocus.skills.continuous.choosing import choices
from skillfocus.skills.continuous.skills import ContinuousSkills, draw_keys

THRESHOLD = 0.1
"""A change that counts as one, relative to the variable's scale."""
DIRECTIONS = 8
"""Directions of a sphere that are judged."""


@dataclass(frozen=True, eq=False)
class ContinuousEffects:
    """What one skill changes.

    Attributes:
        skill: Its component: a number, or a direction.
        target: The variable that it belongs to; None for skills without targets.
        variables: Names of all variables.
        changes: Change of each variable in every rollout, float [n, n_variables].
        ends: Values of the variables at the end, float [n, size].
        threshold: The change that counts as one.
    """

    skill: Any
    target: str | None
    variables: tuple[str, ...]
    changes: np.ndarray
    ends: np.ndarray
    threshold: float

    @property
    def others(self) -> np.ndarray:
        """Which variables are not meant to change, bool [n_variables].

        A skill without a target is granted the variable that it changes most.
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
        """Changes of the other variables, added up, in every rollout, float [n]."""
        return self.changes[:, self.others].sum(axis=1)

    @property
    def exceeds(self) -> np.ndarray:
        """Whether another variable changed by more than the threshold, bool [n]."""
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
    """Return what every skill changes, component by component.

    Args:
        skills: The skills.
        rng: Source of the draws.
        n: Rollouts per skill.
        settled: Whether another skill runs first, so that the world is as skills leave it. Of
            skills on several variables at once, the one before differs in the judged component
            alone. Otherwise, states are those that the world draws.
        directions: How many directions of a sphere are judged.
        threshold: The change that counts as one.
        noise: Factor of the policy's standard deviation; 0 takes the mean action.
    """
    check_generator(rng)
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
    """Draw the components of skills of these kinds, float32 [n, layout.width]."""
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
    """Return the averages over all skills, each rollout counted once, with intervals.

    Returns:
        `target_change` and `side_effects` with bootstrap intervals, `exceeds` with an exact one.
    """
    if not effects:
        raise UserError("there are no skills to average over")
    gather: Callable[[str], np.ndarray] = lambda name: np.concatenate(  # noqa: E731
        [getattr(each, name) for each in effects]
    )
    exceeds = gather("exceeds")
    return {
        "target_change": bootstrap_interval(_mean, gather("target_changes"), rng=rng, level=level),
        "side_effects": bootstrap_interval(_mean, gather("side_effects"), rng=rng, level=level),
        "exceeds": success_interval(int(exceeds.sum()), len(exceeds), level),
    }


def continuous_records(
    skills: ContinuousSkills, n: int = 256, seed: int = 0, directions: int = DIRECTIONS
) -> list[dict]:
    """Return one JSON record per skill, with the fields of records of finite worlds.

    `changes_target` is how often the target changes by more than the threshold, `side_effects`
    the changes of other variables added up, and `exceeds` how often one of them is above the
    threshold. `settled` has the same from states that other skills left behind; there is nothing
    that `all_starts` could add.
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
