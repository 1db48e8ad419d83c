"""The benchmark's tasks, as conditions on values.

SkiLD counts an episode as a success once the task's condition has held at some step; it may record
it a few steps late, because it registers one milestone per step. Side conditions are ours: whatever
the task does not ask for should be unchanged.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.worlds.jax.mini_behavior.cleaning_car import CleaningACar
from skillfocus.worlds.jax.mini_behavior.printer import InstallingAPrinter
from skillfocus.worlds.jax.mini_behavior.room import RoomWorld
from skillfocus.worlds.jax.mini_behavior.thawing import FOODS, ThawingFrozenFood

Allowed = Mapping[str, tuple[Hashable, ...]]
"""Allowed values of some variables."""


@dataclass(frozen=True)
class Condition:
    """A condition on the values of a world.

    Example::

        sink_off = Condition(ThawingFrozenFood, {"sink_on": (0,)})
        sink_off(states)  # bool [...] for int [..., n_variables]
    """

    world: type[RoomWorld]
    """The world."""
    allowed: Allowed
    """Allowed values of the variables named here."""

    def __call__(self, values: jax.Array | np.ndarray) -> jax.Array:
        """Return whether value indices, int [..., n_variables], meet it, bool [...]."""
        space = self.world.space
        holds = jnp.ones(jnp.shape(values)[:-1], bool)
        for name, labels in self.allowed.items():
            j = space.index(name)
            fits = jnp.array([value in labels for value in space.variables[j].values])
            holds &= fits[jnp.asarray(values)[..., j]]
        return holds


@dataclass(frozen=True)
class HouseholdTask:
    """A success condition, and side conditions on what should be left alone."""

    world: type[RoomWorld]
    """The world."""
    success: Condition
    """The benchmark's success condition: met at any step of the episode."""
    side_conditions: Mapping[str, Condition] = field(default_factory=dict)
    """Conditions that should hold at the end of the episode, by name."""

    def true_success(self, values: jax.Array | np.ndarray) -> jax.Array:
        """Return whether values meet the success and all side conditions, bool [...]."""
        holds = self.success(values)
        for condition in self.side_conditions.values():
            holds &= condition(values)
        return holds


def _task(
    world: type[RoomWorld], success: Allowed, side_conditions: Mapping[str, Allowed]
) -> HouseholdTask:
    return HouseholdTask(
        world,
        Condition(world, success),
        {name: Condition(world, allowed) for name, allowed in side_conditions.items()},
    )


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
