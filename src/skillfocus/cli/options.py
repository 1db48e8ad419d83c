"""Options that several commands share."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from skillfocus.errors import UserError
from skillfocus.learners.registry import LEARNERS, make_learner

if TYPE_CHECKING:
    from skillfocus.learners.problem import Learner
    from skillfocus.world import World

SILENT_SECONDS = 1.0
"""Exploring a world shows no progress before this time."""
LINE_SECONDS = 5.0
"""Time between two progress lines where there is no terminal."""
# Options without a default; their help says what happens if they are left out.
OptionalInt = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]
OptionalFloat = Annotated[float | None, arg(metavar="FLOAT", help_behavior_hint="")]
OptionalStr = Annotated[str | None, arg(metavar="TEXT", help_behavior_hint="")]
OptionalPath = Annotated[Path | None, arg(metavar="PATH", help_behavior_hint="")]
SkillFiles = Positional[Annotated[tuple[Path, ...], arg(metavar="SKILLS [SKILLS …]")]]


if TYPE_CHECKING:
    LearnerName = str
else:
    LearnerName = Literal[tuple(LEARNERS)]


@dataclass(frozen=True, kw_only=True)
class DiscoveryOptions:
    """The options that make up a `Discovery`, except its seed."""

    world: Annotated[Positional[str], arg(metavar="WORLD")]
    """A world, such as four-rooms, my-map.txt or gymnasium:Taxi-v4 (see `skillfocus list`)."""
    objective: Annotated[Positional[str], arg(metavar="OBJECTIVE")]
    """What skills are rewarded for, such as focused-vic, dusdi-diayn or lsd, or your own:
    my.py:rotate, focused-my.py:rotate."""
    skills: OptionalInt = None
    """Number of skills (default 16): goals (tools, …) get two each, position the rest."""
    targets: OptionalStr = None
    """Your own assignment, such as tool_1=2,position=4 or tool_1+position=3 (two targets); in
    continuous worlds, agent=4,box=sphere2,agent+box (docs/continuous.md)."""
    strength: OptionalFloat = None
    """Strength lambda of the penalty for side effects (default: 4, for LSD 2)."""
    penalty: Annotated[
        Literal["weighted-norm", "path-norm", "changed-variables"] | None, arg(metavar="PENALTY")
    ] = None
    """The penalty: weighted-norm (the default, as the crow flies), path-norm (around walls) or
    changed-variables."""
    baseline: Annotated[
        Literal["start", "inaction", "stepwise"] | None, arg(metavar="BASELINE")
    ] = None
    """What the penalty compares variables with that move by themselves: start (the default),
    inaction or stepwise (docs/focused.md)."""
    rate: OptionalFloat = None
    """Weight of the discriminator's moving average, or LSD's step size (default: 0.05, for LSD
    0.1). Q-learning scales it down (docs/q-learning.md)."""
    weight: OptionalFloat = None
    """DUSDi's weight on the variables that are not targets (default: 0.1)."""
    step_limit: OptionalInt = None
    """Maximum number of steps of a skill (default: the world's)."""
    world_settings: str = "{}"
    """The world's settings as JSON, such as '{"step_limit": 30}' or '{"is_rainy": true}'."""
    learner: LearnerName = "planning"
    """How skills are learned: exact planning, Q-learning, Q-learning by the letter of the paper, or
    networks, with settings for a CPU (neural) or a GPU (neural-large)."""
    gamma: float = 0.99
    """Discount factor."""
    rounds: OptionalInt = None
    """Rounds of planning (default 40)."""
    episodes: OptionalInt = None
    """Episodes of Q-learning (default 1,000,000; literal 320,000)."""
    updates: OptionalInt = None
    """Updates of the networks (default 24,000); in continuous worlds, rounds (300; large 1,000)."""
    environments: OptionalInt = None
    """Environments that networks learn from at once (default 256; large 8,192; in continuous worlds
    64 and 4,096)."""
    hidden: OptionalInt = None
    """Width of the networks' hidden layers (default 256; large 512)."""
    preset: Literal["default", "paper"] = "default"
    """Settings of Q-learning: those that learn best, or the paper's as far as they learn at all."""

    def settings(self) -> dict[str, Any]:
        """Return the fields of a `Discovery` but world, objective, seed, learner and coverage."""
        names = (
            "skills", "targets", "rate", "strength", "weight", "step_limit", "world_settings",
            "baseline", "penalty",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def learner_options(self) -> dict[str, Any]:
        """Return the options of learners that were given."""
        names = ("gamma", *(option for entry in LEARNERS.values() for option in entry.options))
        return {name: getattr(self, name) for name in dict.fromkeys(names) if self._given(name)}

    def make_learner(self) -> Learner:
        """Return the learner with its options.

        Raises:
            UserError: If an option of another learner is given.
        """
        entry = LEARNERS[self.learner]
        if self.preset != "default" and entry.paper is None:
            raise UserError(f"--preset belongs to --learner {_with_preset()}")
        for name, other in LEARNERS.items():
            for option in other.options:
                if option not in entry.options and self._given(option):
                    raise UserError(f"--{option} belongs to --learner {name}")
        own = {option: getattr(self, option) for option in entry.options if self._given(option)}
        if "updates" in entry.options and self._is_continuous():
            return self._actor_learner(own)
        return make_learner(self.learner, paper=self.preset == "paper", gamma=self.gamma, **own)

    def _is_continuous(self) -> bool:
        from skillfocus.discovery import cached_world
        from skillfocus.worlds.continuous import ContinuousBase

        return isinstance(cached_world(self.world, self.world_settings), ContinuousBase)

    def _actor_learner(self, options: dict[str, Any]) -> Learner:
        """Return the neural learner of a continuous world, whose updates are rounds."""
        from skillfocus.learners.cost_network.learner import Neural

        learner = make_learner(self.learner)
        assert isinstance(learner, Neural)
        changes = {"rounds" if name == "updates" else name: options[name] for name in options}
        if self._given("gamma"):
            changes["gamma"] = self.gamma
        if not changes:
            return learner
        return replace(learner, actor=replace(learner.actor_settings, **changes))

    def _given(self, option: str) -> bool:
        return getattr(self, option) != getattr(type(self), option)

    def explore_world(self) -> None:
        """Make the world, showing progress if that takes long, and print notes about it."""
        from skillfocus.cli.printing import say
        from skillfocus.discovery import cached_mdp, cached_world
        from skillfocus.metrics.world_summary import remarks
        from skillfocus.objectives.registry import objective_names
        from skillfocus.worlds.registry import has_table

        if self.world in objective_names():
            raise UserError(
                f"{self.world} is an objective, and the world comes first: {self.objective} "
                f"{self.world}"
            )
        with shown_exploration():
            world = cached_world(self.world, self.world_settings)
            mdp = cached_mdp(self.world, self.world_settings) if has_table(world) else None
        for remark in world.notes if mdp is None else remarks(world, mdp):
            say(f"note: {remark}")


def _with_preset() -> str:
    return " or ".join(name for name, entry in LEARNERS.items() if entry.paper is not None)


@dataclass(frozen=True, kw_only=True)
class JobOptions:
    """How a command executes runs, and the folder of its store."""

    out: Path = Path("out")
    """Folder for the results. Runs that are already there are not executed again."""
    workers: OptionalInt = None
    """Number of worker processes for several runs (default: one per core)."""
    cluster: OptionalStr = None
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

    world: OptionalStr = None
    """The world, for skills files that cannot name it (my_world.py:Lights)."""
    world_settings: str = "{}"
    """That world's settings as JSON, as they were given to `discover`."""

    def make_world(self) -> World | None:
        """Return the world; None if each file names its own."""
        from skillfocus.discovery import cached_mdp, cached_world
        from skillfocus.worlds.registry import has_table

        if self.world is None:
            return None
        with shown_exploration():
            world = cached_world(self.world, self.world_settings)
            if has_table(world):
                cached_mdp(self.world, self.world_settings)
        return world


@contextmanager
def shown_exploration() -> Iterator[None]:
    """Show the progress of explorations in this block, if they take long."""
    from skillfocus.cli.printing import err, say
    from skillfocus.worlds.explored import exploration_progress

    due, status = time.monotonic() + SILENT_SECONDS, None

    def show(_: float, line: str) -> None:
        nonlocal due, status
        if time.monotonic() < due:
            return
        if not err.is_terminal:
            say(line)
            due = time.monotonic() + LINE_SECONDS
            return
        status = status or stack.enter_context(err.status(line))
        status.update(line)
        due = time.monotonic() + 0.2

    with ExitStack() as stack:
        token = exploration_progress.set(show)
        stack.callback(exploration_progress.reset, token)
        yield
