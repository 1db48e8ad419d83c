"""Options that commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from skillfocus.errors import UserError

if TYPE_CHECKING:
    from skillfocus.discovery import Learner
    from skillfocus.experiments.discovery import Discovery

# Options that may be left out; their help says what happens then.
OptionalInt = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]
OptionalFloat = Annotated[float | None, arg(metavar="FLOAT", help_behavior_hint="")]
OptionalStr = Annotated[str | None, arg(metavar="TEXT", help_behavior_hint="")]
OptionalPath = Annotated[Path | None, arg(metavar="PATH", help_behavior_hint="")]


@dataclass(frozen=True, kw_only=True)
class DiscoveryOptions:
    """What makes a `Discovery`, but for its seed."""

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
        from skillfocus.experiments.discovery import Discovery

        return Discovery(
            self.world, self.objective, seed, self.make_learner(), self.skills, self.targets,
            self.rate, self.strength, self.weight, self.step_limit, coverage=coverage,
        )  # fmt: skip

    def make_learner(self) -> Learner:
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


def _given(**settings: object) -> dict:
    return {name: value for name, value in settings.items() if value is not None}
