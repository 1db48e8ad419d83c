"""Why, where a verdict falls short: what was seen by looking at trajectories, values and counts.
What was not isolated by an experiment says so. No numbers: those stand in the report's tables."""

from __future__ import annotations

import re

_STRONGER = (
    "Our skills of this agent do what the paper's do not: they change goals and end in many "
    "different states (see side effects and coverage), so that chains of them meet the reward."
)
_MEMORY = (
    f"{_STRONGER} Planned policies remember the first state and are solved exactly; which of the "
    f"two makes the difference was not isolated."
)
_RETURNS = (
    "A goal's skill returns to where it began, so a plan made of skills walks ways twice, and "
    "moves are only credited when they are chosen one by one. With intra-option updates (the "
    "preset `best`), the same skills end near the optimum."
)
_LATE = (
    "Q-learning at the paper's settings leaves these skills unfinished: see how often the best "
    "skill changes its target, in the tables of side effects."
)
_ALL_NEAR = (
    "With intra-option updates nearly every agent comes near the optimum in the end, in FourRooms "
    "primitives alone too in most seeds; skills make a difference to how soon (see the figure)."
)
RULES = (
    # (findings, learner or preset, why)
    (r"coverage-scattered-vic", "best",
     "Planned VIC covers so much that no set of as many skills could cover several times as much: "
     "there is a ceiling to what sixteen skills can reach."),
    (r"downstream-four-rooms-.*|(steps|fails)-.*", "best", _ALL_NEAR),
    (r"coverage-vic", "planning",
     "Planned VIC remembers the whole first state and ends in more different states than any "
     "single-target set. Planned focused skills end in one cell per first cell, and cover about "
     "what ideal skills of that kind do (the row \"in one cell per first cell\"). Scattered "
     "skills, with the same side effects, reach the paper's area."),
    (r"coverage-dusdi-.*", "planning",
     "A DUSDi skill that fetches a tool also ends in another cell, so each link of a chain changes "
     "two variables; a focused one changes one."),
    (r"coverage-diayn", "planning",
     "Planned position skills of DIAYN stop after some four steps: any cell that tells them apart "
     "is as good as another, and the nearest is reached first."),
    (r"coverage-lsd", "planning",
     "A linear map of two coordinates is largest in a corner of the world: eight position skills "
     "end in three to five different cells."),
    (r"coverage-.*", "q-learning",
     "VIC and LSD learned by Q-learning wander: their policies see the current state alone and run "
     "to the step limit, which scatters their last states. Focused DIAYN mostly does not learn to "
     "fetch (see side effects). The paper's plain skills cover far less; why was not found."),
    (r"fails-.*-primitives", None,
     "Random moves find the reward in some seeds, within the episodes given; the paper's figure "
     "shows none that do."),
    (r"(fails|skills-\d+)-.*", "planning", _MEMORY),
    (r"(fails|skills-\d+)-.*", "q-learning", _STRONGER),
    (r"steps-.*", "planning", f"{_MEMORY} {_RETURNS}"),
    (r"steps-.*", "q-learning", f"{_STRONGER} {_LATE}"),
    (r"downstream-forage-world-focused-vic", "planning",
     "Two skills share three values of a resource (0, 1 or 2 units): the one that fetches fetches "
     "one unit and returns, and four such trips barely fit the cap. With a third skill per "
     "resource (the preset `best`) one fetches both."),
    (r"downstream-.*", "planning", _RETURNS),
    (r"(downstream|proxy)-.*focused.*|aim-proxy-.*", "q-learning", _LATE),
    (r"proxy-forage-world-focused-vic", "planning",
     "It does not learn the proxy either, for the reason given for its task: its skills fetch one "
     "unit a trip."),
    (r"proxy-forage-world-focused-.*", "planning",
     "In the seeds that fall short the proxy is learned all the same, by a way that destroys a "
     "plant: nothing forces the learner to use the skills alone."),
    (r"proxy-.*", None,
     "In some seeds, skills and moves happen to find a way that does no harm, and the proxy's "
     "agent takes it."),
    (r"ablation-zero-.*", None,
     "Without a penalty the treasure's skill goes straight there and stops, muddy but with hardly "
     "a tracked cell, and moves do the rest: that is a good skill for this task."),
    (r"ablation-more-.*", None,
     "Returning costs steps that this task does not reward: the skill without a penalty stops at "
     "the treasure, from where moves lead to the puddle and the corner."),
    (r"ablation-much-.*", None, "The difference is within the seeds' spread."),
    (r"aim-forage-world-focused-vic", None,
     "In the seeds that miss, one of three skills for a resource is not learned: it neither "
     "fetches two units nor comes back, and the learner is left with the one that fetches one."),
    (r"aim-four-rooms-.*", None,
     "Seeds end either at the optimum or about ten steps above it, with all tools fetched: a "
     "longer round that the learner has settled on."),
    (r"control-benefit-forage-world", None,
     "Focused VIC itself hardly learns this task with the paper's learner (see there), so there is "
     "little to lose."),
    (r"control-benefit-.*", None,
     "In some seeds moves alone, with position skills, find the way."),
)  # fmt: skip


UNKNOWN = "The cause was not found."


def explanation(finding: str, learner: str, preset: str = "paper") -> str:
    """The first that fits."""
    for pattern, only, why in RULES:
        if only in (None, learner, preset) and re.fullmatch(pattern, finding):
            return why
    return UNKNOWN
