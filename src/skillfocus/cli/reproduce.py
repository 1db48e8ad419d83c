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
    metavar="[EXPERIMENT …]",
    help=f"Experiments: {', '.join(experiment_names())}; or all, which leaves the last two out.",
)


@dataclass(frozen=True, kw_only=True)
class Reproduce(JobOptions):
    """Run the paper's experiments, and write a report: the paper's claims with a verdict for
    every setup, a page per figure, and every detailed claim with our number beside the paper's.

    Examples: skillfocus reproduce --seeds 5
              skillfocus reproduce coverage downstream --learner q-learning --seeds 3
              skillfocus reproduce --seeds 50 --finished   (what an interrupted one has so far)
              skillfocus reproduce --from results          (nothing is run)
              skillfocus reproduce scale --learner neural-large --seeds 2   (networks, on a GPU)
    """

    experiments: Positional[Annotated[tuple[str, ...], _NAMES]] = ("all",)
    seeds: int = 5
    """Number of seeds, from 0 up. Q-learning gets two fifths of them in FourRooms and a fifth
    elsewhere; ablation, controls, numbers of skills and scattered skills a tenth. Some
    experiments need ten: see docs/reproduction.md."""
    preset: Literal["paper", "best", "both"] = "both"
    """The paper's settings, or those that work best."""
    learner: Literal[
        "planning", "q-learning", "literal", "neural", "neural-large", "all", "both"
    ] = "all"
    """How skills are learned: exact planning, Q-learning with what it needs to learn, or
    Q-learning by the letter of the paper. The experiments scale and continuous have networks, for
    a CPU or a GPU."""
    from_: Annotated[OptionalPath, arg(name="from")] = None
    """Report the results saved in this folder (see --keep); nothing is run."""
    finished: bool = False
    """Run nothing: report what has finished in --out so far."""
    keep: OptionalPath = None
    """Also save reduced results to this folder, for --from. Those of some experiments are added to
    what it holds."""
    markdown: OptionalPath = None
    """Also write the report as Markdown to this file, with its other pages and pictures in a
    folder of the same name."""
    numbers: OptionalPath = None
    """Also write our numbers beside the paper's as Markdown to this file."""

    def run(self) -> None:
        """Reproduce, and print the claims; exit with status 1 if a run failed."""
        from skillfocus.experiments.reproduction import reproduce

        with progress_on_stderr("reproducing") as bar:
            made = reproduce(
                self.experiments, seeds=self.seeds, preset=self.preset, learner=self.learner,
                out=self.out, from_=self.from_, finished=self.finished, keep=self.keep,
                numbers=self.numbers,
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
        claims, paper = made.records(), made.claims_of_the_paper
        if self.json:
            records = [verdict.record() for verdict in paper]
            print_json(
                {"claims": claims, "claims_of_the_paper": records, "report": str(made.report)}
            )
            return
        rows = [
            [str(c["id"]), str(c["preset"]), str(c["learner"]), _number(c["paper"]),
             _number(c["aim"]), _number(c["ours"], ".2f"), str(c["verdict"])]
            for c in claims
        ]  # fmt: skip
        columns = ["claim", "preset", "learner", "paper", "aim", "ours", "verdict"]
        print_table("Claims", columns, rows)
        if paper:
            setups = list(dict.fromkeys(setup for one in paper for setup in one.tallies))
            titles = [f"{setup.preset}, {setup.learner}" for setup in setups]
            cells = [[str(one.tallies.get(setup, "–")) for setup in setups] for one in paper]
            summary = [[one.claim.name, *row] for one, row in zip(paper, cells, strict=True)]
            print_table("Claims of the paper", ["claim", *titles], summary)
        say(f"report: {made.report}")


def _number(value: object, form: str = "g") -> str:
    return "–" if value is None else f"{value:{form}}"
