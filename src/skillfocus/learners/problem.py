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
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from skillfocus.errors import UserError
from skillfocus.files import package_versions
from skillfocus.mdp import TabularMDP, tabulate
from skillfocus.objectives.kinds import Assignment, SkillLayout, lay_out
from skillfocus.objectives.objective import (
    Discriminator,
    Objective,
    Representation,
    TemporalRepresentation,
)
from skillfocus.objectives.variants import PathPenalty, StatePenalty
from skillfocus.progress import Progress
from skillfocus.skills.continuous import ContinuousSkills
from skillfocus.skills.intrinsic_reward import IntrinsicReward
from skillfocus.skills.policy import Policy
from skillfocus.world import World, check_step_limit
from skillfocus.worlds.continuous import ContinuousBase


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


# --------------------
#
# Discovery in continuous worlds: what a learner is asked, and the skills that come of it


@dataclass(frozen=True, eq=False)
class ContinuousProblem:
    """What a learner is asked: to learn these skills in this continuous world.

    Attributes:
        world: The world to act in.
        objective: What skills are rewarded for.
        layout: The components of the skills.
        step_limit: How many steps a skill takes.
    """

    world: ContinuousBase
    objective: Objective
    layout: SkillLayout
    step_limit: int


def make_continuous_problem(
    world: ContinuousBase,
    objective: Objective,
    *,
    n_skills: int | None = None,
    targets: Any = None,
    step_limit: int | None = None,
) -> ContinuousProblem:
    """Build the learning problem. Arguments are those of `discover`.

    Raises:
        UserError: If objective, targets and world do not fit together.
    """
    limit = world.step_limit if step_limit is None else step_limit
    check_step_limit(limit)
    _check_objective(objective)
    layout = lay_out(world.space, objective, targets, n_skills, world.goals)
    return ContinuousProblem(world, objective, layout, limit)


def _check_objective(objective: Objective) -> None:
    """Raise `UserError` for objectives that have no meaning without a table of values."""
    reward, penalty = objective.reward, objective.penalty
    if not isinstance(reward.estimate, Discriminator | Representation | TemporalRepresentation):
        raise UserError(
            f"{objective.name} looks values up in a table, and continuous variables have none: use "
            f"vic, diayn, lsd or metra, or focused and dusdi variants of them"
        )
    if reward.timing == "transition" and isinstance(reward.estimate, Discriminator):
        raise UserError(f"{objective.name} discriminates transitions; actors judge states alone")
    if reward.estimate.learns_prior:
        raise UserError(f"{objective.name} learns a prior, which actors do not: leave it uniform")
    if isinstance(penalty, StatePenalty | PathPenalty) or (
        penalty is not None and penalty.name == "changed-variables"
    ):
        raise UserError(
            f"{penalty.name} needs variables with finitely many values: use weighted_norm()"
        )
    if penalty is not None and penalty.auto:
        raise UserError(
            "strength='auto' compares with the best possible, which needs a table of states: give "
            "a number"
        )
    if penalty is not None and penalty.baseline != "start":
        raise UserError(
            f"actors compare with the start, not with {penalty.baseline}: use baseline='start'"
        )


def continuous_method(world: ContinuousBase, learner: Learner) -> Callable[..., dict[str, Any]]:
    """Return the method with which a learner learns in continuous worlds.

    Raises:
        UserError: If it has none.
    """
    learn = getattr(learner, "learn_continuous", None)
    if learn is None:
        world.refuse_tables()
    return learn


def discover_continuous(
    world: ContinuousBase,
    objective: Objective,
    seed: int,
    learner: Learner,
    n_skills: int | None,
    targets: Any,
    step_limit: int | None,
    progress: Progress,
) -> ContinuousSkills:
    """Discover skills in a continuous world; see `discover`.

    Raises:
        UserError: If the learner needs a table, or an argument is wrong.
    """
    learn = continuous_method(world, learner)
    problem = make_continuous_problem(
        world, objective, n_skills=n_skills, targets=targets, step_limit=step_limit
    )
    weights = learn(problem, np.random.default_rng(seed), progress)
    return as_skills(problem, weights, learner, seed)


def as_skills(
    problem: ContinuousProblem, weights: dict[str, Any], learner: Learner, seed: int
) -> ContinuousSkills:
    """Return learned weights as skills that know where they came from."""
    info: dict[str, object] = {
        "objective": problem.objective.to_dict(),
        "learner": learner_settings(learner),
        "seed": int(seed),
        "versions": package_versions(),
    }
    return ContinuousSkills(
        problem.world, problem.objective, problem.layout, weights, problem.step_limit, info
    )
