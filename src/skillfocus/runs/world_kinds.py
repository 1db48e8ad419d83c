"""Checks and measurements of a discovery run in a finite or a continuous world.

`Finite` and `Continuous` have the same interface, so `Discovery` does not distinguish them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from skillfocus.core.progress import Progress
from skillfocus.errors import UserError
from skillfocus.learners.base import Problem
from skillfocus.learners.continuous import (
    ContinuousProblem,
    continuous_method,
    make_continuous_problem,
)
from skillfocus.learners.discovery import assign_by_default, make_problem
from skillfocus.learners.forecast import Forecast
from skillfocus.metrics.continuous import DIRECTIONS, continuous_records
from skillfocus.metrics.coverage import coverage
from skillfocus.metrics.summary import overall, rows_of, skill_records
from skillfocus.objectives.skill_layout import ContinuousTargets
from skillfocus.objectives.target_text import parse_continuous_targets, parse_targets
from skillfocus.objectives.target_values import reaches_values, value_labels
from skillfocus.objectives.targets import Assignment, Targets
from skillfocus.runs.run import Row
from skillfocus.skills.continuous.choosing import choices
from skillfocus.skills.continuous.skills import ContinuousSkills
from skillfocus.skills.skills import Skills
from skillfocus.worlds.continuous import ContinuousBase

if TYPE_CHECKING:
    from skillfocus.runs.discovery_run import Discovery


class Finite:
    """A discovery in a world whose variables have finitely many values.

    Attributes:
        metrics: Metrics of every skill.
        groups: Further sets of starts for which they are measured.
    """

    metrics = (
        "changes_target", "changes_alone", "best_possible", "avoidable", "side_effects", "steps",
        "starts", "exact",
    )  # fmt: skip
    groups = ("all_starts",)

    def __init__(self, run: Discovery) -> None:
        self.run = run

    def check(self) -> None:
        """Raise `UserError` if world, objective and targets are incompatible."""
        self.assignment()

    def assignment(self) -> Assignment:
        """Return the targets of every skill."""
        run = self.run
        return assign_by_default(
            run.make_world(), run.make_objective(), run.skills, self.parsed_targets(), run.make_mdp
        )

    def parsed_targets(self) -> Targets | None:
        """Return the targets as an argument of `discover`."""
        return parse_targets(self.run.targets)

    def targets(self) -> list[list[str]]:
        """Return the names of every skill's targets, in the order of its measurements."""
        names = self.run.make_world().space.names
        return [[names[i] for i in sorted(skill)] for skill in self.assignment().skills]

    def stored_targets(self) -> str | None:
        """Return the targets as stored in the settings."""
        return self.run.targets and json.dumps(self.parsed_targets())

    def values_reached(self) -> list[str] | None:
        """Return the value that each skill should reach, if the objective specifies one."""
        if not reaches_values(self.run.make_objective()):
            return None
        return value_labels(self.run.make_world().space, self.assignment())

    def check_size(self) -> None:
        """Raise `UserError` if the policies would be too large."""
        self.run.learner.check(self._problem())

    def forecast(self) -> Forecast | None:
        """Return the expected cost of learning; None if unknown."""
        return self.run.learner.forecast(self._problem())

    def _problem(self) -> Problem:
        run = self.run
        return make_problem(
            run.make_world(), run.make_objective(), n_skills=run.skills,
            targets=self.parsed_targets(), step_limit=run.step_limit, mdp=run.make_mdp(),
        )  # fmt: skip

    def measure(self, skills: Skills, progress: Progress) -> list[Row]:
        """Return the result table of discovered skills."""
        progress(0.8, "measuring side effects")
        records = skill_records(skills)
        rows = [*rows_of(records), *overall(records)]
        if self.run.coverage:
            progress(0.9, "measuring coverage")
            result = coverage(skills, rng=np.random.default_rng(0))
            rows += [("coverage", n + 1, float(c)) for n, c in enumerate(result.curve)]
            rows += [("coverage_exact", None, float(result.exact)), ("auc", None, result.auc)]
        return rows


class Continuous:
    """A discovery in a world with continuous variables and actions.

    Attributes:
        metrics: Metrics of every skill.
        groups: Further sets of starts for which they are measured.
    """

    metrics = ("changes_target", "side_effects", "exceeds", "steps", "starts", "exact")
    groups = ("all_starts", "settled")

    def __init__(self, run: Discovery, world: ContinuousBase) -> None:
        self.run, self.world = run, world

    def check(self) -> None:
        """Raise `UserError` if world, objective and targets are incompatible."""
        self._problem()
        continuous_method(self.world, self.run.learner)
        if self.run.coverage:
            raise UserError("coverage counts states, and continuous worlds have too many")

    def _problem(self) -> ContinuousProblem:
        run = self.run
        return make_continuous_problem(
            self.world, run.make_objective(), n_skills=run.skills,
            targets=self.parsed_targets(), step_limit=run.step_limit,
        )  # fmt: skip

    def parsed_targets(self) -> ContinuousTargets | None:
        """Return the targets as an argument of `discover`."""
        return parse_continuous_targets(self.run.targets)

    def targets(self) -> list[list[str]]:
        """Return the names of every skill's targets, in the order of its measurements."""
        names = self.world.space.names
        return [
            [] if slot.variable is None else [names[slot.variable]]
            for slot in self._problem().layout.slots
            for _ in choices(slot.component, DIRECTIONS)
        ]

    def stored_targets(self) -> str | None:
        """Return the targets as stored in the settings."""
        return json.dumps(self._problem().layout.describe(self.world.space))

    def values_reached(self) -> list[str] | None:
        """Return the value that each skill should reach, if the objective specifies one."""
        return None

    def check_size(self) -> None:
        """Raise `UserError` if the policies would be too large."""

    def forecast(self) -> Forecast | None:
        """Return the expected cost of learning; None if unknown."""
        return None

    def measure(self, skills: Skills, progress: Progress) -> list[Row]:
        """Return the result table of discovered skills."""
        progress(0.8, "measuring side effects")
        assert isinstance(skills, ContinuousSkills)
        records = continuous_records(skills)
        return [*rows_of(records), *overall(records)]
