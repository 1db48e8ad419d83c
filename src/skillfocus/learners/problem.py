"""What a learner is: a problem in, policies out.

A learner is a frozen dataclass of settings with a `name` and a method `learn`. `discover` and
everything behind it know no more than this, so a learner of your own works everywhere:

    @dataclass(frozen=True)
    class MyLearner(Learner):
        name: str = "mine"

        def learn(self, problem, rng, progress):
            return Learned(policies=...)

    skills = sf.discover(world, objective, seed=0, learner=MyLearner())
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from skillfocus.errors import UserError
from skillfocus.mdp import TabularMDP, tabulate, uninfluenced
from skillfocus.objectives.kinds import SkillKinds, Targets, group_skills, make_kinds
from skillfocus.objectives.objective import Objective, TemporalRepresentation
from skillfocus.progress import Progress
from skillfocus.skills.intrinsic_reward import IntrinsicReward
from skillfocus.skills.policy import Policy
from skillfocus.world import World, check_step_limit
from skillfocus.worlds.jax.world import JaxWorld
from skillfocus.worlds.registry import is_built_in


@dataclass(frozen=True, eq=False)
class Problem:
    """What a learner is asked: to learn these skills in this world for this objective.

    Attributes:
        world: The world to act in.
        objective: What skills are rewarded for.
        kinds: The skills by kind or, if skills have several modes, all modes, one skill's after
            another's.
        modes: Per skill, how many modes it has.
        step_limit: Most steps a skill may take.
        known_mdp: The world's tabular MDP, if it has been made already.
    """

    world: World
    objective: Objective
    kinds: SkillKinds
    modes: tuple[int, ...]
    step_limit: int
    known_mdp: TabularMDP | None = field(default=None, repr=False)

    @cached_property
    def mdp(self) -> TabularMDP:
        """The world's tabular MDP, made when a learner asks for it."""
        return self.known_mdp or tabulate(self.world)

    @property
    def first_modes(self) -> list[int]:
        """Per skill, the place of its first mode among the modes of all."""
        return np.cumsum((0, *self.modes[:-1])).tolist()

    @cached_property
    def skills(self) -> SkillKinds:
        """The skills by kind, each as its first mode."""
        if len(self.modes) == len(self.kinds):
            return self.kinds
        return group_skills([self.kinds.skills[mode] for mode in self.first_modes])

    @property
    def rate(self) -> float:
        """Learning rate of the objective's estimate."""
        return self.objective.reward.estimate.rate


def make_problem(
    world: World,
    objective: Objective,
    *,
    n_skills: int | None = None,
    targets: Targets | None = None,
    step_limit: int | None = None,
    mdp: TabularMDP | None = None,
) -> Problem:
    """Build the learning problem. Arguments are those of `discover`.

    By default, variables that no action influences get no skills. Built-in worlds have none, so
    they are not tabulated to find out.

    Raises:
        UserError: If objective, targets and world do not fit together.
    """
    if isinstance(objective.reward.estimate, TemporalRepresentation) and world.space.is_finite:
        raise UserError(
            f"{objective.name} measures time with a network, for worlds with real-valued variables "
            f"such as two-rooms: use lsd in {world.id}"
        )
    if mdp is not None and mdp.space != world.space:
        raise UserError(f"mdp is not of {world.id}: pass mdp=tabulate(world), or none")
    left_out: tuple[str, ...] = ()
    if targets is None and objective.targeted and world.has_table and not is_built_in(world):
        mdp = tabulate(world) if mdp is None else mdp
        left_out = uninfluenced(mdp)
    kinds = make_kinds(world, objective, n_skills, targets, left_out)
    limit = world.step_limit if step_limit is None else step_limit
    check_step_limit(limit)
    modes = (1,) * len(kinds)
    if objective.modes == "scattered":
        kinds, modes = kinds.split(world.space)
    return Problem(world, objective, kinds, modes, limit, mdp)


OnMetrics = Callable[[dict[str, float]], None]
"""What a network's training reports to; see `Neural.on_metrics`."""


class Learned(NamedTuple):
    """What a learner returns.

    Attributes:
        policies: The policies of all skills.
        intrinsic_reward: What they were rewarded for when learning ended, if that can be stored.
    """

    policies: Policy
    intrinsic_reward: IntrinsicReward | None = None


class Learner(Protocol):
    """Settings of a way to learn skills. Implementations are frozen dataclasses.

    Attributes:
        name: Name in files, tables and on the command line.
    """

    name: str

    @abstractmethod
    def learn(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Learned:
        """Learn the skills of a problem.

        Args:
            problem: What to learn.
            rng: Source of every random draw: equal generators give equal policies, bit for bit.
            progress: Progress callback.
        """
        ...

    def check(self, problem: Problem) -> None:
        """Raise a `UserError` if it cannot learn a problem, before anything is computed."""


def check_own_world(world: World) -> None:
    """Check a JAX world that is not built in before networks train in it for minutes.

    Raises:
        UserError: If values are out of range, or functions return something of another shape.
    """
    if isinstance(world, JaxWorld) and world.mdp is None and not is_built_in(world):
        from skillfocus.worlds.jax.checking import check_rollouts  # it imports JAX

        check_rollouts(world)


def learner_settings(learner: Learner) -> dict[str, object]:
    """Return the settings of a learner that decide results."""
    if not is_dataclass(learner):
        return {"name": learner.name}
    return {
        each.name: getattr(learner, each.name)
        for each in fields(learner)
        if not each.metadata.get("volatile")
    }
