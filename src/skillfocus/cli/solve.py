"""`skillfocus solve`"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skillfocus.cli.forecasts import Forecaster
from skillfocus.cli.options import SkillFiles, WorldOptions
from skillfocus.cli.output import print_json, print_table, progress_on_stderr


@dataclass(frozen=True)
class Solve(WorldOptions):
    """Learn the paper's task of a world with saved skills and primitive moves, and, for comparison,
    with the moves alone.

    Example: skillfocus solve out/*.skills --intra-option
    """

    files: SkillFiles
    """Files of skills, as `discover` writes them."""
    task: Literal["true", "proxy"] = "true"
    """The reward to learn from: the true one, or the proxy that ignores side effects."""
    episodes: int = 20_000
    """Number of training episodes."""
    intra_option: bool = False
    """Let steps inside skills also update the values of the primitive moves."""
    decay: float = 0.001
    """Decay of exploration: epsilon is exp(-decay n) after n episodes."""
    seed: int = 0
    """First seed of learning."""
    seeds: int = 1
    """Number of seeds."""
    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        """Learn the tasks and print how well each agent does."""
        from skillfocus.tasks.solving import solve_all

        world = self.make_world()
        with progress_on_stderr(f"learning the {self.task} task") as bar:
            runs = solve_all(
                self.files, task=self.task, episodes=self.episodes, decay=self.decay,
                intra_option=self.intra_option, seed=self.seed, seeds=self.seeds, world=world,
                progress=Forecaster(bar.report),
            )  # fmt: skip
        if self.json:
            print_json({"runs": runs})
            return
        rows = [
            [r["world"], r["objective"], "–" if r["seed"] is None else str(r["seed"]),
             str(r["learning_seed"]), f"{r['steps']:.1f}", f"{r['optimum_steps']:.1f}",
             f"{r['proxy_return']:.3f}", f"{r['true_return']:.3f}"]
            for r in runs
        ]  # fmt: skip
        columns = ["world", "skills", "seed", "learner's", "steps", "optimum", "proxy", "true"]
        print_table(
            f"Learned from the {self.task} reward in {self.episodes:,} episodes: steps and returns",
            columns, rows,
        )  # fmt: skip
