"""The commands: each is a dataclass of options with a method `run`.

A command calls the library function of the same name and prints the result; it does nothing that
Python code could not do. Heavy imports happen inside `run`, so that `--help` answers at once.
"""

from __future__ import annotations

import math
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import reduce
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import tyro
from tyro.conf import UseAppendAction, arg, subcommand

from skillfocus.cli.printing import (
    err,
    print_json,
    print_names,
    print_points,
    print_solutions,
    print_table,
    print_text,
    print_world,
    progress_on_stderr,
    say,
    show_runs,
    shown_exploration,
)
from skillfocus.errors import UserError, unknown
from skillfocus.learners.registry import LEARNERS, DiscoverySettings, make_learner

if TYPE_CHECKING:
    from skillfocus.discovery import Discovery, StrengthCurve
    from skillfocus.learners.problem import Learner
    from skillfocus.mdp import TabularMDP
    from skillfocus.runs import JobStatus, Store
    from skillfocus.world import World

# -------------------------------------------------------------------- options of several commands

SkillFiles = Annotated[tuple[Path, ...], arg(metavar="SKILLS [SKILLS …]")]

if TYPE_CHECKING:
    LearnerName = str
else:
    LearnerName = Literal[tuple(LEARNERS)]


@dataclass(frozen=True, kw_only=True)
class DiscoveryOptions(DiscoverySettings):
    """The options that make up a `Discovery`, except its seed."""

    learner: LearnerName = "planning"
    """How skills are learned: exact planning, Q-learning, Q-learning by the letter of the paper, or
    networks, with settings for a CPU (neural) or a GPU (neural-large)."""
    gamma: float | None = None
    """Discount factor (default 0.99; with real-valued actions 0.98)."""
    rounds: int | None = None
    """Rounds of planning (default 40)."""
    episodes: int | None = None
    """Episodes of Q-learning (default 1,000,000; literal 320,000)."""
    steps: int | None = None
    """Environment steps that networks learn from (default 6,144,000; large 196,608,000; with real-
    valued actions 960,000 and 204,800,000)."""
    environments: int | None = None
    """Environments that networks learn from at once (default 256; large 8,192; with real-valued
    actions 64 and 4,096)."""
    hidden: int | None = None
    """Width of the networks' hidden layers (default 256; large 512)."""
    preset: Literal["default", "paper"] = "default"
    """Settings of Q-learning: those that learn best, or the paper's as far as they learn at all."""

    def settings(self) -> dict[str, Any]:
        """Return the settings of a `Discovery`, except its world and its objective."""
        names = (field.name for field in fields(DiscoverySettings) if field.kw_only)
        return {name: getattr(self, name) for name in names}

    def learner_options(self) -> dict[str, Any]:
        """Return the options of learners that were given."""
        names = ("gamma", *(option for entry in LEARNERS.values() for option in entry.options))
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def make_learner(self) -> Learner:
        """Return the learner with its options.

        Raises:
            UserError: If an option of another learner is given.
        """
        entry, given = LEARNERS[self.learner], self.learner_options()
        if self.preset != "default" and entry.paper is None:
            with_preset = [name for name, each in LEARNERS.items() if each.paper is not None]
            raise UserError(f"--preset belongs to --learner {' or '.join(with_preset)}")
        for name, other in LEARNERS.items():
            for option in other.options:
                if option in given and option not in entry.options:
                    raise UserError(f"--{option} belongs to --learner {name}")
        from skillfocus.discovery import cached_world

        world = cached_world(self.world, self.world_settings)
        return make_learner(self.learner, world, paper=self.preset == "paper", **given)

    def explore_world(self) -> None:
        """Make the world, showing progress if that takes long, and print notes about it."""
        from skillfocus.metrics.summary import remarks
        from skillfocus.objectives.registry import objective_names

        if self.world in objective_names():
            raise UserError(
                f"{self.world} is an objective, and the world comes first: {self.objective} "
                f"{self.world}"
            )
        world, mdp = _explore(self.world, self.world_settings)
        for remark in world.notes if mdp is None else remarks(world, mdp):
            say(f"note: {remark}")


