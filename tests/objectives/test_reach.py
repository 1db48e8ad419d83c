"""Skills that are told which value to reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import skillfocus as sf
from commands import command
from probes import Button, RandomWorld, corridor
from skill_sets import make_skills
from skillfocus.errors import UserError
from skillfocus.learners.planning.problem import tabular_problem
from skillfocus.learners.problem import Problem, make_problem
from skillfocus.metrics.summary import skill_records
from skillfocus.objectives.kinds import (
    SkillKind,
    SkillKinds,
    default_counts,
    goal_label,
    goals_of,
    make_kinds,
)
from skillfocus.objectives.objective import at_its_value, unlike_the_start
from skillfocus.objectives.registry import make_objective

REACH = sf.focused(sf.reach())
CHANGE = sf.focused(sf.reach(change=True))
VIC_ON_TAXI = [0.04, 0.095, 0.0, 0.053, 0.005]
"""Side effects of focused VIC's skills for the passenger, seed 0: docs/reach.md."""


def values_of(world, **arguments):
    goals = goals_of(world.space, REACH, make_kinds(world, REACH, **arguments))
    return [goal_label(world.space, goal) for goal in goals]


def test_the_formula():
    assert at_its_value(3, 0, 3) == 1.0
    assert at_its_value(3, 3, 0) == 0.0
    assert unlike_the_start(0, 1, 2) == unlike_the_start(0, 2, 0) == 1.0
    assert unlike_the_start(0, 2, 2) == 0.0


def test_one_skill_per_value_by_default():
    """Goals and the default target; of many values sixteen, evenly spread."""
    assert values_of(Button()) == ["lamp=off", "lamp=on", "dial=0", "dial=1", "dial=2"]
    assert default_counts(sf.make("four-rooms"), of_values=True) == {
        "tool_1": 2, "tool_2": 2, "tool_3": 2, "tool_4": 2, "position": 16,
    }  # fmt: skip
    assert default_counts(sf.make("four-rooms"), 10, of_values=True)["position"] == 2
    cells = make_kinds(sf.make("four-rooms"), REACH, targets={"position": 4})
    assert [skill[0] for skill in cells.skills] == [0, 26, 52, 78]


def test_values_are_named_as_the_world_names_them():
    assert values_of(Button(), targets=[{"lamp": "on"}, {"dial": 2}]) == ["lamp=on", "dial=2"]
    taxi = sf.make("gymnasium:Taxi-v4")
    assert values_of(taxi, targets=[{"passenger": "in taxi"}]) == ["passenger=in taxi"]
    both = make_kinds(sf.make("four-rooms"), REACH, targets=[{"position": (1, 2), "tool_1": 1}])
    assert both.skills == ({0: 1, 1: 1},)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"targets": {"dial": 4}}, "dial has 3 values, so it can have 1 to 3 skills, not 4"),
        ({"targets": {"lamp+dial": 2}}, "reach counts values of single variables"),
        ({"targets": [{"lamp": "dim"}]}, "lamp has no value 'dim'; it has 'off', 'on'"),
        ({"n_skills": 1}, "1 skill is too few"),
        ({"n_skills": 9}, "9 skills are too many"),
        ({"n_skills": 3, "targets": {"dial": 2}}, "but the targets given make 2"),
    ],
)
def test_targets_that_make_no_sense(arguments, message):
    with pytest.raises(UserError, match=message):
        make_kinds(Button(), REACH, **arguments)


def test_what_reach_cannot_be_combined_with():
    with pytest.raises(UserError, match="skills need a target whose value they reach"):
        sf.discover(Button(), sf.reach(), seed=0)
    with pytest.raises(UserError, match="leave scattered out"):
        sf.discover(Button(), sf.scattered(REACH), seed=0)
    with pytest.raises(UserError, match="got reach; focused"):
        sf.dusdi(sf.reach())


def test_skills_reach_their_values_and_nothing_else_changes():
    """In the corridor, by planning, for every start: from (cell, tool) to (own value, the rest)."""
    world = corridor(step_limit=8)
    skills = sf.discover(world, REACH, seed=0)
    goals = ["tool_1=0", "tool_1=1", "position=(1, 1)", "position=(1, 2)", "position=(1, 3)"]
    assert [skill.goal for skill in skills] == goals
    assert [record["reaches"] for record in skill_records(skills)] == goals
    for cell in range(3):
        fetch = skills.likely_path(1, (cell, 0))
        assert tuple(fetch[-1]) == (cell, 1)
        assert tuple(skills.likely_path(0, (cell, 0))[-1]) == (cell, 0)
        for to in range(2):  # in the third cell lies the tool
            assert tuple(skills.likely_path(2 + to, (cell, 0))[-1]) == (to, 0)
        assert tuple(skills.likely_path(4, (cell, 1))[-1]) == (2, 1)


