"""`write_gallery`: discover the gallery's skills and write the page to watch them on."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from skillfocus.core.progress import Progress, no_progress, part_of
from skillfocus.experiments import gallery
from skillfocus.runs.folder_store import Store
from skillfocus.runs.job import Job
from skillfocus.runs.status import JobStatus
from skillfocus.viewer.page import write_page
from skillfocus.viewer.viewing import page_path

DISCOVERY_SHARE = 0.6
"""Share of the progress bar that the discoveries get."""


class GalleryPage(NamedTuple):
    """A written gallery.

    Attributes:
        path: The page.
        status: How the discoveries went; skills of failed runs are missing from the page.
    """

    path: Path
    status: JobStatus


def write_gallery(
    out: str | Path | None = None,
    *,
    workers: int | None = None,
    retry_failed: bool = False,
    progress: Progress = no_progress,
) -> GalleryPage:
    """Write one page with the skills of eight algorithms in the paper's three worlds.

    Args:
        out: The page; by default, out/gallery.html. Runs are read from and stored in its folder.
        workers: Number of worker processes; by default, one per core.
        retry_failed: Whether to execute again what failed before.
        progress: Callback for the fraction done.

    Raises:
        UserError: If the page cannot be written or no run succeeded.
        Interrupted: After Ctrl-C, once finished runs are stored.
    """
    page = page_path(out, Path("out/gallery.html"))
    store = Store(page.parent)
    with Job(store, workers=workers, retry_failed=retry_failed) as job:
        runs = gallery.gallery_runs(store)
        job.execute(runs, part_of(progress, 0.0, DISCOVERY_SHARE))
        begin = DISCOVERY_SHARE + 0.1
        task_progress = part_of(progress, DISCOVERY_SHARE, begin)
        sets = gallery.gallery_sets(store, runs, gallery.FAMILIES[0], task_progress)
        write_page(sets, page, gallery.TITLE, part_of(progress, begin, 1.0))
    return GalleryPage(page, job.status)
