"""Explanations that several experiments share (see `experiment.Explanation`)."""

from __future__ import annotations

STRONGER_SKILLS = (
    "Our skills of this agent do what the paper's do not: they change goals and end in many "
    "different states (see side effects and coverage), so that chains of them meet the reward."
)
REMEMBERED_START = (
    f"{STRONGER_SKILLS} Planned policies remember the first state and are solved exactly; which of "
    f"the two makes the difference was not isolated."
)
UNFINISHED_SKILLS = (
    "Q-learning at the paper's settings leaves these skills unfinished: see how often the best "
    "skill changes its target, in the tables of side effects."
)
