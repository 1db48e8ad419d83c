"""`Discovery`: the run behind the command `discover` and sweeps.

    run = Discovery("four-rooms", "focused-vic", seed=0, strength=2.0)
    run_all([run], Store("out"))

All fields are names and numbers (the learner is a dataclass of them), so that any worker can
execute the run and any reader can tell what it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from skillfocus.errors import UserError, unknown
from skillfocus.files import own_code, shorten
from skillfocus.learners.discovery import learn
from skillfocus.learners.planning.learner import Planning
from skillfocus.learners.problem import Learner, Problem, make_problem
from skillfocus.learners.registry import DiscoverySettings, as_learner
from skillfocus.mdp import TabularMDP, tabulate
from skillfocus.metrics.coverage import coverage
from skillfocus.metrics.summary import overall, rows_of, skill_records
from skillfocus.objectives.kinds import parse_targets
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.registry import make_objective, own_objective_digest
from skillfocus.progress import Progress, part_of
from skillfocus.runs import Result, Run, Setting, flatten, keep_skills
from skillfocus.skills.skills import Skills
from skillfocus.world import World, check_seed
from skillfocus.worlds.registry import fingerprint, is_built_in, make

PLANNING = Planning()
"""The default learner."""
METRICS = (
    "changes_target", "changes_alone", "best_possible", "avoidable", "side_effects", "steps",
    "starts", "exact",
)  # fmt: skip
"""What is measured of each skill."""


@lru_cache(maxsize=8)
def cached_world(name: str, settings: str = "{}") -> World:
    """Return a world, built on the first call.

    Args:
        name: The world's name, as for `make`.
        settings: The world's arguments as a JSON object, such as `'{"step_limit": 30}'`.

    Raises:
        UserError: If the settings are not a JSON object, or the world cannot be made.
    """
    try:
        arguments = json.loads(settings)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise UserError(
            f"world_settings is {shorten(settings)!r}; it must be a JSON object, such as "
            f"'{{\"step_limit\": 30}}'"
        )
    return make(name, **arguments)


@lru_cache(maxsize=4)
def cached_mdp(name: str, settings: str = "{}") -> TabularMDP:
    """Return the table of `cached_world(name, settings)`, computed on the first call."""
    world = cached_world(name, settings)
    with own_code(name):
        return tabulate(world)


@dataclass(frozen=True)
class Discovery(DiscoverySettings, Run):
    """One discovery of skills: a world, an objective, a seed, a learner, and their settings.

    None stands for the default of the world or the objective. Invalid fields raise `UserError` when
    the run is made.

    Attributes:
        world: A world's name, as for `make`.
        objective: An objective's name, such as `focused-vic` or `focused-my.py:rotate`.
        seed: Seed of the discovery, at least 0.
        learner: The learner, or its name; a dataclass, whose fields are settings of the run.
        skills: Number of skills.
        targets: Which skills target what, such as `tool_1=2,position=4`.
        rate: Learning rate of the discriminator or phi.
        strength: Strength of the penalty for side effects.
        weight: DUSDi's weight on the other variables.
        prior: Probability of each skill under nu.
        step_limit: Maximum number of steps of a skill.
        world_settings: The world's arguments as a JSON object.
        coverage: Whether to measure the coverage of skill chains too.
        baseline: What the penalty compares with (`focused`).
        penalty: Name of the penalty, such as `path-norm`.
    """

    seed: int
    learner: Learner = PLANNING
    _: KW_ONLY
    prior: float | None = None
    coverage: bool = False

    version = 6

    def __post_init__(self) -> None:
        object.__setattr__(self, "learner", as_learner(self.learner, self.make_world()))
        check_seed(self.seed)
        space = self.problem.world.space  # which also checks that everything fits together
        if self.coverage and not space.is_finite:
            raise UserError("coverage counts states, and real-valued variables have too many")

    def __getstate__(self) -> dict[str, Any]:
        """Leave the problem out of what workers are sent: it may hold a large table."""
        return {name: value for name, value in vars(self).items() if name != "problem"}

    # ---------------------------------------------------------------- what it is made of

    def make_world(self) -> World:
        """Return the world."""
        return cached_world(self.world, self.world_settings)

    def make_mdp(self) -> TabularMDP | None:
        """Return the world's table; None if it has none."""
        if not self.make_world().has_table:
            return None
        return cached_mdp(self.world, self.world_settings)

    def make_objective(self) -> Objective:
        """Return the objective with this run's settings."""
        return make_objective(
            self.objective, rate=self.rate, strength=self.strength, weight=self.weight,
            prior=self.prior, baseline=self.baseline, penalty=self.penalty,
        )  # fmt: skip

    @cached_property
    def problem(self) -> Problem:
        """What is to be learned. The table of a built-in world is not in it: it takes time."""
        world = self.make_world()
        return make_problem(
            world, self.make_objective(), n_skills=self.skills,
            targets=parse_targets(self.targets), step_limit=self.step_limit,
            mdp=None if is_built_in(world) else self.make_mdp(),
        )  # fmt: skip

    # ---------------------------------------------------------------- execution

    def execute(self, progress: Progress) -> Result:
        """Discover the skills, keep them, and measure them."""
        problem = replace(self.problem, known_mdp=self.make_mdp())
        skills = learn(problem, self.learner, self.seed, part_of(progress, 0.0, 0.8))
        content = skills.to_bytes() if self.keeps_skills else None
        if content is not None:
            keep_skills(content)
        progress(0.8, "measuring side effects")
        return replace(self.measure(skills, part_of(progress, 0.8, 1.0)), skills=content)

    @property
    def keeps_skills(self) -> bool:
        """Whether the skills are stored beside the results."""
        return True

    def measure(self, skills: Skills, progress: Progress) -> Result:
        """Return the rows of discovered skills, and the record that `discover --json` prints."""
        records = skill_records(skills)
        rows = [*rows_of(records), *overall(records)]
        settings = self.settings()
        about = ("world", "objective", "strength", "learner", "seed")
        record: dict[str, Any] = {
            **{name: settings[name] for name in about},
            "settings": settings,
            "unusual": self.non_default_settings(),
            "skills": records,
        }
        if self.coverage:
            progress(0.5, "measuring coverage")
            result = coverage(skills, rng=np.random.default_rng(0))
            rows += [("coverage", n + 1, float(c)) for n, c in enumerate(result.curve)]
            rows += [("coverage_exact", None, float(result.exact)), ("auc", None, result.auc)]
            record |= result.summary()
        return Result(rows, None, record)

    def metrics(self) -> list[str]:
        """Return the names of all metrics that such a run has, those of the whole run first."""
        space = self.problem.world.space
        names = space.names
        per_skill = [
            *METRICS,
            *(f"side_effects_by_variable/{name}" for name in names),
            *(f"mean_change_by_variable/{name}" for name in names),
        ]
        return [
            *("focus", "control", "mean_side_effects"),
            *(("auc", "coverage", "coverage_exact") if self.coverage else ()),
            *per_skill,
            *(f"all_starts/{metric}" for metric in per_skill),
            *(f"settled/{metric}" for metric in per_skill if not space.is_finite),
        ]

    # ---------------------------------------------------------------- settings

    def settings(self) -> dict[str, Setting]:
        """Return all settings, with defaults filled in: naming a default gives the same run."""
        problem, learner = self.problem, flatten(self.learner)
        world, objective = problem.world, problem.objective.to_dict()
        own: dict[str, Setting] = {
            "world": world.id,
            "world_settings": json.dumps(self._world_settings(world), sort_keys=True),
            "objective": self.objective,
            "objective_file": own_objective_digest(self.objective),  # the file may change
            "learner": learner.pop("name"),
            "skills": len(problem.modes),
            "targets": self.targets and json.dumps(parse_targets(self.targets), default=str),
            "step_limit": problem.step_limit,
            **{
                key: objective.get(key)
                for key in ("rate", "strength", "penalty", "baseline", "weight", "prior")
            },
            "coverage": self.coverage,
            "seed": int(self.seed),
        }
        if twice := own.keys() & learner.keys():
            raise TypeError(f"learner and run both have a setting named {min(twice)}")
        return {**own, **learner}

    def _world_settings(self, world: World) -> dict[str, object]:
        """Return the settings that identify the world.

        For a built-in world, those that differ from its defaults. Any other world may change
        without its name changing, so all settings and a fingerprint of its table.
        """
        if is_built_in(world):
            defaults = cached_world(world.id).settings
            return {key: value for key, value in world.settings.items() if value != defaults[key]}
        mdp = self.make_mdp()
        identity = fingerprint(world) if mdp is None else mdp.fingerprint
        return {**world.settings, "fingerprint": identity[:16]}

    @cached_property
    def _default_settings(self) -> dict[str, Setting]:
        """All settings with the defaults of world, objective and learner."""
        values = ((f.name, getattr(self.learner, f.name)) for f in fields(self.learner))  # pyright: ignore[reportArgumentType]
        nested = {name: type(value)() for name, value in values if is_dataclass(value)}
        return Discovery(
            self.world, self.objective, self.seed, type(self.learner)(**nested),
            world_settings=self.world_settings,
        ).settings()  # fmt: skip

    def non_default_settings(self) -> dict[str, Setting]:
        """Return the settings that differ from the defaults of world, objective and learner."""
        default = self._default_settings
        own = self.settings()
        different = {n: v for n, v in own.items() if n not in default or v != default[n]}
        given = json.loads(self.world_settings)
        if is_built_in(self.problem.world):
            given = {k: v for k, v in given.items() if k in str(own["world_settings"])}
        if not given:
            return different
        return {"world_settings": json.dumps(given, sort_keys=True), **different}

    @property
    def label(self) -> str:
        """World, objective, learner, settings that are not the default, seed."""
        names = [self.make_world().id, self.objective, self.learner.name]
        return "_".join([*names, *format_settings(self.non_default_settings()), f"seed{self.seed}"])

    def setting_types(self) -> dict[str, tuple[str, ...]]:
        """Return the settings that `with_settings` can change, the learner's included, with the
        names of their types."""
        every = [*fields(self), *fields(self.learner)]  # pyright: ignore[reportArgumentType]
        types = {field.name: tuple(str(field.type).split(" | ")) for field in every}
        return {name: kinds for name, kinds in types.items() if name not in ("learner", "name")}

    def with_settings(self, changes: Mapping[str, Setting]) -> Discovery:
        """Return a copy with other settings, its own or its learner's, by name.

        Raises:
            UserError: If a setting is unknown or its value has the wrong type.
        """
        types = self.setting_types()
        for name, value in changes.items():
            if name not in types:
                raise unknown("setting", name, types)
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
