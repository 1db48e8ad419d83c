"""The run behind `discover` and every sweep: discover skills, measure what they do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np
import polars as pl

from skillfocus.core.mdp import TabularMDP, tabulate
from skillfocus.core.progress import Progress
from skillfocus.core.world import World
from skillfocus.errors import UserError, unknown
from skillfocus.learners.discovery import Learner, check_assignment, discover
from skillfocus.learners.tabular.planning import Planning
from skillfocus.learners.tabular.problem import check_size, check_step_limit
from skillfocus.metrics.coverage import coverage
from skillfocus.metrics.summary import overall, records_of, rows_of, skill_records
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.registry import make_objective
from skillfocus.objectives.targets import Assignment, parse_targets
from skillfocus.runs.run import Result, Row, Run, Setting, flatten, settings_of
from skillfocus.skills.skills import Skills
from skillfocus.worlds.registry import WORLD_IDS, make

PLANNING = Planning()


@dataclass(frozen=True)
class Discovery(Run):
    """Named by names and numbers alone, so that any worker can do it and any reader tell what it
    was. None stands for the default of world, objective or paper; a mistake is an error at once."""

    world: str
    objective: str
    seed: int
    learner: Learner = PLANNING
    skills: int | None = None
    targets: str | None = None
    """Such as `tool_1=2,position=4`."""
    rate: float | None = None
    strength: float | None = None
    weight: float | None = None
    step_limit: int | None = None
    world_settings: str = "{}"
    """The world's arguments as JSON."""
    coverage: bool = False
    """Measure the coverage of skill chains too."""

    version = 4

    def __post_init__(self) -> None:
        self.assignment()
        if self.seed < 0:
            raise UserError(f"seed is {self.seed}; it must be 0 or more")
        if self.step_limit is not None:
            check_step_limit(self.step_limit)

    def make_world(self) -> World:
        return cached_world(self.world, self.world_settings)

    def make_mdp(self) -> TabularMDP:
        return cached_mdp(self.world, self.world_settings)

    def make_objective(self) -> Objective:
        return make_objective(
            self.objective, rate=self.rate, strength=self.strength, weight=self.weight
        )

    def assignment(self) -> Assignment:
        return check_assignment(
            self.make_world(), self.make_objective(), self.skills, parse_targets(self.targets)
        )

    def settings(self) -> dict[str, Setting]:
        """With every default filled in, so that a run that names a default is the same run."""
        world, objective = self.make_world(), self.make_objective()
        learner = flatten(self.learner)
        return {
            "world": world.id,
            "world_settings": json.dumps(self._world_settings(world), sort_keys=True),
            "objective": self.objective,
            "learner": learner.pop("name"),
            "skills": len(self.assignment()),
            "targets": self.targets and json.dumps(parse_targets(self.targets)),
            "step_limit": world.step_limit if self.step_limit is None else self.step_limit,
            "rate": float(objective.rate_for(world.id)),
            "strength": None if objective.penalty is None else float(objective.penalty.strength),
            "weight": float(objective.others_weight) if "dusdi-" in self.objective else None,
            **learner,
            "coverage": self.coverage,
            "seed": self.seed,
        }

    def check_size(self) -> None:
        """Say now what would be refused once the run has begun."""
        objective = self.make_objective()
        if self.learner.uses_context(objective):
            check_size(self.make_mdp(), objective, self.assignment())

    def _world_settings(self, world: World) -> dict[str, object]:
        """What is not as usual in a built-in world. Others may change without their name changing,
        so of them also what they are now."""
        if type(world) is WORLD_IDS.get(world.id):
            usual = cached_world(world.id, "{}").settings
            return {key: value for key, value in world.settings.items() if value != usual[key]}
        return {**world.settings, "fingerprint": self.make_mdp().fingerprint[:16]}

    def unusual(self) -> dict[str, Setting]:
        """The settings that are not the usual ones of this world, objective and learner."""
        learner = type(self.learner)()
        usual = settings_of(
            Discovery(
                self.world, self.objective, self.seed, learner, world_settings=self.world_settings
            )
        )
        mine = settings_of(self)
        different = {name: v for name, v in mine.items() if v != usual[name]}
        world = json.loads(self.world_settings)
        if mine["world"] in WORLD_IDS:
            world = {k: v for k, v in world.items() if k in str(mine["world_settings"])}
        return (
            {"world_settings": json.dumps(world, sort_keys=True), **different}
            if world
            else different
        )

    @property
    def label(self) -> str:
        """World, objective, learner, whatever is not as usual, seed."""
        names = [self.make_world().id, self.objective, self.learner.name]
        return "_".join([*names, *written(self.unusual()), f"seed{self.seed}"])

    def metrics(self) -> list[str]:
        """The metrics of such a run, those of whole runs first."""
        names = self.make_world().space.names
        parts = ["changes_target", "side_effects", "steps", "starts", "exact"]
        for metric in ("side_effects_by_variable", "mean_change_by_variable"):
            parts += [f"{metric}/{name}" for name in names]
        return [
            *("focus", "control", "mean_side_effects"),
            *(("auc", "coverage", "coverage_exact") if self.coverage else ()),
            *parts,
            *(f"all_starts/{p}" for p in parts),
        ]

    def execute(self, report: Progress) -> Result:
        skills = discover(
            self.make_world(), self.make_objective(), seed=self.seed, learner=self.learner,
            n_skills=self.skills, targets=parse_targets(self.targets),
            step_limit=self.step_limit, mdp=self.make_mdp(),
            progress=lambda fraction, what: report(0.8 * fraction, what),
        )  # fmt: skip
        return Result(self.measure(skills, report), skills.to_bytes())

    def measure(self, skills: Skills, report: Progress) -> list[Row]:
        report(0.8, "measuring side effects")
        records = skill_records(skills)
        rows = [*rows_of(records), *overall(records)]
        if self.coverage:
            report(0.9, "measuring coverage")
            found = coverage(skills, rng=np.random.default_rng(0))
            rows += [("coverage", n + 1, float(c)) for n, c in enumerate(found.curve)]
            rows += [("coverage_exact", None, float(found.exact)), ("auc", None, found.auc)]
        return rows

    def record(self, frame: pl.DataFrame) -> dict[str, object]:
        """The JSON record of this run, from a frame that holds it."""
        settings = settings_of(self)
        names = self.make_world().space.names
        targets = [[names[i] for i in sorted(skill)] for skill in self.assignment().skills]
        mine = frame.filter(pl.col("run") == self.id).select("metric", "step", "value")
        by_skill = mine.filter(pl.col("metric") != "coverage")
        covered: dict[str, object] = {}
        if self.coverage:
            whole = dict(
                mine.filter(pl.col("step").is_null()).select("metric", "value").iter_rows()
            )
            covered = {
                "coverage": mine.filter(pl.col("metric") == "coverage")["value"].to_list(),
                "auc": whole["auc"],
                "coverage_exact": bool(whole["coverage_exact"]),
            }
        return {
            **{key: settings[key] for key in ("world", "objective", "strength", "learner", "seed")},
            "settings": settings,
            "unusual": self.unusual(),
            "skills": records_of(by_skill.iter_rows(), targets),
            **covered,
        }

    def setting_types(self) -> dict[str, tuple[str, ...]]:
        """What can be `changed`, this run's settings and its learner's, and to which types."""
        own = {field.name: field.type for field in fields(self)}
        del own["learner"]
        learners = {field.name: field.type for field in fields(self.learner)}
        del learners["name"]
        return {name: tuple(str(kind).split(" | ")) for name, kind in (own | learners).items()}

    def check_setting(self, name: str) -> None:
        if name not in self.setting_types():
            raise unknown("setting", name, self.setting_types())

    def changed(self, changes: Mapping[str, Setting]) -> Discovery:
        """A copy with other settings, by their names."""
        types = self.setting_types()
        for name, value in changes.items():
            self.check_setting(name)
            if type(value).__name__ not in types[name] and not (
                type(value) is int and "float" in types[name]
            ):
                raise UserError(f"{name} cannot be {value!r}; it is of type {types[name][0]}")
        own = {field.name for field in fields(self)}
        learner = replace(self.learner, **{n: v for n, v in changes.items() if n not in own})  # pyright: ignore[reportArgumentType]
        return replace(self, learner=learner, **{n: v for n, v in changes.items() if n in own})  # pyright: ignore[reportArgumentType]


def written(settings: Mapping[str, Setting]) -> list[str]:
    """`rounds=3`, `gamma=0.95`, …"""
    return [
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in settings.items()
    ]


@lru_cache(maxsize=8)
def cached_world(name: str, settings: str) -> World:
    try:
        arguments = json.loads(settings)
    except json.JSONDecodeError:
        arguments = None
    if not isinstance(arguments, dict):
        raise UserError(f"world_settings are {settings!r}; they must be a JSON object")
    return make(name, **arguments)


@lru_cache(maxsize=4)
def cached_mdp(name: str, settings: str) -> TabularMDP:
    return tabulate(cached_world(name, settings))
