from __future__ import annotations

from skillfocus.experiments.presets import task_learner


def test_whoever_has_a_penalty_explores_as_the_paper_s_focused_skills_do():
    agents = ("focused-vic", "permuted-focused-vic", "focused-oracle", "dusdi-vic", "primitives")
    decays = [task_learner("paper", "ForageWorld-v0", agent).decay for agent in agents]
    assert decays == [0.001, 0.001, 0.001, 0.0005, 0.0005]
    assert task_learner("paper", "forage-world", "vic").decay == 0.0005
