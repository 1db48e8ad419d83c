"""Compile the kernels that discoveries need, by running each of them once; done on import.

The processes of `executors.Processes` are forked from one that has imported this module, so
kernels are compiled, or loaded from Numba's cache, once and not per worker.
"""

from __future__ import annotations

import contextlib


def compile_kernels() -> None:
    """Discover and measure skills in a corridor with every kind of reward and both learners."""
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


with contextlib.suppress(Exception):  # the run that needs a broken kernel will report it
    compile_kernels()
