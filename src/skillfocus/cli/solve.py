"""`skillfocus solve`"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import arg

from skillfocus.cli.forecasts import Forecaster
from skillfocus.cli.options import OptionalInt, OptionalStr, SkillFiles, WorldOptions
from skillfocus.cli.output import print_json, print_table, progress_on_stderr


@dataclass(frozen=True)
class Solve(WorldOptions):
    """Learn a task with saved skills and primitive moves, and, for comparison, with the moves
    alone: the paper's task of a world, or your own.

    Examples: skillfocus solve out/*.skills --intra-option,
    skillfocus solve out/*.skills --task key=1,door=open --start position=(1,1)
    """

    files: SkillFiles
    """Files of skills, as `discover` writes them."""
    task: Annotated[str, arg(metavar="TASK")] = "true"
    """The paper's task by its reward: true, or proxy, which ignores side effects. Your own: values
    to reach, such as key=1,door=open, or a function of a state in a file, my.py:goal. A household's
    or a continuous world's by name, such as install-printer or carry-box."""
    start: OptionalStr = None
    """Where episodes start, such as key=0,position=(1,1); variables left out have their first value
    (default: the task's start, or the world's first state)."""
    max_steps: OptionalInt = None
    """Steps after which an episode ends (default: the task's, or eight times the step limit)."""
    episodes: int = 20_000
    """Number of training episodes."""
    steps: OptionalInt = None
    """Number of training steps in households and continuous worlds, which count no episodes
    (default: a million, and those of 7,680 episodes)."""
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
        with progress_on_stderr(f"learning the task {self.task}") as bar:
            runs = solve_all(
                self.files, task=self.task, start=self.start,
                max_episode_steps=self.max_steps, steps=self.steps, episodes=self.episodes,
                decay=self.decay, intra_option=self.intra_option, seed=self.seed,
                seeds=self.seeds, world=world, progress=Forecaster(bar.report),
            )  # fmt: skip
        if self.json:
            print_json({"runs": runs})
            return
        rows = [
            [r["world"], r["objective"], "–" if r["seed"] is None else str(r["seed"]),
             str(r["learning_seed"]), f"{r['steps']:.1f}",
             "–" if r["optimum_steps"] is None else f"{r['optimum_steps']:.1f}",
             f"{r['proxy_return']:.3f}", f"{r['true_return']:.3f}"]
            for r in runs
        ]  # fmt: skip
        columns = ["world", "skills", "seed", "agent's\nseed", "steps", "optimum", "proxy", "true"]
        print_table(f"{self._title(runs)}: steps and returns", columns, rows)

    def _title(self, runs: list[dict]) -> str:
        if learned := {r["learned_steps"] for r in runs if "learned_steps" in r}:
            return f"Task {runs[0]['task']}, learned in {max(learned):,} steps"
        about = f"Task {self.task}, learned"
        if self.task in ("true", "proxy"):
            about = f"Learned from the {self.task} reward"
        return f"{about} in {self.episodes:,} episodes"
