"""Sets of skills joined, cut and iterated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor
from skill_sets import moody_skills, random_skills
from skillfocus.errors import UserError
from skillfocus.skills.skills import Skill, join, objective_label

SHORT = sf.Planning(rounds=2)


@pytest.fixture(scope="module")
def tools():
    return sf.discover(
        corridor(), sf.focused(sf.vic()), seed=0, learner=SHORT, targets={"tool_1": 2}
    )


@pytest.fixture(scope="module")
def places():
    """With several modes, other contexts and another seed."""
    return sf.discover(
        corridor(), sf.scattered(sf.focused(sf.vic())), seed=1, learner=SHORT,
        targets={"position": 2, "tool_1": 2},
    )  # fmt: skip


def same_skill(one, z, other, y):
    """Whether a skill of one set does and earns what one of another does."""
    assert one.targets[z] == other.targets[y]
    assert one.n_modes[z] == other.n_modes[y]
    for mode in range(one.n_modes[z]):
        assert (one.policy_of(z, mode) == other.policy_of(y, mode)).all()
        if one.intrinsic_reward is not None and other.intrinsic_reward is not None:
            for first in range(one.mdp.n_states):
                every = range(one.mdp.n_states)
                got = one.intrinsic_reward.reward(z, first, every, mode)
                assert (got == other.intrinsic_reward.reward(y, first, every, mode)).all()


def test_two_sets_become_one(tools, places, tmp_path):
    both = tools + places
    assert len(both) == len(tools) + len(places)
    assert both.intrinsic_reward is not None
    for z in range(len(tools)):
        same_skill(both, z, tools, z)
    for z in range(len(places)):
        same_skill(both, len(tools) + z, places, z)
    assert both[: len(tools)] == replace(tools, info=both.info)
    effects = sf.metrics.side_effects(both)
    alone = [*sf.metrics.side_effects(tools), *sf.metrics.side_effects(places)]
    for got, expected in zip(effects, alone, strict=True):
        assert got.side_effects == expected.side_effects
    assert sf.Skills.load(both.save(tmp_path / "both.skills")) == both


def test_what_is_said_of_both_sets_is_kept(tools, places):
    both = tools + places
    assert both.info["joined"] == [tools.info, places.info]
    assert both.info["learner"] == tools.info["learner"]
    assert "seed" not in both.info
    assert (both + tools).info["joined"] == [tools.info, places.info, tools.info]
    assert (tools + tools).info == tools.info
    assert "None" in repr(both)
    assert "? skills" not in repr(both)


def test_values_that_are_reached_go_with_their_skills(tools, tmp_path):
    """The corridor's five skills of `reach`: tool_1=0 and 1, then three places."""
    reach = sf.discover(corridor(), sf.focused(sf.reach()), seed=0, learner=SHORT)
    named = ["tool_1=0", "tool_1=1", "position=(1, 1)", "position=(1, 2)", "position=(1, 3)"]
    assert [skill.goal for skill in reach] == named
    assert [skill.goal for skill in reach["position"]] == named[2:]
    picked = reach[[3, 0]]
    assert [skill.goal for skill in picked] == [named[3], named[0]]
    assert sf.Skills.load(picked.save(tmp_path / "a.skills")).goals == picked.goals
    assert [skill.goal for skill in picked + reach[1:3]] == [named[z] for z in (3, 0, 1, 2)]
    assert (reach[:2] + reach[2:]).goals == reach.goals
    assert [skill.goal for skill in reach + tools] == named + [None] * len(tools)


def test_rewards_are_dropped_if_one_set_has_none(tools, places):
    without = replace(places, intrinsic_reward=None)
    assert (tools + without).intrinsic_reward is None
    assert (without + tools).intrinsic_reward is None


