"""What programs may rely on: a run's skills and what they do, as JSON can hold them; and the same
numbers as the rows of a run's table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from skillfocus.metrics.side_effects import SkillEffects, side_effects
from skillfocus.skills.skills import Skills

if TYPE_CHECKING:
    from skillfocus.runs.run import Row


def skill_records(skills: Skills, sample: int | None = None, seed: int = 0) -> list[dict]:
    """Per skill, its averages over fair starts and, in `all_starts`, over all."""

    def over(starts: str) -> list[SkillEffects]:
        return side_effects(skills, starts, sample=sample, rng=np.random.default_rng(seed))

    return [
        {
            "skill": z,
            "targets": list(fair.targets),
            **fair.summary(),
            "all_starts": everywhere.summary(),
        }
        for z, (fair, everywhere) in enumerate(zip(over("fair"), over("all"), strict=True))
    ]


def origin(skills: Skills) -> dict[str, object]:
    """Where skills came from, as their file says."""
    objective, learner = (_settings(skills.info.get(key)) for key in ("objective", "learner"))
    return {
        "world": skills.world.id,
        "objective": objective.get("name", "?"),
        "strength": objective.get("strength"),
        "learner": learner.get("name", "?"),
        "seed": skills.info.get("seed"),
    }


def _settings(value: object) -> dict:
    return value if isinstance(value, dict) else {}


def rows_of(records: list[dict]) -> list[Row]:
    """`("all_starts/side_effects_by_variable/position", skill, 0.1)`, and so on."""
    return [
        (metric, record["skill"], value)
        for record in records
        for metric, value in _leaves({**record, "skill": {}, "targets": {}})
    ]


def _leaves(value: dict, prefix: str = "") -> Iterable[tuple[str, float | None]]:
    for name, held in value.items():
        if isinstance(held, list):
            held = {str(place): number for place, number in enumerate(held)}
        if isinstance(held, dict):
            yield from _leaves(held, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", None if held is None else float(held)


def records_of(rows: Iterable[Row], targets: Sequence[Sequence[str]]) -> list[dict]:
    """The records again, given each skill's targets."""
    records: list[dict] = [{"skill": z, "targets": list(t)} for z, t in enumerate(targets)]
    for metric, skill, value in rows:
        if skill is None:
            continue
        at, path = records[skill], metric
        if path.startswith("all_starts/"):
            at, path = at.setdefault("all_starts", {}), path.removeprefix("all_starts/")
        name, nested, key = path.partition("/")
        if nested:
            at.setdefault(name, {})[key] = value
        else:
            kind = {"starts": int, "exact": bool}.get(name, float)
            at[name] = None if value is None else kind(value)
    for record in records:
        for summary in (record, record["all_starts"]):
            if interval := summary["side_effects_interval"]:
                summary["side_effects_interval"] = list(interval.values())
    return records


def overall(records: list[dict]) -> list[Row]:
    """A run in three numbers, over fair starts: `control`, how often a target's best skill changes
    it, averaged over targets; `mean_side_effects`, averaged over skills; `focus`, the first minus
    the second."""
    able = [record for record in records if record["starts"]]
    targets = dict.fromkeys(tuple(record["targets"]) for record in able if record["targets"])
    best = [
        max(record["changes_target"] for record in able if tuple(record["targets"]) == target)
        for target in targets
    ]
    control = sum(best) / len(best) if best else None
    effects = sum(record["side_effects"] for record in able) / len(able) if able else None
    focus = None if control is None or effects is None else control - effects
    return [
        ("control", None, control),
        ("mean_side_effects", None, effects),
        ("focus", None, focus),
    ]
