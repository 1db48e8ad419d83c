"""Digests of discovered skills and of what is measured about them.

`tests/digests/digests.json` holds them as they were computed last, for the three worlds and
eight objectives by planning and, in FourRooms, by Q-learning. Compiled code may round differently
on another kind of processor; there, summaries are compared instead of bits.

    python tests/support/digests.py        writes the file anew
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

import skillfocus as sf
from paper.settings import discovery_settings
from skillfocus.objectives.registry import make_objective, objective_names

FILE = Path(__file__).parent.parent / "digests" / "digests.json"
CHAINS = 3
"""The longest chains whose coverage is digested; trees of five take most of the time."""
LEARNERS = {
    "planning": sf.Planning(rounds=2),
    "q-learning": sf.QLearning(episodes=2000),
    "paper-q-learning": sf.paper_q_learning(episodes=2000),
}


def processor() -> str:
    """The kind of processor that code is compiled for."""
    return llvm.get_host_cpu_name()


def digest(*arrays: np.ndarray) -> str:
    """A digest of arrays: types, shapes and every bit."""
    found = hashlib.sha256()
    for array in map(np.ascontiguousarray, arrays):
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()[:16]


def measure(world: str, objective: str, learner: str) -> dict[str, object]:
    """Discover skills with seed 0, and measure their side effects and coverage."""
    settings = discovery_settings("paper", world, objective)
    made = make_objective(objective, **settings)
    skills = sf.discover(sf.make(world), made, seed=0, learner=LEARNERS[learner])
    effects = sf.metrics.side_effects(skills, rng=np.random.default_rng(0))
    arrays = [
        array
        for e in effects
        for array in (e.starts, e.changed, e.amount, e.controlled, e.steps, e.ends)
    ]
    coverage = sf.metrics.coverage(skills, CHAINS, rng=np.random.default_rng(1))
    actions = skills.tabular.flat_actions
    return {
        "policies": digest(actions),
        "side_effects": digest(*arrays),
        "coverage": digest(coverage.fractions),
        "summary": [
            *(float((actions == a).mean()) for a in range(skills.mdp.n_actions + 1)),
            float(np.mean([e.side_effects for e in effects])),
            float(np.mean([e.steps.mean() for e in effects])),
            *coverage.curve.tolist(),
        ],
    }


def check(world: str, objective: str, learner: str) -> None:
    """Compare with the file: bit for bit on the same kind of processor."""
    recorded = json.loads(FILE.read_text())
    expected = recorded["digests"][f"{world} {objective} {learner}"]
    now = measure(world, objective, learner)
    if processor() == recorded["processor"]:
        assert now == expected
    else:
        assert now["summary"] == pytest.approx(expected["summary"], rel=0.05, abs=0.02)


def cases(world: str) -> list[tuple[str, str, str]]:
    """Every (world, objective, learner) of a world."""
    learners = LEARNERS if world == "four-rooms" else ["planning"]
    return [(world, objective, learner) for learner in learners for objective in objective_names()]


def main() -> None:
    every = [case for world in ("four-rooms", "forage-world", "mud-world") for case in cases(world)]
    digests = {" ".join(case): measure(*case) for case in every}
    FILE.write_text(json.dumps({"processor": processor(), "digests": digests}, indent=1) + "\n")


if __name__ == "__main__":
    main()
