from __future__ import annotations

from dataclasses import asdict, fields

import pytest

from paper.agents import Setup
from paper.settings import (
    AGENTS,
    DECISIONS,
    PAPER,
    PRESETS,
    READINGS,
    TASK_READINGS,
    Reading,
    reading_of,
    task_key,
    task_learner,
)
from skillfocus.errors import UserError


def test_every_decision_is_a_setting_with_its_default_first():
    settings = asdict(PAPER)
    for decision in DECISIONS:
        assert settings[decision.name] == next(iter(decision.choices)), decision.name
        assert decision.question.endswith("?")
        assert decision.reason
    tuned = {"epsilon_decay", "alpha_decay"}
    assert {f.name for f in fields(Reading)} - tuned == {d.name for d in DECISIONS}


def test_a_reading_differs_from_the_paper_preset_in_one_decision():
    assert len(READINGS) == sum(len(d.choices) - 1 for d in DECISIONS)
    for name, reading in READINGS.items():
        changed = {k for k, v in asdict(reading).items() if v != asdict(PAPER)[k]}
        assert changed - {"learner"} == {name.partition("=")[0]} - {"learner"}, name
        assert reading_of(name) is reading


def test_an_unknown_reading_is_refused():
    with pytest.raises(UserError, match="unknown preset 'ties=last'"):
        reading_of("ties=last")


def test_readings_share_how_tasks_are_learned():
    assert task_key("memory=none") == task_key("learner=literal") == "paper"
    assert task_key("ties=random") == "ties=random"
    assert set(TASK_READINGS) == {
        "paper", "best", "ties=random", "choices=skills", "updates=intra-option",
    }  # fmt: skip
    learners = [task_learner(name, "mud-world", "focused-vic") for name in TASK_READINGS]
    assert len(set(learners)) == len(learners)
    assert task_learner("choices=skills", "mud-world", "primitives").primitives


def test_a_reading_that_does_not_concern_an_agent_shares_its_run():
    def runs(name: str) -> dict[str, str]:
        setup = Setup(name, reading_of(name).learner)
        return {a: setup.case("mud-world", a, 1000).run.id for a in AGENTS}

    base = runs("paper")
    different = {
        name: {agent for agent, run in runs(name).items() if run != base[agent]}
        for name in (*PRESETS, *READINGS)
    }
    focused, dusdi = {"focused-vic", "focused-diayn", "focused-lsd"}, {"dusdi-vic", "dusdi-diayn"}
    assert different["ties=random"] == different["best"] == set()
    # Planned DUSDi DIAYN looks at no start either: it has no penalty, and DIAYN's reward sees none.
    assert different["memory=none"] == focused | {"dusdi-vic"}
    assert different["memory=all"] == {"vic", "lsd"}
    assert different["strength=text"] == {"focused-vic", "focused-diayn"}
    assert different["prior=all"] == dusdi | {"focused-vic", "focused-diayn"}
    assert different["stopping=ends"] == {"focused-diayn", "dusdi-diayn", "diayn"}
    assert different["starts=any"] == focused | dusdi
    assert different["steps=1.5"] == set(AGENTS) - {"primitives"}
