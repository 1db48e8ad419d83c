"""`discover`: a world and an objective in, skills out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.files import package_versions
from skillfocus.learners.planning.learner import Planning
from skillfocus.learners.problem import Learner, Problem, learner_settings, make_problem
from skillfocus.learners.registry import as_learner
from skillfocus.mdp import TabularMDP, tabulate
from skillfocus.metrics.summary import skill_records
from skillfocus.objectives.kinds import Targets, goals_of
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.registry import as_objective
from skillfocus.progress import Progress, no_progress, part_of, shown
from skillfocus.skills.skills import Skills
from skillfocus.world import World, check_seed
from skillfocus.worlds.registry import as_world


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
        avoidable: The avoidable part of them, averaged over skills (`StartAverages.avoidable`).
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
