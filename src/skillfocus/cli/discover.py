"""`skillfocus discover`"""

from __future__ import annotations

from dataclasses import dataclass

from skillfocus.cli.forecasts import announce
from skillfocus.cli.job_options import JobOptions, exit_if_failed, report_job
from skillfocus.cli.options import DiscoveryOptions, OptionalPath
from skillfocus.cli.output import progress_on_stderr, say, show_runs

NOTABLE_SIDE_EFFECTS = 0.1
"""Side effects of focused skills above this are pointed out."""
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

    def run(self) -> None:
        """Execute the discoveries and print their results."""
        from skillfocus.core.seeds import seed_range
        from skillfocus.runs.discovery_run import Discovery
        from skillfocus.runs.folder_store import Store
        from skillfocus.runs.job import Job

        seeds = seed_range(self.seeds, self.seed)
        self.explore_world()
        learner, settings = self.make_learner(), self.settings()
        runs = [
            Discovery(self.world, self.objective, seed, learner, coverage=self.coverage, **settings)
            for seed in seeds
        ]
        runs[0].check_size()
        announce(runs[0].forecast(), len(runs))
        if self.draw:
            from skillfocus.figures.trajectories import check_drawable

            check_drawable(runs[0].make_world(), self.draw)
        store = Store(self.out)
        with (
            Job(store, **self.job_arguments()) as job,
            progress_on_stderr(f"{self.world} {self.objective}") as bar,
        ):
            job.execute(runs, bar.report)
        report_job(job.status, self.out)
        frame = store.frame(runs)
        finished = set(frame["run"])
        saved = [run for run in runs if run.id in finished]
        records = [{**run.record(frame), "file": str(store.skills_path(run))} for run in saved]
        show_runs(records, self.json)
        self._advise(records)
        for run in saved[:MAX_FILES_LISTED]:
            say(f"saved: {store.skills_path(run)}")
        if len(saved) > MAX_FILES_LISTED:
            say(f"… and {len(saved) - MAX_FILES_LISTED} more in {store.folder}")
        if self.draw and runs[0].id in finished:
            from skillfocus.figures.trajectories import draw_skills

            draw_skills(store.skills(runs[0]), self.draw)
            say(f"drawn: {self.draw}")
        exit_if_failed(job.status)

    def _advise(self, records: list[dict]) -> None:
        """Say what to try if skills that should be focused have side effects."""
        if "focused" not in self.objective:
            return
        effects = [s["side_effects"] or 0.0 for record in records for s in record["skills"]]
        count = sum(effect > NOTABLE_SIDE_EFFECTS for effect in effects)
        if count:
            say(
                f"note: {count} of {len(effects)} skills have side effects above "
                f"{NOTABLE_SIDE_EFFECTS}; where they can be avoided, a higher --strength helps "
                f"(`skillfocus describe` says what can change alone)"
            )
