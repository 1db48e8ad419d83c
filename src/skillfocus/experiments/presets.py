"""Agents, worlds and hyperparameters of the experiments.

There are two presets. `paper` uses the paper's hyperparameters, and reads what the text leaves open
as `readings` says. `best` uses the settings that worked best on tuning seeds, the same for every
agent of a comparison. A preset determines how each learner discovers skills and how a task is
learned with them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from skillfocus.experiments.readings import reading_of
from skillfocus.learners.base import Learner
from skillfocus.learners.registry import make_learner
from skillfocus.learners.tabular.planning import Planning
from skillfocus.learners.tabular.q_learning import QLearning
from skillfocus.objectives.registry import make_objective
from skillfocus.objectives.targets import N_SKILLS
from skillfocus.runs.run import Setting
from skillfocus.tasks.smdp_q_learning import SMDPQLearning
from skillfocus.tasks.task import TASKS
from skillfocus.worlds import registry
from skillfocus.worlds.registry import make

LEARNERS = ("literal", "q-learning", "planning")

WORLDS = ("four-rooms", "forage-world", "mud-world")
"""The paper's worlds; others may be registered."""
WORLD_NAMES = {world: registry.WORLDS[world].__name__ for world in WORLDS}
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
SCATTERED_DIAYN = "scattered-focused-diayn"
SCATTERED_LSD = "scattered-focused-lsd"
OUR_AGENTS: dict[str, dict[str, Any]] = {
    SCATTERED: {"gamma": 0.995, "strength": 2.0},
    SCATTERED_DIAYN: {"gamma": 0.995, "warm_start": False, "rounds": 10, "rollouts": 100},
    SCATTERED_LSD: {
        "gamma": 0.995, "strength": 6.0, "rate": 0.002, "rounds": 10, "rollouts": 50,
    },
    SCATTERED + TWO_TARGETS: {},
    "focused-vic" + TWO_TARGETS: {},
}  # fmt: skip
"""Agents that the paper does not have, with their settings, chosen on tuning seeds. Scattered
focused VIC uses what was the best of four points (gamma 0.995 and 0.998, strength 2 and 4) by area
of coverage; docs/scattered.md says why the others need what they do."""


def discovery_learner(preset: str, learner: str, agent: str) -> Learner:
    """Return the learner that discovers skills.

    Settings that make no difference to an agent keep their defaults, so that readings share runs.

    Args:
        preset: A preset, or one of `readings.READINGS`.
        learner: One of `LEARNERS`.
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
        return Planning(
            memory=not (forgets and looks_back), keeps_earning=not ends,
            start_where_controllable=not anywhere,
        )  # fmt: skip
    made = make_learner(learner, paper=True)
    assert isinstance(made, QLearning)
    return replace(made, update_first=reading.order == "update")


def discovery_settings(preset: str, world: str, agent: str) -> dict[str, Setting]:
    """Return the settings of a discovery, besides its learner's, that a preset changes."""
    reading, settings = reading_of(preset), {}
    objective = make_objective(agent)
    if reading.strength == "text" and "focused" in agent and objective.reward.name != "lsd":
        settings["strength"] = 10.0
    if reading.prior == "all" and objective.targeted and objective.reward.estimate.discriminates:
        settings["prior"] = 1 / N_SKILLS
    if reading.steps != 1:
        settings["step_limit"] = round(reading.steps * make(world).step_limit)
    return settings


def task_learner(preset: str, world: str, agent: str) -> SMDPQLearning:
    """Return the learner of a downstream task.

    The paper chose the decay of exploration per world and agent.
    """
    reading = reading_of(preset)
    slow = world in FORAGE_WORLD and "focused" not in agent
    paper_decay = 0.0005 if slow else 0.001
    return SMDPQLearning(
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
