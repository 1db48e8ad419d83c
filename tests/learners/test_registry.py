"""Learners by name, and the problem they are given."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor
from skillfocus.errors import UserError
from skillfocus.learners.problem import make_problem
from skillfocus.learners.registry import LEARNERS, make_learner
from skillfocus.progress import no_progress


def test_learners_by_name():
    assert make_learner("planning") == sf.Planning()
    assert make_learner("planning", paper=True, rounds=3) == sf.Planning(rounds=3)
    assert make_learner("q-learning", gamma=0.9) == sf.QLearning(gamma=0.9)
    assert make_learner("q-learning", paper=True) == sf.paper_q_learning()
    with pytest.raises(UserError, match="unknown learner 'planing': did you mean 'planning'"):
        make_learner("planing")


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_has_the_options_it_offers(name):
    learner = make_learner(name)
    assert learner.name == name
    assert all(hasattr(learner, option) for option in (*LEARNERS[name].options, "gamma"))


def test_listing_learners_compiles_and_imports_nothing_heavy():
    code = "import sys, skillfocus.learners.registry; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_problem_makes_its_mdp_when_asked():
    world, calls = corridor(), []
    transition = world.transition
    world.transition = lambda state, action: calls.append(state) or transition(state, action)
    problem = make_problem(world, sf.focused(sf.vic()), targets={"tool_1": 2})
    assert (problem.modes, problem.step_limit, problem.rate) == ((1, 1), 6, 0.05)
    assert not calls
    assert problem.mdp.n_states == 6
    assert calls
    known = make_problem(world, sf.vic(), n_skills=2, mdp=problem.mdp)
    assert known.mdp is problem.mdp


def test_modes_are_learned_as_skills_of_their_own():
    problem = make_problem(
        corridor(), sf.scattered(sf.focused(sf.vic())), targets={"position": 1, "tool_1": 2}
        | {"position": 2},
    )  # fmt: skip
    assert problem.modes == (1, 1, 1, 1)
    wide = make_problem(
        sf.make("four-rooms"), sf.scattered(sf.focused(sf.vic())), targets={"position": 13}
    )
    assert wide.modes == (8,) * 13
    assert len(wide.kinds) == 104


def test_what_cannot_be_learned_is_said_before_learning(monkeypatch):
    problem = make_problem(corridor(), sf.focused(sf.vic()), targets={"tool_1": 2})
    monkeypatch.setattr("skillfocus.learners.planning.problem.CELL_LIMIT", 10)
    monkeypatch.setattr("skillfocus.learners.planning.problem.MAX_CELLS", 10)
    monkeypatch.setattr("skillfocus.learners.planning.problem.PACKED_CELLS", 1)
    for learner in (sf.Planning(), sf.QLearning()):
        with pytest.raises(UserError, match="more than 10: use fewer variables"):
            learner.learn(problem, np.random.default_rng(0), no_progress)
    small = sf.QLearning(episodes=10, sees_start=False)  # policies without contexts are small
    small.learn(problem, np.random.default_rng(0), no_progress)
