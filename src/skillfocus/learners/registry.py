"""Learners by name, as commands and experiments use them.

A new learner is one file with a frozen dataclass (see `problem.py`) and one entry here. Entries
name their factories as text, so that listing learners imports none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from skillfocus.errors import unknown

if TYPE_CHECKING:
    from skillfocus.learners.problem import Learner


@dataclass(frozen=True)
class LearnerEntry:
    """A learner that can be asked for by name.

    Attributes:
        factory: `"module:name"` of a class or function that makes it from settings.
        paper: The same for the paper's settings, where it has any.
        options: Settings besides `gamma` that commands offer for this learner.
    """

    factory: str
    paper: str | None = None
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
        options=("updates", "environments", "hidden"),
    ),
    "neural-large": LearnerEntry(
        "skillfocus.learners.cost_network.learner:large_neural",
        options=("updates", "environments", "hidden"),
    ),
}


def make_learner(name: str, *, paper: bool = False, **settings: object) -> Learner:
    """Make the learner of a name.

    Args:
        name: Such as "planning".
        paper: Whether to take the paper's settings, if it has any for this learner.
        settings: Settings that differ, by name.

    Raises:
        UserError: If the name or a setting's value is wrong.
    """
    if name not in LEARNERS:
        raise unknown("learner", name, LEARNERS)
    entry = LEARNERS[name]
    module, _, factory = ((paper and entry.paper) or entry.factory).partition(":")
    return getattr(import_module(module), factory)(**settings)


def as_learner(learner: Learner | str) -> Learner:
    """Return a learner as it is, or the one of a name."""
    if isinstance(learner, str):
        return make_learner(learner)
    return learner
