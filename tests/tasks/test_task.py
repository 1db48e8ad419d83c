from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import RandomWorld, corridor
from skillfocus.errors import UserError
from skillfocus.tasks import task as tasks
from skillfocus.tasks.task import TASKS, WorldTask, highest_return, make_task, optimum, task_of
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.registry import WORLD_IDS


def plain_optimum(mdp, done, start, max_episode_steps):
    """The same by numpy, one step of the horizon at a time."""
    steps = np.zeros(mdp.n_states)
    for _ in range(max_episode_steps):
        costs = 1 + (mdp.probabilities * steps[mdp.successors]).sum(axis=2)
        steps = np.where(done, 0.0, costs.min(axis=1))
    return steps[start]


@pytest.mark.parametrize(
    ("world", "steps", "proxy"),
    [("four-rooms", 44.6, 44.6), ("forage-world", 30.5, 27.7), ("mud-world", 22.5, 21.0)],
)
def test_the_paper_s_tasks_and_their_optima(world, steps, proxy):
    """Optima found independently, to the digit they were noted with."""
    made = sf.make(world)
    mdp = sf.tabulate(made)
    task = task_of(made, mdp)
    assert task.max_episode_steps == (320 if world == "four-rooms" else 60)
    assert made.space.labels(mdp.state(task.start))["position"] == made.map.cells[0]
    assert optimum(mdp, task)[0] == pytest.approx(steps, abs=0.06)
    assert optimum(mdp, task, "proxy")[0] == pytest.approx(proxy, abs=0.06)


def accomplished(world, kind):
    made = sf.make(world)
    mdp = sf.tabulate(made)
    states = np.flatnonzero(task_of(made, mdp).reward(kind))
    return [made.space.labels(mdp.state(s)) for s in states.tolist()]


def test_what_accomplishes_the_tasks():
    (only,) = accomplished("four-rooms", "true")
    assert only == {"position": (11, 11), **{f"tool_{i}": 1 for i in range(1, 5)}}
    (only,) = accomplished("forage-world", "true")
    assert only == {
        "position": (6, 6), "resource_1": 2, "resource_2": 2, "plant_1": 0, "plant_2": 0, "plant_3": 0,
    }  # fmt: skip
    assert len(accomplished("forage-world", "proxy")) == 8
    mud = accomplished("mud-world", "true")
    assert {state["position"] for state in mud} == {(10, 10)}
    assert {state["treasure"] for state in mud} == {1}
    assert {state["muddy_cells"] for state in mud} == set(range(5))
    assert {state["muddy"] for state in mud} == {0, 1}
    proxy = accomplished("mud-world", "proxy")
    assert {state["muddy"] for state in proxy} == {0}
    assert len({state["muddy_cells"] for state in proxy}) == 13


def test_the_optimum_by_hand():
    """Two moves to the right, each of which succeeds with probability 0.7. Three steps allowed:
    done after two with 0.49, else three are taken: 2.51; a third move saves some of the rest."""
    world = corridor(slip=0.3)
    mdp = sf.tabulate(world)

    def end(state):
        return state["position"] == (1, 3)

    steps, success = optimum(mdp, make_task(mdp, "end", (0, 0), 3, end))
    assert steps == pytest.approx(2.51)
    # in time: RR 0.49; or one of the three fails without losing ground (up or down 0.2, and left
    # against the wall 0.1 in the first cell; up or down 0.2 in the second)
    assert success == pytest.approx(0.49 + 0.3 * 0.49 + 0.7 * 0.2 * 0.7)
    assert optimum(mdp, make_task(mdp, "end", (2, 1), 3, end)) == (0.0, 1.0)


@given(st.integers(0, 500), st.integers(1, 12))
def test_the_optimum_is_the_plain_recursion_s(seed, max_episode_steps):
    world = RandomWorld(seed, sizes=(4, 3), n_actions=3)
    mdp = sf.tabulate(world)
    task = make_task(mdp, "reach", (0, 0), max_episode_steps, lambda state: state["v0"] == 3)
    assert optimum(mdp, task)[0] == pytest.approx(
        plain_optimum(mdp, task.true, task.start, max_episode_steps)
    )


def test_tasks_without_sense_are_refused():
    world = RandomWorld(0)
    mdp = sf.tabulate(world)
    with pytest.raises(UserError, match="no state accomplishes"):
        make_task(mdp, "t", (0, 0), 5, lambda state: False)
    with pytest.raises(UserError, match="at least 1"):
        make_task(mdp, "t", (0, 0), 0, lambda state: True)
    with pytest.raises(UserError, match="no task of its own"):
        task_of(world, mdp)
    task = make_task(mdp, "t", (0, 0), 5, lambda state: True)
    with pytest.raises(UserError, match="'true' or 'proxy', got 'other'"):
        task.reward("other")


def test_a_world_s_task_is_one_entry(monkeypatch):
    assert set(TASKS) <= set(WORLD_IDS)
    world = RandomWorld(0)
    mdp = sf.tabulate(world)

    def conditions(world):
        return lambda s: s["v0"] == 2, lambda s: s["v1"] == 1

    monkeypatch.setitem(tasks.TASKS, world.id, WorldTask("both", 7, conditions))
    task = task_of(world, mdp)
    assert (task.name, task.max_episode_steps, mdp.state(task.start)) == ("both", 7, (0, 0))
    assert task.rewards == ("true", "proxy")
    assert task.true.tolist() == (mdp.values[:, 0] == 2).tolist()
    assert task.proxy.tolist() == (mdp.values[:, 1] == 1).tolist()


def test_a_subclass_has_its_parent_s_task():
    class Mine(FourRooms):
        id = "Mine-v0"

    world = Mine("#####\n#..T#\n#####")
    task = task_of(world, sf.tabulate(world))
    assert (task.name, task.rewards) == ("tools", ("true",))


def test_the_highest_return_of_a_corridor():
    """By hand: two moves to the right with slips of 0.1. Each arrives with 0.9 (the other moves
    leave the cell, or stay); from the middle one of the three slips leads back."""
    world = corridor(slip=0.1)
    mdp = sf.tabulate(world)

    def there(max_episode_steps):
        return highest_return(
            mdp, make_task(mdp, "far", (0, 0), max_episode_steps, lambda s: s["tool_1"])
        )

    assert there(1) == 0
    assert there(2) == pytest.approx(0.9**2)
    stays, back = 0.1, 0.1 / 3  # at the left end all slips stay; in the middle one goes back
    assert there(3) == pytest.approx(0.9**2 + stays * 0.9**2 + 0.9 * (0.1 - back) * 0.9)
    assert there(300) == pytest.approx(1.0)


@given(st.integers(0, 300))
def test_no_policy_returns_more_than_the_highest(seed):
    """The policy with the fewest steps is one of those that are bounded."""
    world = RandomWorld(seed, sizes=(3, 2), n_actions=1 + seed % 3)
    mdp = sf.tabulate(world)
    last = tuple(variable.values[-1] for variable in world.space.variables)
    names = world.space.names
    task = make_task(mdp, "t", (0, 0), 4, lambda s: tuple(s[n] for n in names) == last)
    assert highest_return(mdp, task) >= optimum(mdp, task)[1] - 1e-9
