"""Where a page starts: a state from which skills have time to do what they are for."""

from __future__ import annotations

import numpy as np

from skillfocus.metrics.reachability import round_trips
from skillfocus.skills.skills import Skills
from skillfocus.worlds.grid import GridWorld

AMPLE_SHARE = 0.6
"""A round trip that takes at most this share of the step limit is hardly ever spoilt by slips."""
MAX_STATES = 20_000
"""In a larger world the showcase is taken as it is."""


def choose_start_state(skills: Skills) -> int:
    """Return the index of the state that a page starts in.

    On a map that is the showcase if every goal's round trip takes at most `AMPLE_SHARE` of the
    step limit from there, else the state nearest to it for which that holds, with only the agent's
    position changed; in two of the paper's worlds the showcase is too far away. Without a map it is
    the first state the world lists.
    """
    world, mdp = skills.world, skills.mdp
    if not isinstance(world, GridWorld):
        return mdp.number(next(iter(world.states())))
    showcase = mdp.number(world.showcase)
    if mdp.n_states > MAX_STATES:
        return showcase
    states = np.flatnonzero((mdp.values[:, 1:] == mdp.values[showcase, 1:]).all(axis=1))
    trips = [round_trips(mdp, [mdp.space.index(goal)], states) for goal in world.goals]
    ample = states[:0]
    if trips:
        ample = states[np.max(trips, axis=0) <= AMPLE_SHARE * skills.step_limit]
    points = mdp.space.variables[0].coordinates[mdp.values[:, 0]]
    distances = np.abs(points[ample] - points[showcase]).sum(axis=1)
    return int(ample[distances.argmin()]) if len(ample) else showcase