def test_one_skill_per_change():
    """In the corridor, from every start: the tool is fetched and the agent comes home, or the agent
    is elsewhere and the tool where it was (in the third cell it cannot stay without the tool)."""
    assert CHANGE.name == make_objective("focused-change").name == "focused-change"
    skills = sf.discover(corridor(step_limit=8), CHANGE, seed=0)
    assert skills.targets == (("tool_1",), ("position",))
    assert "reaches" not in skills.info
    for cell in range(3):
        assert tuple(skills.likely_path(0, (cell, 0))[-1]) == (cell, 1)
        place, tool = skills.likely_path(1, (cell, 0))[-1]
        assert place != cell
        assert tool == 0
    both = make_kinds(sf.make("four-rooms"), CHANGE, targets={"tool_1+position": 1})
    assert both.skills == ({0: 0, 1: 0},)


def test_a_change_of_what_comes_back():
    """The dial ends at another value from each of its three, the lamp as it was."""
    skills = sf.discover(Button(), CHANGE, seed=0, targets={"dial": 1})
    assert sf.metrics.side_effects(skills)[0].changes_alone == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"targets": {"dial": 2}}, "dial has 2 skills, which would all be the same"),
        ({"targets": [{"lamp": 0}, {"lamp": 1}]}, "lamp has 2 skills"),
        ({"n_skills": 3}, "but the targets given make 2"),
    ],
)
def test_targets_that_change_twice(arguments, message):
    with pytest.raises(UserError, match=message):
        make_kinds(Button(), CHANGE, **arguments)


def test_a_change_needs_the_first_value():
    """Where contexts leave out what only moves on, its first value stands for its start. That is
    right for a tool, which is there and then taken; not for a counter with three values."""

    def build(world, target):
        skills = SkillKinds((SkillKind({target: 1}, ({target: 0},)),))
        return tabular_problem(Problem(world, CHANGE, skills, (1,), 8), cell_limit=1)

    assert build(corridor(), 1).groups[0].starts.size == 1
    with pytest.raises(UserError, match="needs more of the first state than fits in memory"):
        build(Counter(), 0)


class Counter(sf.World):
    """A counter that only goes up, beside a lamp."""

    id, actions, step_limit = "Counter-v0", ("count", "switch"), 10
    space = sf.Space((sf.Variable("count", (0, 1, 2)), sf.Variable("lamp", (0, 1))))

    def states(self):
        return [(0, 0)]

    def transition(self, state, action):
        count, lamp = state
        return [sf.Outcome(1.0, (count, 1 - lamp) if action else (min(count + 1, 2), lamp))]


def test_skills_are_judged_by_their_values():
    """From the dial's three values two turns are left at most; a lamp that is lit stays so, so it
    is judged while it is off: within ten presses it goes on with 1 - 0.6^10."""
    skills = sf.discover(Button(), REACH, seed=0)
    effects = sf.metrics.side_effects(skills)
    lit = 1 - 0.6**10
    assert [e.best_possible for e in effects] == pytest.approx([1.0, lit, 1.0, 1.0, 1.0])
    assert [e.changes_alone for e in effects] == pytest.approx([1.0, lit, 1.0, 1.0, 1.0])
    assert [e.changes_target for e in effects] == pytest.approx([0.0, lit, *[2 / 3] * 3])
    assert [e.avoidable for e in effects] == pytest.approx([0.0] * 5, abs=1e-6)
    rng = np.random.default_rng(0)
    sampled = sf.metrics.side_effects(skills, sample=500, rng=rng)
    assert [e.changes_alone for e in sampled] == pytest.approx([1.0, lit, 1.0, 1.0, 1.0], abs=0.02)


def test_within_a_turn_only_two_of_three_starts_reach_a_value():
    """From 0 the dial needs two turns to 2; any other value is one turn away."""
    skills = sf.discover(Button(), REACH, seed=0, targets=[{"dial": 2}], step_limit=1)
    (effects,) = sf.metrics.side_effects(skills)
    assert effects.changes_alone == effects.best_possible == pytest.approx(2 / 3)
    (change,) = sf.metrics.side_effects(
        sf.discover(Button(), CHANGE, seed=0, targets={"dial": 1}, step_limit=1)
    )
    assert change.best_possible == 1.0


