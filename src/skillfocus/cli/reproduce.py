"""`skillfocus reproduce`"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from skillfocus.cli.job_options import JobOptions, exit_if_failed, report_job
from skillfocus.cli.options import OptionalPath
from skillfocus.cli.output import print_json, print_table, progress_on_stderr, say
from skillfocus.experiments.registry import experiment_names

if TYPE_CHECKING:
    from skillfocus.experiments.reproduction import Reproduction

_NAMES = arg(
    metavar="[EXPERIMENT …]", help=f"Experiments: {', '.join(experiment_names())}; or all."
)


@dataclass(frozen=True, kw_only=True)
class Reproduce(JobOptions):
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

        with progress_on_stderr("reproducing") as bar:
            made = reproduce(
                self.experiments, seeds=self.seeds, preset=self.preset, learner=self.learner,
                out=self.out, from_=self.from_, finished=self.finished, keep=self.keep,
                markdown=self.markdown, progress=bar.report, **self.job_arguments(),
            )  # fmt: skip
        if made.status is not None:
            report_job(made.status, self.out)
        if self.keep is not None:
            say(f"saved: {self.keep}")
        self._print(made)
        if made.status is not None:
            exit_if_failed(made.status)

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


def _number(value: object) -> str:
    return "–" if value is None else f"{value:g}"
