"""Cases of `scale`, for a CPU and for a GPU.

`neural` is for a CPU: FourRooms from its table, and Mini-BEHAVIOR's printer. `neural-large` needs a
GPU: rooms with 16 and 32 tools, MudWorld with visible mud, and the two larger households of
Mini-BEHAVIOR.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillfocus.experiments.cases import Case, Setup
from skillfocus.experiments.household_runs import HouseholdPrimitives, HouseholdSkills
from skillfocus.experiments.mud_runs import TreasureSkills
from skillfocus.experiments.presets import FOCUSED, PRIMITIVES
from skillfocus.experiments.rooms_runs import BestInRooms, SkillsInRooms
from skillfocus.learners.neural.learner import Neural, large_neural
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.run import Run

PRESET, SMALL, LARGE = "scale", "neural", "neural-large"
BEST, PLANNED, MORE = "best possible", "planned", "262 M steps"
"""Variants: the reference in rooms, exact planning in FourRooms, and longer training in
households."""
TRICKS: dict[str, dict[str, object]] = {
    "rewards not held": {"hold": 0.0, "owned_share": 0.5},
    "no earlier starts": {"earlier_starts": 0},
}
"""Ablations by variant, with equal numbers of steps."""
ROOM_STRENGTH = {"tool-rooms": 2.5, "room-blocks": 5.0}
"""Distances are relative to the largest, which is longer in blocks of rooms. At strength 2.5, the
last step home is worth less there than the network's error, and skills stop before it."""
BLOCK_UPDATES = 60_000
"""Errands in blocks of rooms are longer. With 24,000 updates, some skills still lose their way."""
HOUSEHOLD_STRENGTH = 1.0
"""Cleaning a car soaks and dirties the rag. At the default strength, that costs more than the
target is worth, and a focused skill does nothing."""
HELD = 1.0
"""Rewards are held fixed to the end where errands are long. A discriminator that is released before
a skill has learned its errand learns that the skill stays at home, and then rewards it for that."""
HOUSEHOLD_COST = 0.05
"""Cost of a step in households, twice the default of `large_neural`: turns are steps too, and more
paths have nearly equal lengths."""
HOUSEHOLD_TEMPERATURE = 0.1
"""Households are deterministic, and greedy skills loop between actions of nearly equal cost."""
HOUSEHOLD_STEPS: dict[str, object] = {"environments": 1250, "updates": 16_000}
"""20 million steps, SkiLD's budget for learning skills."""
MORE_STEPS: dict[str, object] = {"environments": 8192, "updates": 32_000}
"""262 million steps, with twice the updates."""
HOUSEHOLDS = ("installing-a-printer", "thawing-frozen-food", "cleaning-a-car")
HOUSEHOLD_AGENTS = ("focused-vic", "dusdi-vic", "vic")


Labelled = tuple[str, str, str, Run]
"""A run with its world, agent and variant."""


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return the cases of a setup, for a CPU or for a GPU."""
    runs = _on_cpu if setup.learner == SMALL else _on_gpu
    labelled = [(seed, *run) for seed in seeds for run in runs(seed)]
    if setup.learner == LARGE:
        for world, strength in ROOM_STRENGTH.items():
            best = BestInRooms(world, strength=strength)
            labelled.append((seeds[0], world, "focused-vic", BEST, best))
    return [
        Case(setup.preset, setup.learner, world, agent, variant, seed, run)
        for seed, world, agent, variant, run in labelled
    ]


def _on_cpu(seed: int) -> Iterator[Labelled]:
    world = "four-rooms"
    for agent in FOCUSED:
        yield world, agent, "", Discovery(world, agent, seed, Neural())
        yield world, agent, PLANNED, Discovery(world, agent, seed)
    for variant, changes in TRICKS.items():
        learner = Neural(**changes)  # pyright: ignore[reportArgumentType]
        yield world, "focused-vic", variant, Discovery(world, "focused-vic", seed, learner)
    learner = Neural(hold=HELD, temperature=HOUSEHOLD_TEMPERATURE)
    for agent in HOUSEHOLD_AGENTS:
        yield HOUSEHOLDS[0], agent, "", _in_household(HOUSEHOLDS[0], agent, seed, learner)
    yield HOUSEHOLDS[0], PRIMITIVES, "", HouseholdPrimitives(HOUSEHOLDS[0], seed)


def _on_gpu(seed: int) -> Iterator[Labelled]:
    learners = {
        "tool-rooms": large_neural(),
        "room-blocks": large_neural(hold=HELD, updates=BLOCK_UPDATES),
    }
    for world, learner in learners.items():
        strength = ROOM_STRENGTH[world]
        run = SkillsInRooms(world, "focused-vic", seed, learner, strength=strength)
        yield world, "focused-vic", "", run
    run = TreasureSkills("visible-mud", "focused-vic", seed, large_neural())
    yield "visible-mud", "focused-vic", "", run
    settings = {"hold": HELD, "step_cost": HOUSEHOLD_COST, "temperature": HOUSEHOLD_TEMPERATURE}
    learner = large_neural(**settings, **HOUSEHOLD_STEPS)
    longer = large_neural(**settings, **MORE_STEPS)
    for world in HOUSEHOLDS[1:]:
        for agent in HOUSEHOLD_AGENTS:
            yield world, agent, "", _in_household(world, agent, seed, learner)
            if agent != "vic":
                yield world, agent, MORE, _in_household(world, agent, seed, longer)
        yield world, PRIMITIVES, "", HouseholdPrimitives(world, seed)


def _in_household(world: str, agent: str, seed: int, learner: Neural) -> HouseholdSkills:
    strength = HOUSEHOLD_STRENGTH if agent in FOCUSED else None
    return HouseholdSkills(world, agent, seed, learner, strength=strength)
