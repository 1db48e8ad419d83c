from __future__ import annotations

import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

import skillfocus as sf
from probes import RandomWorld, corridor
from skillfocus._internal.atomic_io import write_atomically
from skillfocus.errors import UserError, unknown
from skillfocus.skills.serialization import DIGEST, compress, decompress, digest_of, pack
from skillfocus.viewer import page


@pytest.fixture(scope="module")
def skills():
    return sf.discover(
        corridor(slip=0.1), sf.focused(sf.vic()), seed=2, n_skills=4, learner=sf.Planning(rounds=5)
    )


@pytest.fixture
def file(skills, tmp_path):
    return skills.save(tmp_path / "a.skills")


def test_bytes_come_back_as_the_same_skills(focused_vic):
    assert sf.Skills.from_bytes(focused_vic.to_bytes()) == focused_vic


def test_saved_and_loaded_are_equal(skills, file):
    loaded = sf.Skills.load(file)
    assert loaded == skills
    assert loaded.info == skills.info
    info: Any = loaded.info
    assert info["seed"] == 2
    assert info["objective"]["name"] == "focused-vic"
    assert set(info["versions"]) == {"skillfocus", "numpy", "numba", "python"}
    assert [f.name for f in file.parent.iterdir()] == ["a.skills"]


def test_the_same_file_twice_is_the_same_bytes(skills, file, tmp_path):
    assert skills.save(tmp_path / "b.skills").read_bytes() == file.read_bytes()


def test_other_skills_are_not_equal(skills):
    other = sf.discover(
        corridor(slip=0.1), sf.focused(sf.vic()), seed=3, n_skills=4, learner=sf.Planning(rounds=5)
    )
    assert other != skills


def test_rollouts_follow_the_policy_from_any_state(skills, rng):
    mdp = skills.mdp
    for first in range(mdp.n_states):
        for z in range(len(skills)):
            path = skills.rollout(z, mdp.state(first), rng)
            assert path[0] == mdp.state(first)
            assert len(path) <= skills.step_limit + 1
            for now, following in itertools.pairwise(path):
                action = skills.action(z, path[0], now)
                assert action is not None
                a = skills.world.actions.index(action)
                possible = mdp.successors[mdp.number(now), a][
                    mdp.probabilities[mdp.number(now), a] > 0
                ]
                assert mdp.number(following) in possible
            if len(path) <= skills.step_limit:
                assert skills.action(z, path[0], path[-1]) is None


def test_a_truncated_file_is_refused_at_any_length(skills, file):
    content = file.read_bytes()
    for length in (0, 1, 7, 8, 50, len(content) // 2, len(content) - 1):
        file.write_bytes(content[:length])
        with pytest.raises(UserError) as error:
            sf.Skills.load(file)
        assert "\n" not in str(error.value)


@given(st.data())
def test_a_file_with_a_flipped_bit_is_refused(skills, tmp_path_factory, data):
    file = tmp_path_factory.getbasetemp() / "flipped.skills"
    content = bytearray(skills.save(file).read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= 1 << data.draw(st.integers(0, 7))
    file.write_bytes(content)
    with pytest.raises(UserError):
        sf.Skills.load(file)


def rewrite(file, change):
    """Change the header and the arrays and mend the digest, as a tamperer would. What `change`
    returns are the policies."""
    from safetensors import safe_open

    with safe_open(file, framework="numpy") as opened:
        header = json.loads(opened.metadata()["skillfocus"][DIGEST:])
    arrays = load_file(file)
    arrays["policy"] = change(header, arrays["policy"])
    file.write_bytes(pack(header, arrays))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, p: h.update(version=99) or p, "version 99"),
        (lambda h, p: h.update(format="x") or p, "not written by skillfocus"),
        (lambda h, p: h["world"].update(id="Elsewhere-v0") or p, "your own"),
        (lambda h, p: h["world"]["settings"].update(slip=0.2) or p, "another world"),
        (lambda h, p: h["world"]["settings"].update(shell="rm") or p, "does not take"),
        (lambda h, p: h["targets"].append(["tool_1"]) or p, "5 skills have targets"),
        (lambda h, p: h["targets"][0].append("tool_9") or p, "unknown variable"),
        (lambda h, p: h.pop("targets") and p, "bad header"),
        (lambda h, p: h.update(targets=7) or p, "bad header"),
        (lambda h, p: h.update(step_limit="many") or p, "bad header"),
        (lambda h, p: h.update(step_limit=10**9) or p, "step_limit is 1000000000"),
        (lambda h, p: h.update(step_limit=float("inf")) or p, "bad header"),
        (lambda h, p: h.update(modes=[10**30] * 4) or p, "bad header"),
        (lambda h, p: compress(decompress(p, Path())[:-1]), "entries"),
        (lambda h, p: compress(np.full_like(decompress(p, Path()), 200)), "actions"),
        (lambda h, p: p.astype(np.float32), "not bytes"),
    ],
)
def test_a_tampered_file_is_refused_with_a_sentence(file, change, message):
    rewrite(file, change)
    with pytest.raises(UserError, match=message):
        sf.Skills.load(file)


