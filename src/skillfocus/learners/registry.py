"""Learners by name, as commands and experiments use them.

A new learner is one file with a frozen dataclass (see `problem.py`) and one entry here. Entries
name their factories as text, so that listing learners imports none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
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
