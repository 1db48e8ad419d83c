"""The tasks of the benchmark, as conditions on values.

SkiLD counts an episode as a success once the condition of its task has held at some step; its
record may lag behind by a few steps, because it takes note of one milestone per step. The side
conditions say what a person would expect besides: what the task did not ask for is as it was.
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
"""For some variables, the values they may have."""


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
    """The values that each variable named here may have."""

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
    """What an episode is to achieve, and what it should leave alone."""

    world: type[RoomWorld]
    """The world."""
    success: Condition
    """Success as the benchmark counts it: met at any step of the episode."""
    side_conditions: Mapping[str, Condition] = field(default_factory=dict)
    """What should hold besides at the end of the episode, by name."""

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
"""The benchmark calls food thawed once it has lost one of its five levels."""
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
"""The tasks by name; "thaw-all" is one of the code, not of the paper's figures."""
