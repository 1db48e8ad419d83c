"""Every objective, penalty, baseline and learner: refused before learning, or kept by a file."""

from __future__ import annotations

import pytest

import skillfocus as sf
from probes import corridor
from skillfocus.errors import UserError
from skillfocus.objectives.registry import PENALTIES, make_objective, objective_names
from skillfocus.objectives.variants import BASELINES

LEARNERS = {
    "planning": sf.Planning(rounds=1, rollouts=20),
    "q-learning": sf.QLearning(episodes=60),
    "literal": sf.literal_q_learning(episodes=60),
    "neural": sf.Neural(
        steps=32, updates_per_jit=2, environments=8, batch=8, memory=64, hidden=8,
        warmup_fraction=0.5,
    ),
    "actor": sf.Actor(
        steps=20, environments=2, batch=10, hidden=4, estimator_hidden=4, rounds_per_jit=1
    ),
}  # fmt: skip
COMBINATIONS = [
    (objective, penalty, baseline)
    for objective in (*objective_names(), "metra", "focused-metra", "scattered-focused-vic")
    for penalty in (PENALTIES if "focused" in objective else (None,))
    for baseline in (BASELINES if "focused" in objective else (None,))
]
REFUSED = {"actor": 0.9, "neural": 0.8, "planning": 0.2, "q-learning": 0.2, "literal": 0.2}
"""No learner refuses more than this share."""


def learn(learner: str, objective: str, penalty: str | None, baseline: str | None):
    """Return skills of a combination; None if it is refused."""
    seen = []
    try:
        made = make_objective(objective, penalty=penalty, baseline=baseline)
        world = sf.make("two-rooms", step_limit=5) if learner == "actor" else corridor(0.1)
        targets = {"agent": 2, "lamp": 2} if learner == "actor" and made.targeted else None
        return sf.discover(
            world, made, seed=0, learner=LEARNERS[learner], targets=targets,
            n_skills=None if made.targeted else 3,
            progress=lambda fraction, _: seen.append(fraction),
        )  # fmt: skip
    except UserError as error:
        assert not seen, "it was refused after learning had begun"
        assert "\n" not in str(error)
        return None


@pytest.mark.slow
@pytest.mark.usefixtures("unoptimized")
@pytest.mark.parametrize("learner", LEARNERS)
def test_it_is_refused_before_learning_or_saved_loaded_and_equal(learner, tmp_path):
    pytest.importorskip("jax")
    refused = []
    for combination in COMBINATIONS:
        skills = learn(learner, *combination)
        if skills is None:
            refused.append(combination)
            continue
        assert sf.Skills.load(skills.save(tmp_path / "a.skills"), skills.world) == skills
    assert len(refused) <= REFUSED[learner] * len(COMBINATIONS), refused
