"""Trajectories of the original Mini-BEHAVIOR, recorded once (tests/data/mini_behavior)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paths import ROOT
from skillfocus.worlds.jax.mini_behavior.chores import ThawingFrozenFood
from skillfocus.worlds.jax.mini_behavior.room import RoomWorld

FOLDER = ROOT / "tests" / "data" / "mini_behavior"
FILES = {
    "MiniBehaviorPrinter-v0": "printer",
    "MiniBehaviorThawing-v0": "thawing",
    "MiniBehaviorCar-v0": "cleaning_car",
}
IN_HAND = (0, 0)  # the corner, where nothing can lie, is what the original says of carried things
IN_SINK = 2  # what a thing is inside of: nothing, the fridge, the sink


@dataclass(frozen=True)
class Recording:
    """Trajectories of one world."""

    states: np.ndarray
    """Value indices, int32 [n_trajectories, n_steps + 1, n_variables]."""
    actions: np.ndarray
    """int32 [n_trajectories, n_steps]."""
    success: dict[str, np.ndarray]
    """What the original reports after each step, by task: bool [n_trajectories, n_steps]."""


def recording(world: RoomWorld) -> Recording:
    """Read the recording of a world."""
    space = world.space
    sink = world.room.cells_of("sink") if isinstance(world, ThawingFrozenFood) else ()
    with np.load(FOLDER / f"{FILES[world.id]}.npz") as file:
        columns = list(file["columns"])
        raw = {column: file["values"][..., i] for i, column in enumerate(columns)}
        actions = file["actions"].astype(np.int32)
        tasks = [str(task).replace("_", "-") for task in file["tasks"]]
        success = {task: file["success"][..., i] for i, task in enumerate(tasks)}

    def label(variable: str) -> np.ndarray:
        thing = variable.removesuffix("_position")
        if f"{thing}_row" not in raw:
            return raw[variable]
        labels = np.empty(raw["direction"].shape, dtype=object)
        inside = raw.get(f"{thing}_inside")
        for place in np.ndindex(labels.shape):
            cell = int(raw[f"{thing}_row"][place]), int(raw[f"{thing}_column"][place])
            if cell == IN_HAND:
                labels[place] = "carried"
            elif inside is not None and cell in sink and inside[place] != IN_SINK:
                labels[place] = f"above {cell}"
            else:
                labels[place] = cell
        return labels

    states = np.zeros((*raw["direction"].shape, len(space)), dtype=np.int32)
    for j, variable in enumerate(space.variables):
        labels = label(variable.name)
        if labels.dtype == object:
            number = {value: i for i, value in enumerate(variable.values)}
            states[..., j] = np.vectorize(number.__getitem__)(labels)
        else:
            states[..., j] = labels  # directions and levels are recorded as indices
    return Recording(states, actions, success)
