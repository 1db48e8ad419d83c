"""`skillfocus evaluate`"""

from __future__ import annotations

from dataclasses import dataclass

from skillfocus.cli.forecasts import Forecaster
from skillfocus.cli.options import OptionalInt, SkillFiles, WorldOptions
from skillfocus.cli.output import progress_on_stderr, show_runs
from skillfocus.errors import UserError


@dataclass(frozen=True)
class Evaluate(WorldOptions):
    """Measure what saved skills change: their targets, and everything else (side effects).

    Values are exact where the world allows it, else sampled.

    Example: skillfocus evaluate out/*.skills --coverage
    """

    files: SkillFiles
    """Files of skills, as `discover` writes them."""
    coverage: bool = False
    """Also measure the fraction of states that chains of 1 to 5 skills can end in, and its area."""
    sample: OptionalInt = None
    """Sample this many rollouts per skill, even where values could be exact."""
    seed: int = 0
    """Seed of the samples."""
    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        """Evaluate the files and print the results."""
        from skillfocus.metrics.evaluation import evaluate

        if not self.files:
            raise UserError("name at least one file of skills")
        world = self.make_world()
        with progress_on_stderr("evaluating") as bar:
            runs = evaluate(
                self.files, coverage=self.coverage, sample=self.sample, seed=self.seed,
                world=world, progress=Forecaster(bar.report),
            )  # fmt: skip
        show_runs(runs, self.json)
