"""Rollouts of continuous skills for a page: every skill from the same few states."""

from __future__ import annotations

import numpy as np

from skillfocus.errors import UserError
from skillfocus.skills.continuous.choosing import SkillName
from skillfocus.skills.continuous.skills import ContinuousSkills
from skillfocus.viewer.continuous import ContinuousRollouts
from skillfocus.worlds.host import HostWorld

MAX_SKILLS = 64
"""The most skills on a page; of more, these many are shown, evenly chosen."""


def record_skills(
    skills: ContinuousSkills, *, starts: int = 4, seed: int = 0, directions: int = 8
) -> ContinuousRollouts:
    """Run every skill from the same states.

    Args:
        skills: The skills.
        starts: How many states.
        seed: Seed of the states and of the rollouts.
        directions: How many directions of a sphere.

    Raises:
        UserError: If the world cannot be started in the same state twice.
    """
    if isinstance(skills.world, HostWorld):
        raise UserError(f"{skills.world.id} cannot be drawn: pages are of worlds written in JAX")
    listed = skills.all(directions)
    chosen = np.unique(np.linspace(0, len(listed) - 1, min(len(listed), MAX_SKILLS)).astype(int))
    states = skills.draw_starts(starts, np.random.default_rng(seed))
    values, observations = [], []
    for i in chosen:
        done = skills.run(listed[i], states, np.random.default_rng(seed))
        values.append(done.values)
        observations.append(done.observations)
    return ContinuousRollouts(
        skills.world,
        np.stack(values),
        [skills.targets_of(listed[i]) for i in chosen],
        [_title(listed[i]) for i in chosen],
        np.stack(observations),
        f"{skills.objective.name}, seed {skills.info.get('seed')}",
    )


def _title(skill: SkillName) -> str:
    """Return a skill's name on the page: `box 2`, `agent (0.71, 0.71)`, `leave everything`."""
    if isinstance(skill, dict):
        return ", ".join(f"{name} {_number(z)}" for name, z in skill.items()) or "leave everything"
    return f"skill {_number(skill)}"


def _number(z: object) -> str:
    if isinstance(z, int):
        return str(z)
    return f"({', '.join(f'{x:.2f}' for x in z)})"  # pyright: ignore[reportGeneralTypeIssues]