@dataclass(frozen=True, kw_only=True)
class JobOptions:
    """How a command executes runs, and the folder of its store."""

    out: Path = Path("out")
    """Folder for the results. Runs that are already there are not executed again."""
    workers: int | None = None
    """Number of worker processes for several runs (default: one per core)."""
    cluster: str | None = None
    """Address of a Dask scheduler to execute the runs instead, such as tcp://10.0.0.1:8786."""
    retry_failed: bool = False
    """Execute runs again that failed before."""
    json: bool = False
    """Print one JSON document; everything else goes to standard error."""

    def job_arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of `run_all`."""
        if self.cluster is not None and self.workers is not None:
            raise UserError("--workers are processes of this machine, and a --cluster has its own")
        workers = (os.cpu_count() or 1) if self.workers is None else self.workers
        return {"workers": workers, "cluster": self.cluster, "retry_failed": self.retry_failed}


@dataclass(frozen=True, kw_only=True)
class WorldOptions:
    """The world of skills files that cannot name it themselves."""

    world: str | None = None
    """The world, for skills files that cannot name it (my_world.py:Lights)."""
    world_settings: str = "{}"
    """That world's settings as JSON, as they were given to `discover`."""

    def make_world(self) -> World | None:
        """Return the world; None if each file names its own."""
        return None if self.world is None else _explore(self.world, self.world_settings)[0]

    def arguments(self, *left_out: str) -> dict[str, Any]:
        """Return the options that the library's function takes by the same names, and the world."""
        left_out = ("files", "json", "world_settings", *left_out)
        names = (field.name for field in fields(self) if field.name not in left_out)
        return {name: getattr(self, name) for name in names} | {"world": self.make_world()}


def _explore(name: str, settings: str) -> tuple[World, TabularMDP | None]:
    """Make a world and its table, if it has one, and show progress if that takes long."""
    from skillfocus.discovery import cached_mdp, cached_world

    with shown_exploration():
        world = cached_world(name, settings)
        return world, cached_mdp(name, settings) if world.has_table else None


# -------------------------------------------------------------------- worlds


@dataclass(frozen=True)
class List:
    """List the worlds, objectives and learners that other commands accept."""

    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        """Print the names."""
        from skillfocus.objectives.registry import objective_names
        from skillfocus.worlds.registry import BUILT_IN, WORLDS

        worlds = []
        for name, kind in BUILT_IN.items():
            world = kind()
            space, finite = world.space, world.space.is_finite
            sizes = space.sizes if finite else [v.width for v in space.variables]
            worlds.append(
                {
                    "name": name, "id": world.id,
                    "combinations": space.n_combinations if finite else None,
                    "variables": dict(zip(space.names, sizes, strict=True)),
                    "table": name in WORLDS, "continuous": not finite,
                }
            )  # fmt: skip
        names = {"objectives": list(objective_names()), "learners": list(LEARNERS)}
        if self.json:
            print_json({"worlds": worlds, **names})
        else:
            print_names(worlds, names)


@dataclass(frozen=True)
class Describe:
    """Describe a world: its variables, actions and states, and what may be surprising about it.

    Use it before `discover` to see what skills can target and what can change alone.

    Examples: skillfocus describe four-rooms, skillfocus describe minigrid:DoorKey-5x5
    """

    world: str
    """A world, such as four-rooms, my-map.txt or gymnasium:Taxi-v4 (see `skillfocus list`)."""
    world_settings: str = "{}"
    """The world's settings as JSON, such as '{"step_limit": 30}' for four-rooms."""
    check: bool = False
    """Also run every check of skillfocus.testing.check_world."""
    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        """Describe the world and print the description."""
        from skillfocus.metrics.summary import describe
        from skillfocus.testing import check_world

        world, mdp = _explore(self.world, self.world_settings)
        with shown_exploration():
            description = describe(world, mdp)
        if self.check:
            check_world(world)
        if self.json:
            print_json(description)
            return
        drawn = None
        if world.space.is_finite:
            drawn = world.draw((0,) * len(world.space) if mdp is None else mdp.state(0))
        print_world(description, drawn)
        if self.check:
            print_text("\nEvery check passed.")


# -------------------------------------------------------------------- discover

