from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import skillfocus as sf
from paper.controls import RandomLearner, permuted
from probes import RandomWorld, corridor
from problems import learn_rewards, make_problem
from skill_sets import LONG
from skillfocus.errors import UserError
from skillfocus.learners.planning import rewards as learned_module
from skillfocus.learners.planning.rewards import make_intrinsic_reward
from skillfocus.learners.planning.rewards import state_reward as skill_reward
from skillfocus.objectives.kinds import assign, untargeted
from skillfocus.objectives.objective import FunctionEstimate
from skillfocus.objectives.registry import make_objective
from skillfocus.skills.intrinsic_reward import IntrinsicReward, RewardGroup
from skillfocus.worlds.four_rooms import FourRooms

QUICK = sf.Planning(rounds=2)


def setup(objective, world=None, n_skills=4, **options):
    """A problem, and parameters that have seen a few hundred random runs."""
    world = world or RandomWorld(3, sizes=(3, 2, 2))
    mdp, rng = sf.tabulate(world), np.random.default_rng(0)
    made = assign(world, n_skills) if objective.targeted else untargeted(n_skills)
    problem = make_problem(mdp, objective, made, step_limit=5, world_id=world.id, **options)
    params = problem.initial_params(rng)
    runs = rng.integers(mdp.n_states, size=(300, 3))
    learn_rewards(problem, params, rng.integers(n_skills, size=300), runs, 0.3, rng)
    return problem, params


def own(reward, discriminates=False, **settings):
    estimate = FunctionEstimate(reward, discriminates=discriminates)
    return sf.Objective("own", sf.Reward("own", lambda r: r, estimate, **settings))


def product(params, values, skill, start, value):
    return skill + 10.0 * value + 100.0 * value * start


def stretch(params, values, skill, start, value):
    return (skill + 1.0) * (value * value - start * start)


# ---------------------------------------------------------------- the numbers


def test_the_table_of_a_small_world_by_hand():
    """Three cells and a tool; a skill on the tool, one on the cells."""
    targets = [{"tool_1": 1}, {"position": 0}]
    skills = sf.discover(corridor(), sf.focused(own(product)), seed=0, learner=QUICK, targets=targets)  # fmt: skip
    tool, cell = skills.intrinsic_reward.groups
    assert (tool.variables, tool.start_variables, tool.separable) == (("tool_1",),) * 2 + (False,)
    assert (cell.variables, cell.start_variables, cell.separable) == (("position",),) * 2 + (False,)
    assert tool.tables.tolist() == [[[0, 0], [10, 110]], [[1, 1], [11, 111]]]
    assert cell.tables.tolist() == [[[0, 0, 0], [10, 110, 210], [20, 220, 420]]]
    assert tool.tables.dtype == np.float32
    assert skills.intrinsic_reward.terms == ((((0, 1, 1.0),),), (((1, 0, 1.0),),))
    number = skills.mdp.number
    states = [number((0, 0)), number((2, 0)), number((2, 1))]
    assert skills.intrinsic_reward.reward(0, number((1, 1)), states).tolist() == [1, 1, 111]
    assert skills.intrinsic_reward.reward(1, number((1, 1)), states).tolist() == [0, 220, 220]


def test_a_difference_is_kept_as_one_function_by_hand():
    skills = sf.discover(corridor(), own(stretch), seed=0, learner=QUICK, n_skills=2)
    (group,) = skills.intrinsic_reward.groups
    assert group.separable
    assert group.variables == group.start_variables == ("position", "tool_1")
    assert group.tables.tolist() == [[0, 1, 4, 9, 16, 25], [0, 2, 8, 18, 32, 50]]
    assert skills.intrinsic_reward.reward(1, 2, [0, 2, 5]).tolist() == [-8, 0, 42]


