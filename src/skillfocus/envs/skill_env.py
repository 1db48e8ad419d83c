"""`SkillEnv`: skills as the actions of a Gymnasium environment.

Actions        the skills, then (with `primitives`) the world's moves
Step           a skill runs until it terminates, reaches its step limit, accomplishes the task or
               reaches the task's cap; one that ends without a step costs one step
Observations, start, reward, end
               as in `WorldEnv`; the cap counts primitive steps
Info           after a step, of that step: "steps" (primitive steps taken), "discount" (gamma to
               the power of them), "skill" (its number, -1 for a move), "targets" (the variables it
               targets), "path" (the states met, the first one too: one more than steps), "success"
               (whether the true task is accomplished); and "elapsed", the primitive steps of the
               episode so far
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skillfocus.envs.base import Again, OneEpisode
from skillfocus.envs.goal import Start, goal_of
from skillfocus.errors import UserError
from skillfocus.skills.skills import Skills
from skillfocus.tasks.task import Task


class SkillEnv(OneEpisode):
    def __init__(
        self,
        skills: Skills | str | Path,
        task: Task | str = "true",
        *,
        primitives: bool = False,
        gamma: float = 0.99,
        observation: str = "multi-discrete",
        render_mode: str | None = None,
        start: Start = None,
    ) -> None:
        """`skills` are skills or a file of them. `task` is a task, or says how the paper's task in
        the skills' world is paid: "true" or "proxy"."""
        self.skills = skills = loaded(skills)
        self._discounts = discounts(skills, gamma)
        super().__init__(
            skills.world, skills.mdp, goal_of(skills.world, skills.mdp, task, start),
            skills=skills, primitives=primitives, observation=observation,
            render_mode=render_mode, spec_id="skillfocus/Skills-v0",
            again=Again(type(self), skills, task),
            settings={"primitives": primitives, "gamma": gamma, "start": start},
        )  # fmt: skip

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self._play(action)
        now, skill = self._episodes, int(action)
        steps = int(now.steps[0])
        is_skill = skill < len(self.skills)
        info |= {
            "steps": steps,
            "discount": float(self._discounts[steps]),
            "skill": skill if is_skill else -1,
            "targets": self.skills.targets[skill] if is_skill else (),
            "path": [self._table.state(s) for s in now.paths[0, : steps + 1]],
            "elapsed": int(now.elapsed[0]),
        }
        return observation, reward, terminated, truncated, info


def loaded(skills: Skills | str | Path) -> Skills:
    if not isinstance(skills, Skills):
        skills = Skills.load(skills)
    return skills


def discounts(skills: Skills, gamma: float) -> np.ndarray:
    """[steps]: gamma to the power of them."""
    if not 0 < gamma <= 1:
        raise UserError(f"gamma is {gamma}; it must be in (0, 1]")
    return gamma ** np.arange(skills.step_limit + 1, dtype=np.float64)
