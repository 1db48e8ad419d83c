"""Which settings the experiments run with.

`paper`: the paper's, as near as they can be taken (docs/deviations.md has the list). `best`: what
was found to work best on tuning seeds, the same for every agent of a comparison. A preset says how
skills are discovered, by either learner, and how a task is learned with them.
"""

from __future__ import annotations

from skillfocus.errors import unknown
from skillfocus.learners.base import Learner
from skillfocus.learners.tabular.planning import Planning
from skillfocus.learners.tabular.q_learning import QLearning, paper_q_learning
from skillfocus.tasks.smdp_q_learning import SMDPQLearning
from skillfocus.worlds import registry

PRESETS = ("paper", "best")
LEARNERS = ("planning", "q-learning")
WORLDS = tuple(registry.WORLDS)
FORAGE_WORLD = ("forage-world", "ForageWorld-v0")
FOCUSED = ("focused-vic", "focused-diayn", "focused-lsd")
DUSDI = ("dusdi-vic", "dusdi-diayn")
PLAIN = ("vic", "diayn", "lsd")
OBJECTIVES = (*FOCUSED, *DUSDI, *PLAIN)
PRIMITIVES = "primitives"
AGENTS = (*OBJECTIVES, PRIMITIVES)
ON_TWO = "-on-two"
"""Ends the name of an agent whose skills have two targets each, a tool and the position."""
SCATTERED = "scattered-focused-vic"
OURS = {
    SCATTERED: {"gamma": 0.995, "strength": 2.0},
    SCATTERED + ON_TWO: {},
    "focused-vic" + ON_TWO: {},
}
"""Agents that the paper does not have, and their settings: the best of four points (gamma 0.995
and 0.998, strength 2 and 4) by the area of coverage, on one tuning seed."""


def discovery_learner(preset: str, learner: str) -> Learner:
    """How skills are discovered. Planning has no settings in the paper, so both presets share
    its own."""
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    if learner not in LEARNERS:
        raise unknown("learner", learner, LEARNERS)
    if learner == "planning":
        return Planning()
    return paper_q_learning() if preset == "paper" else QLearning()


def task_learner(preset: str, world: str, agent: str) -> SMDPQLearning:
    """How a task is learned: the paper's decay of exploration was chosen per world and agent."""
    if preset == "best":
        return SMDPQLearning(intra_option=True, epsilon_decay=0.0002, alpha_decay=0.0001)
    slow = world in FORAGE_WORLD and "focused" not in agent
    return SMDPQLearning(epsilon_decay=0.0005 if slow else 0.001)


def targets(preset: str, world: str, agent: str) -> str | None:
    """Which skills target what, if not as in the paper. There a goal gets two skills; where it has
    three values (a resource), `best` gives it three, so that one can be to fetch both units."""
    if agent.endswith(ON_TWO):
        return ",".join(f"tool_{i}+position=4" for i in (1, 2, 3, 4))
    if preset == "best" and world in FORAGE_WORLD and agent not in PLAIN:
        return "resource_1=3,resource_2=3,position=10"
    return None
