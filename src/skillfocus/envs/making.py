"""Episodes of skills, in worlds with a table and without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillfocus.envs.episode import Episodes
from skillfocus.envs.goal import Start, make_goal
from skillfocus.skills.skills import Skills
from skillfocus.tasks.short_forms import ShortTask

if TYPE_CHECKING:
    from skillfocus.envs.jax_episodes import JaxEpisodes

    AnyEpisodes = Episodes | JaxEpisodes
else:
    AnyEpisodes = Episodes
AnyTask = ShortTask | None
"""A task, the reward or the name of the world's own, a condition, or no task."""


def episodes_of(
    skills: Skills, task: AnyTask, start: Start, n: int, primitives: bool
) -> AnyEpisodes:
    """Return `n` episodes whose actions are skills.

    Args:
        skills: The skills.
        task: The task; see `SkillEnv`.
        start: Where episodes start.
        n: How many there are side by side.
        primitives: Whether the world's actions can be chosen too.

    Raises:
        UserError: If task or start do not fit the world.
    """
    if not skills.has_table:
        from skillfocus.envs.jax_episodes import JaxEpisodes, make_condition_goal

        goal = make_condition_goal(skills.world, task, start)
        return JaxEpisodes(skills, goal, n, primitives)
    return Episodes(
        skills.mdp, make_goal(skills.world, skills.mdp, task, start), n, skills, primitives
    )
