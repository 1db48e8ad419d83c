"""Networks in skills files."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

pytest.importorskip("jax")

import skillfocus as sf
from forging import WRONG, leaves, put, rewrite
from neural_skills import neural_skills, small_room
from skillfocus.errors import UserError
from skillfocus.skills.neural.files import describe_objective
from skillfocus.skills.neural.policy import NeuralPolicy
from skillfocus.skills.serialization import pack, read
from skillfocus.worlds import remaking
from skillfocus.worlds.four_rooms import FourRooms

OBJECTIVES = [
    sf.vic(), sf.vic(0.3), sf.vic(prior=1 / 16), sf.diayn(), sf.lsd(), sf.focused(sf.vic()),
    sf.focused(sf.lsd(), strength=3.0), sf.focused(sf.diayn(), strength=0.0),
    sf.dusdi(sf.vic(), weight=0.2), sf.scattered(sf.focused(sf.vic())),
    sf.scattered(sf.focused(sf.lsd())),
]  # fmt: skip
TOOLS = {"tools": 2, "slip": 0.1, "step_limit": 10}


@pytest.fixture(scope="module")
def skills():
    return neural_skills(sf.make("tool-rooms", **TOOLS))


@pytest.fixture
def file(skills, tmp_path):
    return skills.save(tmp_path / "a.skills")


def test_files_keep_networks(skills, file):
    loaded = sf.Skills.load(file)
    assert loaded == skills
    assert not loaded.has_table
    assert loaded.world.settings == TOOLS
    start = skills.world.state(position=(6, 9))
    paths = [s.rollout(3, start, np.random.default_rng(0)) for s in (loaded, skills)]
    assert paths[0] == paths[1]
    assert loaded.to_bytes() == skills.to_bytes()
    assert sf.Skills.from_bytes(skills.to_bytes()) == skills
    _, header = read(file)
    assert header["version"] == 5
    assert header["networks"]["objective"] == {"name": "focused-vic", "strength": 4.0}
    assert header["networks"]["components"][:3] == [
        [["tool_1", 0]], [["tool_1", 1]], [["position", 0]]
    ]  # fmt: skip


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda objective: objective.name)
def test_every_objective_by_name_is_kept(objective):
    settings = {} if objective.targeted else {"n_skills": 3}
    skills = neural_skills(FourRooms("#####\n#..T#\n#####"), objective, **settings)
    loaded = sf.Skills.from_bytes(skills.to_bytes())
    assert isinstance(loaded.policies, NeuralPolicy)
    assert loaded.policies.model.objective == objective
    assert loaded == skills
    assert (loaded.tabular.flat_actions == skills.tabular.flat_actions).all()


@pytest.mark.parametrize("objective", [sf.vic(), sf.lsd(), sf.dusdi(sf.vic())])
def test_rewards_of_large_groups_are_kept(objective):
    """Tables would have too many values: a discriminator network, and a linear map."""
    settings = {} if objective.targeted else {"n_skills": 3}
    skills = neural_skills(sf.make("tool-rooms", tools=16), objective, **settings)
    loaded = sf.Skills.from_bytes(skills.to_bytes())
    assert loaded == skills
    states = np.random.default_rng(0).integers(2, size=(20, 17))
    for z in range(3):
        one, other = (s.policies.actions(z, states, states[::-1]) for s in (skills, loaded))
        assert (one == other).all()


def test_files_of_tables_are_as_they_were(focused_vic, tmp_path):
    _, header = read(focused_vic.save(tmp_path / "a.skills"))
    assert header["version"] == 4
    assert "networks" not in header


def test_objectives_of_ones_own_are_not_kept():
    penalty = sf.focused(sf.vic(), penalty=sf.changed_variables(2.0))
    assert describe_objective(penalty) is None
    with pytest.raises(UserError, match="focused-vic is a custom objective"):
        neural_skills(small_room(), penalty).to_bytes()
    finite = neural_skills(FourRooms("#####\n#..T#\n#####"), penalty)
    loaded = sf.Skills.from_bytes(finite.to_bytes())  # a table needs no objective
    assert loaded == finite


def test_another_world_is_refused(skills, file):
    with pytest.raises(UserError, match="holds skills for another world"):
        sf.Skills.load(file, sf.make("tool-rooms", tools=3))
    assert sf.Skills.load(file, sf.make("tool-rooms", **TOOLS)) == skills
    own = neural_skills(small_room())
    with pytest.raises(UserError, match="which is your own: pass the world"):
        sf.Skills.from_bytes(own.to_bytes())
    assert sf.Skills.from_bytes(own.to_bytes(), small_room()) == own


def forged_array(name, change):
    def forge(header, arrays):
        arrays[name] = change(arrays[name])

    return forge


@pytest.mark.parametrize(
    ("name", "change", "refusal"),
    [
        ("costs/w0", lambda w: w[:-1], "'costs/w0' is float32 .* float32"),
        ("costs/w0", lambda w: w.ravel(), "'costs/w0' is float32"),
        ("costs/w0", lambda w: w[:, :0], "'costs/w0' is float32"),
        ("costs/w1", lambda w: w[:, :4], r"'costs/b1' is float32 \[8\], .* float32 \[4\]"),
        ("costs/w2", lambda w: w.astype(np.float64), "'costs/w2' is float64"),
        ("costs/g0", lambda g: g * np.float32("nan"), "'costs/g0' holds numbers that are not"),
        ("costs/b2", lambda b: b + np.float32("inf"), "'costs/b2' holds numbers that are not"),
        ("unit", lambda u: u[:1], "'unit' is float32"),
        ("strength", lambda s: np.zeros(2, np.float32), "'strength' is float32"),
        ("groups/0/table", lambda t: t[:1], "'groups/0/table' is float32"),
        ("groups/1/table", lambda t: t.transpose(0, 2, 1)[:, :3].copy(), "'groups/1/table'"),
        ("policy", lambda _: np.zeros(3, np.uint8), "it has tables and networks"),
    ],
)
def test_forged_weights_are_refused(file, name, change, refusal):
    rewrite(file, forged_array(name, change))
    with pytest.raises(UserError, match=refusal):
        sf.Skills.load(file)


@pytest.mark.parametrize("name", ["costs/w0", "costs/b2", "costs/g1", "unit", "groups/1/table"])
def test_missing_weights_are_refused(file, name):
    rewrite(file, lambda _, arrays: arrays.pop(name))
    with pytest.raises(UserError, match=f"need an array '{name}'"):
        sf.Skills.load(file)


@pytest.mark.parametrize(
    ("name", "refusal"), [("costs/w9", "need no array"), ("reward.0", "not written by")]
)
def test_further_arrays_are_refused(file, name, refusal):
    rewrite(file, lambda _, arrays: arrays.update({name: np.zeros((2, 2), np.float32)}))
    with pytest.raises(UserError, match=refusal):
        sf.Skills.load(file)


def test_weights_as_large_as_floats_get_do_no_harm(file, rng):
    def forge(header, arrays):
        for name in arrays:
            if name.startswith("costs"):
                arrays[name] = np.full_like(arrays[name], np.float32(3e38))

    rewrite(file, forge)
    assert len(sf.Skills.load(file).rollout(0, (0, 0, 0), rng)) >= 1


@pytest.mark.parametrize(
    ("field", "value", "refusal"),
    [
        (("networks", "objective", "name"), "scattered-" * 50, "text of at most 100"),
        (("networks", "objective", "name"), "scattered-" * 9 + "vic", "scattered|strength"),
        (("networks", "objective", "name"), "focused-vix", "focused-vix"),
        (("networks", "objective", "name"), "vic", "takes no strength|cannot have"),
        (("networks", "objective", "prior"), "forged", "a probability"),
        (("networks", "components"), [], "components of 0 skills"),
        (("networks", "components", 0), [], "cannot have the components"),
        (("networks", "components", 0), [["tool_2", 0]], "its components are for"),
        (("networks", "components", 0), [["tool_1", 9999]], "is float32"),
        (("networks", "components", 0), [["tool_1", 0], ["tool_1", 1]], "cannot have the"),
        (("networks", "components", 0), [["hat", 0]], "hat"),
        (("modes",), [1, 1, 1, 1, 2], "not of 6"),
        (("remembered", 0), ["tool_2"], "context variables of its skills differ"),
        (("targets", 0), ["tool_2"], "its components are for"),
        (("version",), 4, "networks belong to version 5"),
        (("fingerprint",), "0", "another world"),
    ],
)
def test_forged_headers_are_refused(file, field, value, refusal):
    rewrite(file, lambda header, _: put(header, field, value))
    with pytest.raises(UserError, match=refusal) as caught:
        sf.Skills.load(file)
    assert "\n" not in str(caught.value)


def test_a_header_without_networks_is_refused(file):
    rewrite(file, lambda header, _: header.pop("networks"))
    with pytest.raises(UserError, match="networks belong to version 5"):
        sf.Skills.load(file)


def test_forged_numbers_are_refused_or_do_no_harm(skills, file, rng):
    arrays, header = read(file)
    numbers = [(place, was) for place, was in leaves(header) if type(was) in (int, float)]
    assert {"networks", "step_limit"} <= {place[0] for place, _ in numbers}
    for place, was in numbers:
        if place[0] in ("info", "version"):
            continue
        for wrong in (*WRONG, was + 2**62):
            other = copy.deepcopy(header)
            put(other, place, wrong)
            file.write_bytes(pack(other, arrays))
            try:
                loaded = sf.Skills.load(file)
            except UserError as error:
                assert "\n" not in str(error)
            else:
                assert place[0] == "networks", (place, wrong)
                assert loaded.action(0, (0, 0, 0), (0, 0, 0)) in (None, *skills.world.actions)


def test_a_file_may_ask_for_rooms_of_moderate_size_only():
    with pytest.raises(UserError, match="blocks of 'RoomBlocks-v0' is 16, and a file may ask for"):
        remaking.remake("RoomBlocks-v0", {"blocks": 16, "tools": 16})
    made = remaking.remake("VisibleMud-v0", json.loads(json.dumps(sf.make("visible-mud").settings)))
    assert made.id == "VisibleMud-v0"
