"""Where a page starts: a state from which skills have time to do what they are for."""

from __future__ import annotations

import numpy as np

from skillfocus.core.rollout import most_likely_path
from skillfocus.metrics.reachability import round_trips
from skillfocus.skills.skills import Skills
from skillfocus.worlds.grid import GridWorld

AMPLE_SHARE = 0.6
"""A round trip that takes at most this share of the step limit is hardly ever spoilt by slips."""
MAX_STATES = 20_000
"""In a larger world the showcase is taken as it is."""
MAX_STARTS = 300
"""Starts that are tried in a world without a map."""


def opening(skills: Skills) -> tuple[int, int | None]:
    """Return the state that a page starts in, and the variable to watch; None for the first."""
    if isinstance(skills.world, GridWorld):
        return choose_start_state(skills), None
    return longest_errand(skills)


def choose_start_state(skills: Skills) -> int:
    """Return the index of the state that a page starts in.

    On a map that is the showcase if every goal's round trip takes at most `AMPLE_SHARE` of the
    step limit from there, else the state nearest to it for which that holds, with only the agent's
    position changed; in two of the paper's worlds the showcase is too far away. Without a map it is
    where the longest errand that succeeds begins, see `longest_errand`.
    """
    world, mdp = skills.world, skills.mdp
    if not isinstance(world, GridWorld):
        return longest_errand(skills)[0]
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


def longest_errand(skills: Skills) -> tuple[int, int | None]:
    """Return where the longest focused run of any skill starts, and the variable it changes.

    A run counts if, every action having its likeliest outcome, it changes its targets and nothing
    else. Without one, it is the first state the world lists.

    Args:
        skills: The skills; of a world with many states, `MAX_STARTS` starts are tried.
    """
    mdp = skills.mdp
    best, found = 0, (mdp.number(next(iter(skills.world.states()))), None)
    starts = np.unique(np.linspace(0, mdp.n_states - 1, MAX_STARTS).astype(int))
    for z, names in enumerate(skills.targets):
        targets = [mdp.space.index(name) for name in names]
        if len(targets) != 1:
            continue
        for start in starts.tolist():
            path = most_likely_path(mdp, skills.arrays, z, start, 0, skills.step_limit)
            changed = np.flatnonzero(mdp.values[path[0]] != mdp.values[path[-1]]).tolist()
            if changed == targets and len(path) - 1 > best:
                best, found = len(path) - 1, (start, targets[0])
    return found