NOTABLE = 0.01
"""Avoidable side effects of focused skills above this are pointed out."""
RARELY = 0.75
"""Skills change their target rarely if all together do so less often than this part of what one
could (skills for different values each change it from some of the starts)."""
MORE_STEPS = "networks become more precise with more --steps"
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
    draw: Path | None = None
    """Also draw the first seed's skills to this .png, .svg or .pdf file."""
    strength: Annotated[  # pyright: ignore[reportIncompatibleVariableOverride]
        float | Literal["auto"] | None, arg(metavar="FLOAT|auto")
    ] = None
    """Strength lambda of the penalty for side effects (default: 4, for LSD 2); auto raises it until
    side effects cannot fall further or targets suffer, and shows the curve."""

    def run(self) -> None:
        """Execute the discoveries and print their results."""
        from skillfocus.runs import Store, run_all
        from skillfocus.world import seed_range

        seeds = seed_range(self.seeds, self.seed)
        self.explore_world()
        runs = self._runs(seeds, None if self.strength == "auto" else self.strength)
        if self.draw:
            from skillfocus.figures import check_drawable

            check_drawable(runs[0].make_world(), self.draw)
        store, curve = Store(self.out), None
        with progress_on_stderr(f"{self.world} {self.objective}") as bar:
            if self.strength == "auto":
                curve = self._find_strength(runs[0], seeds, store, bar)
                runs = self._runs(seeds, curve.chosen.strength)
            status = run_all(runs, store, progress=bar, **self.job_arguments())
        report_job(status, self.out)
        records = _records(runs, store)
        show_runs(list(records.values()), self.json, curve and curve.as_json())
        self._advise(list(records.values()))
        for run in list(records)[:MAX_FILES_LISTED]:
            say(f"saved: {store.skills_path(run)}")
        if len(records) > MAX_FILES_LISTED:
            say(f"… and {len(records) - MAX_FILES_LISTED} more in {store.folder}")
        if self.draw and runs[0] in records:
            from skillfocus.figures import draw_skills
            from skillfocus.skills.skills import Skills

            draw_skills(Skills.load(store.skills_path(runs[0]), runs[0].make_world()), self.draw)
            say(f"drawn: {self.draw}")
        exit_if_failed(status)

    def _runs(self, seeds: Sequence[int], strength: float | None) -> list[Discovery]:
        from skillfocus.discovery import Discovery

        learner = self.make_learner()
        settings: dict[str, Any] = {**self.settings(), "strength": strength}
        return [
            Discovery(self.world, self.objective, seed, learner, coverage=self.coverage, **settings)
            for seed in seeds
        ]

    def _find_strength(
        self, first: Discovery, seeds: Sequence[int], store: Store, progress: Any
    ) -> StrengthCurve:
        """Raise the strength; every point is stored like any other run."""
        from skillfocus.discovery import first_strength, search_strength
        from skillfocus.runs import run_all

        def measure(strength: float) -> list[list[dict]]:
            runs = self._runs(seeds, strength)
            exit_if_failed(run_all(runs, store, progress=progress, **self.job_arguments()))
            return [record["skills"] for record in _records(runs, store).values()]

        return search_strength(measure, first_strength(first.make_world(), first.make_objective()))

    def _advise(self, records: list[dict]) -> None:
        """Say what to try if focused skills disturb more than they need to, or do nothing."""
        if "focused" not in self.objective:
            return
        networks = "hidden" in LEARNERS[self.learner].options
        skills = [skill for record in records for skill in record["skills"]]
        wasteful = [s for s in skills if (s.get("avoidable") or 0.0) > NOTABLE]
        compares_with_start = all(r["settings"]["baseline"] == "start" for r in records)
        if wasteful and compares_with_start:  # as what is avoidable does
            worst = max(wasteful, key=lambda s: s["avoidable"])
            advice = "--strength auto finds a strength, and --penalty path-norm knows walls"
            if self.strength == "auto":
                advice = "no strength tried avoids them"
            if networks:
                advice = MORE_STEPS
            say(
                f"note: {len(wasteful)} of {len(skills)} skills have side effects that can be "
                f"avoided (skill {worst['skill']}, {' + '.join(worst['targets'])}: "
                f"{worst['avoidable']:.2f} more than the best possible); {advice}"
            )
        for record in records:
            _point_out_idle_skills(record, networks)


def _point_out_idle_skills(record: dict, networks: bool) -> None:
    """Say which targets all skills of a run together change much less often than one could."""
    skills = record["skills"]
    if any("reaches" in skill for skill in skills):
        _point_out_missed_values(record)
        return
    coarse = "vic" in record["objective"] and record["settings"]["rate"] > STEADY_RATE
    steady = f"--rate {STEADY_RATE}, " if coarse else ""
    advice = MORE_STEPS if networks else f"try {steady}another seed, or focused-change"
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


