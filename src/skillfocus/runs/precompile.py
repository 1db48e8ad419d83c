"""Importing this compiles, or loads from the compiler's cache, what every discovery needs. Worker
processes are copies of one that has imported it, so compiling happens once, not per worker."""

from __future__ import annotations

import contextlib


def compile_kernels() -> None:
    """Discover skills in a corridor with every kind of objective and either learner, and measure
    what they do."""
    from skillfocus.learners.discovery import discover
    from skillfocus.learners.tabular.planning import Planning
    from skillfocus.learners.tabular.q_learning import QLearning
    from skillfocus.metrics.side_effects import side_effects
    from skillfocus.objectives.registry import make_objective
    from skillfocus.worlds.four_rooms import FourRooms

    world = FourRooms("#####\n#..T#\n#####")
    for objective in ("focused-vic", "focused-lsd", "dusdi-vic"):
        for learner in (Planning(rounds=2), QLearning(episodes=100)):
            side_effects(
                discover(world, make_objective(objective), seed=0, n_skills=4, learner=learner)
            )


with contextlib.suppress(Exception):  # a run that needs what is broken will say so
    compile_kernels()