def test_a_header_that_is_no_json_is_refused(file):
    for text in ("{", "[" * 100_000, "9" * 10_000):
        digest = digest_of(text, arrays := load_file(file))
        save_file(arrays, file, metadata={"skillfocus": digest + text})
        with pytest.raises(UserError, match="its header is not JSON"):
            sf.Skills.load(file)


def test_foreign_files_are_refused(tmp_path):
    foreign = tmp_path / "weights.safetensors"
    save_file({"w": np.zeros(3)}, foreign)
    with pytest.raises(UserError, match="not written by skillfocus"):
        sf.Skills.load(foreign)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(UserError) as error:
        sf.Skills.load(tmp_path / "text")
    assert str(error.value) == (
        f"{tmp_path / 'text'} is not a file of skills, or not a whole one: such files are written "
        f"by skillfocus discover and skills.save"
    )
    with pytest.raises(UserError, match="no file"):
        sf.Skills.load(tmp_path / "missing")
    with pytest.raises(UserError) as error:
        sf.Skills.load(tmp_path)
    files = tmp_path / "*.skills"
    assert str(error.value) == f"{tmp_path} is a folder: name the files in it, such as {files}"


def test_skills_of_another_world_are_refused(file):
    with pytest.raises(UserError, match="another world"):
        sf.Skills.load(file, world=corridor(slip=0.2))


def test_a_user_s_own_world_comes_along_on_loading(tmp_path):
    world = RandomWorld(1)
    made = sf.discover(
        world, sf.focused(sf.vic()), seed=0, n_skills=4, learner=sf.Planning(rounds=3)
    )
    file = made.save(tmp_path / "own.skills")
    assert sf.Skills.load(file, world=RandomWorld(1)) == made
    with pytest.raises(UserError, match=r"your own: pass the world"):
        sf.Skills.load(file)


def test_nothing_half_written_is_left(skills, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(UserError, match="No space left"):
        skills.save(tmp_path / "full.skills")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("os.fsync", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "x", b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(skills, tmp_path):
    with pytest.raises(UserError, match="no folder"):
        skills.save(tmp_path / "nowhere" / "a.skills")


def test_an_unknown_skill_is_named(skills, rng):
    with pytest.raises(UserError, match="numbered 0 to 3"):
        skills.rollout(4, (0, 0), rng)


def test_a_wrong_name_is_answered_with_those_there_are():
    near, far = unknown("variable", "tol_1", ["tool_1"]), unknown("variable", "x", ["tool_1"])
    assert str(near) == "unknown variable 'tol_1': did you mean 'tool_1'? (known: tool_1)"
    assert str(far) == "unknown variable 'x' (known: tool_1)"


def test_a_notebook_makes_the_page_of_a_set_once_and_of_a_huge_one_never(file, monkeypatch):
    made = []
    monkeypatch.setattr(page, "frame_html", lambda sets: made.append(sets) or "<iframe>" * 1000)
    skills = sf.Skills.load(file)
    assert skills._repr_html_() == skills._repr_html_() == "<iframe>" * 1000
    assert made == [[skills]]
    sent = pickle.dumps(skills)
    assert b"<iframe>" not in sent
    assert pickle.loads(sent) == skills
    monkeypatch.setattr(
        "skillfocus.skills.skills.MAX_NOTEBOOK_ENTRIES", len(skills.tabular.flat_actions) - 1
    )
    assert skills._repr_html_() is None
    monkeypatch.setattr(
        "skillfocus.skills.skills.MAX_NOTEBOOK_ENTRIES", len(skills.tabular.flat_actions)
    )
    assert skills._repr_html_() is not None
