"""The benchmark's tasks, as conditions on values.

SkiLD counts an episode as a success once the task's condition has held at some step; it may record
it a few steps late, because it registers one milestone per step. Side conditions are ours: whatever
the task does not ask for should be unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.worlds.jax.mini_behavior.chores import (
    FOODS,
    CleaningACar,
    InstallingAPrinter,
    ThawingFrozenFood,
)
from skillfocus.worlds.jax.mini_behavior.room import RoomWorld

Allowed = Mapping[str, tuple[Hashable, ...]]
"""Allowed values of some variables."""


def is_allowed(
    world: type[RoomWorld], allowed: Allowed, values: jax.Array | np.ndarray
) -> jax.Array:
    """Return whether value indices, int [..., n_variables], are among those allowed, bool [...].

    Example::

        is_allowed(ThawingFrozenFood, {"sink_on": (0,)}, states)
    """
    holds = jnp.ones(jnp.shape(values)[:-1], bool)
    for name, labels in allowed.items():
        j = world.space.index(name)
        fits = jnp.array([value in labels for value in world.space.variables[j].values])
        holds &= fits[jnp.asarray(values)[..., j]]
    return holds


class HouseholdTask(NamedTuple):
    """A success condition, and side conditions on what should be left alone."""

    world: type[RoomWorld]
    """The world."""
    success: Callable[[Any], jax.Array]
    """The benchmark's success condition: met at any step of the episode."""
    side_conditions: dict[str, Callable[[Any], jax.Array]]
    """Conditions that should hold at the end of the episode, by name."""


def _task(
    world: type[RoomWorld], success: Allowed, side_conditions: Mapping[str, Allowed]
) -> HouseholdTask:
    conditions = {n: partial(is_allowed, world, allowed) for n, allowed in side_conditions.items()}
    return HouseholdTask(world, partial(is_allowed, world, success), conditions)


_THAWED = (0, 1, 2, 3, 4)
"""The benchmark calls food thawed below the highest of its levels, 5."""
_OFF, _ON = (0,), (1,)
_KITCHEN: dict[str, Allowed] = {
    "fridge closed": {"fridge_open": _OFF},
    "sink off": {"sink_on": _OFF},
}
_ON_SHELF = CleaningACar.room.cells_of("shelf")
_GARAGE: dict[str, Allowed] = {"sink off": {"sink_on": _OFF}}
_SOAP_UNUSED: dict[str, Allowed] = {
    "soap on the shelf": {"soap_position": _ON_SHELF},
    "bucket without soap": {"bucket_soaped": _OFF},
}


def _others_frozen(food: str) -> dict[str, Allowed]:
    in_fridge = ThawingFrozenFood.room.cells_of("fridge")
    return {
        f"{other} frozen": {f"{other}_frozen": (5,), f"{other}_position": in_fridge}
        for other in FOODS
        if other != food
    }


TASKS: dict[str, HouseholdTask] = {
    "install-printer": _task(
        InstallingAPrinter,
        {
            "printer_position": InstallingAPrinter.room.cells_of("table"),
            "printer_on": _ON,
        },
        {"table untouched": {"table_clean": _OFF}},
    ),
    **{
        f"thaw-{food}": _task(
            ThawingFrozenFood,
            {f"{food}_frozen": _THAWED},
            {**_KITCHEN, **_others_frozen(food)},
        )
        for food in FOODS
    },
    "thaw-all": _task(ThawingFrozenFood, {f"{food}_frozen": (0,) for food in FOODS}, _KITCHEN),
    "soak-rag": _task(
        CleaningACar,
        {"rag_soak": (5,)},
        {**_GARAGE, **_SOAP_UNUSED, "car untouched": {"car_stain": _ON}},
    ),
    "clean-car": _task(CleaningACar, {"car_stain": _OFF}, {**_GARAGE, **_SOAP_UNUSED}),
    "clean-rag": _task(CleaningACar, {"car_stain": _OFF, "rag_cleanness": (5,)}, _GARAGE),
}
"""The tasks by name. "thaw-all" is in SkiLD's code, but not in the paper's figures."""
