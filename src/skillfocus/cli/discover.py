"""`skillfocus discover`"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import arg

from skillfocus.cli.forecasts import announce
from skillfocus.cli.job_options import JobOptions, exit_if_failed, report_job
from skillfocus.cli.options import DiscoveryOptions, OptionalPath
from skillfocus.cli.output import progress_on_stderr, say, show_runs

if TYPE_CHECKING:
    from skillfocus.learners.strength_search import StrengthCurve
    from skillfocus.runs.discovery_run import Discovery
    from skillfocus.runs.folder_store import Store
    from skillfocus.runs.job import Job

NOTABLE = 0.01
"""Avoidable side effects of focused skills above this are pointed out."""
RARELY = 0.75
"""Skills change their target rarely if all together do so less often than this part of what one
could (skills for different values each change it from some of the starts)."""
MORE_UPDATES = "networks become more precise with more --updates"
STEADY_RATE = 0.05
"""A weight of VIC's discriminator that averages over many runs (docs/vic.md)."""
MAX_FILES_LISTED = 3


@dataclass(frozen=True)
class Discover(JobOptions, DiscoveryOptions):
    """Discover skills in a world, print what each one changes, and save them to files.

    Interrupted or repeated, the same command only executes the seeds that are missing in --out.

    Examples: skillfocus discover four-rooms focused-vic --seeds 5,
    skillfocus discover gymnasium:Taxi-v4 focused-vic --targets passenger=2
    """

    seed: int = 0
    """First seed."""
    seeds: int = 1
    """Number of seeds; each gives an independent set of skills."""
    coverage: bool = False
    """Also measure the coverage of chains of 1 to 5 skills."""
    draw: OptionalPath = None
    """Also draw the first seed's skills to this .png, .svg or .pdf file."""
    strength: Annotated[  # pyright: ignore[reportIncompatibleVariableOverride]
        float | Literal["auto"] | None, arg(metavar="FLOAT|auto", help_behavior_hint="")
    ] = None
    """Strength lambda of the penalty for side effects (default: 4, for LSD 2); auto raises it until
    side effects cannot fall further or targets suffer, and shows the curve."""

    def run(self) -> None:
        """Execute the discoveries and print their results."""
        from skillfocus.core.seeds import seed_range
        from skillfocus.runs.folder_store import Store
        from skillfocus.runs.job import Job

        seeds = seed_range(self.seeds, self.seed)
        self.explore_world()
        strength = None if self.strength == "auto" else self.strength
        runs = self._runs(seeds, strength)
        runs[0].check_size()
        announce(runs[0].forecast(), len(runs))
        if self.draw:
            from skillfocus.figures.trajectories import check_drawable

            check_drawable(runs[0].make_world(), self.draw)
        store, curve = Store(self.out), None
        with (
            Job(store, **self.job_arguments()) as job,
            progress_on_stderr(f"{self.world} {self.objective}") as bar,
        ):
            if self.strength == "auto":
                curve = self._find_strength(runs[0], seeds, job, store, bar.report)
                runs = self._runs(seeds, curve.chosen.strength)
            job.execute(runs, bar.report)
        if curve is not None:
            _keep_search(curve, runs, store)
        report_job(job.status, self.out)
        records = _records(runs, store)
        saved = [run for run in runs if run.id in set(store.frame(runs)["run"])]
        show_runs(records, self.json, curve and curve.as_json())
        self._advise(records)
        for run in saved[:MAX_FILES_LISTED]:
            say(f"saved: {store.skills_path(run)}")
        if len(saved) > MAX_FILES_LISTED:
            say(f"… and {len(saved) - MAX_FILES_LISTED} more in {store.folder}")
        if self.draw and saved[:1] == runs[:1]:
            from skillfocus.figures.trajectories import draw_skills

            draw_skills(store.skills(runs[0]), self.draw)
            say(f"drawn: {self.draw}")
        exit_if_failed(job.status)

    def _runs(self, seeds: Sequence[int], strength: float | None) -> list[Discovery]:
        from skillfocus.runs.discovery_run import Discovery

        learner = self.make_learner()
        settings: dict[str, Any] = {**self.settings(), "strength": strength}
        return [
            Discovery(self.world, self.objective, seed, learner, coverage=self.coverage, **settings)
            for seed in seeds
        ]

    def _find_strength(
        self, first: Discovery, seeds: Sequence[int], job: Job, store: Store, progress: Any
    ) -> StrengthCurve:
        """Raise the strength; every point is stored like any other run."""
        from skillfocus.learners.strength_search import first_strength, search_strength

        def measure(strength: float) -> list[list[dict]]:
            runs = self._runs(seeds, strength)
            job.execute(runs, progress)
            exit_if_failed(job.status)
            return [record["skills"] for record in _records(runs, store)]

        return search_strength(measure, first_strength(first.make_world(), first.make_objective()))

    def _advise(self, records: list[dict]) -> None:
        """Say what to try if focused skills disturb more than they need to, or do nothing."""
        if "focused" not in self.objective:
            return
        skills = [skill for record in records for skill in record["skills"]]
        wasteful = [s for s in skills if (s.get("avoidable") or 0.0) > NOTABLE]
        compares_with_start = not any("baseline" in record["settings"] for record in records)
        if wasteful and compares_with_start:  # as what is avoidable does
            worst = max(wasteful, key=lambda s: s["avoidable"])
            advice = "--strength auto finds a strength, and --penalty path-norm knows walls"
            if self.strength == "auto":
                advice = "no strength tried avoids them"
            if self._learns_networks:
                advice = MORE_UPDATES
            say(
                f"note: {len(wasteful)} of {len(skills)} skills have side effects that can be "
                f"avoided (skill {worst['skill']}, {' + '.join(worst['targets'])}: "
                f"{worst['avoidable']:.2f} more than the best possible); {advice}"
            )
        for record in records:
            _point_out_idle_skills(record, self._learns_networks)

    @property
    def _learns_networks(self) -> bool:
        from skillfocus.learners.neural.learner import Neural

        return isinstance(self.make_learner(), Neural)


