"""Where a page begins: a state from which skills have time for their errands."""

from __future__ import annotations

import numpy as np

from skillfocus.metrics.reachability import round_trips
from skillfocus.skills.skills import Skills
from skillfocus.worlds.grid import GridWorld

AMPLE = 0.6
"""An errand that takes so much of the step limit, or less, is hardly ever spoilt by slips."""
MOST_STATES = 20_000
"""In a larger world the usual state is taken as it is."""


def first_state(skills: Skills) -> int:
    """A map's showcase if every goal's errand takes little enough from there, else the nearest
    state that is so, the agent's place alone being different (in two of the paper's worlds the
    showcase is too far); without a map, the first state that the world names."""
    world, mdp = skills.world, skills.mdp
    if not isinstance(world, GridWorld):
        return mdp.number(next(iter(world.states())))
    usual = mdp.number(world.showcase)
    if mdp.n_states > MOST_STATES:
        return usual
    states = np.flatnonzero((mdp.values[:, 1:] == mdp.values[usual, 1:]).all(axis=1))
    trips = [round_trips(mdp, [mdp.space.index(goal)], states) for goal in world.goals]
    ample = states[np.max(trips, axis=0) <= AMPLE * skills.step_limit] if trips else states[:0]
    points = mdp.space.variables[0].coordinates[mdp.values[:, 0]]
    far = np.abs(points[ample] - points[usual]).sum(axis=1)
    return int(ample[far.argmin()]) if len(ample) else usual
