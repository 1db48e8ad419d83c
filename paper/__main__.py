"""`python -m paper`: run the paper's experiments, analyze their results, and write the report.

    python -m paper --seeds 5
    python -m paper coverage downstream --learner q-learning --seeds 3
    python -m paper --seeds 50 --finished        what an interrupted one has so far
    python -m paper --from results               nothing is run
    python -m paper scale --learner neural-large --seeds 2   networks, on a GPU
    python -m paper gallery                      a page on which the skills of all algorithms play

Finished runs in `--out` are not run again, so an interrupted command resumes where it was.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import polars as pl

import skillfocus as sf
from paper import (
    continuous,
    controls,
    figure_1,
    figure_2,
    figure_5,
    figures_3_and_4,
    readings,
    scale,
)
from paper import formatting as fmt
from paper.agents import FURTHER_SETUPS, SETUPS, Case, Pipeline, Setup, first_seeds
from paper.claims import Experiment
from paper.gallery import make_players, player_runs, write_gallery
from paper.report import Report, build_report, numbers_page, rows_of, write_docs, write_report
from paper.results import (
    collect_costs,
    collect_results,
    load_results,
    reduce_results,
    save_results,
)
from paper.safety import comparison
from skillfocus.cli.commands import exit_if_failed, report_job
from skillfocus.cli.printing import print_table, progress_on_stderr, say
from skillfocus.errors import unknown
from skillfocus.files import require_writable_folder, write_atomically
from skillfocus.progress import Progress, part_of
from skillfocus.runs import JobStatus
from skillfocus.sweep import reporting_seeds

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        figure_1.TRAJECTORIES, figure_2.EXPERIMENT, figures_3_and_4.DOWNSTREAM,
        figures_3_and_4.UNDERSPECIFIED, figure_5.EXPERIMENT, figure_5.SKILL_COUNT,
        figure_1.SIDE_EFFECTS, comparison.EXPERIMENT, controls.EXPERIMENT, readings.EXPERIMENT,
        scale.EXPERIMENT, continuous.EXPERIMENT,
    )
}  # fmt: skip
"""In the order of the report."""
ON_REQUEST = ("scale", "continuous")
"""Experiments that "all" leaves out when something is run: they take a GPU, or hours."""
GPU_LEARNER = "neural-large"
RUNS, PLAYERS = 0.85, 0.87
"""Where on the progress bar the cases' runs end, and then those of the players."""


def select_experiments(names: Sequence[str], everything: bool) -> list[Experiment]:
    """Return the experiments of these names, in the order of the report.

    Args:
        names: Names of experiments, or "all".
        everything: Whether "all" stands for those on request, too.

    Raises:
        UserError: If a name is unknown.
    """
    for name in names:
        if name not in (*EXPERIMENTS, "all"):
            raise unknown("experiment", name, (*EXPERIMENTS, "all"))
    return [
        experiment
        for name, experiment in EXPERIMENTS.items()
        if name in names or ("all" in names and (everything or name not in ON_REQUEST))
    ]


def select_setups(
    experiments: Sequence[Experiment], preset: str, learner: str, reads: bool
) -> list[Setup]:
    """Return the setups that these experiments have and that were asked for.

    "all" learners include the one that needs a GPU only if saved results are read.
    """
    own = {name for experiment in experiments for name in experiment.presets}
    setups = [setup for setup in SETUPS if preset in (setup.preset, "both")]
    setups += [setup for setup in FURTHER_SETUPS if setup.preset in own]
    usual = [setup.learner for setup in setups if reads or setup.learner != GPU_LEARNER]
    learners = usual if learner == "all" else [learner]
    chosen = [setup for setup in setups if setup.learner in learners]
    if not chosen:
        raise sf.UserError(f"preset {preset} is not run with {learner}; try --learner planning")
    return chosen


def all_cases(setup: Setup, experiments: Sequence[Experiment], seeds: Sequence[int]) -> list[Case]:
    """Return every case of these experiments once, sorted by seed.

    An interrupted job then has all experiments with fewer seeds, not fewer experiments.
    """
    by_labels: dict[tuple, Case] = {}
    for experiment in experiments:
        if setup.preset in experiment.presets:
            own = first_seeds(seeds, experiment.seed_share, experiment.least_seeds)
            for case in experiment.cases(setup, own):
                if by_labels.setdefault(case.labels, case).run.id != case.run.id:
                    raise ValueError(f"two different runs are labelled {case.labels}")
    return sorted(by_labels.values(), key=lambda case: case.seed)


