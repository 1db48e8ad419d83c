"""The gallery: a page on which the skills of eight algorithms play in the paper's three worlds.

`reproduce` discovers the same skills, so a folder of its runs may hold them already. What skills
do is read from the runs' results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skillfocus.core.progress import Progress, no_progress
from skillfocus.errors import UserError
from skillfocus.experiments.cases import Setup
from skillfocus.experiments.formatting import agent_name
from skillfocus.experiments.presets import OBJECTIVES, WORLDS, task_learner
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.folder_store import Store
from skillfocus.skills.skills import Skills
from skillfocus.tasks.smdp_q_learning import solve
from skillfocus.tasks.task import task_of
from skillfocus.viewer.payload import SkillSetView

TITLE = "Focused skills: a gallery"
SEED = 0
FAMILIES = tuple(
    tuple(name for name in (base, f"dusdi-{base}", f"focused-{base}") if name in OBJECTIVES)
    for base in ("vic", "diayn", "lsd")
)
"""Each algorithm plain, with DUSDi where the paper has that, and focused."""
ALGORITHMS = tuple(name for family in FAMILIES for name in family)


def gallery_runs(
    store: Store, worlds: Iterable[str] = WORLDS, objectives: Iterable[str] = ALGORITHMS
) -> list[Discovery]:
    """Return the first seed's runs with the paper's settings, world by world.

    Args:
        store: The folder of runs, which decides the kind of run: see `_gallery_run`.
        worlds: Short names of worlds.
        objectives: Names of objectives.
    """
    objectives = list(objectives)
    return [_gallery_run(store, world, objective) for world in worlds for objective in objectives]


def _gallery_run(store: Store, world: str, objective: str) -> Discovery:
    """The run of `reproduce` if it is finished and has its skills, else the discovery in it."""
    pipeline = Setup().case(world, objective, SEED).run
    assert isinstance(pipeline, Discovery)
    if store.skills_path(pipeline).exists() and pipeline in store:
        return pipeline
    return Discovery(
        pipeline.world, pipeline.objective, pipeline.seed, pipeline.learner,
        targets=pipeline.targets, coverage=pipeline.coverage,
    )  # fmt: skip


def gallery_sets(
    store: Store,
    runs: Sequence[Discovery],
    first: Sequence[str] = FAMILIES[0],
    report: Progress = no_progress,
) -> list[SkillSetView]:
    """Return the skill sets of the finished ones of these runs, for a page.

    Each comes with its world's task, learned with the settings of the preset `best`.

    Args:
        store: The folder of runs.
        runs: The runs (see `gallery_runs`).
        first: Objectives that a page shows first.
        report: Progress callback.

    Raises:
        UserError: If none of the runs is finished.
    """
    frame = store.frame(runs)
    finished = set(frame["run"])
    runs = [run for run in runs if run.id in finished]
    if not runs:
        raise UserError(f"{store.folder} holds no skills to show")
    sets = []
    for number, run in enumerate(runs):
        report(number / len(runs), f"learning a task: {run.label}")
        skills = Skills.load(store.skills_path(run), run.make_world(), mdp=run.make_mdp())
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
