"""`WorldEnv`: a world as a Gymnasium environment, one primitive move per step.

Actions        the world's moves, numbered
Observations   the state's value indices: "multi-discrete", one array in the order of the
               variables, or "dict", one number per variable
Start          the task's first state; without a task one of `world.states()`, all equally likely;
               `start` and `reset(options={"state": …})` say otherwise
Reward         1 when a state is entered in which the task is accomplished, else 0
End            terminated when the task is accomplished, or where a found world's episodes end;
               truncated at the task's cap; without a task never truncated
Info           "success" after a step: whether the true task is accomplished, whatever was paid for
"""

from __future__ import annotations

from typing import Any

from skillfocus.core.mdp import TabularMDP, tabulate
from skillfocus.core.world import World
from skillfocus.envs.base import Again, OneEpisode
from skillfocus.envs.goal import Start, goal_of
from skillfocus.errors import UserError
from skillfocus.tasks.task import Task
from skillfocus.worlds.registry import make


class WorldEnv(OneEpisode):
    def __init__(
        self,
        world: World | str,
        task: Task | str | None = None,
        *,
        observation: str = "multi-discrete",
        render_mode: str | None = None,
        start: Start = None,
        mdp: TabularMDP | None = None,
        **settings: object,
    ) -> None:
        """`world` is a world, or the name of one with its settings (slip=0.0, …), as `make` takes
        them. `task` is a task, or says how the paper's task in this world is paid: "true" or
        "proxy". `mdp` spares tabulating the world once more."""
        if isinstance(world, str):
            world = make(world, **settings)
        elif settings:
            raise UserError(f"{world.id} is made already: give it {', '.join(settings)} itself")
        mdp = mdp or tabulate(world)
        if mdp.space != world.space:
            raise UserError(f"the table is not of {world.id}: pass tabulate(world), or none")
        super().__init__(
            world, mdp, goal_of(world, mdp, task, start), skills=None, primitives=True,
            observation=observation, render_mode=render_mode, spec_id="skillfocus/World-v0",
            again=Again(type(self), world, task, mdp=mdp), settings={"start": start},
        )  # fmt: skip

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self._play(action)
