"""JSON records of what skills do, and the same numbers as rows of a result table.

The records are what `discover --json` and `evaluate --json` print, so programs rely on their
fields. `rows_of` and `records_of` are inverse to each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skillfocus.core.progress import Progress, no_progress
from skillfocus.core.rows import Row
from skillfocus.metrics.side_effects import fair_and_all_effects
from skillfocus.skills.continuous.skills import ContinuousSkills
from skillfocus.skills.joining import objective_label
from skillfocus.skills.skills import Skills


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
        Records with `skill`, `targets`, `reaches` (of skills that are told a value), the fields of
        `SkillEffects.summary()` over fair starts,
        and under `all_starts` the same fields over all start states.
    """
    records = [
        {
            "skill": z,
            "targets": list(fair.targets),
            **fair.summary(),
            "all_starts": everywhere.summary(),
        }
        for z, (fair, everywhere) in enumerate(
            fair_and_all_effects(skills, sample=sample, seed=seed, progress=progress)
        )
    ]
    return with_values(records, skills.info.get("reaches"))


def with_values(records: list[dict], reaches: object) -> list[dict]:
    """Return records with `reaches`, what each skill is told to reach, if there is one for each."""
    if not isinstance(reaches, list) or len(reaches) != len(records):
        return records
    return [{**record, "reaches": text} for record, text in zip(records, reaches, strict=True)]


def origin(skills: Skills | ContinuousSkills) -> dict[str, object]:
    """Return where skills come from: world, objective, strength, learner and seed.

    They are as `skills.info` has them, which holds what a file says: names that are no text are
    "?", numbers that are none None.
    """
    objective, learner = (_as_dict(skills.info.get(key)) for key in ("objective", "learner"))
    strength, seed = objective.get("strength"), skills.info.get("seed")
    return {
        "world": skills.world.id,
        "objective": objective_label(skills.info),
        "strength": strength if type(strength) in (int, float) else None,
        "learner": _as_text(learner.get("name")),
        "seed": seed if type(seed) is int else None,
    }


def _as_dict(value: object) -> dict:
    return value if isinstance(value, dict) else {}


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else "?"


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


EFFECTS = frozenset(
    {
        "changes_target", "changes_alone", "best_possible", "avoidable", "side_effects",
        "side_effects_interval", "side_effects_by_variable", "mean_change_by_variable", "steps",
        "starts", "exact",
    }
)  # fmt: skip
"""What `SkillEffects.summary` holds. Not every skill has all of it: a target's own change is no
side effect."""


def records_of(rows: Iterable[Row], targets: Sequence[Sequence[str]]) -> list[dict]:
    """Return the records that `rows_of` took apart.

    Args:
        rows: The rows, in any order. Ignored are rows without a step, and metrics of another
            kind, whose steps are not the skills (coverage by chain length, learning curves).
        targets: The target variables of each skill, which rows cannot hold.
    """
    records: list[dict] = [{"skill": z, "targets": list(t)} for z, t in enumerate(targets)]
    by_metric: dict[str, dict[int, float | None]] = {}
    for metric, step, value in rows:
        if step is not None:
            by_metric.setdefault(metric, {})[step] = value
    per_skill = {
        metric: values
        for metric, values in by_metric.items()
        if _within(metric)[1].partition("/")[0] in EFFECTS
        or values.keys() == set(range(len(records)))
    }
    for metric, skill, value in (
        (metric, skill, value)
        for metric, values in per_skill.items()
        for skill, value in values.items()
    ):
        group, path = _within(metric)
        summary = records[skill].setdefault(group, {}) if group else records[skill]
        name, nested, key = path.partition("/")
        if nested:
            summary.setdefault(name, {})[key] = value
        else:
            kind = {"starts": int, "exact": bool}.get(name, float)
            summary[name] = None if value is None else kind(value)
    for record in records:
        for summary in (record, record["all_starts"], record.get("settled", {})):
            if interval := summary.get("side_effects_interval"):
                summary["side_effects_interval"] = list(interval.values())
    return records


def _within(metric: str) -> tuple[str, str]:
    """Return the starts that a metric is about, "" for fair ones, and its name."""
    for group in ("all_starts", "settled"):
        if metric.startswith(f"{group}/"):
            return group, metric.removeprefix(f"{group}/")
    return "", metric


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