def test_skills_of_several_targets_add_their_terms():
    world = RandomWorld(1, sizes=(3, 2, 2))
    targets = [{"v0": 1, "v1": 0}, {"v0": 0, "v1": 1}]
    objective = sf.focused(own(product))
    skills = sf.discover(world, objective, seed=0, learner=QUICK, targets=targets)
    assert skills.intrinsic_reward.terms[0] == (((0, 1, 1.0), (1, 0, 1.0)),)
    now, then = skills.mdp.number((2, 1, 0)), skills.mdp.number((1, 1, 0))
    # v0: 1 + 10 * 2 + 100 * 2 * 1; v1: 0 + 10 + 100
    assert skills.intrinsic_reward.reward(0, then, [now]).tolist() == [221 + 110]


@pytest.mark.parametrize(
    "objective",
    [sf.vic(), sf.vic(prior="learned"), sf.diayn(), sf.lsd(), own(product),
     *(sf.focused(base, strength=0.0) for base in (sf.vic(), sf.diayn(), sf.lsd(), own(product)))],
    ids=lambda objective: objective.name,
)  # fmt: skip
def test_it_is_the_reward_that_learners_use(objective):
    problem, params = setup(objective)
    learned = make_intrinsic_reward(problem, params, [1] * len(problem.skills))
    everywhere = np.arange(problem.mdp.n_states)
    for z, skill in enumerate(problem.skills):
        expected = skill_reward(problem, params, z)
        assert np.abs(expected).max() > 0.05
        for first in everywhere:
            got = learned.reward(z, int(first), everywhere)
            context = skill.context.of_state[first]
            assert got == pytest.approx(expected[:, context], abs=1e-5)
    assert all(group.separable == ("lsd" in objective.name) for group in learned.groups)
    if not objective.reward.uses_start:
        assert all(group.tables.shape[2] == 1 for group in learned.groups)


def test_dusdi_s_other_discriminators_are_not_rewards():
    problem, params = setup(sf.dusdi(sf.vic()))
    learned = make_intrinsic_reward(problem, params, [1] * len(problem.skills))
    assert len(problem.groups) == 2 * len(learned.groups)
    assert all(len(group.variables) == 1 for group in learned.groups)
    assert all(weight == 1.0 for modes in learned.terms for _, _, weight in modes[0])
    problem, params = setup(sf.dusdi(sf.vic(), weight=0.0))
    expected = skill_reward(problem, params, 0)
    learned = make_intrinsic_reward(problem, params, [1] * len(problem.skills))
    first = 5
    got = learned.reward(0, first, range(problem.mdp.n_states))
    assert got == pytest.approx(expected[:, problem.skills[0].context.of_state[first]], abs=1e-6)


def test_forgotten_variables_come_first_in_the_numbering():
    """LSD measures from what is left of the start; any state that shows it will do."""
    world = sf.make("mud-world")
    problem, params = setup(sf.lsd(), world, n_skills=3, cell_limit=30_000_000)
    learned = make_intrinsic_reward(problem, params, [1] * 3)
    (group,) = learned.groups
    assert group.variables[0] not in group.start_variables
    assert group.variables[-len(group.start_variables) :] == group.start_variables
    assert group.separable
    for first in (0, 77, 4321):
        context = problem.skills[1].context.of_state[[first]]
        expected = skill_reward(problem, params, 1, context)[:, 0]
        got = learned.reward(1, first, np.arange(problem.mdp.n_states))
        assert got == pytest.approx(expected, abs=1e-4)


def test_names_in_their_order_rebuild_the_numbering():
    """As another program would: the combinations that occur, in ascending order of their codes."""
    problem, params = setup(sf.vic())
    learned = make_intrinsic_reward(problem, params, [1] * 4)
    group, mdp = learned.groups[0], problem.mdp
    space = mdp.space
    places = [space.index(name) for name in group.variables]
    combinations = sorted({tuple(row[places]) for row in mdp.values})
    for now, then in ((0, 3), (7, 2), (11, 11)):
        v, s = (combinations.index(tuple(mdp.values[state, places])) for state in (now, then))
        assert learned.reward(2, then, [now])[0] == group.tables[2, v, s]


# ---------------------------------------------------------------- what is kept


