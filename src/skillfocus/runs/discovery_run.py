"""`Discovery`: the run behind `discover` and every sweep. It discovers skills and measures them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace

import polars as pl

from skillfocus._internal.checks import check_fields
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.progress import Progress, part_of
from skillfocus.core.seeds import check_seed
from skillfocus.core.world import World, check_step_limit
from skillfocus.errors import UserError, unknown
from skillfocus.learners.base import Learner
from skillfocus.learners.discovery import discover
from skillfocus.learners.forecast import Forecast
from skillfocus.learners.registry import as_learner
from skillfocus.learners.tabular.planning import Planning
from skillfocus.metrics.summary import records_of, with_values
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.presets import learning_rate
from skillfocus.objectives.registry import named_objective, own_objective_digest
from skillfocus.objectives.targets import Assignment
from skillfocus.runs.run import Result, Row, Run, Setting, flatten, settings_of
from skillfocus.runs.world_cache import cached_mdp, cached_world
from skillfocus.runs.world_kinds import Continuous, Finite
from skillfocus.skills.skills import Skills
from skillfocus.skills.tables import fingerprint, has_table
from skillfocus.worlds.continuous import ContinuousBase
from skillfocus.worlds.registry import WORLD_IDS, is_built_in

PLANNING = Planning()
"""The default learner."""


@dataclass(frozen=True)
class Discovery(Run):
    """One discovery of skills: a world, an objective, a learner and a seed.

        run = Discovery("four-rooms", "focused-vic", seed=0, strength=2.0)
        run_all([run], store)

    All fields are names and numbers (the learner is a dataclass of them), so that any worker can
    execute the run and any reader can tell what it was. None stands for the default of the world,
    the objective or the paper. Invalid fields raise `UserError` when the run is made.

    Attributes:
        world: A world's name, as for `make`.
        objective: An objective's name, such as `focused-vic` or `focused-my.py:rotate`.
        seed: Seed of the discovery, at least 0.
        learner: The learner, or its name; a dataclass, whose fields are settings of the run.
        skills: Number of skills.
        targets: Which skills target what, such as `tool_1=2,position=4`.
        rate: Weight of the discriminator's moving average, or LSD's step size.
        strength: Strength of the penalty for side effects.
        weight: DUSDi's weight on the other variables.
        prior: Probability of each skill under nu.
        step_limit: Maximum number of steps of a skill.
        world_settings: The world's arguments as a JSON object.
        coverage: Whether to measure the coverage of skill chains too.
        baseline: What the penalty compares with (`focused`).
        penalty: Name of the penalty, such as `path-norm`.
    """

    world: str
    objective: str
    seed: int
    learner: Learner = PLANNING
    skills: int | None = None
    targets: str | None = None
    rate: float | None = None
    strength: float | None = None
    weight: float | None = None
    prior: float | None = None
    step_limit: int | None = None
    world_settings: str = "{}"
    coverage: bool = False
    baseline: str | None = field(default=None, metadata={"stored": "unless default"})
    penalty: str | None = field(default=None, metadata={"stored": "unless default"})

    version = 5

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "learner", as_learner(self.learner))
        check_seed(self.seed)
        self.kind.check()
        if self.step_limit is not None:
            check_step_limit(self.step_limit)

    # ---------------------------------------------------------------- what it is made of

    def make_world(self) -> World:
        """Return the world."""
        return cached_world(self.world, self.world_settings)

    @property
    def kind(self) -> Finite | Continuous:
        """What depends on the kind of the world: finite or continuous."""
        world = self.make_world()
        return Continuous(self, world) if isinstance(world, ContinuousBase) else Finite(self)

    def make_mdp(self) -> TabularMDP | None:
        """Return the world's table; None if it has none."""
        if not has_table(self.make_world()):
            return None
        return cached_mdp(self.world, self.world_settings)

    def make_objective(self) -> Objective:
        """Return the objective with this run's settings."""
        return named_objective(
            self.objective, rate=self.rate, strength=self.strength, weight=self.weight,
            prior=self.prior, baseline=self.baseline, penalty=self.penalty,
        )  # fmt: skip

    def assignment(self) -> Assignment:
        """Return which skill targets what, in a finite world."""
        return Finite(self).assignment()

    def check_size(self) -> None:
        """Raise `UserError` now for policies that would be too large to learn."""
        self.kind.check_size()

    def forecast(self) -> Forecast | None:
        """Return what learning will cost; None if that is not known."""
        return self.kind.forecast()

    # ---------------------------------------------------------------- execution

    def execute(self, progress: Progress, /) -> Result:
        """Discover the skills and measure them."""
        skills = discover(
            self.make_world(), self.make_objective(), seed=self.seed, learner=self.learner,
            n_skills=self.skills, targets=self.kind.parsed_targets(),  # pyright: ignore[reportArgumentType]
            step_limit=self.step_limit, mdp=self.make_mdp(), progress=part_of(progress, 0.0, 0.8),
        )  # fmt: skip
        rows = self.measure(skills, progress)
        return Result(rows, skills.to_bytes() if self.keeps_skills else None)

    @property
    def keeps_skills(self) -> bool:
        """Whether the skills are stored beside the results."""
        return True

    def measure(self, skills: Skills, progress: Progress, /) -> list[Row]:
        """Return the result table of discovered skills."""
        return self.kind.measure(skills, progress)

    def metrics(self) -> list[str]:
        """Return the names of all metrics that such a run has, those of the whole run first."""
        kind, names = self.kind, self.make_world().space.names
        per_skill = [
            *kind.metrics,
            *(f"side_effects_by_variable/{name}" for name in names),
            *(f"mean_change_by_variable/{name}" for name in names),
        ]
        return [
            *("focus", "control", "mean_side_effects"),
            *(("auc", "coverage", "coverage_exact") if self.coverage else ()),
            *per_skill,
            *(f"{group}/{metric}" for group in kind.groups for metric in per_skill),
        ]

    def record(self, frame: pl.DataFrame) -> dict[str, object]:
        """Return the JSON record of this run, as `discover --json` prints it.

        Args:
            frame: A store's frame that holds this run.
        """
        settings, kind = settings_of(self), self.kind
        targets = kind.targets()
        rows = frame.filter(pl.col("run") == self.id).select("metric", "step", "value")
        record: dict[str, object] = {
            **{key: settings[key] for key in ("world", "objective", "strength", "learner", "seed")},
            "settings": settings,
            "unusual": self.non_default_settings(),
            "skills": with_values(records_of(rows.iter_rows(), targets), kind.values_reached()),
        }
        if self.coverage:
            of_run = rows.filter(pl.col("step").is_null()).select("metric", "value")
            values = dict(of_run.iter_rows())
            record["coverage"] = rows.filter(pl.col("metric") == "coverage")["value"].to_list()
            record["auc"] = values["auc"]
            record["coverage_exact"] = bool(values["coverage_exact"])
        return record

    # ---------------------------------------------------------------- settings

    def settings(self) -> dict[str, Setting]:
        """Return all settings, with defaults filled in: naming a default gives the same run."""
        world, objective = self.make_world(), self.make_objective()
        learner = flatten(self.learner)
        own = {
            "world": world.id,
            "world_settings": json.dumps(self._world_settings(world), sort_keys=True),
            "objective": self.objective,
            "learner": learner.pop("name"),
            "skills": len(self.kind.targets()),
            "targets": self.kind.stored_targets(),
            "step_limit": world.step_limit if self.step_limit is None else self.step_limit,
            "rate": learning_rate(objective, world.id),
            "strength": None if objective.penalty is None else float(objective.penalty.strength),
            "weight": objective.decomposition.others_weight,
            "prior": self.prior,
        }
        if objective.penalty is not None and objective.penalty.baseline != "start":
            own["baseline"] = objective.penalty.baseline
        if self.penalty not in (None, "weighted-norm"):
            own["penalty"] = self.penalty
        if digest := own_objective_digest(self.objective):  # its file may change, not its name
            own["objective_file"] = digest
        if twice := own.keys() & learner.keys():
            raise TypeError(f"learner and run both have a setting named {min(twice)}")
        return {**own, **learner, "coverage": self.coverage, "seed": self.seed}

    def _world_settings(self, world: World) -> dict[str, object]:
        """Return the settings that identify the world.

        For a built-in world, those that differ from its defaults. Any other world may change
        without its name changing, so all settings and a fingerprint of its table.
        """
        if is_built_in(world):
            defaults = cached_world(world.id, "{}").settings
            return {key: value for key, value in world.settings.items() if value != defaults[key]}
        mdp = self.make_mdp()
        identity = fingerprint(world) if mdp is None else mdp.fingerprint
        return {**world.settings, "fingerprint": identity[:16]}

    def non_default_settings(self) -> dict[str, Setting]:
        """Return the settings that differ from the defaults of world, objective and learner."""
        values = ((field.name, getattr(self.learner, field.name)) for field in fields(self.learner))  # pyright: ignore[reportArgumentType]
        nested = {name: type(value)() for name, value in values if is_dataclass(value)}
        default = Discovery(
            self.world, self.objective, self.seed, type(self.learner)(**nested),
            world_settings=self.world_settings,
        )  # fmt: skip
        own, defaults = settings_of(self), settings_of(default)
        different = {n: v for n, v in own.items() if n not in defaults or v != defaults[n]}
        world = json.loads(self.world_settings)
        if own["world"] in WORLD_IDS:
            world = {k: v for k, v in world.items() if k in str(own["world_settings"])}
        if not world:
            return different
        return {"world_settings": json.dumps(world, sort_keys=True), **different}

    @property
    def label(self) -> str:
        """World, objective, learner, settings that are not the default, seed."""
        names = [self.make_world().id, self.objective, self.learner.name]
        return "_".join([*names, *format_settings(self.non_default_settings()), f"seed{self.seed}"])

    def setting_types(self) -> dict[str, tuple[str, ...]]:
        """Return the settings that `with_settings` can change, the learner's included, with the
        names of their types."""
        own = {field.name: field.type for field in fields(self)}
        del own["learner"]
        learner = {field.name: field.type for field in fields(self.learner)}  # pyright: ignore[reportArgumentType]
        del learner["name"]
        return {name: tuple(str(kind).split(" | ")) for name, kind in (own | learner).items()}

    def check_setting(self, name: str) -> None:
        """Raise `UserError` if there is no setting of that name."""
        if self._field_of(name) not in self.setting_types():
            raise unknown("setting", name, self.setting_types())

    def _field_of(self, setting: str) -> str:
        """Return the field that a setting is stored from, which may have a new name."""
        stored = {
            field.metadata["stored_as"]: field.name
            for field in fields(self.learner)  # pyright: ignore[reportArgumentType]
            if "stored_as" in field.metadata
        }
        return stored.get(setting, setting)

    def with_settings(self, changes: Mapping[str, Setting]) -> Discovery:
        """Return a copy with other settings, its own or its learner's, by name.

        Raises:
            UserError: If a setting is unknown or its value has the wrong type.
        """
        types = self.setting_types()
        changes = {self._field_of(name): value for name, value in changes.items()}
        for name, value in changes.items():
            self.check_setting(name)
            int_as_float = type(value) is int and "float" in types[name]
            if type(value).__name__ not in types[name] and not int_as_float:
                raise UserError(f"{name} cannot be {value!r}; it is of type {types[name][0]}")
        own = {field.name for field in fields(self)}
        learner = replace(self.learner, **{n: v for n, v in changes.items() if n not in own})  # pyright: ignore[reportArgumentType]
        return replace(self, learner=learner, **{n: v for n, v in changes.items() if n in own})  # pyright: ignore[reportArgumentType]


def format_settings(settings: Mapping[str, Setting]) -> list[str]:
    """Return settings as text: `["rounds=3", "gamma=0.95"]`."""
    return [
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in settings.items()
    ]
