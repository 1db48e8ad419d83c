"""Skills files: tables, cost networks and actors, whole, damaged and forged."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from safetensors.numpy import save_file

pytest.importorskip("jax")

import skillfocus as sf
from forging import WRONG, leaves, open_file, pack, put, rewrite
from neural_skills import neural_skills, small_room, untrained_actor
from probes import RandomWorld
from skill_sets import moody_skills, scattered_skills
from skillfocus.errors import UserError
from skillfocus.skills.network import NeuralPolicy
from skillfocus.worlds import registry as remaking
from skillfocus.worlds.four_rooms import FourRooms

OBJECTIVES = [
    sf.vic(), sf.vic(0.3), sf.vic(prior=1 / 16), sf.vic(prior="learned"), sf.diayn(), sf.lsd(),
    sf.vic(random_start=False), sf.focused(sf.vic()), sf.focused(sf.lsd(), strength=3.0),
    sf.focused(sf.diayn(), strength=0.0), sf.focused(sf.vic(), penalty=sf.changed_variables(2.0)),
    sf.dusdi(sf.vic(), weight=0.2), sf.scattered(sf.focused(sf.vic())),
    sf.scattered(sf.focused(sf.lsd())), sf.focused(sf.reach()), sf.focused(sf.reach(change=True)),
]  # fmt: skip
TOOLS = {"tools": 2, "slip": 0.1, "step_limit": 10}
MAKE = {
    "table": scattered_skills,
    "network": lambda: neural_skills(sf.make("tool-rooms", **TOOLS)),
    "actor": untrained_actor,
}


@pytest.fixture(scope="module", params=MAKE)
def skills(request):
    return MAKE[request.param]()


@pytest.fixture
def file(skills, tmp_path):
    return skills.save(tmp_path / "a.skills")


@pytest.fixture
def made(request, tmp_path):
    """A file of one kind."""
    return MAKE[request.param]().save(tmp_path / "a.skills")


def load(path, world=None):
    """Load skills of any kind."""
    from skillfocus.skills.files import from_bytes

    return from_bytes(path.read_bytes(), path.name, world)


def test_files_keep_skills(skills, file):
    loaded = load(file)
    assert loaded == skills
    assert loaded.to_bytes() == skills.to_bytes() == file.read_bytes()
    header, _ = open_file(file)
    assert (header["format"], header["version"]) == ("skillfocus-skills", 2)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: f"{o.name} {o.to_dict()}")
def test_networks_of_every_objective_are_kept(objective):
    settings: dict = {} if objective.targeted else {"n_skills": 3}
    if "reach" in objective.name or "change" in objective.name:
        settings = {"targets": {"tool_1": 1, "position": 1}}
    skills = neural_skills(FourRooms("#####\n#..T#\n#####"), objective, **settings)
    loaded = sf.Skills.from_bytes(skills.to_bytes())
    assert isinstance(loaded.policies, NeuralPolicy)
    assert loaded.policies.model.objective == objective
    assert loaded == skills
    assert (loaded.tabular.flat_actions == skills.tabular.flat_actions).all()


@pytest.mark.parametrize("objective", [sf.vic(), sf.lsd(), sf.dusdi(sf.vic())])
def test_rewards_of_large_groups_are_kept(objective):
    """Tables would have too many values: a discriminator network, and a linear map."""
    settings: dict = {} if objective.targeted else {"n_skills": 3}
    skills = neural_skills(sf.make("tool-rooms", tools=16), objective, **settings)
    loaded = sf.Skills.from_bytes(skills.to_bytes())
    assert loaded == skills
    states = np.random.default_rng(0).integers(2, size=(20, 17))
    for z in range(3):
        one, other = (s.policies.actions(z, states, states[::-1]) for s in (skills, loaded))
        assert (one == other).all()


def test_learned_rewards_are_kept():
    skills = scattered_skills()
    loaded = sf.Skills.from_bytes(skills.to_bytes())
    assert loaded.intrinsic_reward == skills.intrinsic_reward
    first, everywhere = skills.mdp.number((3, 0)), range(skills.mdp.n_states)
    for mode in range(2):
        got = loaded.intrinsic_reward.reward(4, first, everywhere, mode)
        assert (got == skills.intrinsic_reward.reward(4, first, everywhere, mode)).all()


def test_objectives_of_ones_own_are_kept_with_tables_only():
    own = sf.focused(sf.Objective("own", sf.diayn().reward))
    with pytest.raises(UserError, match="has a reward or a penalty of your own"):
        neural_skills(small_room(), own).to_bytes()
    with pytest.raises(UserError, match="has a reward or a penalty of your own"):
        untrained_actor(sf.Objective("own", sf.diayn().reward), None).to_bytes()
    finite = neural_skills(FourRooms("#####\n#..T#\n#####"), own)
    assert sf.Skills.from_bytes(finite.to_bytes()) == finite  # a table needs no objective


def test_a_users_own_world_comes_along_on_loading():
    made = moody_skills(0, RandomWorld(1))
    assert sf.Skills.from_bytes(made.to_bytes(), RandomWorld(1)) == made
    with pytest.raises(UserError, match="your own: pass the world"):
        sf.Skills.from_bytes(made.to_bytes())
    with pytest.raises(UserError, match="skills for another world"):
        sf.Skills.from_bytes(made.to_bytes(), RandomWorld(2))


def test_damaged_files_are_refused(file):
    content = file.read_bytes()
    places = np.random.default_rng(0).integers(8 * len(content), size=200)
    for place in places.tolist():
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        file.write_bytes(flipped)
        with pytest.raises(UserError) as error:
            load(file)
        assert "\n" not in str(error.value)
    for length in (0, 1, 7, 8, 50, len(content) // 2, len(content) - 1):
        file.write_bytes(content[:length])
        with pytest.raises(UserError, match="is not a file of skills, as skillfocus discover"):
            load(file)


def test_foreign_files_are_refused(tmp_path):
    foreign = tmp_path / "weights.safetensors"
    save_file({"w": np.zeros(3)}, foreign)
    with pytest.raises(UserError, match="is not a file of skills"):
        sf.Skills.load(foreign)
    with pytest.raises(UserError, match="there is no file"):
        sf.Skills.load(tmp_path / "missing")
    with pytest.raises(UserError, match="is a folder"):
        sf.Skills.load(tmp_path)


def array(name, change):
    return lambda header, arrays: arrays.update({name: change(arrays[name])})


def field(value, *path):
    return lambda header, arrays: put(header, path, value)


COMMON = [
    (field(99, "version"), "version 99 of the format"),
    (field("x", "format"), "something else"),
    (field("Elsewhere-v0", "world", "id"), "your own"),
    (field({"shell": "rm"}, "world", "settings"), "does not take|another world"),
    (field("0", "fingerprint"), "another world"),
    (field("many", "step_limit"), "bad header"),
    (field(10**9, "step_limit"), "bad header"),
    (field(0, "step_limit"), "bad header"),
    (field(1, "more"), "bad header"),
    (lambda h, a: h.pop("info"), "bad header"),
    (field([[[[[[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]]]]]], "info", "deep"), "nested deeper"),
]
TABLE = [
    (lambda h, a: h["targets"].append(["tool_1"]), "skills have targets"),
    (lambda h, a: h["targets"][0].append("tool_9"), "unknown variable"),
    (field(7, "targets"), "bad header"),
    (field([10**9] * 5, "modes"), "blocks where 5 skills need|memory"),
    (field([1, 1], "modes"), "cannot have the modes"),
    (array("policy/numbers", lambda n: n[:-1].copy()), "blocks where"),
    (array("policy/numbers", lambda n: np.full_like(n, 2**31)), "blocks that do not exist"),
    (array("policy/numbers", lambda n: n.astype(np.int64)), "flat array of uint32, got int64"),
    (array("policy/blocks", lambda b: np.full_like(b, 200)), "actions"),
    (array("policy/blocks", lambda b: b[:, 1:].copy()), "rows of 64 bytes"),
    (lambda h, a: a.pop("policy/blocks"), "not those of a policy"),
    (lambda h, a: a.pop("reward.1"), "needs an array 'reward.1'"),
    (lambda h, a: a.update({"reward.2": a["reward.0"]}), "needs no array 'reward.2'"),
    (lambda h, a: h.pop("reward"), "needs no array 'reward.0'"),
    (field(None, "reward", "terms"), "bad header"),
    (lambda h, a: h["reward"]["terms"].pop(), "modes, their rewards"),
    (field(2, "reward", "terms", 0, 0, 0, 0), "by group 2 of 2"),
    (field(-1, "reward", "terms", 0, 0, 0, 0), "bad header"),
    (field(2, "reward", "terms", 0, 0, 0, 1), "component 2 of group 0, of 2"),
    (field(0, "reward", "terms", 0, 0, 0, 2), "bad header"),
    (field(["tool_9"], "reward", "groups", 0, "variables"), "unknown variable|among the first"),
    (field(["position"], "reward", "groups", 0, "start_variables"), "among the first"),
    (field(["tool_1"] * 2, "reward", "groups", 0, "variables"), "named once each"),
    (field([], "targets"), "bad header"),
    (field(True, "reward", "groups", 0, "separable"), r"must be float32 \[2, 2\]"),
    (array("reward.1", lambda t: t.ravel()), "must be float32"),
    (array("reward.1", lambda t: t.astype(np.float64)), "is float64"),
    (array("reward.1", lambda t: np.full_like(t, -np.inf)), "not finite"),
]
NETWORK = [
    (array("q_params/w0", lambda w: w[:-1].copy()), "'q_params/w0' is float32 .* float32"),
    (array("q_params/w1", lambda w: w[:, :4].copy()), r"'q_params/b1' is float32"),
    (array("q_params/w2", lambda w: w.astype(np.float64)), "'q_params/w2' is float64"),
    (
        array("q_params/g0", lambda g: g * np.float32("nan")),
        "'q_params/g0' holds numbers that are not",
    ),
    (array("strength", lambda s: np.zeros(2, np.float32)), "'strength' is float32"),
    (array("groups/0/table", lambda t: t[:1].copy()), "'groups/0/table' is float32"),
    (lambda h, a: a.pop("q_params/b2"), "needs an array 'q_params/b2'"),
    (lambda h, a: a.update({"q_params/w9": np.zeros((2, 2))}), "needs no array"),
    (field("focused-vix", "objective", "name"), "focused-vix"),
    (field("my.py:rotate", "objective", "name"), "a file of your own, which is not run"),
    (field("vic", "objective", "name"), "takes no strength|cannot have"),
    (field("forged", "objective", "prior"), "not the settings of an objective"),
    (field([], "skills"), "components of 0 skills"),
    (field([["tool_2", 0]], "skills", 0), "its components are for"),
    (field([["tool_1", 9999]], "skills", 0), "is float32"),
    (field([["hat", 0]], "skills", 0), "hat"),
    (field([1, 1, 1, 1, 2], "modes"), "not of 6"),
    (field(["tool_2"], "context_variables", 0), "context variables of its skills differ"),
    (lambda h, a: h.pop("objective"), "says nothing of the objective"),
]
ACTOR = [
    (lambda h, a: a.pop("actor/w1"), "needs no array 'actor/b1'"),
    (lambda h, a: a.update(more=np.zeros(1, np.float32)), "needs no array 'more'"),
    (lambda h, a: a.update(shift=np.zeros(3, np.float32)), "'shift' is float32"),
    (lambda h, a: a["scale"].fill(0), "not positive"),
    (lambda h, a: a["estimators/w0"].fill(np.nan), "not finite"),
    (lambda h, a: h["kinds"].append([["door", 2]]), "unknown variable"),
    (lambda h, a: h["kinds"].append([[None, 2]]), "cannot have the components"),
    (field([], "kinds"), "has 0 numbers|its skills have"),
    (field({"sphere": 1}, "kinds", 0, 0, 1), "bad header"),
    (field(1, "kinds", 0, 0, 1), "bad header"),
    (field(10**9, "kinds", 0, 0, 1), "bad header"),
    (field(7, "kinds", 0, 0, 1), "impossible components|is float32"),
    (field("dusdi-metra", "objective", "name"), "takes no|needs an objective"),
]


@pytest.mark.parametrize(
    ("made", "change", "message"),
    [(kind, *row) for kind in MAKE for row in COMMON]
    + [("table", *row) for row in TABLE]
    + [("network", *row) for row in NETWORK]
    + [("actor", *row) for row in ACTOR],
    indirect=["made"],
)
def test_forged_files_are_refused_with_a_sentence(made, change, message):
    rewrite(made, change)
    with pytest.raises(UserError, match=message) as error:
        load(made)
    assert "\n" not in str(error.value)


def test_forged_numbers_are_refused_or_do_no_harm(skills, file):
    header, arrays = open_file(file)
    numbers = [(place, was) for place, was in leaves(header) if type(was) in (int, float)]
    for place, was in numbers:
        if place[0] in ("info", "version"):
            continue
        for wrong in (*WRONG, was + 2**62):
            other = copy.deepcopy(header)
            put(other, place, wrong)
            file.write_bytes(pack(other, arrays))
            try:
                load(file)
            except UserError as error:
                assert "\n" not in str(error)


def test_a_file_may_ask_for_rooms_of_moderate_size_only():
    with pytest.raises(UserError, match="blocks of 'RoomBlocks-v0' is 16, and a file may ask for"):
        remaking.remake("RoomBlocks-v0", {"blocks": 16, "tools": 16})
