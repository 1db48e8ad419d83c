"""Objective names for the command line: `vic`, `dusdi-diayn`, `focused-lsd`, …"""

from __future__ import annotations

from collections.abc import Callable

from skillfocus.errors import UserError, unknown
from skillfocus.objectives.objective import Objective

NAMES = (
    "vic", "diayn", "lsd", "dusdi-vic", "dusdi-diayn",
    "focused-vic", "focused-diayn", "focused-lsd",
)  # fmt: skip


def make_objective(name: str, *, rate: float | None = None, strength: float | None = None,
          weight: float | None = None) -> Objective:  # fmt: skip
    """The objective of that name, with the paper's settings where none are given."""
    from skillfocus.objectives.oracle import oracle
    from skillfocus.objectives.permuted import permuted
    from skillfocus.objectives.rewards.diayn import diayn
    from skillfocus.objectives.rewards.lsd import lsd
    from skillfocus.objectives.rewards.vic import vic
    from skillfocus.objectives.variants.dusdi import dusdi
    from skillfocus.objectives.variants.focused import focused
    from skillfocus.objectives.variants.scattered import scattered

    for prefix, variant in (("scattered-", scattered), ("permuted-", permuted)):
        if name.startswith(prefix):
            plain = name.removeprefix(prefix)
            return variant(make_objective(plain, rate=rate, strength=strength, weight=weight))
    bases: dict[str, Callable[..., Objective]] = {
        "vic": vic, "diayn": diayn, "lsd": lsd, "oracle": oracle,
    }  # fmt: skip
    variant, _, base = name.rpartition("-")
    if base not in bases or variant not in ("", "focused", "dusdi"):
        raise unknown("objective", name, NAMES)
    if strength is not None and variant != "focused":
        raise UserError(f"{name} has no penalty, so it takes no strength; try focused-{base}")
    if weight is not None and variant != "dusdi":
        raise UserError(f"{name} takes no DUSDi weight; try dusdi-vic or dusdi-diayn")
    if rate is not None and base == "oracle":
        raise UserError(f"{name} learns nothing, so it takes no rate")
    objective = bases[base]() if rate is None else bases[base](rate)
    if variant == "focused":
        return focused(objective, strength=strength)
    if variant == "dusdi":
        return dusdi(objective) if weight is None else dusdi(objective, weight=weight)
    return objective
