"""Settings of the experiments: readings of the paper, presets, agents and their learners.

A `Reading` takes every decision that the paper's text leaves open one way. The presets are two of
them: `paper`, one of the nearest to the paper's numbers on tuning seeds (`readings.py`), and
`best`, with the settings that worked best on tuning seeds. `READINGS` has one entry for every other
choice, taken alone:

    reading_of("paper").ties            # "first"
    reading_of("ties=random").ties      # "random", everything else as in `paper`

A preset determines how each learner discovers skills and how a task is learned with them, the same
for every agent of a comparison.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import skillfocus as sf
from skillfocus.errors import unknown
from skillfocus.objectives.kinds import N_SKILLS
from skillfocus.objectives.registry import make_objective
from skillfocus.runs import Setting
from skillfocus.tasks.task import TASKS
from skillfocus.worlds import registry


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
    """A decision that the paper leaves open, from `decisions.toml`."""

    name: str
    """The setting of `Reading`."""
    question: str
    """What is to be decided."""
    choices: dict[object, str]
    """What can be chosen, and what it means; the first one is the default."""
    reason: str
    """Why the default is what it is."""


def load_data(name: str) -> dict[str, Any]:
    """Return the contents of a TOML file of this folder."""
    return tomllib.loads((Path(__file__).parent / name).read_text())


_DATA = load_data("decisions.toml")
DECISIONS = tuple(Decision(**{**d, "choices": dict(d["choices"])}) for d in _DATA["decision"])


def _alternative(name: str, choice: Any) -> Reading:
    learner = "literal" if name == "order" else PAPER.learner  # planning has no order to change
    return replace(PAPER, **{"learner": learner, name: choice})


READINGS: dict[str, Reading] = {
    f"{decision.name}={choice}": _alternative(decision.name, choice)
    for decision in DECISIONS
    for choice in list(decision.choices)[1:]
}
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

VIC_RATE = 0.7
"""The paper's weight of VIC's discriminator (appendix); the library's default is 0.05."""
VIC_RATES = {"forage-world": 0.5}
"""By world, where it differs."""

WORLDS = ("four-rooms", "forage-world", "mud-world")
"""The paper's worlds; others may be registered."""
WORLD_NAMES = {name: world.__name__ for name, world in registry.WORLDS.items()}
"""Printed names of all worlds with a table."""
STEP_LIMITS = {world: TASKS[registry.WORLDS[world].id].max_episode_steps for world in WORLDS}
"""Steps after which an episode of a world's task is cut off; a failure counts as this many."""
FORAGE_WORLD = ("forage-world", "ForageWorld-v0")

FOCUSED = ("focused-vic", "focused-diayn", "focused-lsd")
DUSDI = ("dusdi-vic", "dusdi-diayn")
PLAIN = ("vic", "diayn", "lsd")
OBJECTIVES = (*FOCUSED, *DUSDI, *PLAIN)
PRIMITIVES = "primitives"
"""The agent without skills, which has the primitive actions alone."""
AGENTS = (*OBJECTIVES, PRIMITIVES)
IDEAL = "ideal"
"""Faultless skills that nobody learned: an upper bound for coverage."""
BASELINES = (PRIMITIVES, IDEAL)
"""Agents that discover no skills, so that their results are the same for every learner."""

WITH_MEMORY = "-with-memory"
"""Suffix of a plain agent whose policies see where they began: stronger than the published ones."""
MEMORY_AGENTS = ("vic" + WITH_MEMORY, "lsd" + WITH_MEMORY)
"""DIAYN's reward does not look at the start, so memory would change nothing."""
TWO_TARGETS = "-on-two"
"""Suffix of an agent whose skills have two targets each, a tool and the position."""
SCATTERED = "scattered-focused-vic"
OUR_AGENTS: dict[str, dict[str, Any]] = load_data("agents.toml")
"""Agents that the paper does not have: their settings, colors and aims."""


def discovery_learner(preset: str, learner: str, agent: str) -> sf.Learner:
    """Return the learner that discovers skills.

    Settings that make no difference to an agent keep their defaults, so that readings share runs.

    Args:
        preset: A preset, or one of `readings.READINGS`.
        learner: `planning`, `q-learning` or `literal`.
        agent: Name of an objective.

    Raises:
        UserError: If the preset or the learner is unknown.
    """
    reading, objective = reading_of(preset), make_objective(agent)
    if learner == "planning":
        forgets = reading.memory == "none" or (
            reading.memory == "targets" and not objective.targeted
        )
        looks_back = objective.reward.uses_start or objective.penalty is not None
        ends = reading.stopping == "ends" and objective.reward.timing == "step"
        anywhere = reading.starts == "any" and objective.targeted
        return sf.Planning(
            sees_start=not (forgets and looks_back), keeps_earning=not ends,
            start_where_controllable=not anywhere,
        )  # fmt: skip
    made = sf.literal_q_learning() if learner == "literal" else sf.paper_q_learning()
    return replace(made, update_first=reading.order == "update")


def discovery_settings(preset: str, world: str, agent: str) -> dict[str, Setting]:
    """Return the settings of a discovery, besides its learner's, that a preset changes."""
    reading, objective = reading_of(preset), make_objective(agent)
    settings: dict[str, Setting] = {}
    if objective.reward.name == "vic":
        settings["rate"] = VIC_RATES.get(world, VIC_RATE)
    if reading.strength == "text" and "focused" in agent and objective.reward.name != "lsd":
        settings["strength"] = 10.0
    if reading.prior == "all" and objective.targeted and objective.reward.estimate.discriminates:
        settings["prior"] = 1 / N_SKILLS
    if reading.steps != 1:
        settings["step_limit"] = round(reading.steps * sf.make(world).step_limit)
    return settings


def task_learner(preset: str, world: str, agent: str) -> sf.SMDPQLearning:
    """Return the learner of a downstream task.

    The paper chose the decay of exploration per world and agent.
    """
    reading = reading_of(preset)
    slow = world in FORAGE_WORLD and "focused" not in agent
    paper_decay = 0.0005 if slow else 0.001
    return sf.SMDPQLearning(
        epsilon_decay=paper_decay if reading.epsilon_decay is None else reading.epsilon_decay,
        alpha_decay=reading.alpha_decay, ties=reading.ties,
        primitives=reading.choices == "both" or agent == PRIMITIVES,
        intra_option=reading.updates == "intra-option",
    )  # fmt: skip


def skill_targets(preset: str, world: str, agent: str) -> str | None:
    """Return the assignment of skills to targets, or None for the paper's.

    The paper gives every goal two skills. A resource has three values (0, 1 or 2 units), so `best`
    gives it three skills: one of them can fetch both units.
    """
    if agent.endswith(TWO_TARGETS):
        return ",".join(f"tool_{i}+position=4" for i in (1, 2, 3, 4))
    if preset == "best" and world in FORAGE_WORLD and agent not in (*PLAIN, *MEMORY_AGENTS):
        return "resource_1=3,resource_2=3,position=10"
    return None


DEVIATIONS: tuple[str, ...] = tuple(_DATA["deviations"])
"""In short, where we depart from the paper; docs/deviations.md explains each."""