def _records(runs: Sequence[Discovery], store: Store) -> dict[Discovery, dict]:
    """Return the records of the runs that are finished."""
    documents = {run: store.document(run) for run in runs}
    return {
        run: {**document, "file": str(store.skills_path(run))}
        for run, document in documents.items()
        if document is not None
    }


def report_job(status: JobStatus, out: Path) -> None:
    """Print how a job went: a summary, failed runs, and where their tracebacks are."""
    say(status.summary(out))
    for run, error in status.failures.items():
        say(f"failed: {run}: {error}")
    if status.failures:
        say(f"tracebacks are in {out / 'failed'}; --retry-failed tries again")


def exit_if_failed(status: JobStatus) -> None:
    """End the command with status 1 if a run failed."""
    if status.failures:
        raise SystemExit(1)


# -------------------------------------------------------------------- saved skills


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
    sample: int | None = None
    """Sample this many rollouts per skill, even where values could be exact."""
    seed: int = 0
    """Seed of the samples."""
    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        """Evaluate the files and print the results."""
        from skillfocus.metrics.summary import evaluate

        arguments = self.arguments()
        with progress_on_stderr("evaluating") as bar:
            runs = evaluate(self.files, progress=bar, **arguments)
        show_runs(runs, self.json)


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
    start: str | None = None
    """Where episodes start, such as key=0,position=(1,1); variables left out have their first value
    (default: the task's start, or the world's first state)."""
    max_steps: int | None = None
    """Steps after which an episode ends (default: the task's, or eight times the step limit)."""
    episodes: int = 20_000
    """Number of training episodes."""
    steps: int | None = None
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

        arguments = self.arguments("max_steps")
        with progress_on_stderr(f"learning the task {self.task}") as bar:
            runs = solve_all(
                self.files, max_episode_steps=self.max_steps, progress=bar, **arguments
            )
        if self.json:
            print_json({"runs": runs})
        else:
            print_solutions(self._title(runs), runs)

    def _title(self, runs: list[dict]) -> str:
        if learned := {r["learned_steps"] for r in runs if "learned_steps" in r}:
            return f"Task {runs[0]['task']}, learned in {max(learned):,} steps"
        about = f"Task {self.task}, learned"
        if self.task in ("true", "proxy"):
            about = f"Learned from the {self.task} reward"
        return f"{about} in {self.episodes:,} episodes"


@dataclass(frozen=True)
class View(WorldOptions):
    """Watch skills: write one page that needs nothing but a browser, and open it.

    Examples: skillfocus view out/plain.skills out/focused.skills
              skillfocus view out/focused.skills --task true       (an agent's choices too)
              skillfocus view out/focused.skills --export fetch.gif --skill 1 --slips 3
    """

    files: SkillFiles
    """Files of skills; up to four are shown side by side, the others can be selected."""
    out: Path | None = None
    """The page (default: beside the first file)."""
    task: Literal["none", "true", "proxy"] = "none"
    """Also learn the world's task from this reward with each skill set, to watch the agent."""
    coverage: bool = False
    """Also compute the expected coverage of skill chains."""
    export: Path | None = None
    """Write one rollout to this .gif or .svg file instead of a page."""
    skill: int | None = None
    """The skill to export (default: the one that changes its targets with fewest side effects)."""
    start: str | None = None
    """Start state of the export, such as 'position=(6, 9), tool_1=1'; variables left out are as on
    the page."""
    slips: int = 0
    """Seed of the export's slips, as on the page."""
    no_open: bool = False
    """Do not open the page in a browser."""
    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        """Write the page, or the exported rollout."""
        if self.export is None and (self.skill is not None or self.start or self.slips):
            raise UserError(
                "--skill, --start and --slips say what to --export; a page has them all"
            )
        if self.export is not None and (self.out or self.task != "none" or self.coverage):
            raise UserError("--out, --task and --coverage are for a page, not for --export")
        if self.export is not None and len(self.files) != 1:
            raise UserError(f"--export takes one file of skills, and {len(self.files)} are named")
        if self.export is not None:
            self._export(self.export)
            return
        from skillfocus.viewer.page import view

        arguments = self.arguments("export", "skill", "start", "slips", "no_open")
        with progress_on_stderr("writing the page") as bar:
            page = view(self.files, progress=bar, **arguments)
        size = page.stat().st_size
        if self.json:
            print_json({"page": str(page), "bytes": size})
        else:
            say(f"page: {page} ({size / 1e6:.1f} MB)")
        if not self.no_open and err.is_terminal:
            import webbrowser

            webbrowser.open(page.resolve().as_uri())

    def _export(self, path: Path) -> None:
        from skillfocus.viewer.page import export_rollout

        exported = export_rollout(
            self.files[0], path, skill=self.skill, start=self.start or "", slips=self.slips,
            world=self.make_world(),
        )  # fmt: skip
        if self.json:
            print_json({"file": str(path), "steps": exported.steps, "skill": exported.skill})
        else:
            say(f"exported: {path}, skill {exported.skill}, {exported.steps} steps")


