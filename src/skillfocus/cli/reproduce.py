"""`skillfocus reproduce`"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from skillfocus.cli.job import Job
from skillfocus.cli.options import OptionalPath
from skillfocus.cli.output import err, print_json, print_table, say
from skillfocus.errors import UserError
from skillfocus.experiments.registry import experiment_names

if TYPE_CHECKING:
    from skillfocus.experiments.reproduction import Reproduction
    from skillfocus.runs.progress_bar import Progress
    from skillfocus.runs.status import Status

_NAMES = arg(
    metavar="[EXPERIMENT …]", help=f"Experiments: {', '.join(experiment_names())}; or all."
)


@dataclass(frozen=True, kw_only=True)
class Reproduce(Job):
    """Run the paper's experiments, and write a report: every claim with our number beside the
    paper's, a verdict, and the evidence.

    Examples: skillfocus reproduce --seeds 5
              skillfocus reproduce coverage downstream --learner q-learning --seeds 3
              skillfocus reproduce --seeds 50 --finished   (what an interrupted one has so far)
              skillfocus reproduce --from results          (nothing is run)
    """

    experiments: Positional[Annotated[tuple[str, ...], _NAMES]] = ("all",)
    seeds: int = 5
    """Number of seeds, from 0 up. Planned VIC and LSD get two fifths of them; ablation, controls,
    numbers of skills and scattered skills a fifth; but at least two."""
    preset: Literal["paper", "best", "both"] = "both"
    """The paper's settings, or those that work best."""
    learner: Literal["planning", "q-learning", "both"] = "both"
    """How skills are learned: exact planning, or the paper's Q-learning, which takes three times
    as long."""
    from_: Annotated[OptionalPath, arg(name="from")] = None
    """Report the results saved in this folder (see --keep); nothing is run."""
    finished: bool = False
    """Run nothing: report what has finished in --out so far."""
    keep: OptionalPath = None
    """Also save reduced results to this folder, for --from."""
    markdown: OptionalPath = None
    """Also write the report as Markdown to this file, with its pictures beside it."""

    def run(self) -> None:
        """Reproduce, and print the claims; exit with status 1 if a run failed."""
        from skillfocus.experiments.reproduction import reproduce
        from skillfocus.runs.progress_bar import summary
        from skillfocus.runs.status import Interrupted

        with _Display(self) as display:
            try:
                made = reproduce(
                    self.experiments, seeds=self.seeds, preset=self.preset, learner=self.learner,
                    out=self.out, from_=self.from_, finished=self.finished, keep=self.keep,
                    markdown=self.markdown, workers=self.workers, cluster=self.cluster,
                    retry_failed=self.retry_failed, watch=display.watch, progress=display.report,
                )  # fmt: skip
            except Interrupted as interrupt:
                done = summary(interrupt.status, self.out)
                raise KeyboardInterrupt(
                    f"interrupted. {done}. The same command goes on from here"
                ) from None
        self._print(made)
        if made.status is not None and made.status.failures:
            raise SystemExit(1)

    def _print(self, made: Reproduction) -> None:
        claims = made.records()
        if self.json:
            print_json({"claims": claims, "report": str(made.report)})
            return
        rows = [
            [str(c["id"]), str(c["preset"]), str(c["learner"]), _number(c["paper"]),
             _number(c["aim"]), f"{c['ours']:.2f}", str(c["verdict"])]
            for c in claims
        ]  # fmt: skip
        columns = ["claim", "preset", "learner", "paper", "aim", "ours", "verdict"]
        print_table("Claims", columns, rows)
        say(f"report: {made.report}")


class _Display:
    """Progress of `reproduce`: a bar for the runs, their summary, a bar for the report."""

    def __init__(self, command: Reproduce) -> None:
        self.command = command
        self.bar: Progress | None = None
        self.status: Status | None = None
        self.reporting = False

    def __enter__(self) -> _Display:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        self._close()
        if not self.reporting and kind is not None and issubclass(kind, UserError):
            self._sum_up()  # the runs left nothing to report: say why

    def watch(self, status: Status) -> None:
        """Show the status of the runs."""
        self.status = status
        self._open("reproducing").watch(status)

    def report(self, fraction: float, activity: str) -> None:
        """Show that the report is being written; the runs are over."""
        if not self.reporting:
            self._close()
            self.reporting = True
            self._sum_up()
        self._open("writing the report").report(fraction, activity)

    def _open(self, activity: str) -> Progress:
        from skillfocus.runs.progress_bar import Progress

        if self.bar is None:
            self.bar = Progress(err, activity)
            self.bar.__enter__()
        return self.bar

    def _close(self) -> None:
        if self.bar is not None:
            self.bar.__exit__()
            self.bar = None

    def _sum_up(self) -> None:
        from skillfocus.runs.progress_bar import summary

        out = self.command.out
        if self.status is not None:
            say(summary(self.status, out))
            for run, error in self.status.failures.items():
                say(f"failed: {run}: {error}")
            if self.status.failures:
                say(f"tracebacks are in {out / 'failed'}; --retry-failed tries again")
        if self.command.keep is not None:
            say(f"kept: {self.command.keep}")


def _number(value: object) -> str:
    return "–" if value is None else f"{value:g}"
