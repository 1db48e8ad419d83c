"""The tasks of Mini-BEHAVIOR, against what the original reports."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from mini_behavior_recordings import recording
from skillfocus.errors import UserError
from skillfocus.tasks.task import household_task
from skillfocus.worlds.jax.mini_behavior.chores import ThawingFrozenFood
from skillfocus.worlds.jax.mini_behavior.tasks import TASKS, is_allowed


@pytest.mark.parametrize("name", list(TASKS))
def test_success_is_what_the_original_counts(name):
    recorded = recording(TASKS[name].world())
    success = recorded.success[name]
    met = np.asarray(TASKS[name].success(recorded.states))[:, 1:]
    done, possible = success.any(axis=1), met.any(axis=1)
    assert (done <= possible).all()
    assert (success.argmax(axis=1) >= met.argmax(axis=1))[done].all()
    # Milestones delay the report; a condition that lasts is always reported.
    windows = np.lib.stride_tricks.sliding_window_view(met, 10, axis=1)
    lasting = np.asarray(windows.all(axis=2)).any(axis=1)
    assert (done >= lasting).all()
    assert lasting.any()


def test_tasks_are_not_met_at_the_start_and_side_conditions_are():
    for name, task in TASKS.items():
        start = jnp.array(task.world().task_start)
        assert not task.success(start), name
        for side, condition in task.side_conditions.items():
            assert condition(start), (name, side)


def test_true_success_needs_the_side_conditions():
    task = household_task("thaw-fish")
    world = TASKS["thaw-fish"].world()
    thawed = {**world.start, "fish_frozen": 4, "fish_position": (6, 6)}
    states = np.array(
        [
            world.space.state(**thawed),
            world.space.state(**{**thawed, "sink_on": 1}),
            world.space.state(**{**thawed, "olive_frozen": 3}),
            world.space.state(**{**thawed, "fish_frozen": 5}),
        ]
    )
    assert task.proxy(states).tolist() == [True, True, True, False]
    assert task.true(states).tolist() == [True, False, False, False]
    assert task.true(states[0]).shape == ()


def test_condition_on_an_unknown_variable_is_an_error():
    with pytest.raises(UserError, match="sink_on"):
        is_allowed(ThawingFrozenFood, {"sink_onn": (0,)}, jnp.zeros(10, jnp.int32))
