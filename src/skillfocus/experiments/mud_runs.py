"""MudWorld with visible mud: side effects of the skill that fetches the treasure.

Metrics of the skill that fetches it most often: `treasure/changes`, how often it does;
`treasure/muddy`, how often `muddy` changes; `treasure/tracked`, the number of new muddy cells.
"""

from __future__ import annotations

from dataclasses import dataclass

from skillfocus.core.progress import Progress
from skillfocus.metrics.summary import skill_records
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.run import Row
from skillfocus.skills.skills import Skills

FLAG = "mud_"
"""Prefix of the flags of muddy cells."""


@dataclass(frozen=True)
class TreasureSkills(Discovery):
    """A discovery in a MudWorld that measures the skills for the treasure."""

    version = Discovery.version

    def measure(self, skills: Skills, progress: Progress, /) -> list[Row]:
        """Return the metrics of the best skill for the treasure."""
        progress(0.8, "measuring side effects")
        mine = [each for each in skill_records(skills) if each["targets"] == ["treasure"]]
        best = max(mine, key=lambda record: record["changes_target"])
        effects = best["side_effects_by_variable"]
        return [
            ("treasure/changes", None, best["changes_target"]),
            ("treasure/muddy", None, effects["muddy"]),
            ("treasure/tracked", None,
             sum(value for name, value in effects.items() if name.startswith(FLAG))),
        ]  # fmt: skip
