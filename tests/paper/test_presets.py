from __future__ import annotations

from dataclasses import replace

from paper.settings import (
    STEP_LIMITS,
    WORLD_NAMES,
    discovery_learner,
    discovery_settings,
    skill_targets,
    task_learner,
)
from skillfocus.learners.planning.learner import Planning
from skillfocus.learners.q_learning import literal_q_learning


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


def test_presets_discover_alike():
    for agent in ("focused-vic", "vic"):
        learners = [discovery_learner(p, "planning", agent) for p in ("paper", "best")]
        assert learners[0] == learners[1]


def test_plain_skills_are_published_without_memory():
    remembers = {
        agent: discovery_learner("paper", "planning", agent).sees_start  # pyright: ignore
        for agent in ("focused-lsd", "dusdi-vic", "vic", "lsd", "diayn")
    }
    # DIAYN's reward does not look at the start, so the setting makes no difference to it.
    assert remembers == {
        "focused-lsd": True, "dusdi-vic": True, "vic": False, "lsd": False, "diayn": True,
    }  # fmt: skip
    assert discovery_learner("memory=none", "planning", "focused-lsd").sees_start is False  # pyright: ignore
    assert discovery_learner("memory=all", "planning", "vic") == Planning()


def test_readings_change_only_what_concerns_an_agent():
    assert discovery_settings("strength=text", "mud-world", "focused-vic") == {
        "rate": 0.7, "strength": 10.0,
    }  # fmt: skip
    assert discovery_settings("strength=text", "mud-world", "focused-lsd") == {}
    assert discovery_settings("prior=all", "mud-world", "dusdi-diayn") == {"prior": 1 / 16}
    assert discovery_settings("prior=all", "mud-world", "vic") == {"rate": 0.7}
    assert discovery_settings("prior=all", "forage-world", "vic") == {"rate": 0.5}
    assert discovery_settings("steps=1.5", "mud-world", "lsd") == {"step_limit": 30}
    assert discovery_learner("stopping=ends", "planning", "vic") == discovery_learner(
        "paper", "planning", "vic"
    )
    assert discovery_learner("stopping=ends", "planning", "diayn") == Planning(keeps_earning=False)
    literal = discovery_learner("order=update", "literal", "vic")
    assert literal == replace(literal_q_learning(), update_first=True)


def test_step_limits_are_the_paper_s():
    assert STEP_LIMITS == {"four-rooms": 320, "forage-world": 60, "mud-world": 60}
    assert WORLD_NAMES["mud-world"] == "MudWorld"
