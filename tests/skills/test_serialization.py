"""What skills were rewarded for, in files."""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save_file

import skillfocus as sf
from forging import rewrite
from probes import corridor
from skill_sets import moody_skills, scattered_skills
from skillfocus.errors import UserError
from skillfocus.skills import serialization


@pytest.fixture(scope="module")
def skills():
    return scattered_skills()


@pytest.fixture
def file(skills, tmp_path):
    return skills.save(tmp_path / "a.skills")


def test_files_keep_it(skills, file):
    loaded = sf.Skills.load(file)
    assert loaded == skills
    assert loaded.intrinsic_reward.terms == skills.intrinsic_reward.terms
    for one, other in zip(
        loaded.intrinsic_reward.groups, skills.intrinsic_reward.groups, strict=True
    ):
        assert one.variables == other.variables
        assert one.tables.dtype == np.float32
        assert (one.tables == other.tables).all()
    first = skills.mdp.number((3, 0))
    everywhere = range(skills.mdp.n_states)
    for mode in range(2):
        got = loaded.intrinsic_reward.reward(4, first, everywhere, mode)
        assert (got == skills.intrinsic_reward.reward(4, first, everywhere, mode)).all()


def test_arrays_in_any_memory_order_are_written_as_they_read(skills, tmp_path):
    group = skills.intrinsic_reward.groups[1]
    turned = replace(group, tables=np.asfortranarray(group.tables))
    learned = replace(skills.intrinsic_reward, groups=(skills.intrinsic_reward.groups[0], turned))
    path = replace(skills, intrinsic_reward=learned).save(tmp_path / "turned.skills")
    assert sf.Skills.load(path) == skills


def test_equality_sees_it(skills):
    learned = skills.intrinsic_reward
    last = replace(learned.groups[1], tables=learned.groups[1].tables + 1)
    other = replace(skills, intrinsic_reward=replace(learned, groups=(learned.groups[0], last)))
    assert other != skills
    assert replace(skills, intrinsic_reward=None) != skills
    swapped = replace(learned, terms=(learned.terms[1], learned.terms[0], *learned.terms[2:]))
    assert replace(skills, intrinsic_reward=swapped) != skills
    assert replace(skills, intrinsic_reward=replace(learned)) == skills


def test_older_files_are_read_and_have_none(tmp_path):
    """As versions 1 and 2 were written: policies and a digest of the header and them."""
    plain = moody_skills(0, corridor(), modes=(1, 1))
    for made, version in ((plain, 1), (moody_skills(1, corridor()), 2)):
        header = {
            "format": "skillfocus-skills", "version": version,
            "world": {"id": made.world.id, "settings": made.world.settings},
            "fingerprint": made.mdp.fingerprint, "targets": made.targets,
            "remembered": made.context_variables, "step_limit": made.step_limit, "info": {},
        }  # fmt: skip
        if version == 2:
            header["modes"] = made.n_modes.tolist()
        text = json.dumps(header, sort_keys=True)
        digest = hashlib.sha256(text.encode() + made.tabular.flat_actions.tobytes()).hexdigest()
        path = tmp_path / f"{version}.skills"
        save_file(
            {"policy": made.tabular.flat_actions}, path, metadata={"skillfocus": digest + text}
        )
        loaded = sf.Skills.load(path)
        assert loaded == made
        assert loaded.intrinsic_reward is None


def test_policies_are_compressed_from_version_4_on(skills, file):
    """As version 3 was written: the same file with the policies as they are."""

    def inflate(header, arrays):
        assert len(arrays["policy"]) < len(skills.tabular.flat_actions)
        header["version"] = 3
        arrays["policy"] = np.frombuffer(zlib.decompress(arrays["policy"].tobytes()), np.uint8)
        assert (arrays["policy"] == skills.tabular.flat_actions).all()

    rewrite(file, inflate)
    assert sf.Skills.load(file) == skills


@pytest.mark.parametrize("forge", [
    lambda stream: stream[:-1],
    lambda stream: np.concatenate([stream, stream[:1]]),
    lambda stream: stream[:0],
    lambda stream: np.frombuffer(zlib.compress(bytes(1001)), np.uint8),
])  # fmt: skip
def test_policies_that_are_no_stream_or_too_long_are_refused(file, monkeypatch, forge):
    monkeypatch.setattr(serialization, "MAX_ENTRIES", 1000)
    rewrite(file, put("policy", lambda stream: forge(stream).copy()))
    with pytest.raises(UserError, match="not a zlib stream of up to 1,000 bytes"):
        sf.Skills.load(file)


