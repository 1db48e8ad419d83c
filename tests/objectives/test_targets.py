from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import RandomWorld
from skillfocus.errors import UserError
from skillfocus.objectives.kinds import default_counts, make_kinds, parse_targets, untargeted


@pytest.mark.parametrize(
    ("world", "rest"), [("four-rooms", 8), ("forage-world", 12), ("mud-world", 14)]
)
def test_the_paper_s_assignment(world, rest):
    made = sf.make(world)
    assignment = sf.assign(made)
    counts = Counter(
        made.space.names[i] for z in range(len(assignment)) for i in assignment.targets(z)
    )
    assert counts == {**dict.fromkeys(made.goals, 2), "position": rest}


def test_the_appendix_s_skill_counts(four_rooms):
    assert all(0 not in skill for skill in sf.assign(four_rooms, 8).skills)
    assert sum(0 in skill for skill in sf.assign(four_rooms, 24).skills) == 16


def test_components_count_up_per_variable(four_rooms):
    made = sf.assign(four_rooms, targets={"tool_1": 2, "tool_1+position": 2})
    assert made.skills == ({1: 0}, {1: 1}, {1: 0, 0: 0}, {1: 1, 0: 1})
    assert made.n_components(1) == 2


def test_skills_on_two_variables_share_the_values_of_the_smaller(four_rooms):
    made = sf.assign(four_rooms, targets={"tool_1+position": 3, "position+tool_2": 2})
    assert made.skills == (
        {1: 0, 0: 0}, {1: 1, 0: 1}, {1: 0, 0: 2}, {2: 0, 0: 3}, {2: 1, 0: 4}
    )  # fmt: skip


def test_sets_share_components_of_a_variable_with_too_few_values(four_rooms):
    """A tool has two values: a third component of it would own none."""
    made = sf.assign(four_rooms, targets={"tool_1+tool_2": 2, "tool_1": 2})
    assert made.skills == ({1: 0, 2: 0}, {1: 1, 2: 1}, {1: 0}, {1: 1})
    every = sf.assign(four_rooms, targets={"tool_1+tool_2": 4})
    assert every.skills == ({1: 0, 2: 0}, {1: 1, 2: 1}, {1: 0, 2: 1}, {1: 1, 2: 0})
    three = sf.assign(four_rooms, targets={"tool_1+tool_2+tool_3": 8})
    assert len({tuple(skill.values()) for skill in three.skills}) == 8
    position = sf.assign(four_rooms, targets={"tool_1+position": 4, "position": 4})
    assert [skill[0] for skill in position.skills] == list(range(8)), "it has values enough"


def test_skills_one_by_one(four_rooms):
    made = sf.assign(four_rooms, targets=[{"tool_1": 0}, {"tool_1": 0, "tool_2": 1}])
    assert made.targets(1) == (1, 2)


@pytest.mark.parametrize(
    ("n", "targets", "message"),
    [
        (5, None, "5 skills are too few.*ask for 8 or more"),
        (0, None, "0 skills are too few"),
        (5, {"tool_1": 2}, "5 skills were asked for, but the targets given make 2"),
        (1, {"tool_1": 2}, "1 skills were asked for"),
        (None, {"tol_1": 2}, "did you mean 'tool_1'"),
        (None, {"tool_1": 0}, "give it at least 1"),
        (None, {"position+tool_1+tool_2+tool_3+tool_4": 1}, "proper subset"),
        (None, [{}], "no target"),
        (None, [{"tool_1": -1}], "negative component"),
    ],
)
def test_bad_assignments_are_refused(four_rooms, n, targets, message):
    with pytest.raises(UserError, match=message):
        sf.assign(four_rooms, n, targets)


def test_one_plain_skill_cannot_be_told_from_others():
    with pytest.raises(UserError, match="at least 2"):
        untargeted(1)


NAMES = ["position", "tool_1", "tool_2", "tool_3", "tool_4"]


@given(
    st.dictionaries(
        st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True).map("+".join),
        st.integers(1, 4), min_size=1, max_size=4,
    )
)  # fmt: skip
def test_counts_give_as_many_skills_with_distinct_components(counts):
    world = sf.make("four-rooms")
    made = sf.assign(world, targets=counts)
    assert len(made) == sum(counts.values())
    together = Counter(tuple(sorted(skill.items())) for skill in made.skills)
    for skill, times in together.items():
        assert times == 1 or len(skill) == 1  # one on a tool alone, one on it by sharing
    for variable in range(5):
        used = {skill[variable] for skill in made.skills if variable in skill}
        assert used == set(range(len(used)))


def test_targets_are_read():
    assert parse_targets("tool_1 + position = 3") == {"tool_1 + position": 3}
    with pytest.raises(UserError, match="NAME=COUNT"):
        parse_targets("tool_1=²")
    assert parse_targets("tool_1=2, tool_1+position=3") == {"tool_1": 2, "tool_1+position": 3}
    with pytest.raises(UserError, match="twice"):
        parse_targets("tool_1=2,tool_1=3")


def test_too_many_skills_are_refused_at_once():
    world = RandomWorld(0, sizes=(3, 2), n_actions=2)
    for refused in (
        lambda: sf.assign(world, 10**12),
        lambda: sf.assign(world, targets=parse_targets("v0=1000000000000")),
        lambda: make_kinds(world, sf.vic(), 10**12),
    ):
        with pytest.raises(
            UserError, match="1,000,000,000,000 skills were asked for; there may be up to 10,000"
        ):
            refused()


def test_counts_of_thousands_of_digits_are_no_counts():
    with pytest.raises(UserError, match="NAME=COUNT"):
        parse_targets(f"v0={'9' * 5000}")


def test_no_more_skills_than_values_unless_asked_for():
    world = RandomWorld(0, sizes=(3, 2), n_actions=2)
    assert default_counts(world) == {"v1": 2, "v0": 3}
    assert default_counts(world, 9) == {"v1": 2, "v0": 7}
    many = RandomWorld(0, sizes=(4, *[2] * 9), n_actions=1)
    assert sum(default_counts(many).values()) == 2 * 9 + 2


def test_fixed_variables_get_no_skills():
    world = RandomWorld(0, sizes=(3, 2, 5), n_actions=2)
    world.fixed = ("v2",)
    assert default_counts(world) == {"v1": 2, "v0": 3}


def test_names_in_targets_may_have_commas():
    assert parse_targets("box(x3,y3)=2, lamp=1,at(a)+at(b,c)=4") == {
        "box(x3,y3)": 2, "lamp": 1, "at(a)+at(b,c)": 4,
    }  # fmt: skip


def test_too_many_modes_are_refused_at_once():
    world = RandomWorld(0, sizes=(30, 30, 30, 2))
    targets = {"v0+v1+v2": 1}
    with pytest.raises(UserError, match="27,000 modes were asked for; there may be up to 10,000"):
        sf.assign(world, targets=targets).split(world.space)
