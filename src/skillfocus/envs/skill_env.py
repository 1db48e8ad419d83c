"""`SkillEnv`: skills as the actions of a Gymnasium environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skillfocus.envs.base import EnvFactory, SingleEpisodeEnv
from skillfocus.envs.goal import Start
from skillfocus.envs.making import AnyTask, episodes_of
from skillfocus.errors import UserError
from skillfocus.skills.skills import Skills


class SkillEnv(SingleEpisodeEnv):
    """Skills as the actions of a Gymnasium environment.

    ## Description
    The agent solves a task in the skills' world by choosing skills. One step of the environment
    follows a skill until it terminates, reaches its step limit, ends the episode, or is cut off
    because the episode is truncated. A skill that terminates without a step costs one step.

    ## Action space
    `Discrete(n_skills)`, or with `primitives` `Discrete(n_skills + n_actions)`: the skills, then
    the world's actions.

    ## Observation space, starting state, rewards
    As in `WorldEnv`.

    ## Episode end
    As in `WorldEnv`; `max_episode_steps` counts primitive steps.

    ## Info
    After a step, about that step: "steps" (primitive steps taken), "discount" (gamma to the power
    of "steps"), "skill" (its number, -1 for a primitive action), "targets" (the variables it
    targets), "path" (the states as value indices, the first one included: one more than "steps"),
    "success" (whether the true task is accomplished), and "elapsed" (the primitive steps of the
    episode so far).

    Example:
        >>> env = SkillEnv("out/0.skills", "true", primitives=True)
        >>> observation, info = env.reset(seed=0)
    """

    def __init__(
        self,
        skills: Skills | str | Path,
        task: AnyTask = "true",
        *,
        primitives: bool = False,
        gamma: float = 0.99,
        observation: str = "multi-discrete",
        render_mode: str | None = None,
        start: Start = None,
    ) -> None:
        """Make the environment.

        Args:
            skills: Skills, or a file of them.
            task: A task; or the reward to pay for the world's own task, "true" or "proxy", or that
                task's name; or None for no task. In a world without a table, a task of your own is
                a function that says whether a state, {variable: value}, accomplishes it.
            primitives: Whether the world's actions can be chosen too.
            gamma: Discount per primitive step, for "discount" in the info.
            observation: "multi-discrete" or "dict".
            render_mode: None, "ansi" or "rgb_array".
            start: A state as value indices, "random", or None for the task's start.

        Raises:
            UserError: If an argument is unknown or does not fit the world.
        """
        self.skills = skills = load_skills(skills)
        self._discounts = discounts(skills, gamma)
        super().__init__(
            skills.world, episodes_of(skills, task, start, 1, primitives), observation=observation,
            render_mode=render_mode, spec_id="skillfocus/Skills-v0",
            factory=EnvFactory(type(self), skills, task),
            settings={"primitives": primitives, "gamma": gamma, "start": start},
        )  # fmt: skip

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Follow one skill or primitive action; see the class for rewards, ends and info."""
        observation, reward, terminated, truncated, info = self._follow(action)
        now, skill = self._episodes, int(action)
        steps = int(now.steps[0])
        is_skill = skill < len(self.skills)
        self._last_targets = self.skills.targets[skill] if is_skill else ()
        info |= {
            "steps": steps,
            "discount": float(self._discounts[steps]),
            "skill": skill if is_skill else -1,
            "targets": self._last_targets,
            "path": [tuple(state) for state in now.path_values[0, : steps + 1].tolist()],
            "elapsed": int(now.elapsed[0]),
        }
        return observation, reward, terminated, truncated, info


def load_skills(skills: Skills | str | Path) -> Skills:
    """Return `skills`, read from a file if it is a path."""
    if isinstance(skills, str | Path):
        return Skills.load(skills)
    return skills


def discounts(skills: Skills, gamma: float) -> np.ndarray:
    """Return float64 [step_limit + 1]: gamma to the power of the number of steps."""
    if not 0 < gamma <= 1:
        raise UserError(f"gamma must be in (0, 1], got {gamma}")
    return gamma ** np.arange(skills.step_limit + 1, dtype=np.float64)
