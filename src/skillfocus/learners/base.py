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
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.tabulation import tabulate
from skillfocus.core.world import World
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.targets import Assignment
from skillfocus.progress import Progress
from skillfocus.skills.intrinsic_reward import IntrinsicReward
from skillfocus.skills.policy import Policy


@dataclass(frozen=True, eq=False)
class Problem:
    """What a learner is asked: to learn these skills in this world for this objective.

    Attributes:
        world: The world to act in.
        objective: What skills are rewarded for.
        assignment: Targets of every skill or, if skills have several modes, of every mode, one
            skill's after another's.
        modes: Per skill, how many modes it has.
        step_limit: Most steps a skill may take.
        known_mdp: The world's tabular MDP, if it has been made already.
    """

    world: World
    objective: Objective
    assignment: Assignment
    modes: tuple[int, ...]
    step_limit: int
    known_mdp: TabularMDP | None = field(default=None, repr=False)

    @cached_property
    def mdp(self) -> TabularMDP:
        """The world's tabular MDP, made when a learner asks for it."""
        return self.known_mdp or tabulate(self.world)

    @property
    def rate(self) -> float:
        """Learning rate of the objective's estimate."""
        return self.objective.reward.estimate.rate


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

    def check(self, problem: Problem) -> None:
        """Validate a problem before learning; raise `UserError` if it cannot be learned."""

    @abstractmethod
    def learn(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Learned:
        """Learn the skills of a problem.

        Args:
            problem: What to learn.
            rng: Source of every random draw: equal generators give equal policies, bit for bit.
            progress: Progress callback.
        """
        ...


def learner_settings(learner: Learner) -> dict[str, object]:
    """Return the settings of a learner that decide results."""
    if not is_dataclass(learner):
        return {"name": learner.name}
    return {
        each.name: _plain(getattr(learner, each.name))
        for each in fields(learner)
        if not each.metadata.get("volatile")
    }


def _plain(value: object) -> object:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
