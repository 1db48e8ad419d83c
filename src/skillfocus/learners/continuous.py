"""Discovery in continuous worlds: what a learner is asked, and the skills that come of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skillfocus.core.world import check_step_limit
from skillfocus.errors import UserError
from skillfocus.learners.base import Learner, learner_settings
from skillfocus.objectives.estimates import Discriminator, Representation, TemporalRepresentation
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.penalties import PathPenalty, StatePenalty
from skillfocus.objectives.skill_layout import SkillLayout, lay_out
from skillfocus.progress import Progress
from skillfocus.skills.continuous.skills import ContinuousSkills
from skillfocus.versions import package_versions
from skillfocus.worlds.continuous import ContinuousBase


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
