from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

import skillfocus as sf
from enumerated import enumerate_world
from exact_options import exact_values, shortest_path_skills
from jax_corridor import Corridor, at_cell, walkers
from skillfocus.errors import UserError
from skillfocus.learners.cost_network.learner import Neural
from skillfocus.metrics.statistics import success_interval
from skillfocus.tasks.networks import rates, solve, solve_seeds
from skillfocus.tasks.option_learning import (
    Episode,
    Event,
    OptionLearner,
    OptionLearning,
    options_of,
)
from skillfocus.tasks.task import household_task, jax_task
from skillfocus.worlds.jax.mini_behavior.chores import InstallingAPrinter
from skillfocus.worlds.jax.mini_behavior.tasks import TASKS

SETTINGS = OptionLearning(
    steps=4_000, environments=16, hidden=16, batch=32, memory=1000, rewarded=200, evaluations=4,
    evaluation_episodes=5, final_episodes=5,
)  # fmt: skip


@pytest.fixture(scope="module")
def learned_skills():
    learner = Neural(steps=50 * 16, environments=16, hidden=16, updates_per_jit=50)
    return sf.discover(Corridor(), sf.focused(sf.vic()), seed=0, learner=learner)


def equal(first, second):
    leaves = zip(jax.tree.leaves(first.parameters), jax.tree.leaves(second.parameters), strict=True)
    return all(np.array_equal(a, b) for a, b in leaves) and first.curve == second.curve


def test_equal_seeds_give_equal_solutions():
    world, task, skills, seen = Corridor(), at_cell(5), walkers(), []
    first, again = (
        solve_seeds(
            world, task, skills, SETTINGS, seeds=[3, 4],
            progress=lambda fraction, activity: seen.append((fraction, activity)),
        )
        for _ in range(2)
    )  # fmt: skip
    assert equal(first[0], again[0])
    assert equal(first[1], again[1])
    assert not equal(first[0], first[1])
    assert list(first[0].curve) == [1008, 2016, 3024, 4032]
    assert seen[:2] == [(0.0, "step 0 of 4,000"), (0.25, "step 1,008 of 4,000")]


@pytest.mark.slow
def test_skills_of_networks_act_as_their_policies_do(learned_skills):
    world, policies = learned_skills.world, learned_skills.policies
    options = options_of(world, learned_skills)
    starts, values = np.random.default_rng(0).integers((7, 2, 2), size=(2, 300, 3)).astype("int32")
    key = jax.random.key(0)
    chosen = options.actions(key, jnp.asarray(starts), jnp.asarray(values))
    draws = np.asarray(jax.random.uniform(key, (300,)))
    expected = policies.all_actions(starts, values, draws)
    assert (
        np.asarray(chosen)[:, : options.n_skills] == expected
    ).mean() > 0.99  # rounding may break ties
    assert (options.n_skills, options.step_limit) == (expected.shape[1], learned_skills.step_limit)
    solution = solve(world, at_cell(5), learned_skills, SETTINGS, seed=0)
    assert set(solution.final.side_conditions) == {"lamp off", "vase whole"}


@pytest.mark.slow
def test_ideal_skills_install_the_printer_as_value_iteration_does():
    """Primitive actions alone need hundreds of thousands of steps."""
    world, task = InstallingAPrinter(), household_task("install-printer")
    table = enumerate_world(world, [world.task_start])
    skills = shortest_path_skills(
        table,
        [
            {"printer_on": (1,)},
            {"printer_position": ("carried",)},
            {"printer_position": world.room.cells_of("table")},
            {"table_clean": (1,)},
            {"agent": ((1, 1),)},
        ],
    )
    settings = OptionLearning(
        steps=40_000,
        environments=64,
        updates=2,
        hidden=64,
        batch=256,
        evaluations=2,
        evaluation_episodes=10,
        final_episodes=10,
    )
    exact = exact_values(table.mdp, skills, task, settings.gamma, settings.interrupt)
    best = exact[table.mdp.number(world.task_start)].max()
    assert best == pytest.approx(0.99**10)  # success in the 11th step
    solution = solve(world, task, skills, settings, seed=0)
    assert solution.final.returned == pytest.approx(best)
    assert solution.final.steps == 11
    learner = OptionLearner(world, task, settings)
    value = learner.values(solution.parameters, jnp.array([world.task_start])).max()
    assert float(value) == pytest.approx(best, abs=0.03)
    assert solution.final.success == success_interval(10, 10)
    assert solution.final.true_success == success_interval(10, 10)
    assert solution.final.side_conditions == {"table untouched": success_interval(10, 10)}
    assert solution.at(30_000) is solution.curve[min(solution.curve)]
    with pytest.raises(UserError, match="the first is after 20,032"):
        solution.at(1000)


def test_rates_by_hand():
    """Three of four episodes succeed, one ends truly done; the vase was whole in two of three."""
    task = at_cell(2)
    last = jnp.array([[2, 0, 0], [2, 1, 0], [3, 0, 1], [0, 0, 0]])
    over, succeeded = jnp.ones(4, bool), jnp.array([True, True, True, False])
    ends = Event(over, over, last, Episode(jnp.arange(4), succeeded, over, jnp.full(4, 0.5)))
    found = rates(task, ends)
    assert found.success == success_interval(3, 4)
    assert found.true_success == success_interval(1, 4)
    assert found.side_conditions == {
        "vase whole": success_interval(2, 3), "lamp off": success_interval(2, 3),
    }  # fmt: skip
    assert (found.steps, found.returned) == (1.5, 0.5)
    failed = rates(task, jax.tree.map(lambda leaf: leaf[3:], ends))
    assert failed.side_conditions == {"vase whole": None, "lamp off": None}


@pytest.mark.parametrize("name", list(TASKS))
def test_household_tasks_start_where_the_benchmark_does(name):
    task, world = household_task(name), TASKS[name].world(starts="varied")
    state = OptionLearner(world, task, SETTINGS).reset(jax.random.key(0), 1)
    assert tuple(jax.vmap(world.values)(state)[0].tolist()) == world.task_start
    assert task.max_episode_steps == world.episode_length
    states = np.random.default_rng(0).integers(world.space.sizes, size=(2000, len(world.space)))
    conditions = (TASKS[name].success, *TASKS[name].side_conditions.values())
    expected = np.all([condition(states) for condition in conditions], axis=0)
    assert task.true(states).tolist() == expected.tolist()


def test_a_task_without_a_start_begins_where_the_world_resets():
    for start, first in ((None, [0, 0, 0]), ((3, 1, 0), [3, 1, 0])):
        learner = OptionLearner(Corridor(), at_cell(5, start=start), SETTINGS)
        assert learner.reset(jax.random.key(0), 1).tolist() == [first]


def test_what_does_not_fit_is_an_error(learned_skills):
    with pytest.raises(UserError, match="unknown task 'bake'"):
        household_task("bake")
    with pytest.raises(UserError, match="max_episode_steps must be at least 1, got 0"):
        jax_task("x", lambda values: jnp.array(True), 0)
    with pytest.raises(UserError, match="another world than MiniBehaviorPrinter-v0"):
        options_of(InstallingAPrinter(), learned_skills)
    with pytest.raises(UserError, match="skills have 3 actions, MiniBehaviorPrinter-v0 has 7"):
        options_of(InstallingAPrinter(), walkers())
    with pytest.raises(UserError, match="seed"):
        solve(Corridor(), at_cell(5), None, SETTINGS, seed=-1)


def test_skills_that_are_tables_are_an_error(focused_vic):
    with pytest.raises(UserError, match="learner=Neural"):
        options_of(Corridor(), focused_vic)
