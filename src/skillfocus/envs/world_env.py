"""`WorldEnv`: a world as a Gymnasium environment."""

from __future__ import annotations

from skillfocus.envs.episodes import Episodes, Start
from skillfocus.envs.skill_env import EnvFactory, SingleEpisodeEnv
from skillfocus.errors import UserError
from skillfocus.mdp import TabularMDP, tabulate
from skillfocus.tasks.task import Task
from skillfocus.world import World, check_declared
from skillfocus.worlds.registry import make


class WorldEnv(SingleEpisodeEnv):
    """A world as a Gymnasium environment, one primitive action per step.

    ## Description
    The agent acts in a factored world and, if there is a task, is rewarded for accomplishing it.

    ## Action space
    `Discrete(n_actions)`: the world's actions, in the order of `world.actions`.

    ## Observation space
    The state's value indices. "multi-discrete": one int64 array in the order of the variables.
    "dict": one number per variable, by name.

    ## Starting state
    The task's start; without a task, one of `world.states()` that does not end the episode, drawn
    uniformly. `start` and `reset(options={"state": …})` override it.

    ## Rewards
    1 when a state is entered in which the task is accomplished, by its true or its proxy reward;
    otherwise 0. Without a task, always 0.

    ## Episode end
    Terminated when the reward is paid, or in a final state of an explored world. Truncated after
    the task's `max_episode_steps`; never without a task.

    ## Info
    After a step, "success": whether the true task is accomplished, whichever reward is paid.

    Example:
        >>> env = WorldEnv("four-rooms", "true", slip=0.0)
        >>> observation, info = env.reset(seed=0)
    """

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
        """Make the environment.

        Args:
            world: A world, or the name of one as `sf.make` takes it.
            task: A task; or the reward to pay for the world's own task, "true" or "proxy", or that
                task's name; or None for no task.
            observation: "multi-discrete" or "dict".
            render_mode: None, "ansi" or "rgb_array".
            start: A state as value indices, "random", or None for the task's start.
            mdp: The world's MDP, to save tabulating it again.
            **settings: Settings of a world given by name, such as `slip=0.0`.

        Raises:
            UserError: If an argument is unknown or does not fit the world.
        """
        if isinstance(world, str):
            world, settings = make(world, **settings), {}
        check_declared(world)
        if settings:
            raise UserError(
                f"{world.id} is already made: pass {', '.join(settings)} where you make it"
            )
        mdp = mdp or tabulate(world)
        if mdp.space != world.space:
            raise UserError(f"the MDP is not of {world.id}: pass mdp=tabulate(world), or none")
        self._set_up(world, Episodes(world, mdp, task, start, 1), observation, render_mode)
        self._specify(
            "skillfocus/World-v0", EnvFactory(type(self), world, task, mdp=mdp),
            start=start, observation=observation,
        )  # fmt: skip
