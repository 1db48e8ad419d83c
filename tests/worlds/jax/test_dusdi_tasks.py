"""DUSDi's downstream tasks, against recorded rewards and by hand."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from dusdi_recordings import actions_of, particles_state, recording, replay
from skillfocus.worlds.jax.dusdi.tasks import TASKS, FoodPoison, PoisonState
from skillfocus.worlds.jax.dusdi.worlds import Gunner, Particles

KEY = jax.random.key(0)


def run(task, observations, first=None, redrawn=None):
    """Return a task's rewards and its observations, given the world's [n_steps + 1, …].

    Args:
        first: The task's state at the start.
        redrawn: What is poison after each step, [n_steps, 10], in place of random draws.
    """

    def advance(state, given):
        before, after, poison = given
        step = task.step(KEY, state, before, after)
        state = step.state if poison is None else step.state._replace(poisoned=poison)
        return state, (step.reward, step.true_reward, task.observation(state))

    first = task.reset(KEY, observations[0]) if first is None else first
    given = observations[:-1], observations[1:], redrawn
    rewards, true_rewards, shown = jax.jit(lambda *g: jax.lax.scan(advance, first, g)[1])(*given)
    np.testing.assert_array_equal(rewards, true_rewards)
    return np.asarray(rewards), np.concatenate([task.observation(first)[None], shown])


@pytest.mark.parametrize("name", ["unlimited", "limited"])
@pytest.mark.parametrize("episode", range(3))
def test_gunner_earns_what_was_recorded(name, episode):
    recorded, task = recording("gunner"), TASKS[f"gunner-{name}"]
    items, numbers = recorded["items"][episode], recorded["numbers"][episode]
    observations = jnp.asarray(np.concatenate([items, numbers], axis=1), jnp.float32)
    rewards, shown = run(task, observations)
    np.testing.assert_array_equal(rewards, recorded[name][episode])
    np.testing.assert_allclose(shown[:, 0], recorded["extra"][0], atol=1e-6)
    assert task.make_world().observation_size + task.observation_size == 19


def particles(name):
    """Return the recorded episode, replayed: float32 [n_steps + 1, 70]."""
    recorded, world = recording("particle"), Particles()
    start = particles_state(recorded[f"{name}/first"])
    return jnp.asarray(replay(world, start, actions_of(recorded[f"{name}/levels"], world)))


@pytest.mark.parametrize(
    "task",
    [
        TASKS["food-poison-easy"],
        TASKS["food-poison-mid"],
        TASKS["food-poison-hard"],
        FoodPoison("env-helper-easy", (1, 2)),
    ],
    ids=lambda task: task.name,
)
def test_food_and_poison_earn_what_was_recorded(task):
    recorded = recording("particle")
    name = task.name if task.name in TASKS else "food-poison-env-helper-easy"
    extra = recorded[f"random/{name}/extra"]
    poison = jnp.asarray(np.repeat(extra[:, :10], 50, axis=0)[1:1001])  # after each step
    first = PoisonState(jnp.asarray(extra[0, :10]), jnp.int32(0))
    rewards, shown = run(task, particles("random"), first, poison)
    np.testing.assert_array_equal(rewards, recorded[f"random/{name}/reward"])
    np.testing.assert_allclose(shown[::50], extra, atol=1e-6)


@pytest.mark.parametrize("name", ["random", "scripted"])
def test_sequences_earn_what_was_recorded(name):
    recorded, task = recording("particle"), TASKS["sequential-mid"]
    rewards, shown = run(task, particles(name))
    np.testing.assert_allclose(rewards, recorded[f"{name}/sequential-mid/reward"], atol=1e-5)
    np.testing.assert_allclose(shown[::50], recorded[f"{name}/sequential-mid/extra"], atol=1e-6)
    if name == "scripted":
        assert rewards.sum() / task.skill_steps == pytest.approx(128.846, abs=1e-3)


def test_poison_is_drawn_anew_every_fifty_steps():
    task = TASKS["food-poison-mid"]
    state = task.reset(KEY, jnp.zeros(70))
    seen = [np.asarray(state.poisoned)]
    step = jax.jit(task.step)
    for key in jax.random.split(KEY, 200):
        state = step(key, state, jnp.zeros(70), jnp.zeros(70)).state
        seen.append(np.asarray(state.poisoned))
    changes = [t + 1 for t in range(200) if (seen[t] != seen[t + 1]).any()]
    assert changes == [50, 100, 150, 200]
    assert 0.3 < np.mean(seen) < 0.7


def test_bounds_of_returns():
    bounds = {name: task.best_return for name, task in TASKS.items()}
    assert bounds == {
        "food-poison-easy": 20, "food-poison-mid": 100, "food-poison-hard": 160,
        "sequential-mid": 150, "sequential-hard": 120,
        "gunner-unlimited": 40, "gunner-limited": 40,
    }  # fmt: skip


def test_food_and_poison_by_hand():
    task = FoodPoison("by-hand", (0, 1, 2, 3))
    distances = jnp.array([0.5, 0.7, 0.5, 0.7, *[9.0] * 66])
    poisoned = jnp.array([0, 0, 1, 1, *[0] * 6], jnp.float32)
    step = task.step(KEY, PoisonState(poisoned, jnp.int32(0)), distances, distances)
    assert step.reward == 1 - 1 - 1 + 1
    step = task.step(KEY, PoisonState(1 - poisoned, jnp.int32(0)), distances, distances)
    assert step.reward == -1 + 1 + 1 - 1


def test_worlds_of_tasks():
    assert isinstance(TASKS["gunner-limited"].make_world(), Gunner)
    assert TASKS["sequential-hard"].make_world().observation_size == 70
