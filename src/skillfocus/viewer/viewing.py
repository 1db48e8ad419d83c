"""`view`: a page to watch skills on, with coverage and a learned task if asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.files import check_file_path, require_writable_folder
from skillfocus.metrics.coverage import coverage as measure_coverage
from skillfocus.progress import Progress, no_progress, part_of
from skillfocus.skills.continuous.skills import ContinuousSkills
from skillfocus.skills.skills import Skills
from skillfocus.skills.sources import SkillSource, list_sources, load_any, load_source
from skillfocus.tasks.smdp_q_learning import solve
from skillfocus.tasks.task import has_task, task_of
from skillfocus.viewer.page import check_page_name, default_labels, is_page, write_page
from skillfocus.viewer.payload import SkillSetView


def view(
    skills: SkillSource | Iterable[SkillSource],
    out: str | Path | None = None,
    *,
    task: str = "none",
    coverage: bool = False,
    world: World | None = None,
    progress: Progress = no_progress,
) -> Path:
    """Write one HTML page, which needs nothing but a browser, to watch skills on.

        view(["out/plain.skills", "out/focused.skills"], "skills.html", task="true")

    Args:
        skills: Sets of skills or files of them, one or several.
        out: The page; by default, beside the first file.
        task: Also learn the world's task with each set, from its `"true"` or its `"proxy"` reward,
            to watch the agent; `"none"` for no task.
        coverage: Whether to compute the expected coverage of skill chains too.
        world: The world of the skills, for files that cannot name it.
        progress: Callback for the fraction done.

    Returns:
        The path of the page.

    Raises:
        UserError: If a file cannot be loaded or the page cannot be written.
    """
    sources = list_sources(skills)
    first = sources[0]
    page = page_path(out, first.with_suffix(".html") if isinstance(first, Path) else None)
    found = [load_any(source, world) for source in sources]
    if any(isinstance(one, ContinuousSkills) for one in found):
        return _view_continuous(found, page, task, coverage)
    loaded = [load_source(one, world) for one in found]
    # Sets that would have the same label are called by their files.
    made = default_labels(loaded)
    labels = Counter((one.world.id, label) for one, label in zip(loaded, made, strict=True))
    sets = []
    for number, (source, one) in enumerate(zip(sources, loaded, strict=True)):
        label = made[number]
        if isinstance(source, Path) and labels[one.world.id, label] > 1:
            label = source.stem
        progress(number / len(loaded) / 2, f"preparing {label}")
        sets.append(_prepare(one, label, task, coverage))
    return write_page(sets, page, "", part_of(progress, 0.5, 1.0))


def _view_continuous(
    sets: list[Skills | ContinuousSkills], page: Path, task: str, coverage: bool
) -> Path:
    """Write the page of skills in continuous worlds."""
    from skillfocus.viewer.continuous import view_continuous
    from skillfocus.viewer.continuous_skills import record_skills

    if task != "none" or coverage:
        raise UserError("pages of continuous worlds show skills alone: leave task and coverage out")
    chosen = [one for one in sets if isinstance(one, ContinuousSkills)]
    if len(chosen) != len(sets):
        raise UserError("a page shows skills of continuous worlds, or of finite ones, not of both")
    return view_continuous([record_skills(one) for one in chosen], page)


def page_path(out: str | Path | None, default: Path | None) -> Path:
    """Return where the page goes, and create its folder.

    A page that the caller named may be overwritten, one by the default name only if it is a page.

    Args:
        out: The name that the caller gave, if any.
        default: The name without one.

    Raises:
        UserError: If there is no name, it does not end in .html, or the page cannot be written.
    """
    page = default if out is None else Path(out)
    if page is None:
        raise UserError("skills in memory have no file to put the page beside; give out=…")
    check_page_name(page)
    require_writable_folder(page.parent)
    check_file_path(page)
    if out is None and page.exists() and not is_page(page):
        raise UserError(f"{page} exists and is not a page of skills; give another name with --out")
    return page


def _prepare(skills: Skills, label: str, task: str, coverage: bool) -> SkillSetView:
    """Compute what the page shows beside the skills themselves."""
    curve = measure_coverage(skills, rng=np.random.default_rng(0)).curve if coverage else None
    if task == "none":
        return SkillSetView(skills, label, coverage=curve)
    if not has_task(skills.world):
        raise UserError(
            f"{skills.world.id} has no task of its own, so there is no agent to watch: leave task "
            f"(--task) out"
        )
    goal = task_of(skills.world, skills.mdp)
    solution = solve(skills.mdp, goal, skills, seed=0, reward=task)
    return SkillSetView(skills, label, coverage=curve, task=goal, solution=solution, reward=task)
