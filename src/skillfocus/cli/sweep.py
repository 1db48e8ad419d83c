"""`skillfocus sweep`"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tyro.conf import UseAppendAction

from skillfocus.cli.job import Job, Work
from skillfocus.cli.options import DiscoveryOptions, OptionalInt, OptionalPath, OptionalStr
from skillfocus.cli.output import print_json, print_table, say
from skillfocus.errors import UserError

if TYPE_CHECKING:
    from skillfocus.runs.run import Setting
    from skillfocus.sweeps.grid import Score
    from skillfocus.sweeps.optuna_search import Question


@dataclass(frozen=True)
class Sweep(Job, DiscoveryOptions):
    """How settings matter: all points of a grid, or a search with Optuna, on tuning seeds.

    Example: skillfocus sweep four-rooms focused-vic --over strength=1,2,4,8 --report 5
    """

    over: UseAppendAction[tuple[str, ...]] = ()
    """A setting and its values, strength=1,2,4; with --trials also a range, strength=1..20 or
    strength=1..20:log. May be given several times."""
    paper: UseAppendAction[tuple[str, ...]] = ()
    """A search of the paper's appendix: gamma, alpha, decay, ewma, sgd, lambda, dusdi-weight or
    skills. May be given several times."""
    seed: int = 1000
    """The first tuning seed; seeds below 1000 are for reporting and refused here."""
    seeds: int = 3
    """How many tuning seeds each point gets."""
    report: int = 0
    """Then do the best point on so many reporting seeds, from 0 up."""
    metric: str = "focus"
    """What to judge by: focus (control minus side effects), control, mean_side_effects, auc (of
    coverage; takes longer), steps, or any other metric of a run, averaged."""
    minimise: bool = False
    """The smaller the metric the better."""
    trials: OptionalInt = None
    """Search with so many trials of Optuna instead of trying every point."""
    storage: OptionalStr = None
    """The search's database, any SQLAlchemy URL (default: SQLite in --out)."""
    study: OptionalStr = None
    """The search's name in the database (default: by what is searched)."""
    plot: OptionalPath = None
    """The sensitivity plot (.png, .svg or .pdf; default: a .png in --out)."""

    def run(self) -> None:
        from skillfocus.figures.saving import check_path
        from skillfocus.sweeps.grid import (
            Axis,
            best_of,
            grid,
            parse_axis,
            reporting_seeds,
            runs_of,
            tuning_seeds,
        )
        from skillfocus.sweeps.optuna_search import Question
        from skillfocus.sweeps.paper_grids import paper_axis

        seeds = tuning_seeds(self.seeds, self.seed)
        report = reporting_seeds(self.report) if self.report else range(0)
        ready = [paper_axis(name, self.objective, self.learner) for name in self.paper]
        axes = [Axis(*axis) for axis in ready] + [parse_axis(text) for text in self.over]
        base = self.discovery(self.seed, coverage=self.metric in ("auc", "coverage"))
        if self.plot:
            check_path(self.plot)
        self._check_conflicts([axis.setting for axis in axes])
        points = grid(axes) if self.trials is None else []
        for point in points:  # a mistake is said before anything runs
            runs_of(base, point, seeds, self.metric)
        question = Question(base, tuple(axes), tuple(seeds), self.metric, self.minimise)
        with Work(self, f"{self.world} {self.objective}") as work:
            if self.trials is None:
                judged = _judge(work, question, points, seeds)
                scores = [score for score in judged if score is not None]
            else:
                scores = self._search(work, question)
            best = best_of(scores, self.minimise) if scores else None
            reported = None
            if best and report:
                reported = _judge(work, question, [best.point], report)[0]
        work.sum_up()
        if best is None:
            say("no point of the sweep has all its runs, so there is nothing to show")
            raise SystemExit(1)
        self._show(question, scores, best, reported)
        if work.total.failures:
            raise SystemExit(1)

    def _check_conflicts(self, swept: list[str]) -> None:
        """Options that would be ignored are refused."""
        for name in swept:
            if getattr(self, name, None) != getattr(type(self), name, None) and name != "objective":
                raise UserError(
                    f"{name} is swept over, so --{name.replace('_', '-')} has no effect"
                )
        if self.trials is None and (self.storage or self.study):
            raise UserError("--storage and --study belong to a search; add --trials")

    def _search(self, work: Work, question: Question) -> list[Score]:
        """Score the points that Optuna draws; one that cannot be done is said and not scored."""
        from skillfocus.sweeps.grid import runs_of
        from skillfocus.sweeps.optuna_search import open_study, search, sqlite_url

        if self.trials is None or self.trials < 1:
            raise UserError(f"--trials is {self.trials}; it must be at least 1")
        work.store.prepare()
        name = self.study or f"{self.objective}_{self.metric}_{question.digest}"
        trials = self.trials
        judged = 0

        def judge(points: list[dict[str, Setting]]) -> list[Score | None]:
            nonlocal judged
            possible = []
            for point in points:
                try:
                    runs_of(question.base, point, question.seeds, self.metric)
                    possible.append(point)
                except UserError as error:
                    say(f"left out {point}: {error}")
            part = judged / trials, min(1.0, (judged + len(points)) / trials)
            judged += len(points)
            scores = iter(_judge(work, question, possible, question.seeds, *part))
            return [next(scores) if point in possible else None for point in points]

        with open_study(self.storage or sqlite_url(self.out), name, question) as study:
            say(f"study {name}: {len(study.get_trials(deepcopy=False))} trials drawn so far")
            return search(
                study, question, trials=trials, seed=self.seed, judge=judge,
                retry_failed=self.retry_failed,
            )  # fmt: skip

    def _show(
        self, question: Question, scores: list[Score], best: Score, reported: Score | None
    ) -> None:
        from skillfocus.runs.discovery_run import written
        from skillfocus.runs.run import settings_of
        from skillfocus.sweeps.sensitivity import draw_sensitivity

        settings = [axis.setting for axis in question.axes]
        world = question.base.make_world().id
        name = f"sweep_{world}_{self.objective}_{'+'.join(settings)}_{question.digest}.png"
        plot = self.plot or self.out / name
        skills = "objectives" if "objective" in settings else self.objective
        hidden = (*settings, "coverage")  # the metric tells
        unusual = {k: v for k, v in question.base.unusual().items() if k not in hidden}
        others = "".join(f", {part}" for part in written(unusual))
        title = f"{skills} in {world} by {self.learner}{others}"
        n = len(question.seeds)
        seeds = f"{n} tuning seed{'s' if n > 1 else ''}"
        if self.json:
            document = {
                "base": settings_of(question.base),
                "metric": self.metric,
                "minimise": self.minimise,
                "tuning_seeds": list(question.seeds),
                "points": [score.as_json() for score in scores],
                "best": best.as_json(),
                "reporting_seeds": list(range(self.report)),
                "report": reported and reported.as_json(),
                "plot": str(plot),
            }
            print_json(document)
        else:
            columns = [*settings, self.metric, "90 % interval", "seeds", ""]
            rows = [
                [*_columns(s.point, s), "best" if s is best else ""]
                for s in sorted(scores, key=lambda s: s.mean, reverse=not self.minimise)
            ]
            print_table(f"{title}, {seeds} from {question.seeds[0]} up", columns, rows)
            if reported:
                about = f"The best point on reporting seeds 0 to {self.report - 1}"
                print_table(about, columns[:-1], [_columns(best.point, reported)])
        draw_sensitivity(plot, f"{title}, {seeds}", self.metric, question.axes, scores, best)
        say(f"drawn: {plot}")


def _judge(
    work: Work,
    question: Question,
    points: list[dict[str, Setting]],
    seeds: Sequence[int],
    first: float = 0.0,
    last: float = 1.0,
) -> list[Score | None]:
    """Do the runs of these points; None for a point that has not got all of them."""
    from skillfocus.sweeps.grid import runs_of, score, values_of

    runs = [runs_of(question.base, point, seeds, question.metric) for point in points]
    everything = [run for members in runs for run in members]
    work.do(everything, first, last)
    values = values_of(work.store.frame(everything), question.metric)
    return [score(values, members, point) for members, point in zip(runs, points, strict=True)]


def _columns(point: dict[str, Setting], score: Score) -> list[str]:
    settings = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in point.values()]
    interval = f"{score.low:.3f} to {score.high:.3f}" if len(score.values) > 1 else "–"
    return [*settings, f"{score.mean:.3f}", interval, str(len(score.values))]
