"""`discover`: a world and an objective in, skills out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from threading import Event

import numpy as np

from skillfocus._internal.environment_info import package_versions
from skillfocus.core.mdp import TabularMDP, tabulate
from skillfocus.core.progress import Progress, no_progress
from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.learners.tabular.planning import Planning
from skillfocus.learners.tabular.problem import Problem, make_problem
from skillfocus.learners.tabular.q_learning import QLearning
from skillfocus.learners.tabular.random_policy import RandomPolicy
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.targets import (
    N_SKILLS,
    Assignment,
    Targets,
    assign,
    split,
    untargeted,
)
from skillfocus.skills.intrinsic_reward import make_intrinsic_reward
from skillfocus.skills.skills import Skills

Learner = Planning | QLearning | RandomPolicy


def discover(
    world: World,
    objective: Objective,
    *,
    seed: int,
    learner: Learner | None = None,
    n_skills: int | None = None,
    targets: Targets | None = None,
    step_limit: int | None = None,
    mdp: TabularMDP | None = None,
    progress: Progress | None = None,
) -> Skills:
    """Discover skills. The learner is planning unless another is given; `targets` says how many
    skills target what (default: the paper's assignment of `n_skills`, 16); equal seeds give equal
    skills, bit for bit. `mdp` saves tabulating the world again."""
    learner = learner or Planning()
    assignment = check_assignment(world, objective, n_skills, targets)
    if seed < 0:
        raise UserError(f"seed is {seed}; it must be 0 or more")
    mdp = mdp or tabulate(world)
    parts, modes = split(assignment, world.space) if objective.scattered else (assignment, ())
    if max(modes, default=1) == 1:
        modes = ()
    problem = make_problem(
        mdp,
        objective,
        parts,
        step_limit=world.step_limit if step_limit is None else step_limit,
        world_id=world.id,
        remember=learner.uses_context(objective),
        start_where_controllable=learner.start_where_controllable,
    )
    rng = np.random.default_rng(seed)
    policy, params = learner.learn(problem, rng, progress or no_progress)
    names = mdp.space.names
    first = np.cumsum((0, *modes[:-1])) if modes else np.arange(len(problem.skills))
    skills = [problem.skills[z] for z in first]
    return Skills(
        world=world,
        mdp=mdp,
        targets=tuple(tuple(names[i] for i in skill.targets) for skill in skills),
        remembered=tuple(tuple(names[i] for i in skill.remembered) for skill in skills),
        policies=_join_modes(problem, policy, modes) if modes else policy,
        step_limit=problem.step_limit,
        modes=modes,
        learned=(
            None
            if isinstance(learner, RandomPolicy)
            else make_intrinsic_reward(problem, params, modes or [1] * len(skills))
        ),
        info={
            "objective": objective.describe(),
            "learner": asdict(learner),
            "seed": int(seed),
            "versions": package_versions(),
        },
    )


def _join_modes(problem: Problem, policy: np.ndarray, modes: tuple[int, ...]) -> np.ndarray:
    """Policies of modes, one after another, as policies of skills: [state, context, mode]."""
    n, offsets, joined, z = problem.mdp.n_states, problem.offsets, [], 0
    for count in modes:
        parts = [policy[offsets[i] : offsets[i + 1]].reshape(n, -1) for i in range(z, z + count)]
        joined.append(np.stack(parts, axis=2).ravel())
        z += count
    return np.concatenate(joined)


def check_assignment(
    world: World, objective: Objective, n_skills: int | None, targets: Targets | None
) -> Assignment:
    """Which skills target what, once it is sure that the objective can be learned for them."""
    if objective.scattered and not objective.targeted:
        raise UserError(
            f"{objective.name} has no meaning: its skills have no target whose values they could "
            f"share; apply focused or dusdi too, as in scattered(focused(vic()))"
        )
    if not objective.targeted and targets is not None:
        raise UserError(
            f"{objective.name} skills have no targets; use focused({objective.name}(…)) or leave "
            f"the targets out"
        )
    assignment = (
        assign(world, n_skills, targets)
        if objective.targeted
        else untargeted(N_SKILLS if n_skills is None else n_skills)
    )
    if objective.discriminates:
        _require_multiple_skills(world, assignment)
    return assignment


def _require_multiple_skills(world: World, assignment: Assignment) -> None:
    """A discriminator tells skills apart: a skill alone on its target would earn 0 for anything."""
    for variable, name in enumerate(world.space.names):
        if (
            any(variable in skill for skill in assignment.skills)
            and assignment.n_components(variable) < 2
        ):
            raise UserError(
                f"only one skill targets {name}, so there is nothing to tell it from; give "
                f"{name} at least 2 skills, or none"
            )


def discover_many(
    world: World,
    objective: Objective,
    seeds: Sequence[int],
    *,
    workers: int = 1,
    progress: Callable[[int, float, str], None] | None = None,
    **settings,
) -> Iterator[Skills]:
    """One set of skills per seed, in the order of the seeds, learned on `workers` threads (the
    kernels run without the interpreter lock). `progress(seed, fraction, what)` may be called
    from any of them. Leaving the iteration early stops the runs in flight."""
    if len(set(seeds)) != len(seeds):
        raise UserError(f"a seed is given twice in {list(seeds)}")
    if workers < 1:
        raise UserError(f"{workers} workers were asked for; at least 1 is needed")
    mdp = tabulate(world)
    stop = Event()

    def one(seed: int) -> Skills:
        def report(fraction: float, what: str) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            if progress is not None:
                progress(seed, fraction, what)

        return discover(world, objective, seed=seed, mdp=mdp, progress=report, **settings)

    pool = ThreadPoolExecutor(workers)
    waiting = deque(seeds)
    pending: deque[Future[Skills]] = deque()
    try:
        while waiting or pending:
            # A few seeds ahead of the caller, never all: memory does not grow with the seeds.
            while waiting and len(pending) < 2 * workers:
                pending.append(pool.submit(one, waiting.popleft()))
            while not pending[0].done():
                wait([pending[0]], timeout=0.2)  # short, so that Ctrl-C is heard
            yield pending.popleft().result()
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
