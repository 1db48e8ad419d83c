"""How many statements of each claim of the paper hold under a reading.

A statement compares our means over tuning seeds with each other, not with the paper's numbers:
"plain VIC fails in FourRooms". Those that the paper's own numbers do not support are left out. A
reading *flips* a claim if it changes the number of statements that hold by a third of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from skillfocus.experiments.paper_numbers import PaperNumber
from skillfocus.experiments.presets import DUSDI, FOCUSED, PLAIN, PRIMITIVES, STEP_LIMITS, WORLDS
from skillfocus.experiments.reduce import PROXY_TRUE_RETURN, TASK_STEPS
from skillfocus.report.document import Table

FAILED_SHARE = 0.9
"""Steps, as a share of the step limit, from which on an agent has failed."""
MUCH_MORE = 2.0
"""How many times as much focused skills must cover."""
COMPARABLE = 1.6
"""Largest ratio, either way, of what is comparable: the paper calls 93 and 145 steps so."""
FLIP_SHARE = 1 / 3


def statements(ours: Mapping[PaperNumber, float]) -> dict[str, list[bool]]:
    """Return which statements of each claim hold, by the claim's name.

    Args:
        ours: Our means of all of the paper's numbers.
    """
    held, in_paper = _all_statements(ours), _all_statements({n: n.value for n in ours})
    return {
        name: [ok for ok, true in zip(of, in_paper[name], strict=True) if true]
        for name, of in held.items()
    }


def _all_statements(ours: Mapping[PaperNumber, float]) -> dict[str, list[bool]]:
    """All statements, also those that the paper's numbers do not support."""
    value = {(n.metric, n.world, n.agent): mean for n, mean in ours.items()}

    def area(agent: str) -> float:
        return value["auc", "four-rooms", agent]

    def fails(world: str, agent: str) -> bool:
        return value[TASK_STEPS, world, agent] >= FAILED_SHARE * STEP_LIMITS[world]

    def comparable(ratio: float) -> bool:
        return 1 / COMPARABLE <= ratio <= COMPARABLE

    bases = [agent.removeprefix("dusdi-") for agent in DUSDI]
    dusdi = []
    for base in bases:
        for world in WORLDS:
            steps = [value[TASK_STEPS, world, f"{kind}-{base}"] for kind in ("focused", "dusdi")]
            if world == "four-rooms":
                dusdi.append(comparable(steps[0] / steps[1]))
            else:
                dusdi.append(steps[0] < 0.95 * steps[1])
    returns = {(w, a): r for (metric, w, a), r in value.items() if metric == PROXY_TRUE_RETURN}
    return {
        "coverage": [area(f"focused-{base}") >= MUCH_MORE * area(base) for base in PLAIN],
        "coverage-dusdi": [
            comparable(area(f"focused-{base}") / area(f"dusdi-{base}")) for base in bases
        ],
        "tasks": [not fails(world, agent) for world in WORLDS for agent in FOCUSED],
        "failures": [fails(world, agent) for world in WORLDS for agent in (*PLAIN, PRIMITIVES)],
        "dusdi": dusdi,
        "proxy": [(r >= 0.5) == (agent in FOCUSED) for (_, agent), r in returns.items()],
    }


def claims_table(readings: Mapping[str, Mapping[PaperNumber, float]]) -> Table:
    """Return how many statements of each claim hold under each reading."""
    held = {name: statements(ours) for name, ours in readings.items()}
    names = list(next(iter(held.values())))
    rows = [
        [f"`{reading}`", *(f"{sum(of[name])} of {len(of[name])}" for name in names)]
        for reading, of in held.items()
    ]
    note = (
        f"A statement compares means over tuning seeds: an agent fails from {FAILED_SHARE:.0%} of "
        f"the step limit on, covers much more at {MUCH_MORE:g} times as much, and is comparable "
        f"within a factor of {COMPARABLE:g}; a return is earned from 0.5 on."
    )
    return Table("Statements that hold, by claim and reading", ["reading", *names], rows, note)


def flips(readings: Mapping[str, Mapping[PaperNumber, float]]) -> dict[str, list[str]]:
    """Return the readings that flip each claim, with what they change: `ties=random (3 → 9 of 12)`.

    Args:
        readings: Our numbers by reading; without `paper` there is nothing to compare with.
    """
    if "paper" not in readings:
        return {}
    base = statements(readings["paper"])
    found: dict[str, list[str]] = {}
    for reading, ours in readings.items():
        if reading.startswith("order="):  # it changes the learner too
            continue
        for name, held in statements(ours).items():
            before, after, n = sum(base[name]), sum(held), len(held)
            if abs(after - before) >= FLIP_SHARE * n:
                found.setdefault(name, []).append(f"{reading} ({before} → {after} of {n})")
    return found