def test_a_skill_that_should_have_done_nothing_is_blamed():
    """It presses the button although the dial is where it should be: 0.4 are avoidable."""
    mdp = sf.tabulate(Button())
    press = np.zeros(mdp.n_states, dtype=np.uint8)
    skills = make_skills(Button(), mdp, (("dial",),), ((),), press, 1)
    skills = replace(skills, goals=({"dial": 2},))
    there = np.array([mdp.number((0, 2))])
    (effects,) = sf.metrics.side_effects(skills, there)
    assert (effects.best_possible, effects.changes_alone) == (1.0, 0.6)
    assert effects.avoidable == pytest.approx(0.4)


def test_equal_skills_for_every_seed():
    one, other = (sf.discover(corridor(), REACH, seed=seed) for seed in (0, 1))
    np.testing.assert_array_equal(one.tabular.flat_actions, other.tabular.flat_actions)


class Gap(Button):
    """The dial never is at 1."""

    def transition(self, state, action):
        if action == 1:
            return [sf.Outcome(1.0, (state[0], 2 - state[1]))]
        return super().transition(state, action)

    def states(self):
        return [(0, 0)]


def test_values_that_never_occur():
    """Values are numbered among those that occur; the third is the second of these."""
    skills = sf.discover(Gap(), REACH, seed=0, targets=[{"dial": 0}, {"dial": 2}])
    assert tuple(skills.likely_path(1, (0, 0))[-1]) == (0, 2)
    with pytest.raises(UserError, match="dial never is 1, so no skill reaches it"):
        sf.discover(Gap(), REACH, seed=0, targets=[{"dial": 1}])


def test_q_learning_learns_it():
    learner = sf.QLearning(episodes=3000)
    skills = sf.discover(Button(), REACH, seed=0, learner=learner, targets={"lamp": 2, "dial": 3})
    effects = sf.metrics.side_effects(skills)
    assert effects[1].changes_alone == pytest.approx(effects[1].best_possible, abs=0.01)
    assert max(e.side_effects for e in effects) < 0.01


def test_networks_are_rewarded_alike():
    pytest.importorskip("jax")
    from skillfocus.learners.cost_network.rewards import make_rewards
    from skillfocus.learners.cost_network.training import make_model

    problem = make_problem(RandomWorld(0, sizes=(3, 2)), REACH, targets=[{"v0": 0}, {"v0": 2}])
    (reward,) = make_rewards(make_model(problem), 0.5, np.random.default_rng(0))
    table = reward.predict()["table"]
    assert table[:, 0].tolist() == np.eye(3).tolist()


@pytest.mark.slow
def test_it_is_cleaner_than_vic_on_taxi():
    """Five skills for the passenger's five places: the numbers of docs/reach.md."""
    world = sf.make("gymnasium:Taxi-v4")
    mdp = sf.tabulate(world)
    place = mdp.space.index("passenger")
    told, discovered = (
        sf.metrics.side_effects(
            sf.discover(world, sf.focused(base), seed=0, targets={"passenger": 5})
        )
        for base in (sf.reach(), sf.vic())
    )
    assert [effects.side_effects for effects in told] == [0.0] * 5
    assert [e.changes_alone for e in told] == pytest.approx([e.best_possible for e in told])
    reached = [float(e.ends[mdp.values[:, place] == k].sum()) for k, e in enumerate(told)]
    assert reached == pytest.approx([0.76, 0.76, 1.0, 0.76, 0.76], abs=0.005)
    found = [effects.side_effects for effects in discovered]
    assert found == pytest.approx(VIC_ON_TAXI, abs=0.005)


@pytest.mark.slow
def test_the_command_says_what_each_skill_reaches(tmp_path):
    done = command("discover", "gymnasium:Taxi-v4", "focused-reach", "--targets", "passenger=5",
                   "--out", "out", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0
    assert "passenger=in taxi" in done.stdout
    assert "at its value and nothing else changed" in done.stdout
    assert "much less often than is possible" not in done.stderr
    short = command("discover", "gymnasium:Taxi-v4", "focused-reach", "--targets", "passenger=5",
                    "--strength", "0", "--out", "out", "--seeds", "2", cwd=tmp_path)  # fmt: skip
    assert short.stdout.count("passenger=in taxi") == 1, "a row per value over seeds"
    assert "5 of 5 skills of seed 0 reach their value alone much less often" in short.stderr
