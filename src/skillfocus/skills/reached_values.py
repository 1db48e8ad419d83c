"""The values that skills are told to reach (`reach`), which `info` and files hold as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillfocus.objectives.targets import read_value_label

if TYPE_CHECKING:
    from skillfocus.skills.skills import Skills


def reaches_of(skills: Skills) -> list[object] | None:
    """Return what each skill is told to reach; None if `info` does not say it of every skill."""
    reaches = skills.info.get("reaches")
    return reaches if isinstance(reaches, list) and len(reaches) == len(skills) else None


def told_values(skills: Skills, z: int) -> dict[int, int] | None:
    """Return the values that a skill is told to reach, by target; None if any other will do."""
    reaches = reaches_of(skills)
    if reaches is None:
        return None
    return read_value_label(skills.world.space, skills.targets[z], reaches[z])
