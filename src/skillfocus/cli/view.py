"""`skillfocus view`"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from skillfocus.cli.options import OptionalInt, OptionalPath, OptionalStr, OwnWorld
from skillfocus.cli.output import err, print_json, say
from skillfocus.errors import UserError

if TYPE_CHECKING:
    from skillfocus.core.factored import State
    from skillfocus.skills.skills import Skills
    from skillfocus.viewer.payload import SkillSetView


@dataclass(frozen=True)
class View(OwnWorld):
    """Watch skills: write one page that needs nothing but a browser, and open it.

    Examples: skillfocus view out/plain.skills out/focused.skills
              skillfocus view out/focused.skills --task true       (an agent's choices too)
              skillfocus view --gallery                 (three worlds, eight algorithms each)
              skillfocus view out/focused.skills --export fetch.gif --skill 1 --slips 3
    """

    files: Positional[Annotated[tuple[Path, ...], arg(metavar="[SKILLS …]")]] = ()
    """Files of skills; up to four are shown side by side, more can be chosen from."""
    out: OptionalPath = None
    """The page (default: beside the first file; of the gallery, out/gallery.html)."""
    gallery: bool = False
    """All three worlds and eight algorithms; what is missing in the page's folder is discovered."""
    workers: OptionalInt = None
    """Of the gallery, runs done at a time (default: one per core)."""
    retry_failed: bool = False
    """Of the gallery, do runs again that failed before."""
    task: Literal["none", "true", "proxy"] = "none"
    """Also learn the world's task from this reward with each skill set, to watch the agent."""
    coverage: bool = False
    """Also compute the coverage that chains of skills are expected to have."""
    export: OptionalPath = None
    """Write one rollout to this .gif or .svg file instead of a page."""
    skill: OptionalInt = None
    """The skill to export (default: the first that does what it is for)."""
    start: OptionalStr = None
    """Where it begins, such as 'position=(6, 9), tool_1=1'; what is not named is as usual."""
    slips: int = 0
    """The seed of its slips, as on the page."""
    no_open: bool = False
    """Do not open the page in a browser."""
    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        from skillfocus._internal.atomic_io import require_writable_folder

        self._check()
        if self.export is not None:
            self._export(self.export)
            return
        beside = Path("out/gallery") if self.gallery else self.files[0]
        page = self.out or beside.with_suffix(".html")
        require_writable_folder(page.parent)
        failed = False
        if self.gallery:
            failed = self._write_gallery(page)
        else:
            self._write(page)
        if self.json:
            print_json({"page": str(page), "bytes": page.stat().st_size})
        else:
            say(f"page: {page} ({page.stat().st_size / 1e6:.1f} MB)")
        if not self.no_open and err.is_terminal:
            import webbrowser

            webbrowser.open(page.resolve().as_uri())
        if failed:
            raise SystemExit(1)

    def _check(self) -> None:
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
        if not 0 <= self.slips < 2**32:
            raise UserError(f"--slips is {self.slips}; it must be at least 0 and below 2^32")
        if self.export is not None and len(self.files) != 1:
            raise UserError(f"--export takes one file of skills, and {len(self.files)} are named")
        if self.out is not None and self.out.suffix not in (".html", ".htm"):
            raise UserError(f"--out is {self.out}; a page's name ends in .html")

    def _write(self, page: Path) -> None:
        from skillfocus.runs.progress_bar import Progress
        from skillfocus.viewer.page import default_label, write_page

        loaded = list(self.load(self.files))
        alike = Counter((skills.world.id, default_label(skills)) for skills in loaded)
        with Progress(err, "writing the page") as progress:
            sets = []
            for number, (file, skills) in enumerate(zip(self.files, loaded, strict=True)):
                progress.report(number / len(loaded) / 2, f"looking at {file.name}")
                label = default_label(skills)
                several = alike[skills.world.id, label] > 1
                sets.append(self._shown(skills, file.stem if several else label))
            write_page(sets, page, report=lambda part, what: progress.report(0.5 + part / 2, what))

    def _write_gallery(self, page: Path) -> bool:
        """Whether some of its runs failed: they are left out."""
        from skillfocus.cli.job import Job, Work
        from skillfocus.experiments.gallery import TITLE, gallery_runs, gallery_sets
        from skillfocus.runs.progress_bar import Progress
        from skillfocus.viewer.page import write_page

        job = Job(out=page.parent, workers=self.workers, retry_failed=self.retry_failed)
        with Work(job, "discovering") as work:
            runs = gallery_runs(work.store)
            work.do(runs)
        work.sum_up()
        with Progress(err, "writing the gallery") as progress:
            sets = gallery_sets(
                work.store, runs, report=lambda part, what: progress.report(part / 4, what)
            )
            write_page(
                sets, page, TITLE, lambda part, what: progress.report(0.25 + 0.75 * part, what)
            )
        return bool(work.total.failures)

    def _shown(self, skills: Skills, label: str) -> SkillSetView:
        import numpy as np

        from skillfocus.metrics.coverage import coverage
        from skillfocus.tasks.smdp_q_learning import solve
        from skillfocus.tasks.task import task_of
        from skillfocus.viewer.payload import SkillSetView

        curve = coverage(skills, rng=np.random.default_rng(0)).curve if self.coverage else None
        if self.task == "none":
            return SkillSetView(skills, label, coverage=curve)
        task = task_of(skills.world, skills.mdp)
        found = solve(skills.mdp, task, skills, seed=0, reward=self.task)
        return SkillSetView(
            skills, label, coverage=curve, task=task, solution=found, reward=self.task
        )

    def _export(self, path: Path) -> None:
        import numpy as np

        from skillfocus.render.animation import export

        (skills,) = self.load(self.files)
        start = starting(skills, self.start or "")
        skill = telling(skills, start) if self.skill is None else self.skill
        if not 0 <= skill < len(skills):
            raise UserError(f"--skill is {skill}; these skills are numbered 0 to {len(skills) - 1}")
        run = skills.rollout(skill, start, np.random.default_rng(self.slips))
        export(run, path)
        if self.json:
            print_json({"file": str(path), "steps": len(run) - 1, "skill": skill})
        else:
            say(f"exported: {path}, skill {skill}, {len(run) - 1} steps")


def telling(skills: Skills, start: State) -> int:
    """The first skill that, if nothing slips, changes its targets with the fewest side effects."""

    def failings(z: int) -> tuple[bool, int]:
        path = skills.likely_path(z, start)
        missed = not path.changed or not set(skills.targets[z]) <= set(path.changed)
        return missed, len(path.side_effects)

    return min(range(len(skills)), key=failings)


def starting(skills: Skills, text: str) -> State:
    """The state that 'position=(6, 9), tool_1=1' names; the rest is as where the page begins."""
    from skillfocus.viewer.start_state import choose_start_state

    mdp = skills.mdp
    state, rest = list(mdp.state(choose_start_state(skills))), text.strip()
    while rest:
        name, sign, after = rest.partition("=")
        place = mdp.space.index(name.strip())
        labels = [str(value) for value in mdp.space.variables[place].values]
        fitting = [(_fits(label, after), value) for value, label in enumerate(labels)]
        length, state[place] = max(fitting)
        if not sign or not length:
            few = ", ".join(labels[:8]) + (", …" if len(labels) > 8 else "")
            raise UserError(f"--start: {name.strip()} can be {few}, and not what {rest!r} says")
        rest = after[length:].strip()
    mdp.number(state)
    return tuple(state)


def _fits(label: str, text: str) -> int:
    """How much of a text is a value, with the comma or the end after it; spaces do not matter."""
    letters = r"\s*".join(re.escape(letter) for letter in label if letter != " ")
    found = re.match(rf"\s*{letters}\s*(,|$)", text)
    return found.end() if found else 0
