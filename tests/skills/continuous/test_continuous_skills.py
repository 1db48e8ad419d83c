"""Names, files and layouts of continuous skills."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

pytest.importorskip("jax")

import skillfocus as sf
from skillfocus.errors import UserError
from skillfocus.objectives.skill_layout import lay_out
from skillfocus.objectives.target_text import parse_continuous_targets
from skillfocus.skills.continuous.actor import ActorModel
from skillfocus.skills.continuous.estimates import SkillEstimates
from skillfocus.skills.neural.network import init_network
from skillfocus.skills.serialization import pack, read
from skillfocus.worlds.continuous import ContinuousBase

TARGETS = [{"agent": 3}, {"box": sf.Sphere(2)}, {"agent": 3, "box": sf.Sphere(2)}, {}]


def untrained(objective=None, targets=TARGETS, world="two-rooms", **more):
    """Skills with random weights."""
    made, rng = sf.make(world), np.random.default_rng(0)
    assert isinstance(made, ContinuousBase)
    objective = objective or sf.focused(sf.metra())
    layout = lay_out(made.space, objective, targets, **more)
    model, estimates = (
        ActorModel(made, objective, layout, 5),
        SkillEstimates(made.space, objective, layout),
    )
    weights = {
        "actor": init_network([model.n_inputs, 8, 8, model.n_outputs], rng),
        "judges": estimates.init(4, rng),
        "shift": np.zeros(made.observation_size, np.float32),
        "scale": np.ones(made.observation_size, np.float32),
    }
    return sf.ContinuousSkills(made, objective, layout, weights, 5, {"seed": 0})


@pytest.fixture(scope="module")
def skills():
    return untrained()


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
        ({"agent": 1.5}, "no skill"),
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
    numbered = untrained(sf.diayn(), None, n_skills=4)
    assert numbered.encode([2])[1].tolist() == [[0, 0, 1, 0]]
    assert numbered.all() == [0, 1, 2, 3]
    directed = untrained(sf.metra(), sf.Sphere(3))
    assert directed.encode([(0, 2, 0)])[1].tolist() == [[0, 1, 0]]
    assert directed.phi(np.zeros((7, 6)))[""].shape == (7, 3)


def test_the_policy_sees_the_start_only_where_rewards_do(skills):
    size, observed = skills.world.space.size, skills.world.observation_size
    plain = untrained(sf.diayn(), None).model
    assert plain.n_inputs == observed + 4 + 16
    assert skills.model.n_inputs == observed + 4 + 5 + 2 * size + 1
    arguments = [np.ones((1, n), np.float32) for n in (observed, size, size, 4, 5)]
    seen = skills.model.inputs(skills.weights, *arguments, np.full(1, 0.25, np.float32))
    assert seen[0, -1] == 0.25
    assert not seen[0, -1 - size : -1].any()  # nothing has changed yet


@pytest.mark.parametrize(
    ("objective", "targets", "more"),
    [
        (None, TARGETS, {}),
        (sf.focused(sf.vic(), strength=3.0), {"lamp": 2, "agent": 4}, {}),
        (sf.dusdi(sf.diayn(), weight=0.2), {"lamp": 2, "agent": 4}, {}),
        (sf.dusdi(sf.diayn()), [{"lamp": 2}, {"agent": 4}], {}),
        (sf.lsd(), None, {"n_skills": 3}),
        (sf.metra(rate=0.02), sf.Sphere(4), {}),
    ],
)
def test_files_keep_skills(tmp_path, objective, targets, more):
    skills = untrained(objective, targets, **more)
    loaded = sf.ContinuousSkills.load(skills.save(tmp_path / "a.skills"))
    assert loaded == skills
    assert loaded.layout == skills.layout
    assert loaded.objective == skills.objective
    assert loaded.to_bytes() == skills.to_bytes()
    with pytest.raises(UserError, match="continuous world"):
        sf.Skills.load(tmp_path / "a.skills")
    assert pickle.loads(pickle.dumps(skills)) == skills


def forge(path, change):
    arrays, header = read(path)
    header, arrays = copy.deepcopy(header), dict(arrays)
    change(header, arrays)
    path.write_bytes(pack(header, arrays))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda h, a: a.pop("actor/w1"), "need no array 'actor/b1'"),
        (lambda h, a: a.update(more=np.zeros(1, np.float32)), "need no array 'more'"),
        (lambda h, a: a.update(shift=np.zeros(3, np.float32)), "'shift' is float32"),
        (lambda h, a: a["scale"].fill(0), "not positive"),
        (lambda h, a: a["judges/w0"].fill(np.nan), "not finite"),
        (lambda h, a: h["kinds"].append([["door", 2]]), "unknown variable"),
        (lambda h, a: h["kinds"].append([[None, 2]]), "names none"),
        (lambda h, a: h.update(kinds=[]), "targets cannot be"),
        (lambda h, a: h["kinds"][0][0].__setitem__(1, {"sphere": 1}), "2 to"),
        (lambda h, a: h["kinds"][0][0].__setitem__(1, 10**9), "bad header"),
        (lambda h, a: h.update(objective={"name": "dusdi-metra"}), "has no meaning"),
        (lambda h, a: h.update(step_limit=0), "bad header"),
        (lambda h, a: h["world"]["settings"].update(step_limit=7), "another world"),
    ],
)
def test_forged_files_are_refused(tmp_path, skills, change, match):
    path = skills.save(tmp_path / "a.skills")
    forge(path, change)
    with pytest.raises(UserError, match=match):
        sf.ContinuousSkills.load(path)


def test_damaged_files_are_refused(tmp_path, skills):
    path = skills.save(tmp_path / "a.skills")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(UserError, match="damaged"):
        sf.ContinuousSkills.load(path)


def test_own_objectives_are_not_stored(skills):
    own = sf.Objective("own", sf.diayn().reward)
    with pytest.raises(UserError, match="is a custom objective"):
        untrained(own, None).to_bytes()


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


def test_json_holds_the_header(skills, tmp_path):
    _, header = read(skills.save(tmp_path / "a.skills"))
    assert header["version"] == 7
    assert json.loads(json.dumps(header["kinds"])) == [
        [["agent", 3]], [["box", {"sphere": 2}]], [["agent", 3], ["box", {"sphere": 2}]], []
    ]  # fmt: skip


def test_skills_have_a_page(skills, tmp_path):
    from skillfocus.viewer.continuous_skills import record_skills

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
