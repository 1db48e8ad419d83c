"""What programs may rely on: a run's skills and what they do, as JSON can hold them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from skillfocus.metrics.side_effects import SkillEffects, side_effects
from skillfocus.skills import Skills


def run_record(
    skills: Skills, file: Path, sample: int | None = None, seed: int = 0
) -> dict[str, object]:
    """One run: per skill, its averages over fair starts and, in `all_starts`, over all."""

    def over(starts: str) -> list[SkillEffects]:
        return side_effects(skills, starts, sample=sample, rng=np.random.default_rng(seed))

    objective, learner = (_settings(skills.info.get(key)) for key in ("objective", "learner"))
    return {
        "world": skills.world.id,
        "objective": objective.get("name", "?"),
        "strength": objective.get("strength"),
        "learner": learner.get("name", "?"),
        "seed": skills.info.get("seed"),
        "file": str(file),
        "skills": [
            {
                "skill": z,
                "targets": list(fair.targets),
                **fair.summary(),
                "all_starts": everywhere.summary(),
            }
            for z, (fair, everywhere) in enumerate(zip(over("fair"), over("all"), strict=True))
        ],
    }


def _settings(value: object) -> dict:
    return value if isinstance(value, dict) else {}
