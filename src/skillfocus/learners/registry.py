"""Learners by name, and the settings of a discovery, as commands and experiments use them.

A new learner is one file with a frozen dataclass (see `problem.py`) and one entry here. Entries
name their factories as text, so that listing learners imports none of them.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from skillfocus.errors import unknown

if TYPE_CHECKING:
    from skillfocus.learners.problem import Learner
    from skillfocus.world import World


@dataclass(frozen=True)
class LearnerEntry:
    """A learner that can be asked for by name.

    Attributes:
        factory: `"module:name"` of a class or function that makes it from settings.
        paper: The same for the paper's settings, where it has any.
        real: The same for worlds with real-valued actions, where it learns otherwise.
        options: Settings besides `gamma` that commands offer for this learner.
    """

    factory: str
    paper: str | None = None
    real: str | None = None
    options: tuple[str, ...] = ()


LEARNERS = {
    "planning": LearnerEntry("skillfocus.learners.planning.learner:Planning", options=("rounds",)),
    "q-learning": LearnerEntry(
        "skillfocus.learners.q_learning:QLearning",
        paper="skillfocus.learners.q_learning:paper_q_learning",
        options=("episodes",),
    ),
    "literal": LearnerEntry(
        "skillfocus.learners.q_learning:literal_q_learning", options=("episodes",)
    ),
    "neural": LearnerEntry(
        "skillfocus.learners.cost_network.learner:Neural",
        real="skillfocus.learners.actor.learner:Actor",
        options=("steps", "environments", "hidden"),
    ),
    "neural-large": LearnerEntry(
        "skillfocus.learners.cost_network.learner:large_neural",
        real="skillfocus.learners.actor.learner:large_actor",
        options=("steps", "environments", "hidden"),
    ),
}


def make_learner(
    name: str, world: World | None = None, *, paper: bool = False, **settings: Any
) -> Learner:
    """Make the learner of a name.

    Args:
        name: Such as "planning".
        world: The world to learn in: "neural" is an `Actor` where actions are real-valued.
        paper: Whether to take the paper's settings, if it has any for this learner.
        settings: Settings that differ, by name.

    Raises:
        UserError: If the name or a setting's value is wrong.
    """
    if name not in LEARNERS:
        raise unknown("learner", name, LEARNERS)
    entry = LEARNERS[name]
    made = (paper and entry.paper) or entry.factory
    if entry.real and world is not None and world.has_real_actions:
        made = entry.real
    module, _, factory = made.partition(":")
    return getattr(import_module(module), factory)(**settings)


def as_learner(learner: Learner | str, world: World) -> Learner:
    """Return a learner as it is, or the one of a name for a world."""
    return make_learner(learner, world) if isinstance(learner, str) else learner


@dataclass(frozen=True)
class DiscoverySettings:
    """What is to be discovered: fields of `Discovery` and options of the commands.

    None stands for the default of the world or the objective.
    """

    world: str
    """A world, such as four-rooms, my-map.txt or gymnasium:Taxi-v4 (see `skillfocus list`)."""
    objective: str
    """What skills are rewarded for, such as focused-vic, dusdi-diayn or lsd, or your own:
    my.py:rotate, focused-my.py:rotate."""
    _: KW_ONLY
    skills: int | None = None
    """Number of skills (default 16): goals (tools, …) get two each, position the rest."""
    targets: str | None = None
    """Your own assignment, such as tool_1=2,position=4 or tool_1+position=3 (two targets); in
    continuous worlds, agent=4,box=sphere2,agent+box (docs/continuous.md)."""
    strength: float | None = None
    """Strength lambda of the penalty for side effects (default: 4, for LSD 2)."""
    penalty: str | None = None
    """The penalty: weighted-norm (the default, as the crow flies), path-norm (around walls) or
    changed-variables."""
    baseline: str | None = None
    """What the penalty compares variables with that move by themselves: start (the default),
    inaction or stepwise (docs/focused.md)."""
    rate: float | None = None
    """Weight of the discriminator's moving average, or LSD's step size (default: 0.05, for LSD
    0.1). Q-learning scales it down (docs/q-learning.md)."""
    weight: float | None = None
    """DUSDi's weight on the variables that are not targets (default: 0.1)."""
    step_limit: int | None = None
    """Maximum number of steps of a skill (default: the world's)."""
    world_settings: str = "{}"
    """The world's settings as JSON, such as '{"step_limit": 30}' for four-rooms; map files have
    theirs in their first lines."""
