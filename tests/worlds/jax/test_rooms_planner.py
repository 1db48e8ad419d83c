"""The planner's policies and effects, by hand and against the tabular planner."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import skillfocus as sf
from paper.rooms import STOP, fair_starts, plan
from skillfocus.metrics import reachability
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.jax.rooms import Rooms, ToolRooms

CORRIDOR = "#######\n#T.T..#\n#######"


def test_costs_by_hand():
    """Without slips: from the right end two steps to the second tool and back cost 4 · 0.025."""
    world = Rooms(CORRIDOR, slip=0.0)
    skill = plan(world, 1)
    changes, side_effects = skill.effects()
    start = (np.array([4]), np.array([4]))
    assert skill.costs[start] == pytest.approx(4 * 0.025)
    assert (changes[0, 4], side_effects[0, 4]) == (1, 0)
    # From the second tool's own cell, out and in again.
    assert skill.costs[2, 2] == pytest.approx(2 * 0.025)
    # The first tool's cell lies behind the second: fetching it costs 2.5 for the second, 8 steps.
    beyond = plan(world, 0)
    assert beyond.costs[start] == pytest.approx(2.5 + 8 * 0.025)
    assert [e[0, 4] for e in beyond.effects()] == [1, 1]
    # It is free once picked up, and not worth it at a strength above the regret log(0.98 / 0.02).
    assert plan(world, 0, picked_up=[1]).costs[start] == pytest.approx(8 * 0.025)
    strict = plan(world, 0, strength=4.0)
    assert strict.actions[start] == STOP
    assert strict.costs[start] == pytest.approx(np.log(0.98 / 0.02))
    assert [e[0, 4] for e in strict.effects()] == [0, 0]


def test_the_step_limit_cuts_effects_short():
    world = Rooms(CORRIDOR, slip=0.0, step_limit=3)
    changes, side_effects = plan(world, 1).effects()
    assert (changes[0, 4], side_effects[0, 4]) == (1, 1)  # one step short of its start


def test_effects_are_those_of_rollouts():
    """The policy moves in the world itself, and its effects are counted."""
    jax = pytest.importorskip("jax")
    world = ToolRooms(8, slip=0.3)
    start, tool, n = world.map.index[5, 2], 3, 2000
    skill = plan(world, tool, starts=np.array([start]), memory=7)
    changes, side_effects = skill.effects()
    bits = 2 ** np.arange(8)
    number = np.zeros(2**8, int)
    for i, chosen in enumerate(skill.model.sets):
        number[bits[list(chosen)].sum()] = i
    n_cells = len(world.map.cells)
    step = jax.jit(jax.vmap(world.step))
    states = np.zeros((n, 9), np.int32)
    states[:, 0] = start
    done = np.zeros(n, bool)
    for key in jax.random.split(jax.random.key(0), world.step_limit):
        sets = number[np.delete(states[:, 1:], tool, axis=1) @ np.delete(bits, tool)]
        actions = skill.actions[(sets * 2 + states[:, 1 + tool]) * n_cells + states[:, 0], 0]
        done |= actions == STOP
        after = step(jax.random.split(key, n), states, np.minimum(actions, 3).astype(np.int32))
        states = np.where(done[:, None], states, after)
    changed = states != np.array([start] + [0] * 8)
    assert changed[:, 1 + tool].mean() == pytest.approx(changes[0, 0], abs=0.02)
    counted = np.delete(changed, 1 + tool, axis=1).sum(axis=1)
    assert counted.mean() == pytest.approx(side_effects[0, 0], abs=4 * counted.std() / n**0.5)


def test_less_memory_costs_no_less():
    world = ToolRooms(8)
    costs = [
        plan(world, 2, starts=np.arange(0, 104, 8), memory=memory).costs[:104]
        for memory in (0, 1, 7)
    ]
    for more, less in itertools.pairwise(costs):
        assert (less <= more + 1e-4).all()
    assert np.abs(costs[1] - costs[2]).max() < 0.05


@pytest.mark.parametrize("tool", range(4))
def test_fair_starts_are_those_of_the_finite_world(tool):
    finite = FourRooms()
    mdp = sf.tabulate(finite)
    fair = mdp.values[reachability.fair_starts(mdp, [1 + tool], 40, 0)]
    untouched = fair[fair[:, 1:].sum(axis=1) == 0][:, 0]
    np.testing.assert_array_equal(fair_starts(ToolRooms(4), tool), untouched)
    clear = set(fair_starts(ToolRooms(4), tool, clear=True))
    assert clear < set(untouched)
    assert not clear & {ToolRooms(4).map.index[c] for i, c in enumerate(finite.tools) if i != tool}


@pytest.mark.slow
def test_it_agrees_with_the_tabular_planner():
    """Over the fair starts of four tools, with the other tools picked up or not."""
    finite = FourRooms()
    skills = sf.discover(finite, sf.focused(sf.vic()), seed=0)
    effects = sf.metrics.side_effects(skills)
    world = ToolRooms(4)
    for tool in range(4):
        mine = [e for e in effects if e.targets == (f"tool_{tool + 1}",)]
        best = max(mine, key=lambda e: e.changes_target or 0.0)
        values = skills.mdp.values[best.starts]
        skill = plan(world, tool, memory=3, strength=4.0)
        number = {chosen: i for i, chosen in enumerate(skill.model.sets)}
        sets = [number[frozenset(np.flatnonzero(row).tolist())] for row in values[:, 1:]]
        changes, side_effects = skill.effects()
        assert changes[sets, values[:, 0]].mean() == pytest.approx(best.changes_target, abs=0.01)
        planned = side_effects[sets, values[:, 0]].mean()
        assert planned == pytest.approx(best.side_effects, abs=0.02)
