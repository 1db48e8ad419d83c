from __future__ import annotations

import pytest

from skillfocus.errors import UserError
from skillfocus.experiments.presets import (
    STEP_LIMITS,
    WORLD_NAMES,
    discovery_learner,
    skill_targets,
    task_learner,
)


def test_whoever_has_a_penalty_explores_as_the_paper_s_focused_skills_do():
    agents = ("focused-vic", "permuted-focused-vic", "focused-oracle", "dusdi-vic", "primitives")
    decays = [task_learner("paper", "ForageWorld-v0", agent).epsilon_decay for agent in agents]
    assert decays == [0.001, 0.001, 0.001, 0.0005, 0.0005]
    assert task_learner("paper", "forage-world", "vic").epsilon_decay == 0.0005


def test_only_three_valued_goals_get_a_third_skill():
    assert skill_targets("paper", "forage-world", "focused-vic") is None
    assert skill_targets("best", "mud-world", "focused-vic") is None
    assert skill_targets("best", "forage-world", "vic") is None  # plain skills have no targets
    assert skill_targets("best", "forage-world", "dusdi-vic").startswith("resource_1=3,")
    two = skill_targets("best", "four-rooms", "focused-vic-on-two")
    assert two.split(",") == [f"tool_{i}+position=4" for i in (1, 2, 3, 4)]


def test_presets_differ_in_q_learning_alone():
    assert discovery_learner("paper", "planning") == discovery_learner("best", "planning")
    assert discovery_learner("paper", "q-learning") != discovery_learner("best", "q-learning")
    with pytest.raises(UserError, match="unknown preset 'papr': did you mean 'paper'"):
        discovery_learner("papr", "planning")
    with pytest.raises(UserError, match="unknown learner 'sarsa'"):
        discovery_learner("paper", "sarsa")


def test_step_limits_are_the_paper_s():
    assert STEP_LIMITS == {"four-rooms": 320, "forage-world": 60, "mud-world": 60}
    assert WORLD_NAMES["mud-world"] == "MudWorld"
