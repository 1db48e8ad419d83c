"""Summaries of discovered skills and of what is measured about them.

`tests/digests/summaries.json` holds them as they were computed last, for the three worlds by
planning and, in FourRooms, by Q-learning. Compiled code may round differently on another processor,
so they are compared to two digits; `guard_rails.py` has small cases that agree in every bit.

    python tests/support/digests.py        writes the file anew
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import skillfocus as sf
from paper.settings import discovery_settings
from skillfocus.objectives.registry import make_objective, objective_names

FILE = Path(__file__).parent.parent / "digests" / "summaries.json"
CHAINS = 3
"""The longest chains whose coverage is measured; trees of five take most of the time."""
LEARNERS = {
    "planning": sf.Planning(rounds=2),
    "q-learning": sf.QLearning(episodes=2000),
    "paper-q-learning": sf.paper_q_learning(episodes=2000),
}


def measure(world: str, objective: str, learner: str) -> list[float]:
    """Discover skills with seed 0, and return shares of actions, side effects and coverage."""
    settings = discovery_settings("paper", world, objective)
    made = make_objective(objective, **settings)
    skills = sf.discover(sf.make(world), made, seed=0, learner=LEARNERS[learner])
    effects = sf.metrics.side_effects(skills, rng=np.random.default_rng(0))
    coverage = sf.metrics.coverage(skills, CHAINS, rng=np.random.default_rng(1))
    actions = skills.tabular.flat_actions
    return [
        *(float((actions == a).mean()) for a in range(skills.mdp.n_actions + 1)),
        float(np.mean([e.side_effects for e in effects])),
        float(np.mean([e.steps.mean() for e in effects])),
        *coverage.curve.tolist(),
    ]


def check(world: str, objective: str, learner: str) -> None:
    """Compare with the file."""
    expected = json.loads(FILE.read_text())[f"{world} {objective} {learner}"]
    assert measure(world, objective, learner) == pytest.approx(expected, rel=0.02, abs=0.005)


def cases(world: str) -> list[tuple[str, str, str]]:
    """Every (world, objective, learner) of a world."""
    learners = LEARNERS if world == "four-rooms" else ["planning"]
    return [(world, objective, learner) for learner in learners for objective in objective_names()]


def main() -> None:
    every = [case for world in ("four-rooms", "forage-world", "mud-world") for case in cases(world)]
    lines = [f'"{" ".join(case)}": {json.dumps(measure(*case))}' for case in every]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
