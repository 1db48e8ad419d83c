"""`reproduce`: run experiments, analyze their results, and write the report.

reproduction = reproduce(["coverage"], seeds=5, preset="paper", learner="planning")
for claim in reproduction.claims:
    print(claim.id, claim.verdict)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from skillfocus._internal.atomic_io import (
    check_file_path,
    require_writable_folder,
    shorten,
    write_atomically,
)
from skillfocus.core.progress import Progress, no_progress, part_of
from skillfocus.errors import UserError, unknown
from skillfocus.experiments.cases import FURTHER_SETUPS, SETUPS, Setup
from skillfocus.experiments.claim_blocks import VERDICT_CLASSES, claim_records
from skillfocus.experiments.claims import Claim
from skillfocus.experiments.experiment import Experiment
from skillfocus.experiments.numbers_page import numbers_page
from skillfocus.experiments.paper_verdicts import PaperVerdict, judge_paper_claims
from skillfocus.experiments.players import make_players, player_runs
from skillfocus.experiments.presets import LEARNERS
from skillfocus.experiments.readings import PRESETS
from skillfocus.experiments.reduce import reduce_results
from skillfocus.experiments.registry import select_experiments, usual_names
from skillfocus.experiments.report import build_report
from skillfocus.experiments.results import (
    add_results,
    check_results_folder,
    collect_costs,
    collect_results,
    consistent,
    load_results,
    save_results,
)
from skillfocus.experiments.sections import Section, all_cases
from skillfocus.report.markdown import to_markdown
from skillfocus.report.writing import write_markdown, write_report
from skillfocus.runs.folder_store import Store
from skillfocus.runs.job import Job
from skillfocus.runs.status import JobStatus
from skillfocus.sweeps.seeds import reporting_seeds

GPU_LEARNER = "neural-large"
RUNS, PLAYERS = 0.85, 0.87
"""Where on the progress bar the cases' runs end, and then those of the players."""


@dataclass(frozen=True)
class Reproduction:
    """What `reproduce` did and concluded."""

    sections: list[Section]
    """The analysis of every experiment with every setup."""
    report: Path
    """The report's main page as HTML; report.md, report.json, its other pages (report/) and
    figures/ are beside it."""
    status: JobStatus | None
    """How the runs went; None if nothing was run."""

    @property
    def claims(self) -> list[Claim]:
        """The claims of all sections."""
        return [claim for section in self.sections for claim in section.analysis.claims]

    def records(self) -> list[dict[str, object]]:
        """Return the claims with their preset and learner, as JSON can hold them."""
        return claim_records(self.sections)

    @property
    def claims_of_the_paper(self) -> list[PaperVerdict]:
        """The paper's claims that have results, with a verdict for every setup."""
        return judge_paper_claims(self.sections)


