from __future__ import annotations

import json

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor
from skill_sets import random_skills
from skillfocus.cli.printing import effects_tables
from skillfocus.errors import UserError
from skillfocus.metrics.coverage import coverage
from skillfocus.metrics.summary import evaluate, skill_records


def test_skills_in_memory_and_in_a_file_give_the_same_records(focused_vic, tmp_path):
    path = tmp_path / "focused.skills"
    focused_vic.save(path)
    (memory,) = evaluate(focused_vic)
    (file,) = evaluate(str(path))
    assert (memory.pop("file"), file.pop("file")) == (None, str(path))
    assert memory == file
    assert memory["skills"] == skill_records(focused_vic)
    about = {key: memory[key] for key in ("world", "objective", "strength", "learner", "seed")}
    assert about == {
        "world": "FourRooms-v0", "objective": "focused-vic", "strength": 4.0,
        "learner": "planning", "seed": 0,
    }  # fmt: skip
    assert json.dumps(memory)


def test_settings_of_the_world_are_named():
    """In records and titles; defaults and maps are not."""
    pytest.importorskip("gymnasium")
    frozen = random_skills(0, sf.make("gymnasium:FrozenLake-v1", is_slippery=False))
    (record,) = evaluate(frozen)
    assert record["unusual"] == {"world_settings": '{"is_slippery": false}'}
    (made,) = effects_tables([record])
    assert 'world_settings={"is_slippery": false}, seed' in str(made.title)
    (corridor_record,) = evaluate(random_skills(0, corridor(slip=0.25)))
    assert json.loads(corridor_record["unusual"]["world_settings"])["slip"] == 0.25
    assert "drawing" not in corridor_record["unusual"]["world_settings"]
    (plain,) = evaluate(random_skills(0, sf.make("gymnasium:FrozenLake-v1")))
    assert "unusual" not in plain


def test_coverage_is_added_when_asked(focused_vic):
    (record,) = evaluate([focused_vic], coverage=True)
    expected = coverage(focused_vic, rng=np.random.default_rng(0))
    assert record["coverage"] == expected.curve.tolist()
    assert record["auc"] == expected.auc
    assert "coverage" not in evaluate([focused_vic])[0]


def test_samples_depend_on_the_seed_alone(focused_vic):
    one, again, other = (
        evaluate(focused_vic, sample=20, seed=seed)[0]["skills"] for seed in (0, 0, 1)
    )
    assert one == again != other
    assert one[0]["exact"] is False


def test_progress_ends_at_one(focused_vic):
    reported = []
    evaluate([focused_vic] * 2, progress=lambda *now: reported.append(now))
    assert [reported[place] for place in (0, 16, 31, 32)] == [
        (0.0, "focused-vic, seed 0: skill 0 of 16"), (0.5, "focused-vic, seed 0: skill 0 of 16"),
        (0.96875, "focused-vic, seed 0: skill 15 of 16"), (1.0, "done"),
    ]  # fmt: skip


def test_mistakes_are_named(focused_vic, tmp_path):
    with pytest.raises(UserError, match="sample is 1; it must be at least 2"):
        evaluate(focused_vic, sample=1)
    with pytest.raises(UserError, match="name at least one file of skills"):
        evaluate([])
    with pytest.raises(UserError, match="there is no file"):
        evaluate(tmp_path / "missing.skills")
