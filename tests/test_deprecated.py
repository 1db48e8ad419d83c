"""Names of version 0.5 work for one release, and warn."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor
from skill_sets import random_skills
from skillfocus._internal.old_modules import MODULES


@pytest.mark.parametrize("old", MODULES)
def test_old_module_paths_lead_to_the_new_ones(old):
    sys.modules.pop(f"skillfocus.{old}", None)
    with pytest.warns(DeprecationWarning, match=f"skillfocus.{old} is deprecated"):
        module = importlib.import_module(f"skillfocus.{old}")
    new = importlib.import_module(f"skillfocus.{MODULES[old]}")
    public = [name for name in vars(new) if not name.startswith("_")]
    assert all(getattr(module, name) is getattr(new, name) for name in public)
    assert not hasattr(module, "nonsense")


def test_old_names_in_old_modules_are_the_new_ones():
    sys.modules.pop("skillfocus.table", None)
    with pytest.warns(DeprecationWarning, match="use skillfocus.core.mdp"):
        from skillfocus.table import Table  # pyright: ignore[reportMissingImports]
    assert Table is sf.TabularMDP
    assert sys.modules["skillfocus.table"].tabulate is sf.tabulate


@pytest.mark.parametrize(("old", "new"), [("Table", "TabularMDP"), ("Hierarchy", "SMDPQLearning")])
def test_old_top_level_names(old, new):
    with pytest.warns(DeprecationWarning, match=f"sf.{old} is deprecated; use sf.{new}"):
        assert getattr(sf, old) is getattr(sf, new)


def test_old_attributes_of_skills():
    skills = random_skills(0, corridor())
    for old, new in (
        ("table", skills.mdp), ("remembered", skills.context_variables), ("learned", None),
    ):  # fmt: skip
        with pytest.warns(DeprecationWarning, match=rf"Skills\.{old} is deprecated"):
            assert getattr(skills, old) is new or getattr(skills, old) == new
    with pytest.warns(DeprecationWarning, match="skills.policies is no array any more"):
        assert np.array_equal(skills.policies, skills.tabular.flat_actions)  # pyright: ignore[reportArgumentType]


def test_old_arguments():
    world, mdp = corridor(), sf.tabulate(corridor())
    with pytest.warns(DeprecationWarning, match=r"discover\(table=…\) is deprecated; use mdp="):
        skills = sf.discover(
            world, sf.focused(sf.vic()), seed=0, n_skills=4, learner=sf.Planning(rounds=1),
            table=mdp,  # pyright: ignore[reportCallIssue]
        )  # fmt: skip
    assert skills.mdp is mdp
    for learner in (sf.Planning, sf.QLearning):
        with pytest.warns(DeprecationWarning, match="use start_where_controllable="):
            made = learner(teachable=False)  # pyright: ignore[reportCallIssue]
        assert not made.start_where_controllable


def test_old_arguments_and_attributes_of_tasks_and_runs(four_rooms_table):
    mdp = sf.tabulate(corridor())
    with pytest.warns(DeprecationWarning, match=r"make_task\(cap=…\) is deprecated"):
        task = sf.make_task(mdp, "end", (0, 0), cap=9, true=lambda state: state["tool_1"] == 1)  # pyright: ignore[reportCallIssue]
    with pytest.warns(DeprecationWarning, match=r"Task\.cap is deprecated"):
        assert task.cap == task.max_episode_steps == 9
    with pytest.warns(DeprecationWarning, match=r"SMDPQLearning\(decay=…\) is deprecated"):
        learner = sf.SMDPQLearning(decay=0.5)  # pyright: ignore[reportCallIssue]
    with pytest.warns(DeprecationWarning, match="use epsilon_decay"):
        assert learner.decay == 0.5
    with pytest.warns(DeprecationWarning, match=r"WorldEnv\(table=…\) is deprecated"):
        sf.WorldEnv(corridor(), table=mdp)
    with pytest.warns(DeprecationWarning, match="use pristine"):
        assert four_rooms_table.untouched is four_rooms_table.pristine
    run = sf.Discovery("four-rooms", "vic", 0)
    with pytest.warns(DeprecationWarning, match="use with_settings"):
        assert run.changed({"seed": 3}).seed == 3
    with pytest.warns(DeprecationWarning, match="use non_default_settings"):
        assert run.unusual() == {}


def at_its_value(params, values, skill, start, value):
    return 1.0 if value == skill else 0.0


def test_an_objective_from_functions_is_the_same_as_one_from_a_reward():
    def reach(component, start, value):
        return 1.0 if value == component else 0.0

    with pytest.warns(DeprecationWarning, match=r"pass reward=Reward"):
        old = sf.Objective(
            name="reach", reward=at_its_value, uses_start=False,  # pyright: ignore[reportCallIssue]
        )  # fmt: skip
    new = sf.Objective("reach", sf.Reward("reach", reach, uses_start=False))
    made = [
        sf.discover(
            corridor(), sf.focused(each), seed=0, targets={"tool_1": 2},
            learner=sf.Planning(rounds=1),
        )
        for each in (old, new)
    ]  # fmt: skip
    assert np.array_equal(made[0].tabular.flat_actions, made[1].tabular.flat_actions)
    assert made[0].rollout(1, (0, 0), np.random.default_rng(0))[-1] == (0, 1)
