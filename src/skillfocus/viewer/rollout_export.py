"""`export_rollout`: one rollout of a skill as a moving picture, for slides."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from skillfocus.errors import UserError
from skillfocus.render.animation import export
from skillfocus.skills.skills import Skills, SkillSource, list_sources, load_source
from skillfocus.spaces import State
from skillfocus.viewer.payload import choose_start_state
from skillfocus.viewer.recordings import draw_starts
from skillfocus.world import World

MAX_LISTED = 8
"""An error lists at most this many values of a variable."""


class ExportedRollout(NamedTuple):
    """What was exported."""

    path: Path
    """The file."""
    skill: int
    """Number of the skill."""
    steps: int
    """Number of steps of the rollout."""


def export_rollout(
    skills: SkillSource,
    path: str | Path,
    *,
    skill: int | None = None,
    start: str = "",
    slips: int = 0,
    world: World | None = None,
) -> ExportedRollout:
    """Write one rollout of a skill to a .gif or .svg file.

    Args:
        skills: A set of skills, or a file of them.
        path: The file to write.
        skill: Number of the skill; by default, see `representative_skill`.
        start: The start state, see `parse_start`; by default, where the viewer begins.
        slips: Seed of the rollout's randomness, in [0, 2^32), as on the viewer's page.
        world: The world of the skills, for a file that cannot name it.

    Raises:
        UserError: If an argument is out of range or the file cannot be written.
    """
    if not 0 <= slips < 2**32:
        raise UserError(f"slips is {slips}; it must be at least 0 and below 2^32")
    (source,) = list_sources(skills)
    loaded = load_source(source, world)
    first = parse_start(loaded, start)
    number = representative_skill(loaded, first) if skill is None else skill
    if not 0 <= number < len(loaded):
        raise UserError(f"skill is {number}; these skills are numbered 0 to {len(loaded) - 1}")
    rollout = loaded.rollout(number, first, np.random.default_rng(slips))
    return ExportedRollout(export(rollout, path), number, len(rollout) - 1)


def representative_skill(skills: Skills, start: State) -> int:
    """Return the first skill that changes its targets with the fewest side effects if nothing
    slips; in a world without a table, in one run."""

    def shortcomings(z: int) -> tuple[bool, int]:
        if skills.has_table:
            path = skills.likely_path(z, start)
        else:
            path = skills.rollout(z, start, np.random.default_rng(0))
        missed = not path.changed or not set(skills.targets[z]) <= set(path.changed)
        return missed, len(path.side_effects)

    return min(range(len(skills)), key=shortcomings)


def parse_start(skills: Skills, text: str) -> State:
    """Return the state described by text such as `position=(6, 9), tool_1=1`.

    Args:
        skills: The skills; variables that the text leaves out are as where the viewer begins.
        text: Variables and their values.

    Raises:
        UserError: If the text names an unknown variable, value or state.
    """
    space, rest = skills.world.space, text.strip()
    if skills.has_table:
        state = list(skills.mdp.state(choose_start_state(skills)))
    else:
        state = list(draw_starts(skills, np.random.default_rng(0))[0])
    while rest:
        name, equals, after = rest.partition("=")
        variable = space.index(name.strip())
        labels = [str(value) for value in space.variables[variable].values]
        # Values may contain commas, so the longest one that the text continues with is taken.
        length, state[variable] = max(
            (_matched_length(label, after), value) for value, label in enumerate(labels)
        )
        if not equals or not length:
            listed = ", ".join(labels[:MAX_LISTED]) + (", …" if len(labels) > MAX_LISTED else "")
            raise UserError(f"cannot start with {rest!r}: {name.strip()} can be {listed}")
        rest = after[length:].strip()
    if skills.has_table:
        skills.mdp.number(state)  # raises if the world has no such state
    return tuple(state)


def _matched_length(label: str, text: str) -> int:
    """Return how many characters of a text are this value and the comma or end after it.

    Spaces are ignored; 0 if the text continues with something else.
    """
    letters = r"\s*".join(re.escape(letter) for letter in label if letter != " ")
    match = re.match(rf"\s*{letters}\s*(,|$)", text)
    return match.end() if match else 0
