"""`skillfocus solve`"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from skillfocus.cli.output import err, print_json, print_table
from skillfocus.errors import UserError


@dataclass(frozen=True)
class Solve:
    """Learn the paper's task of a world with saved skills and primitive moves, and with the moves
    alone.

    Example: skillfocus solve out/*.skills --intra-option
    """

    files: Positional[Annotated[tuple[Path, ...], arg(metavar="SKILLS [SKILLS …]")]]
    """Files of skills."""
    task: Literal["true", "proxy"] = "true"
    """The reward to learn from: the true one, or the proxy that forgets side effects."""
    episodes: int = 20_000
    """Episodes of learning."""
    intra_option: bool = False
    """Steps inside skills also teach the primitive moves."""
    decay: float = 0.001
    """How fast exploration falls: exp(-decay n) after n episodes."""
    seed: int = 0
    """The first seed of learning."""
    seeds: int = 1
    """How many seeds."""
    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        from skillfocus.metrics.summary import origin
        from skillfocus.runs.progress_bar import Progress
        from skillfocus.skills.skills import Skills
        from skillfocus.tasks.smdp_q_learning import SMDPQLearning, solve
        from skillfocus.tasks.task import task_of

        if not self.files:
            raise UserError("name at least one file of skills")
        if self.seeds < 1 or self.seed < 0:
            raise UserError("--seeds must be at least 1 and --seed at least 0")
        settings = SMDPQLearning(
            episodes=self.episodes, epsilon_decay=self.decay, intra_option=self.intra_option
        )
        loaded = [(str(file), Skills.load(file)) for file in self.files]
        worlds = {skills.world.id: skills for _, skills in loaded}
        agents = [(file, skills, skills) for file, skills in loaded]
        agents += [(None, skills, None) for skills in worlds.values()]
        runs = []
        with Progress(err, f"learning the {self.task} task") as progress:
            for number, (file, skills, used) in enumerate(agents):
                task = task_of(skills.world, skills.mdp)
                about = {"world": skills.world.id, "objective": "primitives", "seed": None}
                if used is not None:
                    about = {key: origin(skills)[key] for key in about}
                for seed in range(self.seed, self.seed + self.seeds):
                    done = number + (seed - self.seed) / self.seeds
                    progress.report(done / len(agents), f"{about['objective']}, seed {seed}")
                    found = solve(
                        skills.mdp, task, used, seed=seed, reward=self.task, settings=settings
                    )
                    runs.append(
                        {
                            **about,
                            "file": file,
                            "task": task.name,
                            "reward": self.task,
                            "learning_seed": seed,
                            "steps": found.steps[-1],
                            "success": found.true_return[-1]
                            if self.task == "true"
                            else found.proxy_return[-1],
                            "proxy_return": found.proxy_return[-1],
                            "true_return": found.true_return[-1],
                            "optimum_steps": found.optimum_steps,
                            "curve": {
                                "episodes": found.episodes.tolist(),
                                "steps": found.steps.tolist(),
                                "true_return": found.true_return.tolist(),
                                "proxy_return": found.proxy_return.tolist(),
                            },
                        }
                    )
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
            f"Learned from the {self.task} reward, {self.episodes:,} episodes: steps, and returns",
            columns, rows,
        )  # fmt: skip
