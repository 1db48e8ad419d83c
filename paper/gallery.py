"""Skills to watch: the gallery, a page with eight algorithms in three worlds, and report players.

`python -m paper` discovers the same skills, so a folder of its runs may hold them already.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

import skillfocus as sf
from paper import formatting as fmt
from paper.agents import Setup
from paper.settings import OBJECTIVES, WORLDS, task_learner
from skillfocus.progress import Progress, part_of
from skillfocus.runs import JobStatus
from skillfocus.viewer.page import frame_html, write_page
from skillfocus.viewer.payload import SkillSetView

TITLE = "Focused skills: a gallery"
FAMILIES = tuple(
    tuple(name for name in (base, f"dusdi-{base}", f"focused-{base}") if name in OBJECTIVES)
    for base in ("vic", "diayn", "lsd")
)
"""Each algorithm plain, with DUSDi where the paper has that, and focused."""
ALGORITHMS = tuple(name for family in FAMILIES for name in family)
PLAYED = FAMILIES[1]
"""DIAYN plain, with DUSDi and focused: the family with all three whose policies are small. VIC's
would make a report five times as large."""


def gallery_runs(
    store: sf.Store, worlds: Iterable[str] = WORLDS, objectives: Sequence[str] = ALGORITHMS
) -> list[sf.Discovery]:
    """Return the first seed's runs with the paper's settings, world by world."""
    return [_gallery_run(store, world, objective) for world in worlds for objective in objectives]


def player_runs(store: sf.Store) -> list[sf.Discovery]:
    """Return the runs whose skills the players show."""
    return gallery_runs(store, WORLDS, PLAYED)


def _gallery_run(store: sf.Store, world: str, objective: str) -> sf.Discovery:
    """Return the report's run if it is finished and has its skills, else the discovery in it."""
    run = Setup().case(world, objective, 0).run
    assert isinstance(run, sf.Discovery)
    if store.skills_path(run).exists() and run in store:
        return run
    return sf.Discovery(
        run.world, run.objective, run.seed, run.learner, targets=run.targets, rate=run.rate,
        coverage=run.coverage,
    )  # fmt: skip


def gallery_sets(
    store: sf.Store,
    runs: Sequence[sf.Discovery],
    first: Sequence[str],
    progress: Progress = sf.no_progress,
) -> list[SkillSetView]:
    """Return the skill sets of the finished ones of these runs, for a page.

    Each comes with its world's task, learned with the settings of the preset `best`.

    Args:
        store: The folder of runs.
        runs: The runs (see `gallery_runs`).
        first: Objectives that a page shows first.
        progress: Progress callback.
    """
    sets = []
    for number, run in enumerate(runs):
        record = store.document(run)
        if record is None:
            continue
        progress(number / len(runs), f"learning a task: {run.label}")
        skills = sf.Skills.load(store.skills_path(run), run.make_world(), mdp=run.make_mdp())
        task = sf.task_of(skills.world, skills.mdp)
        settings = task_learner("best", run.world, run.objective)
        sets.append(
            SkillSetView(
                skills, fmt.agent_name(run.objective), record["skills"], record.get("coverage"),
                task, sf.solve(skills.mdp, task, skills, seed=run.seed, settings=settings),
                first=run.objective in first,
            )
        )  # fmt: skip
    return sets


def write_gallery(options: argparse.Namespace, progress: Progress) -> tuple[Path, JobStatus]:
    """Discover the gallery's skills, and write the page to watch them on."""
    page, store = options.out / "gallery.html", sf.Store(options.out)
    runs = gallery_runs(store)
    status = sf.run_all(
        runs, store, workers=options.workers, cluster=options.cluster,
        retry_failed=options.retry_failed, progress=part_of(progress, 0.0, 0.6),
    )  # fmt: skip
    sets = gallery_sets(store, runs, FAMILIES[0], part_of(progress, 0.6, 0.7))
    if not sets:
        raise sf.UserError(f"{store.folder} holds no skills to show")
    write_page(sets, page, TITLE, part_of(progress, 0.7, 1.0))
    return page, status


def make_players(store: sf.Store, progress: Progress = sf.no_progress) -> list[tuple[str, str]]:
    """Return caption and frame of a player for every world whose skills the folder holds."""
    players = []
    for number, world in enumerate(WORLDS):
        progress(number / len(WORLDS), f"making the player of {world}")
        sets = gallery_sets(store, gallery_runs(store, [world], PLAYED), PLAYED)
        if sets:
            name = sets[0].skills.world.id
            caption = (
                f"{name}: {', '.join(one.label for one in sets)}; planned with the paper's "
                f"settings, the first seed. Click a cell to begin there."
            )
            players.append((caption, frame_html(sets, f"Skills in {name}")))
    return players