def reproduce(
    options: argparse.Namespace, progress: Progress = sf.no_progress
) -> tuple[Report, JobStatus | None]:
    """Run experiments or read their results, and write the report."""
    chosen = select_experiments(options.experiments or ["all"], options.from_ is not None)
    setups = select_setups(chosen, options.preset, options.learner, options.from_ is not None)
    out, status = options.out, None
    require_writable_folder(out)
    store = sf.Store(out)
    illustrated = any(experiment.illustration for experiment in chosen)
    if options.from_ is not None:
        frame, costs = (rows_of(table, setups) for table in load_results(options.from_))
    else:
        seeds = reporting_seeds(options.seeds)
        cases = [case for setup in setups for case in all_cases(setup, chosen, seeds)]
        cases.sort(key=lambda case: case.seed)
        if not options.finished:
            run = partial(
                sf.run_all, store=store, cluster=options.cluster, retry_failed=options.retry_failed,
                workers=1 if options.learner == GPU_LEARNER else options.workers,
            )  # fmt: skip
            status = run([case.run for case in cases], progress=part_of(progress, 0.0, RUNS))
            if illustrated and Setup() in setups:
                # Which runs these are depends on what is in the store by now.
                status += run(player_runs(store), progress=part_of(progress, RUNS, PLAYERS))
        frame = reduce_results(collect_results(store, cases), cases)
        costs = collect_costs(store, cases)
    if frame.is_empty():
        raise sf.UserError(
            f"there are no results with preset {options.preset} and learner {options.learner}, so "
            f"there is nothing to report"
        )
    if options.keep is not None:
        complete = {experiment.name for experiment in chosen} >= EXPERIMENTS.keys() - ON_REQUEST
        save_results(options.keep, frame, costs, setups if complete else ())
        # The same report as --from will write.
        frame, costs = (rows_of(table, setups) for table in load_results(options.keep))
    if options.numbers is not None:
        write_atomically(options.numbers, numbers_page(frame, Pipeline.version).encode())
    rest = part_of(progress, 0.0 if status is None else PLAYERS, 1.0)
    players = make_players(store, part_of(rest, 0.0, 0.25)) if illustrated else []
    report = build_report(frame, costs, chosen, part_of(rest, 0.25, 0.5))
    write_report(report, out, players, part_of(rest, 0.5, 1.0))
    if options.markdown is not None:
        write_docs(report, options.markdown)
    return report, status


def print_findings(report: Report, page: Path) -> None:
    """Print the paper's claims with a verdict per setup; the rest is in the report."""
    setups = list(dict.fromkeys(setup for v in report.verdicts for setup in v.tallies))
    titles = [f"{setup.preset}, {setup.learner}" for setup in setups]
    rows = []
    for verdict in report.verdicts:
        cells = [str(verdict.tallies.get(setup, fmt.MISSING)) for setup in setups]
        rows.append([f"{verdict.claim.name} (Figure {verdict.claim.figure})", *cells])
    if rows:
        print_table("Claims of the paper", ["claim", *titles], rows)
    say(f"report: {page} (every claim: {page.with_suffix('.json')})")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m paper", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("experiments", nargs="*", help=f"gallery, all, or some of {', '.join(EXPERIMENTS)}")
    add("--seeds", type=int, default=5, help="number of seeds, from 0 up (docs/reproduction.md)")
    add("--preset", choices=("paper", "best", "both"), default="both")
    learners = ("planning", "q-learning", "literal", "neural", GPU_LEARNER, "all")
    add("--learner", choices=learners, default="all")
    add("--out", type=Path, default=Path("out"), help="folder for runs and report")
    add("--from", dest="from_", type=Path, help="report the results saved in this folder")
    add("--finished", action="store_true", help="run nothing: report what has finished")
    add("--keep", type=Path, help="also save reduced results to this folder, for --from")
    add("--markdown", type=Path, help="also write the report as Markdown to this file")
    add("--numbers", type=Path, help="also write our numbers beside the paper's to this file")
    add("--workers", type=int, default=os.cpu_count() or 1, help="number of worker processes")
    add("--cluster", help="address of a Dask scheduler to use instead")
    add("--retry-failed", action="store_true", help="run again what failed before")
    return parser.parse_args(arguments)


def main() -> None:
    """Run the command line."""
    from skillfocus.cli import guarded

    with guarded():
        pl.Config.set_tbl_rows(20)
        options = parse(sys.argv[1:])
        report = None
        with progress_on_stderr("reproducing") as bar:
            if options.experiments == ["gallery"]:
                page, status = write_gallery(options, bar)
                say(f"page: {page}")
            else:
                report, status = reproduce(options, bar)
        if status is not None:
            report_job(status, options.out)
        if report is not None:
            print_findings(report, options.out / "report.html")
        if status is not None:
            exit_if_failed(status)


if __name__ == "__main__":
    main()