def test_a_table_at_hand_is_used_and_checked(skills, file):
    assert sf.Skills.load(file, mdp=skills.mdp).mdp is skills.mdp
    with pytest.raises(UserError, match="skills for another world"):
        sf.Skills.load(file, mdp=sf.tabulate(corridor()))


def test_a_flipped_bit_anywhere_is_refused(skills, file):
    content = file.read_bytes()
    places = np.random.default_rng(0).integers(8 * len(content), size=300)
    for place in places.tolist():
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        file.write_bytes(flipped)
        with pytest.raises(UserError):
            sf.Skills.load(file)


def put(name, value):
    return lambda header, arrays: arrays.update({name: value(arrays[name])})


def term(place, value):
    """The first skill's group (0), component (1) or weight (2)."""
    return lambda header, arrays: header["learned"]["terms"][0][0][0].__setitem__(place, value)


def group(**changes):
    return lambda header, arrays: header["learned"]["groups"][0].update(changes)


def nowhere(mdp):
    mdp = mdp.copy()
    mdp[0, 0, 0] = np.nan
    return mdp


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, a: a.pop("reward.1"), r"holds the rewards \['reward.0'\]"),
        (lambda h, a: a.update({"reward.2": a["reward.0"]}), "holds the rewards"),
        (lambda h, a: h.pop("learned"), "not written by skillfocus"),
        (lambda h, a: h.update(learned=None), "bad header"),
        (lambda h, a: h.update(learned=[]), "bad header"),
        (lambda h, a: h["learned"].pop("terms"), "bad header"),
        (lambda h, a: h["learned"].update(groups=[1, 2]), "bad header"),
        (lambda h, a: h["learned"].update(groups=[]), "holds the rewards"),
        (lambda h, a: h["learned"].update(terms=7), "bad header"),
        (lambda h, a: h["learned"].update(terms=[[[[0, 0]]]]), "bad header"),
        (lambda h, a: h["learned"]["terms"].pop(), r"modes, their rewards \[1, 1, 2, 2\]"),
        (lambda h, a: h["learned"]["terms"][4].pop(), r"modes, their rewards \[1, 1, 2, 2, 1\]"),
        (term(0, 2), "by group 2 of 2"),
        (term(0, -1), "bad header"),
        (term(0, True), "bad header"),
        (term(1, 2), "component 2 of group 0, of 2"),
        (term(1, 0.5), "bad header"),
        (term(2, 0), "is 0, not a positive number"),
        (term(2, float("nan")), "is nan, not a positive number"),
        (term(2, float("inf")), "is inf, not a positive number"),
        (term(2, "1"), "is '1', not a positive number"),
        (term(2, 10**400), "bad header"),
        (group(variables=["tool_9"], start_variables=[]), "unknown variable"),
        (group(variables=["tool_1", "tool_1"]), "not a list of different names"),
        (group(variables=[], start_variables=[]), "named once each"),
        (group(variables=[["tool_1"]]), "bad header"),
        (group(start_variables=["position"]), "among the first"),
        (group(start_variables=[]), r"needs float32 \[components, 2, 1\]"),
        (group(separable=True), r"needs float32 \[components, 2\]"),
        (group(separable=1), "is 1, not true or false"),
        (lambda h, a: h["learned"]["groups"][0].pop("separable"), "bad header"),
        (put("reward.1", lambda t: t[:, :-1].copy()), r"are float32 \[6, 6, 7\] where position"),
        (put("reward.1", lambda t: t[:0].copy()), r"are float32 \[0, 7, 7\]"),
        (put("reward.1", lambda t: t.ravel()), r"are float32 \[294\]"),
        (put("reward.1", lambda t: t.astype(np.float64)), "are float64"),
        (put("reward.1", lambda t: t.view(np.int32)), "are int32"),
        (put("reward.1", nowhere), "not finite"),
        (put("reward.1", lambda t: np.full_like(t, -np.inf)), "not finite"),
    ],
)  # fmt: skip
def test_rewards_that_do_not_belong_are_refused_with_a_sentence(file, change, message):
    rewrite(file, change)
    with pytest.raises(UserError, match=message) as error:
        sf.Skills.load(file)
    assert "\n" not in str(error.value)
