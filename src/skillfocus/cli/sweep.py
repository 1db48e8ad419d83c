"""`skillfocus sweep`"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tyro.conf import UseAppendAction

from skillfocus.cli.discover import DiscoveryOptions
from skillfocus.cli.job import Job
from skillfocus.cli.output import print_json, print_table, say
from skillfocus.errors import UserError

if TYPE_CHECKING:
    from skillfocus.experiments.discovery import Discovery
    from skillfocus.runs import Setting
    from skillfocus.store import Store
    from skillfocus.sweeps import Axis, Score


@dataclass(frozen=True)
class Sweep(Job, DiscoveryOptions):
    """How settings matter: all points of a grid, or a search with Optuna, on tuning seeds.

    Examples: skillfocus sweep four-rooms focused-vic --over strength=1,2,4,8 --report 5;
    skillfocus sweep four-rooms dusdi-vic --paper dusdi-weight --paper gamma;
    skillfocus sweep four-rooms focused-diayn --over strength=1..20:log --over rate=0.01..0.5:log
    --trials 24
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
    """What to judge by: focus (control minus side effects), control, mean_side_effects, steps, or
    any other metric of a run, averaged."""
    minimise: bool = False
    """The smaller the metric the better."""
    trials: int | None = None
    """Search with so many trials of Optuna instead of trying every point."""
    storage: str | None = None
    """The search's database, any SQLAlchemy URL (default: SQLite in --out)."""
    study: str | None = None
    """The search's name in the database (default: by what is searched)."""
    plot: Path | None = None
    """The sensitivity plot (.png, .svg or .pdf; default: sweep.png in --out)."""

    def run(self) -> None:
        from skillfocus.ready import ready_axis
        from skillfocus.store import Store
        from skillfocus.sweeps import Axis, grid, parse_axis, reporting_seeds, tuning_seeds

        seeds = tuning_seeds(self.seeds, self.seed)
        report = reporting_seeds(self.report) if self.report else range(0)
        base = self.discovery(self.seed)
        if not base.make_objective().targeted and self.metric in ("focus", "control"):
            raise UserError(
                f"{self.objective} skills have no targets, so there is no {self.metric} to judge "
                f"by; choose another with --metric, such as mean_side_effects"
            )
        ready = [ready_axis(name, self.objective, self.learner) for name in self.paper]
        axes = [Axis(*axis) for axis in ready] + [parse_axis(text) for text in self.over]
        store = Store(self.out)
        if self.trials is None:
            points = grid(axes)
            scores = self._judge(base, points, seeds, store)
        else:
            scores = self._search(base, axes, seeds, store)
        whole = [score for score in scores if score is not None]
        self._show(base, axes, whole, seeds, report, store)
        if len(whole) < len(scores):
            raise SystemExit(1)

    def _judge(
        self,
        base: Discovery,
        points: list[dict[str, Setting]],
        seeds: Sequence[int],
        store: Store,
    ) -> list[Score | None]:
        """Do the runs of these points; None for a point that has not got all of them."""
        from skillfocus.sweeps import runs_of, score

        runs = [runs_of(base, point, seeds) for point in points]
        everything = [run for members in runs for run in members]
        self.do(everything, store, f"{self.world} {self.objective}")
        frame = store.frame(everything)
        return [
            score(frame, members, point, self.metric)
            for members, point in zip(runs, points, strict=True)
        ]

    def _search(
        self, base: Discovery, axes: list[Axis], seeds: Sequence[int], store: Store
    ) -> list[Score]:
        from skillfocus.search import open_study, search, sqlite_url, study_name

        if self.trials is None or self.trials < 1 or not axes:
            raise UserError("a search needs --trials of at least 1 and something to search --over")
        store.prepare()
        store.close()
        name = self.study or study_name(base, axes, self.metric, seeds)
        study = open_study(self.storage or sqlite_url(self.out), name, self.minimise)
        say(f"study {name}")
        return search(
            study, base, axes, trials=self.trials, seed=self.seed,
            judge=lambda points: self._judge(base, points, seeds, store),
        )  # fmt: skip

    def _show(
        self,
        base: Discovery,
        axes: list[Axis],
        scores: list[Score],
        seeds: Sequence[int],
        report: Sequence[int],
        store: Store,
    ) -> None:
        from skillfocus.figures.sensitivity import draw_sensitivity
        from skillfocus.sweeps import best_of

        best = best_of(scores, self.minimise)
        reported = self._judge(base, [best.point], report, store)[0] if report else None
        names = "+".join(axis.setting for axis in axes)
        stem = f"sweep_{base.make_world().id}_{self.objective}_{self.learner}_{names}"
        plot = self.plot or self.out / f"{stem}.png"
        title = f"{self.objective} in {base.make_world().id} by {self.learner}"
        draw_sensitivity(
            plot, f"{title}, {len(seeds)} tuning seeds", self.metric, axes, scores, best
        )
        if self.json:
            document = {
                "metric": self.metric,
                "tuning_seeds": list(seeds),
                "points": [score.as_json() for score in scores],
                "best": best.as_json(),
                "reporting_seeds": list(report),
                "report": reported and reported.as_json(),
                "plot": str(plot),
            }
            print_json(document)
        else:
            settings = [axis.setting for axis in axes]
            rows = [
                [
                    *(_number(s.point[name]) for name in settings),
                    *_columns(s),
                    "best" if s is best else "",
                ]
                for s in sorted(scores, key=lambda s: s.mean, reverse=not self.minimise)
            ]
            columns = [*settings, self.metric, "90 % interval", "seeds", ""]
            print_table(f"{title}, tuning seeds {seeds[0]} to {seeds[-1]}", columns, rows)
            if reported:
                rows = [[*(_number(best.point[name]) for name in settings), *_columns(reported)]]
                title = f"The best point on reporting seeds {report[0]} to {report[-1]}"
                print_table(title, columns[:-1], rows)
        say(f"drawn: {plot}")


def _number(value: Setting) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _columns(score: Score) -> list[str]:
    interval = f"{score.low:.3f} to {score.high:.3f}" if len(score.values) > 1 else "–"
    return [f"{score.mean:.3f}", interval, str(len(score.values))]
