"""Names, files and pages of skills with real-valued actions."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("jax")

import skillfocus as sf
from neural_skills import ACTOR_TARGETS, untrained_actor
from skillfocus.errors import UserError
from skillfocus.objectives.kinds import parse_targets
from skillfocus.skills.actor import ActorPolicy


@pytest.fixture(scope="module")
def skills():
    return untrained_actor()


def actor(skills) -> ActorPolicy:
    assert isinstance(skills.policies, ActorPolicy)
    return skills.policies


def test_a_skill_is_a_mask_and_z(skills, rng):
    named = skills[[{"agent": 1}, {"box": (3.0, 4.0)}, {"agent": 0, "box": (0.0, -2.0)}, {}]]
    z = actor(named).draw_modes(np.arange(4), rng)
    assert z == pytest.approx(
        np.array([[0, 1, 0, 0, 0], [0, 0, 0, 0.6, 0.8], [1, 0, 0, 0, -1], [0] * 5])
    )
    assert actor(named)._masks.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert named.targets == (("agent",), ("box",), ("agent", "box"), ())
    listed = [dict(skill) for skill in actor(skills).skills]
    assert listed[:3] == [{0: 0}, {0: 1}, {0: 2}]
    assert listed[-1] == {}


@pytest.mark.parametrize(
    ("skill", "match"),
    [
        ({"agent": 3}, "numbered 0 to 2"),
        ({"box": (1,)}, "is not a direction: give 2 finite numbers"),
        ({"box": (0, 0)}, "not all 0"),
        ({"lamp": 0}, "no skills have these targets; there are skills for agent, box"),
        ({"door": 0}, "variable"),
    ],
)
def test_wrong_skills_are_refused(skills, skill, match):
    with pytest.raises(UserError, match=match):
        skills[skill]


def test_plain_skills_are_numbers_or_directions(rng):
    numbered = untrained_actor(sf.diayn(), None, n_skills=4)
    assert actor(numbered).draw_modes(np.array([2]), rng).tolist() == [[0, 0, 1, 0]]
    assert len(numbered) == 4
    directed = untrained_actor(sf.metra(), sf.Sphere(3))
    lengths = np.linalg.norm(actor(directed).draw_modes(np.arange(len(directed)), rng), axis=1)
    assert lengths == pytest.approx(1.0)
    assert directed.phi(np.zeros((7, 6)))[""].shape == (7, 3)


def test_the_policy_sees_the_start_only_where_rewards_do(skills):
    width, observed = skills.world.space.width, skills.world.observation_size
    plain = actor(untrained_actor(sf.diayn(), None)).model
    assert plain.n_inputs == observed + 4 + 16
    model = actor(skills).model
    assert model.n_inputs == observed + 4 + 5 + 2 * width + 1
    ones = [np.ones((1, n), np.float32) for n in (observed, width, width, 4, 5)]
    time = np.full(1, 0.25, np.float32)
    seen = model.inputs(actor(skills).weights, ones[0], ones[1], ones[2], ones[3], ones[4], time)
    assert seen[0, -1] == 0.25
    assert not seen[0, -1 - width : -1].any()  # nothing has changed yet


@pytest.mark.parametrize(
    ("objective", "targets", "n_skills"),
    [
        (None, ACTOR_TARGETS, None),
        (sf.focused(sf.vic(), strength=3.0), {"lamp": 2, "agent": 4}, None),
        (sf.dusdi(sf.diayn(), weight=0.2), {"lamp": 2, "agent": 4}, None),
        (sf.dusdi(sf.diayn()), {"lamp": 2, "agent": 4, "agent+lamp": None}, None),
        (sf.lsd(), None, 3),
        (sf.metra(rate=0.02), sf.Sphere(4), None),
    ],
)
def test_files_keep_skills(tmp_path, objective, targets, n_skills):
    skills = untrained_actor(objective, targets, n_skills=n_skills)
    loaded = sf.Skills.load(skills.save(tmp_path / "a.skills"))
    assert loaded == skills
    assert actor(loaded).model.code == actor(skills).model.code
    assert actor(loaded).model.objective == actor(skills).model.objective
    assert loaded.to_bytes() == skills.to_bytes()
    assert pickle.loads(pickle.dumps(skills)) == skills


def test_targets_as_text():
    sphere = sf.Sphere(2)
    assert parse_targets("agent=4, box=sphere2") == {"agent": 4, "box": sphere}
    assert parse_targets("agent=4,box=sphere2,agent+box,nothing") == {
        "agent": 4, "box": sphere, "agent+box": None, "nothing": None
    }  # fmt: skip
    assert parse_targets(None) is None
    for text, match in [
        ("agent=", "cannot read"),
        ("agent=4,agent=5", "twice"),
        ("agent=sphere", "cannot read"),
    ]:
        with pytest.raises(UserError, match=match):
            parse_targets(text)
    with pytest.raises(UserError, match="how many components"):
        untrained_actor(targets=parse_targets("agent=4,box"))


def test_skills_have_a_page(skills, tmp_path):
    page = sf.view(skills.save(tmp_path / "a.skills"))
    assert page.read_text().startswith("<!")
    with pytest.raises(UserError, match="show skills alone"):
        sf.view(skills, tmp_path / "b.html", coverage=True)


def test_files_are_evaluated(skills, tmp_path):
    record = sf.evaluate(skills.save(tmp_path / "a.skills"), sample=8)[0]
    targets = [one["targets"] for one in record["skills"]]
    assert targets[:4] == [["agent"]] * 3 + [["box"]]
    first = record["skills"][0]
    assert set(first["side_effects_by_variable"]) == {"box", "vase", "lamp"}
    assert first["side_effects"] == pytest.approx(sum(first["side_effects_by_variable"].values()))
    assert first["component"] == [0]
    assert 0 <= first["settled"]["side_effects"] <= 3
    with pytest.raises(UserError, match="coverage"):
        sf.evaluate(skills, coverage=True)
