"""`skillfocus evaluate`"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from skillfocus.cli.options import OptionalInt, OwnWorld
from skillfocus.cli.output import err, show_runs
from skillfocus.errors import UserError


@dataclass(frozen=True)
class Evaluate(OwnWorld):
    """Side effects and control of the targets of saved skills, exact where the world allows."""

    files: Positional[Annotated[tuple[Path, ...], arg(metavar="SKILLS [SKILLS …]")]]
    """Files of skills."""
    coverage: bool = False
    """Also the fraction of states that chains of 1 to 5 skills can end in, and its area."""
    sample: OptionalInt = None
    """Sample this many runs per skill even where exact values can be had."""
    seed: int = 0
    """The seed of the samples."""
    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        import numpy as np

        from skillfocus.metrics.coverage import coverage
        from skillfocus.metrics.summary import origin, skill_records
        from skillfocus.runs.progress_bar import Progress

        if not self.files:
            raise UserError("name at least one file of skills")
        if self.sample is not None and self.sample < 2:
            raise UserError(f"--sample is {self.sample}; it must be at least 2")
        loading = self.load(self.files)
        runs = []
        with Progress(err, "evaluating") as progress:
            for number, file in enumerate(self.files):
                progress.report(number / len(self.files), file.name)
                skills = next(loading)
                records = skill_records(skills, self.sample, self.seed)
                run = {**origin(skills), "file": str(file), "skills": records}
                if self.coverage:
                    progress.report((number + 0.5) / len(self.files), f"coverage of {file.name}")
                    run |= coverage(skills, rng=np.random.default_rng(self.seed)).summary()
                runs.append(run)
            progress.report(1.0, "done")
        show_runs(runs, self.json)
