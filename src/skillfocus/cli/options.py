"""Options that commands share."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from skillfocus.errors import UserError

if TYPE_CHECKING:
    from skillfocus.core.mdp import TabularMDP
    from skillfocus.core.world import World
    from skillfocus.learners.discovery import Learner
    from skillfocus.runs.discovery_run import Discovery
    from skillfocus.skills.skills import Skills

QUICK = 1.0
"""Seconds that exploring a world may take without a word."""
OFTEN = 5.0
"""Seconds between two words where there is no terminal."""
# Options that may be left out; their help says what happens then.
OptionalInt = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]
OptionalFloat = Annotated[float | None, arg(metavar="FLOAT", help_behavior_hint="")]
OptionalStr = Annotated[str | None, arg(metavar="TEXT", help_behavior_hint="")]
OptionalPath = Annotated[Path | None, arg(metavar="PATH", help_behavior_hint="")]


@dataclass(frozen=True, kw_only=True)
class DiscoveryOptions:
    """What makes a `Discovery`, but for its seed."""

    world: Annotated[Positional[str], arg(metavar="WORLD")]
    """A world, such as four-rooms, my-map.txt or gymnasium:Taxi-v4 (see `skillfocus list`)."""
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
    world_settings: str = "{}"
    """The world's settings as JSON, such as '{"slip": 0.0}' or '{"is_rainy": true}'."""
    learner: Literal["planning", "q-learning"] = "planning"
    """How skills are learned: exact planning, or the paper's Q-learning."""
    gamma: float = 0.99
    """The discount."""
    rounds: OptionalInt = None
    """Rounds of planning (default 40)."""
    episodes: OptionalInt = None
    """Episodes of Q-learning (default 1,000,000)."""
    preset: Literal["default", "paper"] = "default"
    """Q-learning's settings: what learns best, or as near to the paper's as learns at all."""

    def discovery(self, seed: int, coverage: bool) -> Discovery:
        from skillfocus.runs.discovery_run import Discovery

        return Discovery(
            self.world, self.objective, seed, self.make_learner(), self.skills, self.targets,
            self.rate, self.strength, self.weight, self.step_limit, self.world_settings,
            coverage=coverage,
        )  # fmt: skip

    def prepare(self) -> None:
        """Make the world, with a bar if that takes long, and say what may surprise in it."""
        from skillfocus.cli.output import say
        from skillfocus.metrics.world_summary import remarks

        for remark in remarks(*explored(self.world, self.world_settings)):
            say(f"note: {remark}")

    def make_learner(self) -> Learner:
        from skillfocus.learners.tabular.planning import Planning
        from skillfocus.learners.tabular.q_learning import QLearning, paper_q_learning

        if self.learner == "planning":
            if self.episodes is not None or self.preset != "default":
                raise UserError("--episodes and --preset belong to --learner q-learning")
            return Planning(gamma=self.gamma, **_given(rounds=self.rounds))
        if self.rounds is not None:
            raise UserError("--rounds belongs to --learner planning; use --episodes")
        make = paper_q_learning if self.preset == "paper" else QLearning
        return make(gamma=self.gamma, **_given(episodes=self.episodes))


@dataclass(frozen=True, kw_only=True)
class OwnWorld:
    """For files of skills that cannot say how to make their world."""

    world: OptionalStr = None
    """The world's name, where a file cannot say it (my_world.py:Lights)."""
    world_settings: str = "{}"
    """Its settings as JSON, as they were given to `discover`."""

    def load(self, files: Iterable[Path]) -> Iterator[Skills]:
        from skillfocus.skills.skills import Skills

        world = None if self.world is None else explored(self.world, self.world_settings)[0]
        return (Skills.load(file, world) for file in files)


def explored(world: str, settings: str) -> tuple[World, TabularMDP]:
    """A world by its name and its table, with a bar if making it takes long."""
    from skillfocus.cli.output import err, say
    from skillfocus.runs.discovery_run import cached_mdp, cached_world
    from skillfocus.worlds.model import exploration_progress

    due, status = time.monotonic() + QUICK, None

    def show(_: float, line: str) -> None:
        nonlocal due, status
        if time.monotonic() < due:
            return
        if not err.is_terminal:
            say(line)
            due = time.monotonic() + OFTEN
            return
        status = status or stack.enter_context(err.status(line))
        status.update(line)
        due = time.monotonic() + 0.2

    with ExitStack() as stack:
        token = exploration_progress.set(show)
        stack.callback(exploration_progress.reset, token)
        return cached_world(world, settings), cached_mdp(world, settings)


def _given(**settings: object) -> dict:
    return {name: value for name, value in settings.items() if value is not None}
