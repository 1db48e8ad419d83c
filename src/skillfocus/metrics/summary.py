"""JSON records of what skills do: `evaluate`, and the same numbers as rows of a result table.

The records are what `discover --json` and `evaluate --json` print, so programs rely on their
fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.metrics.coverage import check_countable
from skillfocus.metrics.coverage import coverage as measure_coverage
from skillfocus.metrics.side_effects import fair_and_all_effects, side_effects
from skillfocus.objectives.kinds import goal_label
from skillfocus.progress import Progress, no_progress, part_of, shown
from skillfocus.skills.actor import ActorPolicy
from skillfocus.skills.skills import (
    Skills,
    SkillSource,
    list_sources,
    load_source,
    objective_label,
    source_file,
)
from skillfocus.spaces import Row
from skillfocus.world import World, check_seed
from skillfocus.worlds.registry import WORLD_IDS


def skill_records(
    skills: Skills, sample: int | None = None, seed: int = 0, progress: Progress = no_progress
) -> list[dict]:
    """Return one JSON record per skill: what it changes, averaged over start states.

    Args:
        skills: The skills.
        sample: Number of rollouts per skill; by default, values are exact where possible.
        seed: Seed of the rollouts.
        progress: Callback for the fraction done.

    Returns:
        Records with `skill`, `targets`, `reaches` (of goal-conditioned skills), the fields of
        `SkillEffects.summary()` over fair starts, and under `all_starts` the same fields over all
        start states. In worlds of real-valued variables also `component`, and under `settled` the
        same fields over states in which other skills have ended.
    """
    pairs = fair_and_all_effects(skills, sample=sample, seed=seed, progress=progress)
    records = [
        {
            "skill": z,
            "targets": list(fair.targets),
            **fair.summary(),
            "all_starts": everywhere.summary(),
        }
        for z, (fair, everywhere) in enumerate(pairs)
    ]
    if any(skills.goals):
        for record, goal in zip(records, skills.goals, strict=True):
            record["reaches"] = goal_label(skills.world.space, goal)
    if isinstance(skills.policies, ActorPolicy):
        rng = np.random.default_rng(seed)
        settled = side_effects(skills, "settled", sample=sample, rng=rng)
        for record, skill, effects in zip(records, skills.policies.skills, settled, strict=True):
            record |= {"component": [*skill.values()], "settled": effects.summary()}
    return records


def origin(skills: Skills) -> dict[str, object]:
    """Return where skills come from: world, objective, strength, learner and seed.

    They are as `skills.info` has them, which holds what a file says: names that are not text become
    "?", numbers that are not numbers None.
    """
    objective, learner = (
        value if isinstance(value := skills.info.get(key), dict) else {}
        for key in ("objective", "learner")
    )
    strength, name, seed = objective.get("strength"), learner.get("name"), skills.info.get("seed")
    return {
        "world": skills.world.id,
        "objective": objective_label(skills.info),
        "strength": strength if type(strength) in (int, float) else None,
        "learner": name if isinstance(name, str) else "?",
        "seed": seed if type(seed) is int else None,
    }


def rows_of(records: list[dict]) -> list[Row]:
    """Return the numbers of `skill_records` as rows.

    The path of a number in its record becomes the metric and the skill the step, as in
    `("all_starts/side_effects_by_variable/position", 3, 0.1)`.
    """
    return [
        (metric, record["skill"], value)
        for record in records
        for metric, value in _leaves(
            {**record, "skill": {}, "targets": {}, "reaches": {}, "component": {}}
        )
    ]


def _leaves(tree: dict, prefix: str = "") -> Iterable[tuple[str, float | None]]:
    """Yield the path and the value of every number in a nested dict; list items are numbered."""
    for name, value in tree.items():
        if isinstance(value, list):
            value = {str(index): number for index, number in enumerate(value)}
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", None if value is None else float(value)


def overall(records: list[dict]) -> list[Row]:
    """Return three numbers for a whole set of skills, over fair starts, as rows without a step.

    `control`: how often a target's best skill changes it, averaged over targets.
    `mean_side_effects`: side effects averaged over skills.
    `focus`: control minus mean side effects.
    They are None where undefined: skills without targets have no control and no focus.
    """
    usable = [record for record in records if record["starts"]]
    targets = dict.fromkeys(tuple(record["targets"]) for record in usable if record["targets"])
    best = [
        max(record["changes_target"] for record in usable if tuple(record["targets"]) == target)
        for target in targets
    ]
    control = sum(best) / len(best) if best else None
    effects = sum(record["side_effects"] for record in usable) / len(usable) if usable else None
    focus = None if control is None or effects is None else control - effects
    return [
        ("control", None, control),
        ("mean_side_effects", None, effects),
        ("focus", None, focus),
    ]


# -------------------- `evaluate`: JSON records of what skills do, from files or from memory


def evaluate(
    skills: SkillSource | Iterable[SkillSource],
    *,
    coverage: bool = False,
    sample: int | None = None,
    seed: int = 0,
    world: World | None = None,
    progress: Progress | None = None,
) -> list[dict]:
    """Return what each skill changes, and optionally what chains of skills cover.

        evaluate("out/four-rooms.skills")[0]["skills"][0]["side_effects"]

    Args:
        skills: Sets of skills or files of them, one or several.
        coverage: Whether to measure the coverage of chains of 1 to 5 skills too.
        sample: Number of rollouts per skill; by default, values are exact where possible.
        seed: Seed of everything that is sampled.
        world: The world of the skills, for files that cannot name it.
        progress: Progress callback (default: a bar, as `discover` shows it).

    Returns:
        One record per set: `world`, `objective`, `strength`, `learner`, `seed`, `file` (None for
        skills in memory), `skills` (see `summary.skill_records`), `unusual` if the world has
        settings that are not the default, and with `coverage` also `coverage`, `auc` and
        `coverage_exact`.

    Raises:
        UserError: If a file cannot be loaded, `sample` is below 2, or `seed` is no seed.
    """
    if sample is not None and sample < 2:
        raise UserError(f"sample is {sample}; it must be at least 2")
    check_seed(seed)
    sources = list_sources(skills)
    records = []
    with shown(progress, "evaluate") as report:
        for number, source in enumerate(sources):
            loaded = load_source(source, world)
            record = {**_about(loaded), "file": source_file(source)}
            records.append(record)
            if coverage:
                check_countable(loaded)
            name = record["file"] or f"{record['objective']}, seed {record['seed']}"
            first, last = number / len(sources), (number + 1 - coverage / 2) / len(sources)
            part = part_of(report, first, last, name)
            record["skills"] = skill_records(loaded, sample, seed, part)
            if coverage:
                report(last, f"coverage of {name}")
                record |= measure_coverage(loaded, rng=np.random.default_rng(seed)).summary()
        report(1.0, "done")
    return records


def _about(skills: Skills) -> dict[str, Any]:
    """Return where skills come from, and the settings of their world as `discover` shows them:
    those that are not the default, without maps, too long for titles."""
    world = skills.world
    defaults: dict[str, object] = {}
    known = WORLD_IDS.get(world.id)
    if known is not None and type(world) is known:
        defaults = known().settings
    settings = {
        name: value
        for name, value in world.settings.items()
        if not (name in defaults and defaults[name] == value)
        and not (isinstance(value, str) and "\n" in value)
    }
    shown = {"world_settings": json.dumps(settings, sort_keys=True)}
    return {**origin(skills), **({"unusual": shown} if settings else {})}
