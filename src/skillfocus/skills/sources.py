"""Skills given as objects or as files: what `evaluate`, `solve_all` and `view` accept."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from skillfocus.errors import UserError
from skillfocus.skills.continuous import ContinuousSkills
from skillfocus.skills.files import load
from skillfocus.skills.skills import Skills
from skillfocus.world import World

SkillSource = Skills | ContinuousSkills | str | Path
"""A set of skills, or the path of a file of them."""
Source = Skills | ContinuousSkills | Path
"""The same, with paths as such."""


def list_sources(
    sources: SkillSource | Iterable[SkillSource],
) -> list[Source]:
    """Return one or several sources as a list, without loading any file.

    Raises:
        UserError: If there are none, or a path has no file name.
    """
    several = [sources] if isinstance(sources, SkillSource) else list(sources)
    if not several:
        raise UserError("name at least one file of skills")
    paths = [
        source if isinstance(source, Skills | ContinuousSkills) else Path(source)
        for source in several
    ]
    for path in paths:
        if isinstance(path, Path) and not path.name:
            raise UserError(
                f"{path} is a folder: name files of skills, such as {path / '*.skills'}"
            )
    return paths


def load_any(source: Source, world: World | None = None) -> Skills | ContinuousSkills:
    """Return skills of either kind as they are, or load them from their file; see `load_source`."""
    return load(source, world) if isinstance(source, Path) else source


def load_source(source: Source, world: World | None = None) -> Skills:
    """Return skills of a finite world as they are, or load them from their file.

    Args:
        source: The skills or their file.
        world: The world of the skills, for files that cannot name it (see `Skills.load`).
    """
    if isinstance(source, ContinuousSkills):
        raise UserError(f"this takes skills of finite worlds, and {source!r} are of another kind")
    return source if isinstance(source, Skills) else Skills.load(source, world)


def source_file(source: Source) -> str | None:
    """Return the file of a source as text; None for skills in memory."""
    return str(source) if isinstance(source, Path) else None