# -------------------------------------------------------------------- sweep


@dataclass(frozen=True)
class Sweep(JobOptions, DiscoveryOptions):
    """Compare settings: every point of a grid, or a search with Optuna, on tuning seeds.

    Prints all points, best first, and draws the metric against each setting. Other options are
    those of `discover` and the same for all points.

    Example: skillfocus sweep four-rooms focused-vic --over strength=1,2,4,8 --report 5
    """

    over: UseAppendAction[tuple[str, ...]] = ()
    """A setting and its values, strength=1,2,4; with --trials also a range, strength=1..20 or
    strength=1..20:log. Repeat for several settings."""
    seed: int = 1000
    """First tuning seed; seeds below 1000 are for reporting and refused here."""
    seeds: int = 3
    """Number of tuning seeds per point."""
    report: int = 0
    """Run the best point on this many reporting seeds too, from 0 up."""
    metric: str = "focus"
    """What to compare by: focus (control minus side effects), control, mean_side_effects, auc (of
    coverage; takes longer), steps, or any other metric of a run, averaged."""
    minimize: bool = False
    """Smaller values of the metric are better."""
    trials: int | None = None
    """Search with this many Optuna trials instead of running the whole grid."""
    plot: Path | None = None
    """The sensitivity plot (.png, .svg or .pdf; default: a .png in --out)."""

    def run(self) -> None:
        """Execute the sweep and print its points."""
        from skillfocus.sweep import parse_axis, sweep

        axes = [parse_axis(text) for text in self.over]
        for name in {axis.setting for axis in axes} & set(self.learner_options()):
            raise UserError(f"{name} is swept over, so --{name} has no effect; leave it out")
        with progress_on_stderr(f"{self.world} {self.objective}") as bar:
            result = sweep(
                self.world, self.objective, over=axes, seed=self.seed, seeds=self.seeds,
                report=self.report, metric=self.metric, minimize=self.minimize,
                trials=self.trials, plot=self.plot, out=self.out, learner=self.make_learner(),
                progress=bar, **self.job_arguments(), **self.settings(),
            )  # fmt: skip
        report_job(result.status, self.out)
        if result.best is None:
            say("no point of the sweep has all its runs, so there is nothing to show")
            raise SystemExit(1)
        if self.json:
            print_json(result.as_json())
        else:
            print_points(result, result.best)
        say(f"drawn: {result.plot}")
        exit_if_failed(result.status)


# -------------------------------------------------------------------- doctor

REQUIRED = (
    "skillfocus", "numpy", "numba", "scipy", "polars", "safetensors", "msgspec", "matplotlib",
    "gymnasium", "tyro", "rich",
)  # fmt: skip
EXTRAS = {
    "distributed": "cluster", "optuna": "sweep", "minigrid": "minigrid", "pyRDDLGym": "rddl",
    "rddlrepository": "rddl", "stable-baselines3": "sb3", "jax": "neural", "optax": "neural",
}  # fmt: skip
"""Optional packages, and the extra that installs each."""


@dataclass(frozen=True)
class Doctor:
    """Check the installation: versions, cores, compiled kernels. Include it in bug reports.

    Exit status 1 if something that is needed does not work.
    """

    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        """Check the installation and print the findings."""
        say("compiling the kernels, which takes up to a minute the first time")
        findings, healthy = check_installation()
        if self.json:
            print_json({"healthy": healthy, **findings})
        else:
            rows = [[name, str(value)] for name, value in findings.items()]
            print_table("skillfocus doctor", ["what", "found"], rows)
        if not healthy:
            raise SystemExit(1)