def reproduce(
    experiments: Sequence[str] | str = ("all",),
    *,
    seeds: int = 5,
    preset: str = "both",
    learner: str = "all",
    out: str | Path = "out",
    from_: str | Path | None = None,
    finished: bool = False,
    keep: str | Path | None = None,
    markdown: str | Path | None = None,
    numbers: str | Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    retry_failed: bool = False,
    progress: Progress = no_progress,
) -> Reproduction:
    """Run the paper's experiments and write a report.

    Finished runs in `out` are not run again, so an interrupted call resumes where it was.

    Args:
        experiments: Names of experiments, or one name; "all" stands for all of them.
        seeds: Number of seeds, from 0 up. Some cases get fewer; see docs/reproduction.md.
        preset: "paper", "best" or "both".
        learner: "planning", "q-learning", "literal" or "all"; for the experiment `scale`, "neural"
            ("all" means this one) or, on a GPU, "neural-large".
        out: Folder for runs and report.
        from_: Folder of results that `keep` saved: report these, and run nothing.
        finished: Run nothing: report what has finished in `out`.
        keep: Folder to save reduced results to, for `from_`. Those of some experiments are added
            to what the folder holds.
        markdown: File to also write the report's main page to as Markdown; other pages and
            pictures go to a folder of the same name beside it.
        numbers: File to write our numbers beside the paper's to, as Markdown.
        workers: Number of worker processes (default: one per core).
        cluster: Address of a Dask scheduler to use instead, such as "tcp://10.0.0.1:8786".
        retry_failed: Run again what failed before.
        progress: Callback for the fraction done.

    Returns:
        Claims, analyses, the report's path, and how the runs went. Runs that failed are in
        `status.failures`; the report is written without them.

    Raises:
        UserError: If an argument is wrong, or there is nothing to report.
        Interrupted: After Ctrl-C, once the runs in flight have finished.
    """
    out, markdown = Path(out), None if markdown is None else Path(markdown)
    if markdown is not None and not markdown.suffix:
        raise UserError(f"--markdown is '{shorten(markdown)}'; name a file that ends in .md")
    names = [experiments] if isinstance(experiments, str) else experiments
    chosen = select_experiments(names, on_request=from_ is not None)
    setups = _select_setups(chosen, preset, learner, reads=from_ is not None)
    if workers is None and learner == GPU_LEARNER:
        workers = 1  # JAX takes most of a GPU's memory for each process
    require_writable_folder(out)
    if keep is not None:
        check_results_folder(Path(keep))
    for file in (markdown, None if numbers is None else Path(numbers)):
        if file is not None:
            require_writable_folder(file.parent)
            check_file_path(file)
    store, status = Store(out), None
    if from_ is not None:
        frame, costs = (_rows_of(setups, table) for table in load_results(Path(from_)))
    else:
        cases = [
            case for setup in setups for case in all_cases(setup, chosen, reporting_seeds(seeds))
        ]
        cases.sort(key=lambda case: case.seed)
        if not cases:
            names = ", ".join(experiment.name for experiment in chosen)
            raise UserError(
                f"{names} has no cases with preset {preset} and learner {learner} for {seeds} "
                f"seeds; try --preset paper --learner planning, or more seeds"
            )
        if not finished:
            with Job(store, workers=workers, cluster=cluster, retry_failed=retry_failed) as job:
                job.execute([case.run for case in cases], part_of(progress, 0.0, RUNS))
                if any(experiment.illustration for experiment in chosen) and Setup() in setups:
                    # Which runs these are depends on what is in the store by now.
                    job.execute(player_runs(store), part_of(progress, RUNS, PLAYERS))
            status = job.status
        frame = reduce_results(collect_results(store, cases), cases)
        costs = collect_costs(store, cases)
    if frame.is_empty():
        failures = status.failures if status else {}
        cause = ""
        if failures:
            run, error = next(iter(failures.items()))
            cause = f"; {len(failures)} runs failed, such as {run} ({error}): see {out / 'failed'}"
        raise UserError(
            f"there are no results with preset {preset} and learner {learner}, so there is "
            f"nothing to report{cause}"
        )
    if keep is not None:
        complete = {experiment.name for experiment in chosen} >= set(usual_names())
        kept = add_results(Path(keep), frame, costs, setups if complete else ())
        save_results(Path(keep), *kept)
        # The same report as --from will write.
        frame, costs = (_rows_of(setups, table) for table in load_results(Path(keep)))
    first = 0.0 if status is None else PLAYERS
    with consistent(None if from_ is None else Path(from_)):
        if numbers is not None:
            text = to_markdown(numbers_page(frame).blocks, "")
            write_atomically(Path(numbers), text.encode())
        sections, page = _write(
            frame, costs, chosen, store, out, markdown, part_of(progress, first, 1.0)
        )
    return Reproduction(sections, page, status)


def _select_setups(
    experiments: Sequence[Experiment], preset: str, learner: str, reads: bool
) -> list[Setup]:
    """Return the setups that these experiments have and that were asked for.

    "all" learners include the one that needs a GPU only if saved results are read.

    Raises:
        UserError: If a name is unknown, or if there is no such setup.
    """
    further = [setup.learner for setup in FURTHER_SETUPS]
    known = {"preset": (*PRESETS, "both"), "learner": (*LEARNERS, *further, "all", "both")}
    for kind, value in (("preset", preset), ("learner", learner)):
        if value not in known[kind]:
            raise unknown(kind, value, known[kind])
    learners = set(known["learner"]) if learner in ("all", "both") else {learner}
    if learner != GPU_LEARNER and not reads:
        learners -= {GPU_LEARNER}
    own = {name for experiment in experiments for name in experiment.presets}
    setups = [setup for setup in SETUPS if preset in (setup.preset, "both")]
    setups += [setup for setup in FURTHER_SETUPS if setup.preset in own]
    setups = [setup for setup in setups if setup.learner in learners]
    if not setups:
        raise UserError(f"preset {preset} is not run with {learner}; try --learner planning")
    return setups


def _rows_of(setups: list[Setup], table: pl.DataFrame) -> pl.DataFrame:
    """The rows of saved results that belong to these setups."""
    return table.filter(
        pl.col("preset").is_in([setup.preset for setup in setups])
        & pl.col("learner").is_in([setup.learner for setup in setups])
    )


def _write(
    frame: pl.DataFrame,
    costs: pl.DataFrame,
    experiments: list[Experiment],
    store: Store,
    out: Path,
    markdown: Path | None,
    progress: Progress,
) -> tuple[list[Section], Path]:
    """Build the report and write it; return the analyses and the path of the page."""
    players, start = [], 0.0
    if any(experiment.illustration for experiment in experiments):
        start = 0.25
        players = make_players(store, part_of(progress, 0.0, start))
    report, sections = build_report(
        frame, costs, experiments, part_of(progress, start, 0.5), players
    )
    tables = [table for section in sections for table in section.analysis.tables]
    claims = [claim for section in sections for claim in section.analysis.claims]
    illustrations = all(experiment.illustration for experiment in experiments)
    if not illustrations and not claims and not any(table.rows for table in tables):
        names = ", ".join(experiment.name for experiment in experiments)
        raise UserError(f"there are no results of {names} among these")
    page = write_report(
        report, out, cell_classes=VERDICT_CLASSES, progress=part_of(progress, 0.5, 1.0)
    )
    if markdown is not None:
        write_markdown(report, markdown)
    return sections, page
