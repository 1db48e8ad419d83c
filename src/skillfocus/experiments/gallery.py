"""The gallery: the skills of eight algorithms in the paper's three worlds, to be watched.

A folder of runs may hold them already: `reproduce` discovers the same skills, and what it kept is
not done again. What skills do is read from the runs' results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skillfocus.core.progress import Progress, no_progress
from skillfocus.errors import UserError
from skillfocus.experiments.cases import Setup
from skillfocus.experiments.claims import agent_name
from skillfocus.experiments.presets import OBJECTIVES, WORLDS, task_learner
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.folder_store import Store
from skillfocus.tasks.smdp_q_learning import solve
from skillfocus.tasks.task import task_of
from skillfocus.viewer.payload import SkillSetView

TITLE = "Focused skills: a gallery"
SEED = 0
FAMILIES = tuple(
    tuple(name for name in (base, f"dusdi-{base}", f"focused-{base}") if name in OBJECTIVES)
    for base in ("vic", "diayn", "lsd")
)
"""An algorithm plain, with DUSDi if there is such a thing, and focused."""
ALGORITHMS = tuple(name for family in FAMILIES for name in family)


def gallery_runs(
    store: Store, worlds: Iterable[str] = WORLDS, objectives: Iterable[str] = ALGORITHMS
) -> list[Discovery]:
    """The first seed's runs with the paper's settings, world by world."""
    objectives = list(objectives)
    return [_run(store, world, objective) for world in worlds for objective in objectives]


def _run(store: Store, world: str, objective: str) -> Discovery:
    """The run that `reproduce` makes, where its skills were kept; else the discovery in it."""
    whole = Setup().case(world, objective, SEED).run
    assert isinstance(whole, Discovery)
    if store.skills_path(whole).exists() and whole in store:
        return whole
    return Discovery(
        whole.world, whole.objective, whole.seed, whole.learner, targets=whole.targets,
        coverage=whole.coverage,
    )  # fmt: skip


def gallery_sets(
    store: Store,
    runs: Sequence[Discovery],
    first: Sequence[str] = FAMILIES[0],
    report: Progress = no_progress,
) -> list[SkillSetView]:
    """The finished ones among these runs as a page shows them, each with its world's task learned
    as the preset `best` learns it. Of each world, a page begins with the algorithms `first`."""
    frame = store.frame(runs)
    finished = set(frame["run"])
    runs = [run for run in runs if run.id in finished]
    if not runs:
        raise UserError(f"{store.folder} holds no skills to show")
    sets = []
    for number, run in enumerate(runs):
        report(number / len(runs), f"learning a task: {run.label}")
        skills = store.skills(run)
        record: dict = run.record(frame)
        task = task_of(skills.world, skills.mdp)
        settings = task_learner("best", run.world, run.objective)
        sets.append(
            SkillSetView(
                skills, agent_name(run.objective), record["skills"], record.get("coverage"), task,
                solve(skills.mdp, task, skills, seed=run.seed, settings=settings),
                first=run.objective in first,
            )
        )  # fmt: skip
    return sets