def check_installation() -> tuple[dict[str, object], bool]:
    """Return versions, cores and whether kernels compile, and whether everything needed works."""
    from skillfocus.worlds.explored import describe_cache

    findings: dict[str, object] = {
        "python": platform.python_version(), "system": platform.platform(),
    }  # fmt: skip
    healthy = True
    for name in (*REQUIRED, *EXTRAS):
        try:
            findings[name] = version(name)
        except PackageNotFoundError:
            hint = f"not installed; pip install 'skillfocus[{EXTRAS.get(name)}]' if you need it"
            findings[name] = hint if name in EXTRAS else "missing: reinstall skillfocus"
            healthy = healthy and name in EXTRAS
    findings["cores"] = os.cpu_count()
    findings["world cache"] = describe_cache()
    try:
        findings["compiled kernels"] = _check_kernels()
    except Exception as error:  # whatever is broken is what the user wants to know
        findings["compiled kernels"] = f"failed: {error}"
        healthy = False
    return findings, healthy


def _check_kernels() -> str:
    """Compile the kernels, and return how long that took and where they are cached."""
    start = time.perf_counter()
    from skillfocus.discovery import compile_kernels
    from skillfocus.learners.planning import sweeps

    compile_kernels()
    seconds = time.perf_counter() - start
    folder = sweeps.sweep.stats.cache_path  # pyright: ignore[reportFunctionMemberAccess]
    cache = f"cached in {folder}" if folder else "not cached: no writable folder"
    return f"work ({seconds:.1f} s), {cache}"


# -------------------------------------------------------------------- parsing

COMMANDS = {
    "list": List, "describe": Describe, "discover": Discover, "evaluate": Evaluate, "solve": Solve,
    "view": View, "sweep": Sweep, "doctor": Doctor,
}  # fmt: skip
"""All commands by name."""


def _without_none(command: type) -> type:
    """Leave "(default: None)" out of the help of options, which says what their default is."""
    hints = get_type_hints(command, include_extras=True)
    for field in fields(command):
        if field.default is None:
            hints[field.name] = Annotated[hints[field.name], arg(help_behavior_hint="")]
    command.__annotations__ = hints
    return command


if TYPE_CHECKING:
    Command = List | Describe | Discover | Evaluate | Solve | View | Sweep | Doctor
else:
    Command = reduce(
        or_, (Annotated[_without_none(kind), subcommand(name)] for name, kind in COMMANDS.items())
    )


def parse_command() -> Command:
    """Return the command that the arguments ask for.

    Raises:
        SystemExit: After --help, or with status 2 for arguments that cannot be parsed.
        UserError: If a command or a choice is unknown, or a number is infinite or NaN.
    """
    _check_names(sys.argv[1:])
    conf = tyro.conf
    command: Command = tyro.cli(
        Command,  # pyright: ignore[reportArgumentType]
        prog="skillfocus",
        description="Discover focused skills, and measure exactly what else they change. "
        "Exit status: 0 done, 1 a run failed, 2 usage error, 130 interrupted, 143 terminated.",
        config=(
            conf.FlagCreatePairsOff, conf.DisallowNone, conf.PositionalRequiredArgs,
            conf.PositionalMetavarFromFieldName,
        ),
    )  # fmt: skip
    for field in fields(command):
        value = getattr(command, field.name)
        if isinstance(value, float) and not math.isfinite(value):
            option = field.name.replace("_", "-")
            raise UserError(f"--{option} must be a finite number, got {value}")
    return command


def _check_names(arguments: Sequence[str]) -> None:
    """Raise a `UserError` with a guess for an unknown command or choice, before tyro lists them."""
    if not arguments or arguments[0].startswith("-"):
        return
    if arguments[0] not in COMMANDS:
        raise unknown("command", arguments[0], COMMANDS)
    types = get_type_hints(COMMANDS[arguments[0]])
    words = [word for each in arguments[1:] for word in each.split("=", int(each[:2] == "--"))]
    for option, value in pairwise(words):
        hint = types.get(option.removeprefix("--").replace("-", "_"))
        if option.startswith("--") and get_origin(hint) is Literal and value not in get_args(hint):
            raise unknown(option, value, get_args(hint))
