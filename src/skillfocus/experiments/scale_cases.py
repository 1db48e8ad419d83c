"""Cases of `scale`, for a CPU and for a GPU.

`neural` is for a CPU: FourRooms from its table, and installing a printer. `neural-large` needs a
GPU: rooms with 16 and 32 tools, MudWorld with visible mud, and Mini-BEHAVIOR.
"""

from __future__ import annotations

from collections.abc import Sequence

from skillfocus.experiments.cases import Case, Setup
from skillfocus.experiments.household_runs import HouseholdPrimitives, HouseholdSkills
from skillfocus.experiments.mud_runs import TreasureSkills
from skillfocus.experiments.presets import FOCUSED, PRIMITIVES
from skillfocus.experiments.rooms_runs import BestInRooms, SkillsInRooms
from skillfocus.learners.neural.learner import Neural, large_neural
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.run import Run

PRESET, SMALL, LARGE = "scale", "neural", "neural-large"
BEST, PLANNED = "best possible", "planned"
"""Variants: the reference in rooms, and exact planning in FourRooms."""
TRICKS: dict[str, dict[str, object]] = {
    "rewards not held": {"hold": 0.0, "owned_share": 0.5},
    "no earlier starts": {"earlier_starts": 0},
}
"""Ablations by variant, with equal numbers of steps."""
ROOMS = ("tool-rooms", "room-blocks")
ROOM_STRENGTH = 2.5
HOUSEHOLD_STRENGTH = 1.0
"""Cleaning a car soaks and dirties the rag. At the default strength, that costs more than the
target is worth, and a focused skill does nothing."""
HELD = 1.0
"""Rewards are held fixed to the end where errands are long. A discriminator that is released before
a skill has learned its errand learns that the skill stays at home, and then rewards it for that."""
HOUSEHOLD_COST = 0.05
"""Cost of a step in households, twice the default: turns are steps too, and more paths have nearly
equal lengths."""
HOUSEHOLD_TEMPERATURE = 0.1
"""Households are deterministic, and greedy skills loop between actions of nearly equal cost."""
HOUSEHOLD_STEPS: dict[str, object] = {"environments": 1250, "updates": 16_000}
"""20 million steps, SkiLD's budget for learning skills."""
HOUSEHOLDS = ("installing-a-printer", "thawing-frozen-food", "cleaning-a-car")
HOUSEHOLD_AGENTS = ("focused-vic", "dusdi-vic", "vic")


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return the cases of a setup, for a CPU or for a GPU."""
    listed: list[Case] = []

    def add(world: str, agent: str, variant: str, seed: int, run: Run) -> None:
        listed.append(Case(setup.preset, setup.learner, world, agent, variant, seed, run))

    def add_households(worlds: Sequence[str], seed: int, learner: Neural) -> None:
        for world in worlds:
            for agent in HOUSEHOLD_AGENTS:
                strength = HOUSEHOLD_STRENGTH if agent in FOCUSED else None
                run = HouseholdSkills(world, agent, seed, learner, strength=strength)
                add(world, agent, "", seed, run)
            add(world, PRIMITIVES, "", seed, HouseholdPrimitives(world, seed))

    def add_rooms(world: str, seed: int, learner: Neural) -> None:
        run = SkillsInRooms(world, "focused-vic", seed, learner, strength=ROOM_STRENGTH)
        add(world, "focused-vic", "", seed, run)

    for seed in seeds:
        if setup.learner == SMALL:
            for agent in FOCUSED:
                add("four-rooms", agent, "", seed, Discovery("four-rooms", agent, seed, Neural()))
                add("four-rooms", agent, PLANNED, seed, Discovery("four-rooms", agent, seed))
            for variant, changes in TRICKS.items():
                learner = Neural(**changes)  # pyright: ignore[reportArgumentType]
                run = Discovery("four-rooms", "focused-vic", seed, learner)
                add("four-rooms", "focused-vic", variant, seed, run)
            small = Neural(hold=HELD, step_cost=HOUSEHOLD_COST, temperature=HOUSEHOLD_TEMPERATURE)
            add_households(HOUSEHOLDS[:1], seed, small)
            continue
        add_rooms("tool-rooms", seed, large_neural())
        add_rooms("room-blocks", seed, large_neural(hold=HELD))
        run = TreasureSkills("visible-mud", "focused-vic", seed, large_neural())
        add("visible-mud", "focused-vic", "", seed, run)
        large = large_neural(
            hold=HELD, step_cost=HOUSEHOLD_COST, temperature=HOUSEHOLD_TEMPERATURE,
            **HOUSEHOLD_STEPS,
        )  # fmt: skip
        add_households(HOUSEHOLDS, seed, large)
    if setup.learner == LARGE:
        for world in ROOMS:
            add(world, "focused-vic", BEST, seeds[0], BestInRooms(world, strength=ROOM_STRENGTH))
    return listed
