"""Names, files and layouts of continuous skills."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("jax")

import skillfocus as sf
from neural_skills import ACTOR_TARGETS, untrained_actor
from skillfocus.errors import UserError
from skillfocus.objectives.kinds import parse_continuous_targets


@pytest.fixture(scope="module")
def skills():
    return untrained_actor()


def test_a_skill_is_a_mask_and_z(skills):
    masks, z = skills.encode(
        [{"agent": 1}, {"box": (3.0, 4.0)}, {"agent": 0, "box": (0.0, -2.0)}, {}]
    )
    assert masks.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert z == pytest.approx(
        np.array([[0, 1, 0, 0, 0], [0, 0, 0, 0.6, 0.8], [1, 0, 0, 0, -1], [0] * 5])
    )
    assert skills.targets_of({"agent": 0, "box": (1, 0)}) == ("agent", "box")
    listed = skills.all(directions=4)
    assert len(listed) == 3 + 4 + 3 * 4 + 1
    assert listed[:2] == [{"agent": 0}, {"agent": 1}]
    assert repr(skills) == (
        "<focused-metra skills in TwoRooms-v0: agent (3), box (sphere of 2), "
        "agent (3) + box (sphere of 2), nothing, seed 0>"
    )


@pytest.mark.parametrize(
    ("skill", "match"),
    [
        ({"agent": 3}, "numbered 0 to 2"),
        ({"box": 1}, "is not a direction: give 2 finite numbers"),
        ({"box": (0, 0)}, "not all 0"),
        ({"lamp": 0}, "no skills target lamp"),
        ({"door": 0}, "variable"),
        (0, "a component per target"),
    ],
)
def test_wrong_skills_are_refused(skills, skill, match):
    with pytest.raises(UserError, match=match):
        skills.encode([skill])


def test_plain_skills_are_numbers_or_directions():
    numbered = untrained_actor(sf.diayn(), None, n_skills=4)
    assert numbered.encode([2])[1].tolist() == [[0, 0, 1, 0]]
    assert numbered.all() == [0, 1, 2, 3]
    directed = untrained_actor(sf.metra(), sf.Sphere(3))
    assert directed.encode([(0, 2, 0)])[1].tolist() == [[0, 1, 0]]
    assert directed.phi(np.zeros((7, 6)))[""].shape == (7, 3)


def test_the_policy_sees_the_start_only_where_rewards_do(skills):
    size, observed = skills.world.space.size, skills.world.observation_size
    plain = untrained_actor(sf.diayn(), None).model
    assert plain.n_inputs == observed + 4 + 16
    assert skills.model.n_inputs == observed + 4 + 5 + 2 * size + 1
    arguments = [np.ones((1, n), np.float32) for n in (observed, size, size, 4, 5)]
    seen = skills.model.inputs(skills.weights, *arguments, np.full(1, 0.25, np.float32))
    assert seen[0, -1] == 0.25
    assert not seen[0, -1 - size : -1].any()  # nothing has changed yet


@pytest.mark.parametrize(
    ("objective", "targets", "more"),
    [
        (None, ACTOR_TARGETS, {}),
        (sf.focused(sf.vic(), strength=3.0), {"lamp": 2, "agent": 4}, {}),
        (sf.dusdi(sf.diayn(), weight=0.2), {"lamp": 2, "agent": 4}, {}),
        (sf.dusdi(sf.diayn()), [{"lamp": 2}, {"agent": 4}], {}),
        (sf.lsd(), None, {"n_skills": 3}),
        (sf.metra(rate=0.02), sf.Sphere(4), {}),
    ],
)
def test_files_keep_skills(tmp_path, objective, targets, more):
    skills = untrained_actor(objective, targets, **more)
    loaded = sf.ContinuousSkills.load(skills.save(tmp_path / "a.skills"))
    assert loaded == skills
    assert loaded.layout == skills.layout
    assert loaded.objective == skills.objective
    assert loaded.to_bytes() == skills.to_bytes()
    with pytest.raises(UserError, match="continuous world"):
        sf.Skills.load(tmp_path / "a.skills")
    assert pickle.loads(pickle.dumps(skills)) == skills


def test_targets_as_text():
    sphere = sf.Sphere(2)
    assert parse_continuous_targets("agent=4, box=sphere2") == {"agent": 4, "box": sphere}
    assert parse_continuous_targets("agent=4,box=sphere2,agent+box,nothing") == [
        {"agent": 4}, {"box": sphere}, {"agent": 4, "box": sphere}, {}
    ]  # fmt: skip
    assert parse_continuous_targets(None) is None
    for text, match in [
        ("agent=", "cannot read"),
        ("agent=4,agent=5", "twice"),
        ("agent=4,box", "how many skills"),
        ("agent=sphere", "cannot read"),
    ]:
        with pytest.raises(UserError, match=match):
            parse_continuous_targets(text)


def test_skills_have_a_page(skills, tmp_path):
    from skillfocus.viewer.continuous import record_skills

    recorded = record_skills(skills, starts=2, directions=2)
    assert recorded.values.shape == (3 + 2 + 6 + 1, 2, 6, 6)
    assert recorded.titles[0] == "agent 0"
    assert recorded.titles[-1] == "leave everything"
    assert (recorded.values[0, :, 0] == recorded.values[5, :, 0]).all()  # the same starts
    page = sf.view(skills.save(tmp_path / "a.skills"))
    assert page.read_text().startswith("<!")
    with pytest.raises(UserError, match="show skills alone"):
        sf.view(skills, tmp_path / "b.html", coverage=True)


def test_files_are_evaluated(skills, tmp_path):
    record = sf.evaluate(skills.save(tmp_path / "a.skills"), sample=8)[0]
    assert [one["targets"] for one in record["skills"]] == [["agent"]] * 3 + [["box"]] * 8
    first = record["skills"][0]
    assert set(first["side_effects_by_variable"]) == {"box", "vase", "lamp"}
    assert first["side_effects"] == pytest.approx(sum(first["side_effects_by_variable"].values()))
    assert 0 <= first["settled"]["exceeds"] <= 1
    with pytest.raises(UserError, match="finite worlds"):
        sf.evaluate(skills, coverage=True)