def test_modes_have_rewards_of_their_own():
    world = FourRooms(LONG)
    objective = sf.scattered(sf.focused(own(product), strength=0.0))
    skills = sf.discover(
        world, objective, seed=0, learner=QUICK, targets={"tool_1": 2, "position": 3}
    )
    assert [len(modes) for modes in skills.intrinsic_reward.terms] == [1, 1, 2, 2, 2]
    assert skills.intrinsic_reward.terms[3] == (((1, 2, 1.0),), ((1, 3, 1.0),))
    first = skills.mdp.number((0, 0))
    assert skills.intrinsic_reward.reward(3, first, [first], mode=1).tolist() == [3]
    with pytest.raises(UserError, match="no reward of skill 3, mode 2"):
        skills.intrinsic_reward.reward(3, first, [first], mode=2)


def test_scattered_skills_without_modes_have_one_reward_each():
    objective = sf.scattered(sf.focused(sf.vic()))
    targets = {"tool_1": 2, "position": 3}
    skills = sf.discover(corridor(), objective, seed=0, learner=QUICK, targets=targets)
    assert skills.n_modes.tolist() == [1] * 5
    assert [len(modes) for modes in skills.intrinsic_reward.terms] == [1] * 5


def test_what_is_too_large_is_not_kept(monkeypatch):
    problem, params = setup(sf.vic())  # [4, 12, 12]
    monkeypatch.setattr(learned_module, "MAX_ENTRIES", 4 * 12 * 12)
    assert make_intrinsic_reward(problem, params, [1] * 4) is not None
    monkeypatch.setattr(learned_module, "MAX_ENTRIES", 4 * 12 * 12 - 1)
    assert make_intrinsic_reward(problem, params, [1] * 4) is None
    problem, params = setup(sf.lsd())
    monkeypatch.setattr(learned_module, "MAX_ENTRIES", 4 * 12)
    assert make_intrinsic_reward(problem, params, [1] * 4).groups[0].tables.shape == (4, 12)
    monkeypatch.setattr(learned_module, "MAX_ENTRIES", 4 * 12 - 1)
    assert make_intrinsic_reward(problem, params, [1] * 4) is None
    problem, params = setup(sf.focused(sf.vic()))
    sizes = [group.entries for group in problem.groups]
    monkeypatch.setattr(learned_module, "MAX_ENTRIES", sum(sizes) - 1)
    assert len(sizes) > 1
    assert make_intrinsic_reward(problem, params, [1] * 4) is None


def almost(params, values, skill, start, value):
    wrong = 0.01 if start == 5 else 0.0
    return value - start + wrong


def test_what_is_almost_a_difference_is_kept_whole():
    problem, params = setup(own(almost))
    learned = make_intrinsic_reward(problem, params, [1] * 4)
    assert not learned.groups[0].separable
    assert learned.reward(0, 5, [7])[0] == pytest.approx(2.01)


def ahead(params, values, skill, start, value):
    return value - start


def test_a_difference_to_a_start_that_is_partly_forgotten_is_kept_whole():
    """Two first states that differ in what is forgotten must earn the same."""
    world = RandomWorld(0, sizes=(3, 2, 2), one_way=True)
    problem, params = setup(own(ahead, discriminates=True), world, cell_limit=300)
    learned = make_intrinsic_reward(problem, params, [1] * 4)
    (group,) = learned.groups
    assert group.variables == ("v2", "v0", "v1")
    assert group.start_variables == ("v0", "v1")
    assert not group.separable
    number = problem.mdp.number
    for forgotten in range(2):
        first = number((1, 1, forgotten))  # start 3
        assert learned.reward(0, first, [number((2, 0, 1))]).tolist() == [10 - 3]


def endless(params, values, skill, start, value):
    return 1.0 / value if value > 0 else np.inf


def test_rewards_that_are_not_finite_are_not_kept():
    problem, params = setup(own(endless, uses_start=False))
    assert make_intrinsic_reward(problem, params, [1] * 4) is None