def test_only_skills_of_one_world_and_length_can_be_joined(tools):
    with pytest.raises(UserError, match=r"FourRooms.* cannot be joined: their worlds are not"):
        join(random_skills(0, sf.make("four-rooms")), tools)
    with pytest.raises(UserError, match="steps cannot be joined: discover both"):
        join(replace(tools, step_limit=tools.step_limit + 1), tools)
    assert tools.__add__(1) is NotImplemented  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("index", "expected"), [
    (slice(1, 3), [1, 2]), (slice(None, None, -1), [3, 2, 1, 0]), ([2, 0], [2, 0]),
    (np.array([-1, 1]), [3, 1]), ("tool_1", [2, 3]), (["tool_1", "position"], [2, 3, 0, 1]),
    ((0, np.int64(3)), [0, 3]),
])  # fmt: skip
def test_sets_are_cut_by_number_and_by_target(places, index, expected):
    part = places[index]
    assert len(part) == len(expected)
    for z, number in enumerate(expected):
        same_skill(part, z, places, number)
    assert part.info == places.info
    assert part.intrinsic_reward is not None


def test_skills_on_two_targets_have_a_name():
    targets = [{"tool_1": 0}, {"tool_1": 1}, {"tool_1": 0, "tool_2": 0}, {"tool_2": 1}]
    skills = sf.discover(
        sf.make("four-rooms"), sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=1),
        targets=targets,
    )  # fmt: skip
    assert skills["tool_1"].targets == (("tool_1",),) * 2
    assert skills["tool_2+tool_1"].targets == (("tool_1", "tool_2"),)
    assert [skill.target for skill in skills] == ["tool_1", "tool_1", "tool_1+tool_2", "tool_2"]


def test_one_skill_is_a_view(places, rng):
    skill = places[np.int64(-3)]
    assert isinstance(skill, Skill)
    assert (skill.number, skill.target, skill.targets) == (1, "position", ("position",))
    assert skill.context_variables == places.context_variables[1]
    assert (skill.n_modes, skill.step_limit) == (places.n_modes[1], places.step_limit)
    start = places.mdp.state(0)
    seeds = np.random.default_rng(3), np.random.default_rng(3)
    assert skill.rollout(start, seeds[0]) == places.rollout(1, start, seeds[1])
    assert skill.likely_path(start) == places.likely_path(1, start)
    assert skill.action(start, start) == places.action(1, start, start)
    actions = [policy(start) for policy in (skill.policy(rng), places.policy(1, rng))]
    assert actions[0] == actions[1]
    assert repr(skill).startswith("<skill 1 (position) of <4 ")
    assert [each.number for each in places] == [0, 1, 2, 3]


@pytest.mark.parametrize(("index", "message"), [
    (4, "there is no skill 4: skills are numbered 0 to 3"),
    (-5, "there is no skill -5"),
    (slice(4, 9), "picks none of the 4 skills"),
    ([], "picks none of the 4 skills"),
    ([0, 0], "picks a skill twice"),
    ("posiion", "position"),
    (["tool_1", "lamp"], "lamp"),
    (1.0, "by number, by slice or by names of targets, not by 1.0"),
    (True, "not by True"),
    (None, "not by None"),
    (slice("a", None), "cannot be sliced"),
    ([[0]], "not by"),
])  # fmt: skip
def test_what_picks_nothing_is_refused(places, index, message):
    with pytest.raises(UserError) as error:
        places[index]
    assert message in str(error.value)


def test_parts_keep_their_own_blocks_only(places):
    assert 0 < len(places[[3]].policies.blocks) < len(places.policies.blocks)


def test_sets_too_large_for_a_table_are_packed(monkeypatch, tools):
    monkeypatch.setattr("skillfocus.skills.policy.MAX_UNPACKED", 2 * tools.tabular.index.n_entries)
    assert (tools + tools).arrays.actions.dtype == np.uint8
    assert (tools + tools + tools).arrays.actions.dtype == np.uint32


def test_the_set_stays_as_it_was():
    skills = moody_skills(0, corridor())
    before = skills.tabular.flat_actions.copy()
    assert len(skills[1:] + skills) == 2 * len(skills) - 1
    assert (skills.tabular.flat_actions == before).all()


def test_a_joined_set_is_called_by_its_objectives():
    told, changed = (
        {"objective": {"name": "focused-reach"}},
        {"objective": {"name": "focused-change"}},
    )
    assert objective_label(told) == "focused-reach"
    assert objective_label({"joined": [told, changed, told]}) == "focused-reach + focused-change"
    for forged in (
        {},
        {"objective": 3},
        {"objective": {"name": 3}},
        {"joined": [3]},
        {"joined": []},
    ):
        assert objective_label(forged) == "?"
