"""`skillfocus sweep`"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tyro.conf import UseAppendAction

from skillfocus.cli.job_options import JobOptions, exit_if_failed, report_job
from skillfocus.cli.options import (
    DiscoveryOptions,
    OptionalInt,
    OptionalPath,
    OptionalStr,
)
from skillfocus.cli.output import print_json, print_table, progress_on_stderr, say
from skillfocus.errors import UserError
from skillfocus.learners.registry import LEARNERS

if TYPE_CHECKING:
    from skillfocus.sweeps.grid import Axis
    from skillfocus.sweeps.running import SweepResult
    from skillfocus.sweeps.scores import Score


@dataclass(frozen=True)
class Sweep(JobOptions, DiscoveryOptions):
    """Compare settings: every point of a grid, or a search with Optuna, on tuning seeds.

    Prints all points, best first, and draws the metric against each setting. Other options are
    those of `discover` and the same for all points.

    Example: skillfocus sweep four-rooms focused-vic --over strength=1,2,4,8 --report 5
    """

    over: UseAppendAction[tuple[str, ...]] = ()
    """A setting and its values, strength=1,2,4; with --trials also a range, strength=1..20 or
    strength=1..20:log. Repeat for several settings."""
    paper: UseAppendAction[tuple[str, ...]] = ()
    """A search of the paper's appendix: gamma, alpha, decay, ewma, sgd, lambda, dusdi-weight or
    skills. Repeat for several."""
    seed: int = 1000
    """First tuning seed; seeds below 1000 are for reporting and refused here."""
    seeds: int = 3
    """Number of tuning seeds per point."""
    report: int = 0
    """Run the best point on this many reporting seeds too, from 0 up."""
    metric: str = "focus"
    """What to compare by: focus (control minus side effects), control, mean_side_effects, auc (of
    coverage; takes longer), steps, or any other metric of a run, averaged."""
    minimise: bool = False
    """Smaller values of the metric are better."""
    trials: OptionalInt = None
    """Search with this many Optuna trials instead of running the whole grid."""
    storage: OptionalStr = None
    """Database of the search, any SQLAlchemy URL (default: SQLite in --out)."""
    study: OptionalStr = None
    """Name of the search in the database (default: derived from what is searched)."""
    plot: OptionalPath = None
    """The sensitivity plot (.png, .svg or .pdf; default: a .png in --out)."""

    def run(self) -> None:
        """Execute the sweep and print its points."""
        from skillfocus.sweeps.running import sweep, sweep_axes

        axes = sweep_axes(self.over, self.paper, self.objective, self.learner)
        self._check_conflicts(axes)
        with progress_on_stderr(f"{self.world} {self.objective}") as bar:
            result = sweep(
                self.world, self.objective, over=axes, seed=self.seed, seeds=self.seeds,
                report=self.report, metric=self.metric, minimise=self.minimise,
                trials=self.trials, storage=self.storage, study=self.study, plot=self.plot,
                out=self.out, learner=self.make_learner(), progress=bar.report,
                **self.job_arguments(), **self.settings(),
            )  # fmt: skip
        report_job(result.status, self.out)
        if result.best is None:
            say("no point of the sweep has all its runs, so there is nothing to show")
            raise SystemExit(1)
        if self.json:
            print_json(result.as_json())
        else:
            _print_tables(result, result.best)
        say(f"drawn: {result.plot}")
        exit_if_failed(result.status)

    def _check_conflicts(self, axes: list[Axis]) -> None:
        """Refuse an option of the learner that is also swept over: it would be ignored."""
        swept = {axis.setting for axis in axes}
        for name in ("gamma", *(option for one in LEARNERS.values() for option in one.options)):
            if name in swept and self._given(name):
                raise UserError(f"{name} is swept over, so --{name} has no effect; leave it out")


def _print_tables(result: SweepResult, best: Score) -> None:
    """Print all points, best first, and how the best one does on the reporting seeds."""
    spec = result.spec
    columns = [axis.setting for axis in spec.axes] + [spec.metric, "90 % interval", "seeds", ""]
    rows = [
        [*_row(score), "best" if score is best else ""]
        for score in sorted(result.scores, key=lambda s: s.mean, reverse=not spec.minimise)
    ]
    plural = "s" if len(spec.seeds) > 1 else ""
    seeds = f"{len(spec.seeds)} tuning seed{plural} from {min(spec.seeds)} up"
    print_table(f"{result.title}, {seeds}", columns, rows)
    if result.report:
        title = f"The best point on reporting seeds 0 to {result.reporting_seeds[-1]}"
        print_table(title, columns[:-1], [_row(result.report)])


def _row(score: Score) -> list[str]:
    settings = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in score.point.values()]
    interval = f"{score.low:.3f} to {score.high:.3f}" if len(score.values) > 1 else "–"
    return [*settings, f"{score.mean:.3f}", interval, str(len(score.values))]
