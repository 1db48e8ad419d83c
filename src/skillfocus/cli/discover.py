"""`skillfocus discover`"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from skillfocus.cli.job import Job, LearnerOptions, Work
from skillfocus.cli.options import OptionalFloat, OptionalInt, OptionalPath, OptionalStr
from skillfocus.cli.output import say, show_runs
from skillfocus.errors import UserError

if TYPE_CHECKING:
    from skillfocus.experiments.discovery import Discovery


@dataclass(frozen=True, kw_only=True)
class DiscoveryOptions(LearnerOptions):
    world: Annotated[Positional[str], arg(metavar="WORLD")]
    """A world, such as four-rooms (see `skillfocus list`)."""
    objective: Annotated[Positional[str], arg(metavar="OBJECTIVE")]
    """What skills want, such as focused-vic, dusdi-diayn or lsd."""
    skills: OptionalInt = None
    """How many skills (default 16): goals (tools, …) get two each, position the rest."""
    targets: OptionalStr = None
    """Your own assignment, such as tool_1=2,position=4 or tool_1+position=3 (two targets)."""
    strength: OptionalFloat = None
    """The penalty's strength lambda (default: 4, for LSD 2)."""
    rate: OptionalFloat = None
    """The weight of the discriminator's moving average, or LSD's step (default: the paper's);
    Q-learning slows it down (docs/q-learning.md)."""
    weight: OptionalFloat = None
    """DUSDi's weight on the variables that are no targets (default: 0.1)."""
    step_limit: OptionalInt = None
    """The most steps a skill may take (default: the world's)."""

    def discovery(self, seed: int, coverage: bool) -> Discovery:
        from skillfocus.experiments.discovery import Discovery

        return Discovery(
            self.world, self.objective, seed, self.make_learner(), self.skills, self.targets,
            self.rate, self.strength, self.weight, self.step_limit, coverage=coverage,
        )  # fmt: skip


@dataclass(frozen=True)
class Discover(Job, DiscoveryOptions):
    """Discover skills in a world, say what each does, and save them.

    Example: skillfocus discover four-rooms focused-vic --seeds 5
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
        seeds = range(self.seed, self.seed + self.seeds)
        runs = [self.discovery(seed, self.coverage) for seed in seeds]
        if self.draw:
            from skillfocus.figures.trajectories import check_drawable

            check_drawable(runs[0].make_world(), self.draw)
        with Work(self, f"{self.world} {self.objective}") as work:
            work.do(runs)
            work.sum_up()
        store = work.store
        frame = store.frame(runs)
        finished = set(frame["run"])
        show_runs(
            [
                {**run.record(frame), "file": str(store.skills_path(run))}
                for run in runs
                if run.id in finished
            ],
            self.json,
        )
        saved = [run for run in runs if run.id in finished]
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
