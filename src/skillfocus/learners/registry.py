"""Learners by name, as the command line and experiments use them.

A new learner is one file with a frozen dataclass (see `base.py`) and one entry here.
"""

from __future__ import annotations

from collections.abc import Callable

from skillfocus.errors import unknown
from skillfocus.learners.base import Learner
from skillfocus.learners.tabular.planning import Planning
from skillfocus.learners.tabular.q_learning import QLearning, paper_q_learning

LEARNERS: dict[str, Callable[..., Learner]] = {
    "planning": Planning,
    "q-learning": QLearning,
}
"""Factories of learners at their best settings."""
PAPER_LEARNERS: dict[str, Callable[..., Learner]] = {**LEARNERS, "q-learning": paper_q_learning}
"""Factories of learners at the paper's settings; planning has none there."""


def make_learner(name: str, *, paper: bool = False, **settings: object) -> Learner:
    """Make the learner of a name.

    Args:
        name: Such as "planning".
        paper: Whether to take the paper's settings where it has any.
        settings: Settings that differ, by name.
    """
    if name not in LEARNERS:
        raise unknown("learner", name, LEARNERS)
    return (PAPER_LEARNERS if paper else LEARNERS)[name](**settings)
