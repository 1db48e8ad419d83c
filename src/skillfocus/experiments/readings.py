"""Readings: the decisions that the paper's text leaves open, as named settings.

A `Reading` takes every decision one way. The presets are two of them: `paper`, one of the nearest
to the paper's numbers on tuning seeds (`reading_study`), and `best`. `READINGS` has one entry
for every other choice, taken alone:

    reading_of("paper").ties            # "first"
    reading_of("ties=random").ties      # "random", everything else as in `paper`
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from skillfocus.errors import unknown


@dataclass(frozen=True)
class Reading:
    """One way to read the paper; the defaults are those of the preset `paper`.

    `DECISIONS` says what each setting means and why it has its default.
    """

    memory: Literal["all", "targets", "none"] = "targets"
    learner: Literal["planning", "q-learning", "literal"] = "planning"
    order: Literal["reward", "update"] = "reward"
    strength: Literal["appendix", "text"] = "appendix"
    prior: Literal["target", "all"] = "target"
    starts: Literal["controllable", "any"] = "controllable"
    steps: float = 1.0
    stopping: Literal["earns", "ends"] = "earns"
    ties: Literal["first", "random"] = "first"
    choices: Literal["both", "skills"] = "both"
    updates: Literal["options", "intra-option"] = "options"
    epsilon_decay: float | None = None
    alpha_decay: float = 0.0

    @property
    def task(self) -> Reading:
        """The reading with `paper`'s discovery: those that share it learn a task alike."""
        return replace(PAPER, **{name: getattr(self, name) for name in TASK_SETTINGS})


TASK_SETTINGS = ("ties", "choices", "updates", "epsilon_decay", "alpha_decay")
"""Settings that decide how a task is learned with skills; the others decide the skills."""
PAPER = Reading()
BEST = Reading(ties="random", updates="intra-option", epsilon_decay=0.0002, alpha_decay=0.0001)
PRESETS: dict[str, Reading] = {"paper": PAPER, "best": BEST}
READING = "reading="
"""Prefix of the variant of a case that is run with a reading, such as `reading=ties=random`."""


@dataclass(frozen=True)
class Decision:
    """A decision that the paper leaves open.

    Attributes:
        name: The setting of `Reading`.
        question: What is to be decided.
        choices: What can be chosen, and what it means; the first one is the default.
        reason: Why the default is what it is.
    """

    name: str
    question: str
    choices: dict[object, str]
    reason: str


DECISIONS = (
    Decision(
        "memory", "Which policies see where they began?",
        {
            "targets": "those of focused and DUSDi skills",
            "none": "none: π(a | s_t), as the algorithm listings have it",
            "all": "all of them",
        },
        "Focused skills return to their start in Figure 1, from any start, which takes memory of "
        "it (Definition 2 allows for that). VIC, DIAYN and LSD are published without.",
    ),
    Decision(
        "learner", "How are skills learned?",
        {
            "planning": "exact value iteration, in turn with updates of the rewards",
            "q-learning": "Q-learning with what makes focused VIC learn",
            "literal": "Q-learning by the letter of the appendix",
        },
        "By the letter, focused skills do not learn before the step size has fallen to nothing; "
        "planning finds what the rewards ask for.",
    ),
    Decision(
        "order", "Is the reward computed before or after the discriminator update?",
        {"reward": "before", "update": "after, for rewards earned at the end (Algorithms 1 and 3)"},
        "With a weight of 0.7, an update makes the last state look like success whatever the skill "
        "did, and skills learn to stand still. (Q-learning alone: planning updates in batches.)",
    ),
    Decision(
        "strength", "How strong is the penalty?",
        {"appendix": "λ = 4 (LSD: 2), as the appendix says", "text": "λ = 10 (LSD: 2), as the "
         "experiments' section says"},
        "The appendix describes the search that the value came from.",
    ),
    Decision(
        "prior", "Over which skills is ν uniform?",
        {"target": "those that share the target", "all": "all sixteen"},
        "The discriminator of a variable chooses among the skills that share it, and a reward of "
        "log d − log ν compares like with like.",
    ),
    Decision(
        "starts", "Where do training episodes begin?",
        {"controllable": "where the skill's targets can still change", "any": "in any state"},
        "Where its target has changed for good a skill can do nothing, and its visits there blur "
        "the discriminator.",
    ),
    Decision(
        "steps", "How long may a skill run?",
        {1.0: "40, 20 and 20 steps, as the paper says", 1.5: "half as long again"},
        "The paper's numbers; it says that more steps changed little.",
    ),
    Decision(
        "stopping", "What does DIAYN's reward of every step pay after termination?",
        {"earns": "a skill that terminates goes on earning its last state's reward",
         "ends": "nothing"},
        "If termination ended the reward, no skill with a positive one would ever stop, and the "
        "paper's agents finish tasks too fast for that.",
    ),
    Decision(
        "ties", "Which of several best options does the agent take?",
        {"first": "the first, as `argmax` does", "random": "any of them"},
        "With the first, primitive moves alone fail in all three worlds, as in the paper.",
    ),
    Decision(
        "choices", "What does the agent choose among?",
        {"both": "skills and primitive moves", "skills": "skills alone"},
        "The paper says that the agent learns a policy over its actions and skills.",
    ),
    Decision(
        "updates", "What do the steps inside a skill teach?",
        {"options": "the value of the skill, when it ends",
         "intra-option": "also the values of the moves it makes"},
        "The paper names no intra-option updates.",
    ),
)  # fmt: skip


def _alternatives() -> dict[str, Reading]:
    """`NAME=CHOICE` for every choice that is not the default."""
    readings = {}
    for decision in DECISIONS:
        for choice in decision.choices:
            changes: dict[str, Any] = {decision.name: choice}
            if decision.name == "order":  # planning has no order to change
                changes["learner"] = "literal"
            reading = replace(PAPER, **changes)
            if getattr(reading, decision.name) != getattr(PAPER, decision.name):
                name = f"{choice:g}" if isinstance(choice, float) else str(choice)
                readings[f"{decision.name}={name}"] = reading
    return readings


READINGS: dict[str, Reading] = _alternatives()
"""Readings that differ from `paper` in one decision (the order of updates: in the learner too)."""


def reading_of(preset: str) -> Reading:
    """Return the reading of a preset's name, or of one of `READINGS`.

    Raises:
        UserError: If the name is unknown.
    """
    if preset in READINGS:
        return READINGS[preset]
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    return PRESETS[preset]


def task_key(preset: str) -> str:
    """Return the name under which runs measure the task of a preset: the first that shares it."""
    task = reading_of(preset).task
    return next(name for name, reading in TASK_READINGS.items() if reading == task)


TASK_READINGS: dict[str, Reading] = {
    **{name: reading.task for name, reading in PRESETS.items()},
    **{name: reading for name, reading in READINGS.items() if reading.task == reading},
}
"""The different ways to learn a task, by name."""
