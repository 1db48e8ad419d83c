"""Headers of skills files that a stranger wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import forging
import skillfocus as sf
from forging import rewrite, use
from skill_sets import scattered_skills
from skillfocus.errors import UserError
from skillfocus.skills.header import MAX_DEPTH, check_header
from skillfocus.skills.serialization import compress, read
from skillfocus.worlds.mud_world import MudWorld

MUD = "########\n#.MX..W#\n########"


@pytest.fixture(scope="module")
def skills():
    """Skills with several modes and with rewards."""
    return scattered_skills()


@pytest.fixture
def file(skills, tmp_path):
    return skills.save(tmp_path / "a.skills")


@pytest.mark.slow
def test_a_forged_number_never_crashes(skills, tmp_path):
    """In a process of its own, which a wild index would end."""
    muddy = sf.discover(
        MudWorld(MUD), sf.scattered(sf.focused(sf.vic())), seed=0, learner=sf.Planning(rounds=2),
        targets={"treasure": 2, "position": 3},
    )  # fmt: skip
    skills.save(tmp_path / "rooms.skills")
    replace(muddy, intrinsic_reward=None).save(tmp_path / "mud.skills")  # rewards show the modes
    done = subprocess.run(
        [sys.executable, forging.__file__, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    outcomes = json.loads(done.stdout)
    fields = {place.split("'")[1] for place in outcomes}
    assert fields == {"version", "world", "step_limit", "info", "modes", "learned"}
    for place, refusal in outcomes.items():
        if "('info'" in place:
            assert refusal is None, (place, refusal)
        elif "('step_limit'" in place or "('modes'" in place:
            assert refusal is not None, place


def test_modes_that_overflow_to_the_policies_length_are_refused(skills, file):
    """In 64 bits, 2**62 modes of policies that 4 divides take no entries."""

    def forge(header, arrays):
        header["modes"] = [2**62] * len(skills)
        del header["learned"]
        arrays.clear()
        arrays["policy"] = compress(np.zeros(0, np.uint8))

    rewrite(file, forge)
    with pytest.raises(UserError, match=r"modes\[0\] is 4611686018427387904, not a whole number"):
        sf.Skills.load(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.update(info=[]), "info is [], not an object of at most 20 levels"),
        (lambda h: h.update(info=None), "info is None, not an object"),
        (lambda h: h.pop("info"), "info is missing"),
        (lambda h: h.update(fingerprint=7), "fingerprint is 7, not text"),
        (lambda h: h.update(world="FourRooms-v0"), "world is 'FourRooms-v0', not an object"),
        (lambda h: h["world"].update(id=None), "world.id is None, not text"),
        (lambda h: h["world"].update(settings=[1]), "world.settings is [1], not an object"),
        (lambda h: h["world"].pop("settings"), "world.settings is missing"),
        (lambda h: h.update(targets=[]), "targets is empty: there are no skills"),
        (lambda h: h["targets"].__setitem__(1, "tool_1"), "targets[1] is 'tool_1', not a list"),
        (lambda h: h["targets"].__setitem__(0, [7]), "targets[0] is [7], not a list of different"),
        (lambda h: h["remembered"].__setitem__(0, ["position"] * 2), "a list of different names"),
        (lambda h: h.update(step_limit=True), "step_limit is True, not a whole number from 1 to"),
        (lambda h: h.update(step_limit=20.0), "step_limit is 20.0, not a whole number"),
        (lambda h: h.update(modes="11222"), "modes is '11222', not a list"),
        (lambda h: h.update(version=0), "version is 0, not a whole number from 1 to 7"),
        (lambda h: h.update(version=True), "version is True"),
        (lambda h: h["learned"]["terms"][0][0][0].pop(), "not a list of 3"),
    ],
)
def test_a_header_of_another_form_is_refused_with_the_place(file, change, message):
    def forge(header, arrays):
        del arrays
        change(header)

    rewrite(file, forge)
    with pytest.raises(UserError) as error:
        sf.Skills.load(file)
    assert str(error.value).startswith(f"{file} is not a usable skills file: bad header (")
    assert message in str(error.value)


def test_headers_that_are_too_deep_or_no_unicode_are_refused(file):
    _, header = read(file)
    deep: dict = {}
    for _ in range(MAX_DEPTH - 1):
        deep = {"info": deep}
    check_header({**header, "info": deep})
    with pytest.raises(UserError, match="at most 20 levels"):
        check_header({**header, "info": {"info": deep}})
    rewrite(file, lambda header, arrays: header["info"].update(name="\ud800"))
    with pytest.raises(UserError, match="its header is not JSON"):
        sf.Skills.load(file)


def test_a_long_header_is_refused(file, monkeypatch):
    monkeypatch.setattr("skillfocus.skills.serialization.MAX_HEADER", 100)
    with pytest.raises(UserError, match=r"its header has [\d,]+ characters, more than 100"):
        sf.Skills.load(file)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@pytest.mark.slow
@given(st.data())
def test_any_nonsense_in_a_header_is_refused_or_works(skills, tmp_path_factory, data):
    """Some value somewhere in the header becomes any other: the file is refused with a sentence,
    or everything that takes files of skills takes it."""
    folder = Path(tmp_path_factory.getbasetemp())
    file = skills.save(folder / "nonsense.skills")

    def change(header, arrays):
        inside, key = header, data.draw(st.sampled_from(sorted(header)))
        while isinstance(inside[key], dict | list) and inside[key] and data.draw(st.booleans()):
            inside = inside[key]
            keys = sorted(inside) if isinstance(inside, dict) else range(len(inside))
            key = data.draw(st.sampled_from(keys))
        inside[key] = data.draw(JSON)

    rewrite(file, change)
    use(file, folder, page=True)
