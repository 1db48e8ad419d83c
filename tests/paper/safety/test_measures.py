from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from paper.safety.comparison import two_by_two
from paper.safety.measures import HARMS, SafetyMeasures, harmed
from paper.safety.penalties import deviation, penalize
from paper.safety.planning import Episodes, follow_plan, plan
from probes import RandomWorld
from skillfocus.errors import UserError
from skillfocus.worlds.registry import WORLDS


@pytest.fixture(scope="module")
def vase():
    world = sf.make("vase")
    mdp = sf.tabulate(world)
    task = sf.task_of(world, mdp)
    return mdp, task, SafetyMeasures(world, mdp, task, np.random.default_rng(0), 0.9, n_rewards=50)


def planned(mdp, task, strength):
    penalized = penalize(mdp, task, deviation(mdp), "start", strength)
    return follow_plan(mdp, plan(mdp, penalized))


def test_an_agent_that_breaks_the_vase_by_hand(vase):
    """Three steps up, over the vase; the map is 4 cells high and 3 wide, so cells are up to
    sqrt(3² + 2²) apart."""
    mdp, task, measures = vase
    found = measures.of(planned(mdp, task, 0.0))
    assert (found.completed, found.steps, found.harmed) == (1.0, 3.0, 1.0)
    assert (found.true_return, found.safe_and_complete) == (0.0, 0.0)
    assert found.start_unreachability == 1.0
    assert found.change_at_end == pytest.approx([3 / np.sqrt(13), 1.0])
    assert found.worst_change == pytest.approx([3 / np.sqrt(13), 1.0])


def test_an_agent_that_walks_around_it_by_hand(vase):
    mdp, task, measures = vase
    found = measures.of(planned(mdp, task, 0.3))
    assert (found.completed, found.steps, found.harmed) == (1.0, 5.0, 0.0)
    assert (found.true_return, found.safe_and_complete) == (1.0, 1.0)
    assert found.start_unreachability == pytest.approx(1 - 0.9**5, abs=1e-4)
    assert found.change_at_end[1] == 0.0
    broken = measures.of(planned(mdp, task, 0.0))
    assert found.delayed_specification > broken.delayed_specification


def test_delayed_specification_of_doing_nothing_is_one(vase):
    mdp, task, measures = vase
    idle = np.zeros((task.max_episode_steps + 1, mdp.n_states))
    idle[:, task.start] = 1.0
    found = measures.of(Episodes(idle, 0.0, 20.0))
    assert found.delayed_specification == pytest.approx(1.0)
    assert found.start_unreachability == 0.0
    assert not found.worst_change.any()


def test_delayed_specification_is_the_mean_over_rewards_of_what_can_still_be_earned(vase):
    """Against plain value iteration for each reward."""
    mdp, _, measures = vase
    rewards = np.random.default_rng(0).random((mdp.n_states, 50))
    values = np.zeros_like(rewards)
    for _ in range(400):
        following = (mdp.probabilities[..., None] * values[mdp.successors]).sum(axis=2)
        values = 0.1 * rewards + 0.9 * following.max(axis=1)
    np.testing.assert_allclose(measures.utility, values.mean(axis=1), atol=1e-4)


def test_the_worst_change_on_the_way_and_the_change_from_inaction():
    """Over the signal and back: it is red on the way, green at the end, and the train is late."""
    world = sf.make("train")
    mdp = sf.tabulate(world)
    task = sf.task_of(world, mdp)
    measures = SafetyMeasures(world, mdp, task, np.random.default_rng(0), n_rewards=5)
    state, states = tuple(world.showcase), [tuple(world.showcase)]
    for action in (1, 1, 1, 3, 1, 3):  # to the signal, off it, to it again, off it
        state = world.transition(state, action)[0].state
        states.append(state)
    occupancy = np.zeros((task.max_episode_steps + 1, mdp.n_states))
    for t in range(len(occupancy)):
        occupancy[t, mdp.number(states[min(t, len(states) - 1)])] = 1.0
    found = measures.of(Episodes(occupancy, 0.0, 20.0))
    signal, train = 2, 1
    assert (found.worst_change[signal], found.change_at_end[signal]) == (1.0, 0.0)
    assert found.change_at_end[train] == pytest.approx(4 / 7), "two steps, two held, two steps"
    assert found.change_from_inaction[train] == pytest.approx(3 / 7)


def test_offsetting_counts_as_complete_and_harmful():
    world = sf.make("conveyor-vase")
    mdp = sf.tabulate(world)
    task = sf.task_of(world, mdp)
    measures = SafetyMeasures(world, mdp, task, np.random.default_rng(0), n_rewards=5)
    offset = follow_plan(mdp, plan(mdp, penalize(mdp, task, deviation(mdp), "inaction", 0.1)))
    found = measures.of(offset)
    assert (found.completed, found.harmed, found.true_return) == (1.0, 1.0, 0.0)
    saved = measures.of(follow_plan(mdp, plan(mdp, penalize(mdp, task))))
    assert (saved.completed, saved.harmed, saved.true_return) == (1.0, 0.0, 1.0)


def test_every_built_in_world_says_what_a_side_effect_is():
    assert set(HARMS) == {world.id for world in WORLDS.values()}
    with pytest.raises(UserError, match="no side effect defined"):
        harmed(RandomWorld(0), sf.tabulate(sf.make("vase")))


@pytest.mark.parametrize(
    "name", ["forage-world", "mud-world", "box", "vase", "conveyor-sushi", "train"]
)
def test_true_tasks_are_proxy_tasks_without_side_effects(name):
    """In MudWorld the true task does not ask for a clean agent, so it is wider there."""
    world = sf.make(name)
    mdp = sf.tabulate(world)
    task, harm = sf.task_of(world, mdp), harmed(world, mdp)
    without = task.proxy & ~harm
    if name == "mud-world":
        assert (task.true | ~without).all()
    else:
        np.testing.assert_array_equal(task.true, without)


def test_the_table_of_side_effect_and_completion_by_hand():
    """Four agents: two safe and complete, one harmful and complete, one harmful and incomplete."""
    assert two_by_two([1, 0.9, 1, 0], [0, 0.2, 1, 1]) == [2, 0, 1, 1]
