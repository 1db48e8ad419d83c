from __future__ import annotations

import itertools
import pickle
from typing import Any

import pytest

import skillfocus as sf
from probes import RandomWorld, corridor
from skillfocus.errors import UserError, unknown
from skillfocus.files import write_atomically
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
