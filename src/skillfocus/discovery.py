"""Discovering skills: a world and an objective in, skills out.

    skills = sf.discover("four-rooms", "focused-vic", seed=0)

`discover` is the function, and `Discovery` the run behind the command `discover` and sweeps, whose
fields are names and numbers (the learner is a dataclass of them), so that any worker can execute
it and any reader can tell what it was:

    run = sf.Discovery("four-rooms", "focused-vic", seed=0, strength=2.0)
    sf.run_all([run], sf.Store("out"))
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import KW_ONLY, asdict, dataclass, fields, is_dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from skillfocus.errors import UserError, unknown
from skillfocus.files import own_code, shorten
from skillfocus.learners.planning.learner import Planning
from skillfocus.learners.problem import Learner, Problem, learner_settings, make_problem
from skillfocus.learners.registry import DiscoverySettings, as_learner
from skillfocus.machine import package_versions
from skillfocus.mdp import TabularMDP, tabulate
from skillfocus.metrics.coverage import coverage
from skillfocus.metrics.summary import overall, rows_of, skill_records
from skillfocus.objectives.kinds import Targets, goals_of, parse_targets
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.registry import as_objective, make_objective, own_objective_digest
from skillfocus.progress import Progress, no_progress, part_of, shown
from skillfocus.runs import Result, Run, Setting, flatten, keep_skills
from skillfocus.skills.skills import Skills
from skillfocus.world import World, check_seed
from skillfocus.worlds.registry import as_world, fingerprint, is_built_in, make


def discover(
    world: World | str | Path,
    objective: Objective | str,
    *,
    seed: int,
    learner: Learner | str | None = None,
    n_skills: int | None = None,
    targets: Targets | None = None,
    step_limit: int | None = None,
    mdp: TabularMDP | None = None,
    progress: Progress | None = None,
) -> Skills:
    """Discover skills.

    Args:
        world: The world to discover them in, or its name, as `make` takes it.
        objective: What they are rewarded for, such as `focused(vic())` or "focused-vic". With
            `strength="auto"` skills are discovered several times, and the strengths tried stand in
            `skills.info["strength_search"]`.
        seed: Equal seeds give equal skills, bit for bit.
        learner: How they are learned (default: `Planning()`), or a learner's name.
        n_skills: Number of skills (default: 16).
        targets: How many skills target what, such as `{"tool_1": 2, "position": 8}` (default: the
            paper's assignment, without variables that no action influences); of real-valued
            variables, how many components, or a `Sphere` (see `objectives/kinds.py`).
        step_limit: Most steps a skill may take (default: the world's).
        mdp: The world's tabular MDP, to save tabulating it again.
        progress: Progress callback (default: a bar in a terminal or notebook, once two seconds have
            passed; `sf.no_progress` for none).

    Raises:
        UserError: If an argument is wrong, or the world does not fit the objective.
    """
    world, objective = as_world(world), as_objective(objective)
    learner = Planning() if learner is None else as_learner(learner, world)
    check_seed(seed)
    with shown(progress, f"{objective.name} in {world.id}") as report:
        if objective.penalty is not None and objective.penalty.auto:
            return find_strength(
                world, objective, seed=seed, progress=report, learner=learner, n_skills=n_skills,
                targets=targets, step_limit=step_limit, mdp=mdp,
            ).skills  # fmt: skip
        problem = make_problem(
            world, objective, n_skills=n_skills, targets=targets, step_limit=step_limit, mdp=mdp
        )
        learner.check(problem)
        return learn(problem, learner, seed, report)


def learn(problem: Problem, learner: Learner, seed: int, progress: Progress) -> Skills:
    """Return the learned skills of a problem, which know where they come from."""
    learned = learner.learn(problem, np.random.default_rng(seed), progress)
    names, kinds = problem.world.space.names, problem.skills
    info: dict[str, object] = {
        "objective": problem.objective.to_dict(),
        "learner": learner_settings(learner),
        "seed": int(seed),
        "versions": package_versions(),
    }
    return Skills(
        problem.world,
        learned.policies,
        tuple(tuple(names[i] for i in kinds.targets(z)) for z in range(len(kinds))),
        problem.step_limit,
        info,
        learned.intrinsic_reward,
        goals_of(problem.world.space, problem.objective, kinds),
    )


def discover_many(
    world: World | str | Path,
    objective: Objective | str,
    seeds: Sequence[int],
    *,
    workers: int = 1,
    progress: Callable[[int, float, str], None] | None = None,
    **settings: Any,
) -> Iterator[Skills]:
    """Discover one set of skills per seed, in the order of the seeds.

    Args:
        world: The world to discover them in.
        objective: What they are rewarded for.
        seeds: The seeds, each once.
        workers: Threads to learn on; kernels run without the interpreter lock.
        progress: `progress(seed, fraction, activity)`, called from any thread.
        **settings: Other arguments of `discover`.

    Yields:
        Skills. Leaving the iteration early stops the runs in flight.
    """
    for seed in seeds:
        check_seed(seed)
    if len(set(seeds)) != len(seeds):
        raise UserError(f"a seed is given twice in {list(seeds)}")
    made, objective = as_world(world), as_objective(objective)
    mdp = tabulate(made)
    stop = Event()

    def one(seed: int) -> Skills:
        def report(fraction: float, activity: str) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            if progress is not None:
                progress(seed, fraction, activity)

        return discover(made, objective, seed=seed, mdp=mdp, progress=report, **settings)

    pool = ThreadPoolExecutor(workers)
    waiting = deque(seeds)
    pending: deque[Future[Skills]] = deque()
    try:
        while waiting or pending:
            # A few seeds ahead of the caller, never all: memory does not grow with the seeds.
            while waiting and len(pending) < 2 * workers:
                pending.append(pool.submit(one, waiting.popleft()))
            while not pending[0].done():
                wait([pending[0]], timeout=0.2)  # short, so that Ctrl-C is noticed
            yield pending.popleft().result()
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def compile_kernels() -> None:
    """Compile what tabular discoveries need: learn and measure in a corridor, with every kind of
    reward and both learners."""
    from skillfocus.learners.q_learning import QLearning
    from skillfocus.metrics.side_effects import side_effects
    from skillfocus.worlds.four_rooms import FourRooms

    world = FourRooms("#####\n#..T#\n#####")
    for objective in ("focused-vic", "focused-lsd", "dusdi-vic"):
        for learner in (Planning(rounds=2), QLearning(episodes=100)):
            side_effects(discover(world, objective, seed=0, n_skills=4, learner=learner))


# -------------------- The run behind the command

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


# -------------------- A penalty strength that is found, not guessed
#
# lambda is raised, four times as high each time, until side effects cannot fall further, compared
# with the best possible (`metrics/reachability.py`), or targets suffer: a skill that is punished
# too hard for what it cannot help does nothing.

FACTOR = 4.0
"""How much higher the next strength is."""
MAX_POINTS = 6
"""The most strengths that are tried."""
ENOUGH = 0.001
"""Less than this is no difference between side effects."""
SUFFERS = 0.02
"""Targets suffer if their best skills change them alone that much less often than with another
strength."""


@dataclass(frozen=True)
class StrengthPoint:
    """What skills do with one strength.

    Attributes:
        strength: lambda.
        changes_alone: How often a target's best skill changes it and nothing else, averaged over
            targets.
        side_effects: Averaged over skills.
        avoidable: The avoidable part of them, averaged over skills (`SkillEffects.avoidable`).
    """

    strength: float
    changes_alone: float
    side_effects: float
    avoidable: float


@dataclass(frozen=True)
class StrengthCurve:
    """The strengths that were tried, and the one that was chosen."""

    points: tuple[StrengthPoint, ...]

    @property
    def chosen(self) -> StrengthPoint:
        """Of the strengths from which targets do not suffer, the lowest without more avoidable
        side effects than any other of them."""
        highest = max(point.changes_alone for point in self.points)
        good = [point for point in self.points if point.changes_alone >= highest - SUFFERS]
        least = min(point.avoidable for point in good)
        return min(
            (point for point in good if point.avoidable <= least + ENOUGH),
            key=lambda point: point.strength,
        )

    @property
    def is_over(self) -> bool:
        """Whether a higher strength is not worth trying."""
        last = self.points[-1]
        if last.avoidable <= ENOUGH or len(self.points) >= MAX_POINTS:
            return True
        if last.changes_alone < max(p.changes_alone for p in self.points) - SUFFERS:
            return True
        before = [point.avoidable for point in self.points[:-2]]
        recent = [point.avoidable for point in self.points[-2:]]
        return bool(before) and min(recent) > min(before) - ENOUGH

    def as_json(self) -> dict[str, object]:
        """Return what `discover --strength auto --json` prints as `strength_search`."""
        return {
            "strength": self.chosen.strength,
            "points": [asdict(point) for point in self.points],
        }


@dataclass(frozen=True, eq=False)
class FoundStrength:
    """The result of `find_strength`.

    Attributes:
        skills: The skills discovered with the strength that was chosen.
        curve: All strengths that were tried.
    """

    skills: Skills
    curve: StrengthCurve

    @property
    def strength(self) -> float:
        """The strength that was chosen."""
        return self.curve.chosen.strength


def find_strength(
    world: World | str,
    objective: Objective | str,
    *,
    seed: int,
    progress: Progress = no_progress,
    **settings: Any,
) -> FoundStrength:
    """Discover skills with the strength that leaves no avoidable side effects, if there is one.

        found = sf.find_strength(world, sf.focused(sf.vic()), seed=0)
        found.strength, found.skills, found.curve.points

    Args:
        world: The world to discover them in; it must have a table.
        objective: A focused objective; its own strength is tried first.
        seed: Seed of every discovery.
        progress: Callback for the fraction done.
        **settings: Other arguments of `discover`.

    Raises:
        UserError: If the objective has no penalty or another baseline than the start, or the world
            has no table.
    """
    world, objective = as_world(world), as_objective(objective)
    first = first_strength(world, objective)
    penalty = objective.penalty
    assert penalty is not None
    found: dict[float, Skills] = {}

    def measure(strength: float) -> list[list[dict]]:
        changed = replace(objective, penalty=replace(penalty, strength=strength, auto=False))
        number = len(found)
        part = part_of(
            progress, number / MAX_POINTS, (number + 1) / MAX_POINTS, f"strength {strength:g}"
        )
        found[strength] = discover(world, changed, seed=seed, progress=part, **settings)
        return [skill_records(found[strength], seed=seed)]

    curve = search_strength(measure, first)
    progress(1.0, "done")
    skills = found[curve.chosen.strength]
    skills.info["strength_search"] = curve.as_json()
    return FoundStrength(skills, curve)


def first_strength(world: World, objective: Objective) -> float:
    """Return the strength that a search begins with.

    Raises:
        UserError: If the objective has no penalty or another baseline than the start, or the world
            has no table.
    """
    if objective.penalty is None:
        raise UserError(
            f"{objective.name} has no penalty whose strength could be found; use focused(…)"
        )
    if objective.penalty.baseline != "start":
        raise UserError(
            f"strength 'auto' compares with the best possible, which is measured against the "
            f"start, and the baseline is {objective.penalty.baseline!r}; give a strength"
        )
    if not world.has_table:
        raise UserError(
            f"{world.id} has no table, so what is avoidable there is unknown; give a strength"
        )
    return objective.penalty.strength or objective.reward.penalty_strength


def search_strength(
    measure: Callable[[float], Sequence[Sequence[dict]]], first: float
) -> StrengthCurve:
    """Raise the strength until it is not worth while.

    Args:
        measure: Returns, for a strength, the records of skills (`skill_records`) of each seed.
        first: The strength to begin with.
    """
    curve = StrengthCurve((_point(first, measure(first)),))
    while not curve.is_over:
        strength = curve.points[-1].strength * FACTOR
        curve = StrengthCurve((*curve.points, _point(strength, measure(strength))))
    return curve


def _point(strength: float, seeds: Sequence[Sequence[dict]]) -> StrengthPoint:
    """Return the averages over seeds, targets and skills that have starts."""
    usable = [[s for s in skills if s["starts"] and s["targets"]] for skills in seeds]
    every = [skill for skills in usable for skill in skills]
    if not every:
        raise UserError("no skill has a start from which its target can change; give a strength")
    best: dict[tuple[int, str], float] = {}
    for seed, skills in enumerate(usable):
        for skill in skills:
            key = (seed, skill.get("reaches") or "+".join(skill["targets"]))
            best[key] = max(best.get(key, 0.0), skill["changes_alone"])
    return StrengthPoint(
        strength,
        sum(best.values()) / len(best),
        sum(skill["side_effects"] for skill in every) / len(every),
        sum(skill["avoidable"] for skill in every) / len(every),
    )
