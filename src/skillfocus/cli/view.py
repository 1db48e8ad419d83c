"""`skillfocus view`"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from skillfocus.cli.job_options import exit_if_failed, report_job
from skillfocus.cli.options import OptionalInt, OptionalPath, OptionalStr, WorldOptions
from skillfocus.cli.output import err, print_json, progress_on_stderr, say
from skillfocus.errors import UserError


@dataclass(frozen=True)
class View(WorldOptions):
    """Watch skills: write one page that needs nothing but a browser, and open it.

    Examples: skillfocus view out/plain.skills out/focused.skills
              skillfocus view out/focused.skills --task true       (an agent's choices too)
              skillfocus view --gallery                 (three worlds, eight algorithms each)
              skillfocus view out/focused.skills --export fetch.gif --skill 1 --slips 3
    """

    files: Positional[Annotated[tuple[Path, ...], arg(metavar="[SKILLS …]")]] = ()
    """Files of skills; up to four are shown side by side, the others can be selected."""
    out: OptionalPath = None
    """The page (default: beside the first file; for the gallery, out/gallery.html)."""
    gallery: bool = False
    """Show all three worlds and eight algorithms; skills missing in the page's folder are
    discovered first."""
    workers: OptionalInt = None
    """Number of worker processes for the gallery (default: one per core)."""
    retry_failed: bool = False
    """Execute runs of the gallery again that failed before."""
    task: Literal["none", "true", "proxy"] = "none"
    """Also learn the world's task from this reward with each skill set, to watch the agent."""
    coverage: bool = False
    """Also compute the expected coverage of skill chains."""
    export: OptionalPath = None
    """Write one rollout to this .gif or .svg file instead of a page."""
    skill: OptionalInt = None
    """The skill to export (default: the one that changes its targets with fewest side effects)."""
    start: OptionalStr = None
    """Start state of the export, such as 'position=(6, 9), tool_1=1'; variables left out are as on
    the page."""
    slips: int = 0
    """Seed of the export's slips, as on the page."""
    no_open: bool = False
    """Do not open the page in a browser."""
    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        """Write the page, or the exported rollout."""
        self._check()
        if self.export is not None:
            self._export(self.export)
        elif self.gallery:
            self._write_gallery()
        else:
            self._write_page()

    def _check(self) -> None:
        """Refuse options that would be ignored."""
        if self.gallery and (self.files or self.export):
            raise UserError("--gallery makes its own skills: name no files, and export from those")
        if self.gallery and (self.task != "none" or self.coverage or self.world):
            raise UserError("--gallery has worlds, tasks and coverage of its own: leave those out")
        if not self.gallery and (self.workers is not None or self.retry_failed):
            raise UserError("--workers and --retry-failed are for the runs of --gallery")
        if not self.files and not self.gallery:
            raise UserError("name at least one file of skills, or --gallery")
        if self.export is None and (self.skill is not None or self.start or self.slips):
            raise UserError(
                "--skill, --start and --slips say what to --export; a page has them all"
            )
        if self.export is not None and (self.out or self.task != "none" or self.coverage):
            raise UserError("--out, --task and --coverage are for a page, not for --export")
        if self.export is not None and len(self.files) != 1:
            raise UserError(f"--export takes one file of skills, and {len(self.files)} are named")

    def _write_page(self) -> None:
        from skillfocus.viewer.viewing import view

        world = self.make_world()
        with progress_on_stderr("writing the page") as bar:
            page = view(
                self.files, self.out, task=self.task, coverage=self.coverage, world=world,
                progress=bar.report,
            )  # fmt: skip
        self._show(page)

    def _write_gallery(self) -> None:
        from skillfocus.experiments.gallery_page import write_gallery

        with progress_on_stderr("writing the gallery") as bar:
            page, status = write_gallery(
                self.out, workers=self.workers, retry_failed=self.retry_failed,
                progress=bar.report,
            )  # fmt: skip
        report_job(status, page.parent)
        self._show(page)
        exit_if_failed(status)

    def _show(self, page: Path) -> None:
        """Say where the page is, and open it."""
        size = page.stat().st_size
        if self.json:
            print_json({"page": str(page), "bytes": size})
        else:
            say(f"page: {page} ({size / 1e6:.1f} MB)")
        if not self.no_open and err.is_terminal:
            import webbrowser

            webbrowser.open(page.resolve().as_uri())

    def _export(self, path: Path) -> None:
        from skillfocus.viewer.rollout_export import export_rollout

        exported = export_rollout(
            self.files[0], path, skill=self.skill, start=self.start or "", slips=self.slips,
            world=self.make_world(),
        )  # fmt: skip
        if self.json:
            print_json({"file": str(path), "steps": exported.steps, "skill": exported.skill})
        else:
            say(f"exported: {path}, skill {exported.skill}, {exported.steps} steps")
