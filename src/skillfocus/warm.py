"""Importing this compiles, or loads from the compiler's cache, what every discovery needs. Worker
processes are copies of one that has imported it, so compiling happens once, not per worker."""

from __future__ import annotations

import contextlib


def warm_up() -> None:
    import skillfocus as sf
    from skillfocus.worlds.four_rooms import FourRooms

    world = FourRooms("#####\n#..T#\n#####")
    for learner in (sf.Planning(rounds=1), sf.QLearning(episodes=100)):
        skills = sf.discover(world, sf.focused(sf.vic()), seed=0, n_skills=4, learner=learner)
        sf.metrics.side_effects(skills)


with contextlib.suppress(Exception):  # a run that needs what is broken will say so
    warm_up()
