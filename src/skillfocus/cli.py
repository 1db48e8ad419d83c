"""The command `skillfocus`. Heavy imports happen inside the commands that need them."""

from __future__ import annotations

import hashlib
import json as jsonlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from rich.console import Console
from tyro.conf import Positional, arg, subcommand

from skillfocus.errors import UserError

if TYPE_CHECKING:
    from skillfocus.discovery import Learner

err = Console(stderr=True)


@dataclass(frozen=True)
class List:
    """The worlds, objectives and learners there are."""

    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        from skillfocus.objectives.registry import NAMES
        from skillfocus.worlds.registry import WORLDS

        worlds = []
        for name, kind in WORLDS.items():
            world = kind()  # pyright: ignore[reportCallIssue]
            variables = dict(zip(world.space.names, world.space.sizes, strict=True))
            worlds.append(
                {"name": name, "id": world.id, "states": world.space.size, "variables": variables}
            )
        learners = ["planning", "q-learning"]
        if self.json:
            _print_json({"worlds": worlds, "objectives": list(NAMES), "learners": learners})
            return
        out = Console()
        rows = [
            [w["name"], w["id"], f"{w['states']:,}",
             ", ".join(f"{k} ({n})" for k, n in w["variables"].items())]
            for w in worlds
        ]  # fmt: skip
        out.print(_table("Worlds", ["name", "id", "states", "variables (values)"], rows))
        out.print("Objectives:", ", ".join(NAMES), highlight=False)
        out.print("Learners:  ", ", ".join(learners), highlight=False)
        out.print("\nTry: skillfocus discover four-rooms focused-vic", highlight=False)


ELSEWHERE = (
    "world", "objective", "learner", "seed", "seeds", "workers", "out", "draw", "json",
)  # fmt: skip
"""What a file's name says by itself, or what does not change its contents."""


@dataclass(frozen=True)
class Discover:
    """Discover skills in a world, say what each does, and save them.

    Example: skillfocus discover four-rooms focused-vic --seeds 5
    """

    world: Positional[str]
    """A world, such as four-rooms (see `skillfocus list`)."""
    objective: Positional[str]
    """What skills want, such as focused-vic, dusdi-diayn or lsd."""
    learner: Literal["planning", "q-learning"] = "planning"
    """How they are learned: exact planning, or the paper's Q-learning."""
    skills: int | None = None
    """How many skills (default 16): goals (tools, …) get two each, position the rest."""
    targets: str | None = None
    """Your own assignment, such as tool_1=2,position=4 or tool_1+position=3 (two targets)."""
    strength: float | None = None
    """The penalty's strength lambda (default: 4, for LSD 2)."""
    rate: float | None = None
    """The weight of the discriminator's moving average, or LSD's step (default: the paper's);
    Q-learning slows it down (docs/q-learning.md)."""
    weight: float | None = None
    """DUSDi's weight on the variables that are no targets (default: 0.1)."""
    gamma: float = 0.99
    """The discount."""
    rounds: int | None = None
    """Rounds of planning (default 40)."""
    episodes: int | None = None
    """Episodes of Q-learning (default 1,000,000)."""
    preset: Literal["default", "paper"] = "default"
    """Q-learning's settings: what learns best, or as near to the paper's as learns at all."""
    step_limit: int | None = None
    """The most steps a skill may take (default: the world's)."""
    seed: int = 0
    """The first seed."""
    seeds: int = 1
    """How many seeds, each an independent set of skills."""
    workers: int | None = None
    """Seeds learned at a time (default: one per core)."""
    out: Path = Path("out")
    """The folder for the files."""
    draw: Path | None = None
    """Also draw the first seed's skills to this .png, .svg or .pdf file."""
    json: bool = False
    """Print one JSON document; everything else goes to standard error."""

    def run(self) -> None:
        from skillfocus.discovery import discover_many
        from skillfocus.metrics.record import run_record
        from skillfocus.objectives.registry import named
        from skillfocus.progress import Progress
        from skillfocus.worlds.registry import make

        world = make(self.world)
        objective = named(
            self.objective, rate=self.rate, strength=self.strength, weight=self.weight
        )
        learner = self._learner()
        if self.seeds < 1 or self.seed < 0:
            raise UserError("--seeds must be at least 1 and --seed at least 0")
        _writable_folder(self.out)
        if self.draw:
            from skillfocus.figures.trajectories import check_drawable

            check_drawable(world, self.draw)
        seeds = range(self.seed, self.seed + self.seeds)
        workers = (os.cpu_count() or 1) if self.workers is None else self.workers
        runs: list[dict] = []
        with Progress(err, f"{self.world} {self.objective}", len(seeds)) as progress:
            made = discover_many(
                world, objective, seeds, workers=workers,
                progress=progress.report, learner=learner, n_skills=self.skills,
                targets=parse_targets(self.targets), step_limit=self.step_limit,
            )  # fmt: skip
            for seed, skills in zip(seeds, made, strict=True):
                file = skills.save(self.out / f"{self._stem(world.id)}_seed{seed}.skills")
                if self.draw and seed == self.seed:
                    from skillfocus.figures.trajectories import draw_skills

                    draw_skills(skills, self.draw)
                runs.append(run_record(skills, file))
        _show(runs, self.json)
        for run in runs:
            err.print(f"saved: {run['file']}", highlight=False, soft_wrap=True)
        if self.draw:
            err.print(f"drawn: {self.draw}", highlight=False, soft_wrap=True)

    def _stem(self, world_id: str) -> str:
        """A file name that differs where the settings do."""
        chosen = {
            name: str(value)
            for name, value in vars(self).items()
            if value != getattr(Discover, name, None) and name not in ELSEWHERE
        }
        tag = hashlib.sha256(jsonlib.dumps(chosen, sort_keys=True).encode()).hexdigest()[:6]
        stem = f"{world_id}_{self.objective}_{self.learner}"
        return f"{stem}_{tag}" if chosen else stem

    def _learner(self) -> Learner:
        from skillfocus.learners.planning import Planning
        from skillfocus.learners.q_learning import QLearning, paper_q_learning

        if self.learner == "planning":
            if self.episodes is not None or self.preset != "default":
                raise UserError("--episodes and --preset belong to --learner q-learning")
            return Planning(gamma=self.gamma, **_given(rounds=self.rounds))
        if self.rounds is not None:
            raise UserError("--rounds belongs to --learner planning; use --episodes")
        make = paper_q_learning if self.preset == "paper" else QLearning
        return make(gamma=self.gamma, **_given(episodes=self.episodes))