def _keep_search(curve: StrengthCurve, runs: Sequence[Discovery], store: Store) -> None:
    """Write the strengths that were tried to the files of the skills, as `find_strength` does."""
    from skillfocus.skills.skills import Skills

    search = curve.as_json()
    for run in runs:
        if not store.has_skills(run):
            continue
        skills = Skills.load(store.skills_path(run), world=run.make_world())
        if skills.info.get("strength_search") != search:
            skills.info["strength_search"] = search
            store.replace_skills(run, skills.to_bytes())


def _point_out_idle_skills(record: dict, networks: bool) -> None:
    """Say which targets all skills of a run together change much less often than one could."""
    skills, rate = record["skills"], record["settings"]["rate"]
    if any("reaches" in skill for skill in skills):
        _point_out_missed_values(record)
        return
    steady = f"--rate {STEADY_RATE}, " if "vic" in record["objective"] and rate > 0.2 else ""
    advice = MORE_UPDATES if networks else f"try {steady}another seed, or focused-change"
    for target in dict.fromkeys(tuple(s["targets"]) for s in skills):
        mine = [s for s in skills if tuple(s["targets"]) == target and s["starts"]]
        possible = max((s.get("best_possible") or 0.0 for s in mine), default=0.0)
        changes = [s["changes_target"] for s in mine]
        if possible > 0.5 and sum(changes) < RARELY * possible:
            say(
                f"note: the skills for {' + '.join(target)} of seed {record['seed']} change it "
                f"from at most {max(changes):.2f} of the starts, though it can be changed alone "
                f"with probability {possible:.2f}; {advice}"
            )


def _point_out_missed_values(record: dict) -> None:
    """Say how many skills of a run reach their value alone much less often than one could."""
    possible = [s for s in record["skills"] if s["starts"] and (s.get("best_possible") or 0) > 0]
    missed = [s for s in possible if s["changes_alone"] < RARELY * s["best_possible"]]
    if not missed:
        return
    worst = min(missed, key=lambda s: s["changes_alone"] - s["best_possible"])
    say(
        f"note: {len(missed)} of {len(record['skills'])} skills of seed {record['seed']} reach "
        f"their value alone much less often than is possible (skill {worst['skill']}, "
        f"{worst['reaches']}: {worst['changes_alone']:.2f}, possible {worst['best_possible']:.2f})"
        f"; try a longer --step-limit, or --strength auto"
    )


def _records(runs: Sequence[Discovery], store: Store) -> list[dict]:
    """Return the records of the runs that are finished."""
    frame = store.frame(runs)
    finished = set(frame["run"])
    return [
        {**run.record(frame), "file": str(store.skills_path(run))}
        for run in runs
        if run.id in finished
    ]
