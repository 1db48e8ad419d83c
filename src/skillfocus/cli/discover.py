"""`skillfocus discover`"""

from __future__ import annotations

from dataclasses import dataclass

from skillfocus.cli.job import Job, Work
from skillfocus.cli.options import DiscoveryOptions, OptionalPath
from skillfocus.cli.output import say, show_runs
from skillfocus.errors import UserError

DISTURBING = 0.1
"""Side effects that a user is told of."""


@dataclass(frozen=True)
class Discover(Job, DiscoveryOptions):
    """Discover skills in a world, say what each does, and save them.

    Examples: skillfocus discover four-rooms focused-vic --seeds 5,
    skillfocus discover gymnasium:Taxi-v4 focused-vic --targets passenger=4
    """

    seed: int = 0
    """The first seed."""
    seeds: int = 1
    """How many seeds, each an independent set of skills."""
    coverage: bool = False
    """Also measure the coverage of chains of 1 to 5 skills."""
    draw: OptionalPath = None
    """Also draw the first seed's skills to this .png, .svg or .pdf file."""

    def run(self) -> None:
        if self.seeds < 1 or self.seed < 0:
            raise UserError("--seeds must be at least 1 and --seed at least 0")
        self.prepare()
        seeds = range(self.seed, self.seed + self.seeds)
        runs = [self.discovery(seed, self.coverage) for seed in seeds]
        runs[0].check_size()
        if self.draw:
            from skillfocus.figures.trajectories import check_drawable

            check_drawable(runs[0].make_world(), self.draw)
        with Work(self, f"{self.world} {self.objective}") as work:
            work.do(runs)
        work.sum_up()
        store = work.store
        frame = store.frame(runs)
        finished = set(frame["run"])
        saved = [run for run in runs if run.id in finished]
        records = [{**run.record(frame), "file": str(store.skills_path(run))} for run in saved]
        show_runs(records, self.json)
        self._advise(records)
        for run in saved[:3]:
            say(f"saved: {store.skills_path(run)}")
        if len(saved) > 3:
            say(f"… and {len(saved) - 3} more in {store.folder}")
        if self.draw and runs[0].id in finished:
            from skillfocus.figures.trajectories import draw_skills

            draw_skills(store.skills(runs[0]), self.draw)
            say(f"drawn: {self.draw}")
        if work.total.failures:
            raise SystemExit(1)

    def _advise(self, records: list[dict]) -> None:
        """What to try where focused skills are not."""
        if "focused" not in self.objective:
            return
        effects = [s["side_effects"] or 0.0 for record in records for s in record["skills"]]
        if effects and max(effects) > DISTURBING:
            count = sum(effect > DISTURBING for effect in effects)
            say(
                f"note: {count} of {len(effects)} skills have side effects above {DISTURBING}; "
                f"where that can be helped, a higher --strength helps (`skillfocus describe` says "
                f"what can change alone)"
            )