def test_skills_that_learned_nothing_have_none():
    skills = sf.discover(
        corridor(), sf.focused(sf.vic()), seed=0, learner=RandomLearner(), n_skills=4
    )
    assert skills.intrinsic_reward is None


@pytest.mark.parametrize("learner", [QUICK, sf.QLearning(episodes=500)], ids=lambda each: each.name)
def test_keeping_it_changes_no_skill(learner, monkeypatch):
    objective = sf.focused(sf.vic())
    kept = sf.discover(corridor(slip=0.1), objective, seed=5, learner=learner, n_skills=4)
    again = sf.discover(corridor(slip=0.1), objective, seed=5, learner=learner, n_skills=4)
    where = "skillfocus.learners.planning.learner.make_intrinsic_reward"  # of both learners
    monkeypatch.setattr(where, lambda *_: None)
    without = sf.discover(corridor(slip=0.1), objective, seed=5, learner=learner, n_skills=4)
    assert kept == again
    assert kept.intrinsic_reward is not None
    assert (kept.tabular.flat_actions == without.tabular.flat_actions).all()
    assert replace(kept, intrinsic_reward=None) == without


@pytest.mark.parametrize("name", ["permuted", "lsd", "diayn", "dusdi-diayn"])
def test_every_objective_s_rewards_are_kept(name, tmp_path):
    objective = permuted(sf.focused(sf.vic())) if name == "permuted" else make_objective(name)
    skills = sf.discover(corridor(), objective, seed=0, learner=QUICK, n_skills=4)
    assert len(skills.intrinsic_reward.terms) == 4
    assert (
        sf.Skills.load(skills.save(tmp_path / "a.skills")).intrinsic_reward
        == skills.intrinsic_reward
    )


def test_found_worlds_keep_rewards(tmp_path):
    world = sf.make("gymnasium:FrozenLake-v1")
    skills = sf.discover(world, sf.vic(), seed=0, learner=QUICK, n_skills=3)
    loaded = sf.Skills.load(skills.save(tmp_path / "lake.skills"))
    assert loaded == skills
    n = skills.mdp.n_states
    assert skills.intrinsic_reward.groups[0].tables.shape == (3, n, n)


# ---------------------------------------------------------------- what cannot be


@pytest.fixture(scope="module")
def skills():
    return sf.discover(
        FourRooms(LONG), sf.scattered(sf.focused(sf.vic())), seed=0, learner=QUICK,
        targets={"tool_1": 2, "position": 3},
    )  # fmt: skip


def test_rewards_of_another_world_are_refused(skills):
    other = sf.discover(corridor(), sf.focused(sf.vic()), seed=0, learner=QUICK, n_skills=4)
    with pytest.raises(UserError, match="learned in another world than FourRooms-v0"):
        replace(skills, intrinsic_reward=other.intrinsic_reward)


def test_states_and_skills_that_are_not_there_are_named(skills):
    for z, first, states, message in (
        (5, 0, [0], "no reward of skill 5"), (-1, 0, [0], "no reward of skill -1"),
        (0, 14, [0], "numbered 0 to 13"), (0, -1, [0], "numbered 0 to 13"),
        (0, 0, [3, 14], "numbered 0 to 13"), (0, 0, [-1], "numbered 0 to 13"),
    ):  # fmt: skip
        with pytest.raises(UserError, match=message):
            skills.intrinsic_reward.reward(z, first, states)
    assert skills.intrinsic_reward.reward(0, 0, []).shape == (0,)


def test_it_can_be_made_by_hand():
    """A reward of one's own making, for skills of one's own making."""
    mdp = sf.tabulate(corridor())
    group = RewardGroup(("position",), (), np.array([[[0.0], [0.5], [2.0]]], np.float32), False)
    learned = IntrinsicReward(mdp, (group,), ((((0, 0, 2.0), (0, 0, 1.0)),),))
    assert learned.reward(0, 0, np.arange(6)).tolist() == [0, 0, 1.5, 1.5, 6, 6]