@dataclass(frozen=True)
class Evaluate:
    """Side effects and control of the targets of saved skills, exact where the world allows."""

    files: Positional[Annotated[tuple[Path, ...], arg(metavar="SKILLS [SKILLS …]")]]
    """Files of skills."""
    sample: int | None = None
    """Sample this many runs per skill even where exact values can be had."""
    seed: int = 0
    """The seed of the samples."""
    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        from skillfocus.metrics.record import run_record
        from skillfocus.progress import Progress
        from skillfocus.skills import Skills

        if not self.files:
            raise UserError("name at least one file of skills")
        if self.sample is not None and self.sample < 2:
            raise UserError(f"--sample is {self.sample}; it must be at least 2")
        runs = []
        with Progress(err, "evaluating", len(self.files)) as progress:
            for number, file in enumerate(self.files):
                progress.report(number, 0.0, file.name)
                runs.append(run_record(Skills.load(file), file, self.sample, self.seed))
                progress.report(number, 1.0, file.name)
        _show(runs, self.json)


@dataclass(frozen=True)
class Doctor:
    """Versions, cores, the compiler's cache: what a bug report should say."""

    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        from skillfocus.doctor import examine

        findings, healthy = examine()
        if self.json:
            _print_json({"healthy": healthy, **findings})
        else:
            rows = [[name, str(value)] for name, value in findings.items()]
            Console().print(_table("skillfocus doctor", ["what", "found"], rows))
        if not healthy:
            raise SystemExit(1)


Command = (
    Annotated[List, subcommand("list")]
    | Annotated[Discover, subcommand("discover")]
    | Annotated[Evaluate, subcommand("evaluate")]
    | Annotated[Doctor, subcommand("doctor")]
)


def main() -> None:
    """Run the command line: 0 done, 2 a user's mistake, 130 interrupted."""
    try:
        command = tyro.cli(
            Command,  # pyright: ignore[reportArgumentType]
            prog="skillfocus",
            description="Discover focused skills, and measure exactly what else they change.",
        )
        command.run()
    except UserError as error:
        err.print(f"skillfocus: {error}", highlight=False, markup=False, soft_wrap=True)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        err.print("skillfocus: interrupted; files already written are whole", highlight=False)
        raise SystemExit(130) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None


def parse_targets(text: str | None) -> dict[str, int] | None:
    """`tool_1=2,position=4` as counts."""
    if text is None:
        return None
    counts: dict[str, int] = {}
    for part in text.split(","):
        name, equals, count = (word.strip() for word in part.rpartition("="))
        if not equals or not name or not (count.isascii() and count.isdecimal()):
            raise UserError(f"cannot read {part.strip()!r} in --targets; write NAME=COUNT,…")
        if name in counts:
            raise UserError(f"--targets names {name!r} twice")
        counts[name] = int(count)
    return counts


def _given(**settings: object) -> dict:
    return {name: value for name, value in settings.items() if value is not None}


def _writable_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {folder}: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise UserError(f"cannot write to the folder {folder}; choose another with --out")


def _show(runs: list[dict], json: bool) -> None:
    if json:
        _print_json({"runs": runs})
        return
    from skillfocus.figures.tables import effects_tables

    out = Console()
    for table in effects_tables(runs):
        out.print(table)


def _table(title: str, columns: list[str], rows: list[list[str]]):
    from skillfocus.figures.tables import table

    return table(title, columns, rows)


def _print_json(document: dict) -> None:
    print(jsonlib.dumps(document, indent=2))


if __name__ == "__main__":
    main()
