"""What broke at the edges, where a first user stands."""

from __future__ import annotations

import errno
import os
import random
import re
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor
from skillfocus.cli import printing
from skillfocus.errors import UserError
from skillfocus.skills import skills as skills_module
from skillfocus.skills.files import same_skills

QUICK = sf.Planning(rounds=1)


class Drawing(sf.World):
    """Draws where it goes, instead of saying how likely each place is."""

    id, actions = "Drawing-v0", ("jump", "flip")
    space = sf.Space((sf.Variable("place", tuple(range(50))), sf.Variable("lamp", (0, 1))))

    def states(self):
        return [(0, 0)]

    def transition(self, state, action):
        place, lamp = state
        return [sf.Outcome(1.0, (place, 1 - lamp) if action else (random.randrange(50), lamp))]


class Lamps(sf.World):
    """Three hundred lamps, of which two can be switched; probabilities are float32."""

    id, actions = "Lamps-v0", ("first", "second")
    space = sf.Space(tuple(sf.Variable(f"lamp_{i}", (0, 1)) for i in range(300)))

    def states(self):
        return [(0,) * 300]

    def transition(self, state, action):
        switched = (*state[:action], 1 - state[action], *state[action + 1 :])
        third: Any = np.float32(1) / np.float32(3)
        return [sf.Outcome(third, state), sf.Outcome(third + third, switched)]


def test_a_transition_that_answers_at_random_is_noticed():
    with pytest.raises(
        UserError, match="returns other outcomes when it is asked again, for 'jump'"
    ):
        sf.discover(Drawing(), "focused-vic", seed=0, learner=QUICK)


def test_worlds_of_many_variables_and_few_states_are_learned():
    assert float(np.float32(1) / np.float32(3)) * 3 != 1.0
    skills = sf.discover(Lamps(), "focused-vic", seed=0, learner=QUICK)
    assert skills.mdp.n_states == 4
    assert {name for names in skills.targets for name in names} == {"lamp_0", "lamp_1"}


def test_names_with_a_plus_are_refused():
    with pytest.raises(
        UserError, match=r"'key\+door' holds a \+, which joins the names of targets"
    ):
        sf.Variable("key+door", (0, 1))


def test_a_penalty_of_ones_own_is_checked_before_learning():
    broken = sf.Penalty("mine", 1.0, lambda space, start, end, watched: np.ones(len(start)))
    with pytest.raises(UserError, match=r"mine is 1 from .* but must be 0 because none changed"):
        sf.discover(corridor(), sf.focused(sf.vic(), penalty=broken), seed=0, learner=QUICK)


def test_a_function_that_returns_a_world_takes_settings(tmp_path):
    (tmp_path / "ring.py").write_text(
        "import skillfocus as sf\n"
        "def ring(n=3):\n"
        "    class Ring(sf.World):\n"
        "        id, actions = f'Ring{n}-v0', ('on',)\n"
        "        space = sf.Space((sf.Variable('cell', tuple(range(n))), sf.Variable('lamp', (0,))))\n"
        "        def states(self): return [(0, 0)]\n"
        "        def transition(self, s, a): return [sf.Outcome(1.0, ((s[0] + 1) % n, 0))]\n"
        "    return Ring()\n"
    )
    assert sf.tabulate(sf.make(f"{tmp_path}/ring.py:ring", n=5)).n_states == 5
    with pytest.raises(UserError, match="takes no m"):
        sf.make(f"{tmp_path}/ring.py:ring", m=5)


def test_a_network_in_a_world_too_large_for_tables_is_kept_and_measured(tmp_path, monkeypatch):
    pytest.importorskip("jax")
    monkeypatch.setattr(skills_module, "MAX_TABULATED", 10)
    learner = sf.Neural(steps=32, updates_per_jit=2, environments=8, batch=8, memory=64, hidden=8)
    skills = sf.discover(corridor(), sf.focused(sf.vic()), seed=0, learner=learner)
    assert not skills.has_table
    file = skills.save(tmp_path / "a.skills")
    (record,) = sf.evaluate(file, sample=20, world=corridor())
    assert not record["skills"][0]["exact"]
    effects = sf.metrics.side_effects(skills, sample=20, rng=np.random.default_rng(0))
    assert len(effects) == len(skills)
    assert "skill" in sf.view(skills, tmp_path / "a.html").read_text()


def test_a_full_disk_ends_no_training(tmp_path, monkeypatch):
    network_training = pytest.importorskip("skillfocus.learners.network_training")
    learner = sf.Neural(steps=32, updates_per_jit=2, environments=8, batch=8, memory=64, hidden=8)
    expected = sf.discover(corridor(), sf.focused(sf.vic()), seed=0, learner=learner)

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(network_training, "SECONDS_BETWEEN_CHECKPOINTS", -1.0)
    monkeypatch.setattr(os, "fsync", full)
    learner = replace(learner, checkpoint=tmp_path / "state")
    with pytest.warns(UserWarning, match="without a new checkpoint: .*No space left on device"):
        skills = sf.discover(corridor(), sf.focused(sf.vic()), seed=0, learner=learner)
    assert same_skills(skills, expected)
    assert not list(tmp_path.iterdir())


def test_starts_that_are_a_sample_are_shown_with_the_number_of_all(monkeypatch, capsys):
    skills = sf.discover(corridor(), sf.focused(sf.vic()), seed=0, n_skills=4, learner=QUICK)
    everywhere = sf.metrics.side_effects(skills, "all")
    assert all(e.exact and e.sampled_from is None for e in everywhere)
    for name in ("reachability", "side_effects"):
        module = import_module(f"skillfocus.metrics.{name}")
        monkeypatch.setattr(module, "max_starts", lambda mdp: 2)
    some = sf.metrics.side_effects(skills, "all")
    assert [len(e.starts) for e in some] == [2] * len(skills)
    assert [e.sampled_from for e in some] == [len(e.starts) for e in everywhere]
    printing.show_runs(list(sf.evaluate(skills)), as_json=False)
    shown = " ".join(capsys.readouterr().out.split())
    assert "exact from sampled starts, 90 % intervals" in shown
    assert re.search(r"\b2 of \d+\b", shown)
