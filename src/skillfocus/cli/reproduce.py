"""`skillfocus reproduce`"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from skillfocus.cli.job_options import JobOptions, report_job
from skillfocus.cli.options import OptionalPath
from skillfocus.cli.output import err, print_json, print_table, say
from skillfocus.errors import UserError

if TYPE_CHECKING:
    import polars as pl

MAIN = 0.97
"""The part of the work that the experiments are; the rest is skills to watch."""


@dataclass(frozen=True, kw_only=True)
class Reproduce(JobOptions):
    """Run the paper's experiments, and write a report: every claim with our number beside the
    paper's, a verdict, and the evidence.

    Examples: skillfocus reproduce --seeds 5
              skillfocus reproduce coverage downstream --learner q-learning --seeds 3
              skillfocus reproduce --seeds 50 --finished   (what an interrupted one has so far)
              skillfocus reproduce --from results          (nothing is run)
    """

    experiments: Positional[Annotated[tuple[str, ...], arg(metavar="[EXPERIMENT …]")]] = ("all",)
    """Of trajectories, coverage, downstream, underspecified, ablation, skill-count, side-effects,
    controls; or all."""
    seeds: int = 5
    """How many seeds, from 0 up. Planned VIC and LSD get two fifths of them; ablation, controls,
    numbers of skills and scattered skills a fifth; but two at least."""
    preset: Literal["paper", "best", "both"] = "both"
    """The paper's settings, or those that were found to work best."""
    learner: Literal["planning", "q-learning", "both"] = "both"
    """How skills are learned: exact planning, or the paper's Q-learning, which takes thrice as
    long."""
    from_: Annotated[OptionalPath, arg(name="from")] = None
    """Draw everything again from results kept in this folder; nothing is run."""
    finished: bool = False
    """Run nothing: report what has finished in --out so far."""
    keep: OptionalPath = None
    """Also keep condensed results in this folder, for --from."""
    markdown: OptionalPath = None
    """Also write the report as Markdown to this file, with its pictures beside it."""

    def run(self) -> None:
        from skillfocus._internal.atomic_io import require_writable_folder
        from skillfocus.experiments.players import players
        from skillfocus.experiments.report import build
        from skillfocus.experiments.reproduction import check_experiments
        from skillfocus.report.writing import keep, kept, write_report, write_twin
        from skillfocus.runs.folder_store import Store
        from skillfocus.runs.progress_bar import ProgressBar

        names = check_experiments(self.experiments)
        for folder in (self.out, self.keep, self.markdown and self.markdown.parent):
            if folder is not None:
                require_writable_folder(folder)
        if self.from_ is not None:
            frame, costs = (self._chosen(table) for table in kept(self.from_))
            failed = False
        else:
            frame, costs, failed = self._work(names)
        if frame.is_empty():
            raise UserError(
                f"there are no results with --preset {self.preset} --learner {self.learner}, so "
                f"there is nothing to report"
            )
        if self.keep is not None:
            keep(self.keep, frame, costs)
            say(f"kept: {self.keep}")
            frame, costs = kept(self.keep)
        with ProgressBar(err, "writing the report") as progress:
            watched, begun = [], 0.0
            if "trajectories" in names:
                begun = 0.25
                watched = players(
                    Store(self.out), lambda part, what: progress.report(part * begun, what)
                )
            blocks, sections = build(
                frame, costs, names,
                lambda part, what: progress.report(begun + part * (0.5 - begun), what), watched,
            )  # fmt: skip
            tables = [table for section in sections for table in section.analysis.tables]
            if names != ["trajectories"] and not any(table.rows for table in tables):
                raise UserError(f"there are no results of {', '.join(names)} among these")
            page = write_report(
                blocks, self.out, lambda part, what: progress.report(0.5 + part / 2, what)
            )
        if self.markdown is not None:
            write_twin(blocks, self.markdown)
        self._show(sections, page)
        if failed:
            raise SystemExit(1)

    def _chosen(self, table: pl.DataFrame) -> pl.DataFrame:
        """The part of kept results that is asked for."""
        for name, chosen in (("preset", self.preset), ("learner", self.learner)):
            if chosen != "both":
                table = table.filter(table[name] == chosen)
        return table

    def _work(self, names: list[str]) -> tuple[pl.DataFrame, pl.DataFrame, bool]:
        from skillfocus.core.progress import part_of
        from skillfocus.experiments.cases import Setup, costs, results
        from skillfocus.experiments.players import watched_runs
        from skillfocus.experiments.reduce import reduce_results
        from skillfocus.experiments.reproduction import SETUPS, cases
        from skillfocus.runs.folder_store import Store
        from skillfocus.runs.job import Job
        from skillfocus.runs.progress_bar import ProgressBar
        from skillfocus.sweeps.seeds import reporting_seeds

        seeds = reporting_seeds(self.seeds)
        setups = [
            setup
            for setup in SETUPS
            if self.preset in (setup.preset, "both") and self.learner in (setup.learner, "both")
        ]
        made = [case for setup in setups for case in cases(setup, names, seeds)]
        made.sort(key=lambda case: case.seed)
        if not made:
            raise UserError(f"{', '.join(names)} has no cases with --preset best; try paper")
        store, failed = Store(self.out), False
        if not self.finished:
            with (
                Job(store, **self.job_arguments()) as job,
                ProgressBar(err, "reproducing") as bar,
            ):
                job.execute([case.run for case in made], part_of(bar.report, 0.0, MAIN))
                if "trajectories" in names and Setup() in setups:
                    job.execute(watched_runs(store), part_of(bar.report, MAIN, 1.0))
            report_job(job.status, self.out)
            failed = bool(job.status.failures)
        return reduce_results(results(store, made), made), costs(store, made), failed

    def _show(self, sections: list, page: Path) -> None:
        claims = [
            {
                "id": f.id, "preset": section.setup.preset, "learner": section.setup.learner,
                "statement": f.statement, "source": f.source,
                "paper": f.reference if f.source == "paper" else None,
                "aim": f.reference if f.source == "aim" else None,
                "ours": f.ours.estimate, "interval": [_finite(f.ours.low), _finite(f.ours.high)],
                "evidence": f.compared, "verdict": f.verdict, "seeds": f.seeds,
            }
            for section in sections
            for f in section.analysis.findings
        ]  # fmt: skip
        if self.json:
            print_json({"claims": claims, "report": str(page)})
            return
        rows = [
            [c["id"], c["preset"], c["learner"], _number(c["paper"]), _number(c["aim"]),
             f"{c['ours']:.2f}", c["verdict"]]
            for c in claims
        ]  # fmt: skip
        columns = ["claim", "preset", "learner", "paper", "aim", "ours", "verdict"]
        print_table("Claims", columns, rows)
        say(f"report: {page}")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _finite(value: float) -> float | None:
    """JSON has no infinity: one seed has no interval."""
    return value if abs(value) < float("inf") else None
