"""The worlds of Mini-BEHAVIOR, against recordings of the original."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from mini_behavior_recordings import recording
from skillfocus.errors import UserError
from skillfocus.worlds.jax.mini_behavior.chores import (
    CleaningACar,
    InstallingAPrinter,
    ThawingFrozenFood,
)

KEY = jax.random.key(0)
WORLDS = pytest.mark.parametrize(
    "world", [InstallingAPrinter(), ThawingFrozenFood(), CleaningACar()], ids=lambda world: world.id
)


@cache
def jitted_step(kind):
    return jax.jit(kind().step)


@cache
def varied_starts(kind):
    """Draw starts, int32 [n, n_variables]."""
    world = kind(starts="varied")
    return np.asarray(jax.jit(jax.vmap(world.reset))(jax.random.split(KEY, 4000)))


def act(world, state, *names):
    """Take actions by name."""
    for name in names:
        state = jitted_step(type(world))(KEY, jnp.array(state), world.actions.index(name))
    return state


def labels(world, state):
    return world.space.labels(np.asarray(state).tolist())


@WORLDS
def test_replays_recorded_trajectories(world):
    recorded = recording(world)

    def replay(start, actions):
        def advance(state, action):
            after = world.step(KEY, state, action)
            return after, after

        return jax.lax.scan(advance, start, actions)[1]

    replayed = jax.jit(jax.vmap(replay))(recorded.states[:, 0], recorded.actions)
    assert recorded.actions.shape == (48, world.episode_length)
    np.testing.assert_array_equal(replayed, recorded.states[:, 1:])


@WORLDS
def test_starts_where_the_original_starts(world):
    starts = recording(world).states[:, 0]
    assert (starts == np.array(world.task_start)).all()
    assert tuple(world.reset(KEY).tolist()) == world.task_start
    assert world.reset(KEY).dtype == jnp.int32


@WORLDS
def test_recordings_reach_what_matters(world):
    recorded = recording(world)
    actions = {world.actions[a] for a in np.unique(recorded.actions)}
    assert actions == set(world.actions)
    changed = (recorded.states[:, 1:] != recorded.states[:, :-1]).any(axis=1).sum(axis=0)
    assert (changed >= 10).all(), dict(zip(world.space.names, changed, strict=True))
    for task, success in recorded.success.items():
        if task != "thaw-all":
            assert success.any(axis=1).sum() >= 9, task


@WORLDS
def test_one_way_variables_are_the_ones_that_never_return(world):
    states = recording(world).states
    for j, name in enumerate(world.space.names):
        returns = False
        for trajectory in states[:, :, j]:
            runs = trajectory[np.append(True, trajectory[1:] != trajectory[:-1])]
            returns |= len(set(runs.tolist())) < len(runs)
        assert returns == (name not in world.one_way), name


@WORLDS
def test_varied_starts_are_valid_and_varied(world):
    states = varied_starts(type(world))
    assert states.dtype == np.int32
    for j, variable in enumerate(world.space.variables):
        unseen = set(range(len(variable.values))) - set(states[:, j].tolist())
        assert all(str(variable.values[i]).startswith("above") for i in unseen), variable.name
    agent = np.array(world.room.free)[states[:, 0]]
    for j, name in enumerate(world.space.names):
        if name.endswith("_position"):
            cells = np.array([*world.room.cells, *[(-1, -1)] * 5])[states[:, j]]
            assert (cells != agent).any(axis=1).all(), name


def test_varied_starts_of_the_car_world_keep_what_always_holds():
    _, _, rag, soap, soak, clean, stain, soaped, _ = varied_starts(CleaningACar).T
    on_car, in_bucket = CleaningACar.room.on("car"), CleaningACar.room.on("bucket")
    assert (clean[stain == 1] == 5).all()
    assert (soak[stain == 0] > 0).all()
    assert (clean[(stain == 0) & (soaped == 0)] == 0).all()
    assert (soak[on_car[rag] & (stain == 1)] == 0).all()
    assert soaped[in_bucket[soap]].all()
    assert not ((rag == soap) & on_car[rag]).any()


def test_unknown_starts_are_refused():
    with pytest.raises(UserError, match='starts must be "task" or "varied", got \'random\''):
        InstallingAPrinter(starts="random")  # pyright: ignore[reportArgumentType]


@WORLDS
def test_goals_and_default_target_are_variables(world):
    assert world.default_target == "agent"
    assert set(world.goals) == set(world.space.names) - {"agent", "direction"}
    assert set(world.one_way) <= set(world.goals)
    assert world.settings == {"starts": "task"}


def test_printer_gets_ready_one_step_late_and_stays_ready():
    world = InstallingAPrinter()
    state = world.state(
        agent=(4, 2), direction="up", printer_position="carried", printer_on=1, table_clean=1
    )
    state = act(world, state, "drop")
    assert labels(world, state)["printer_position"] == (3, 2)
    assert labels(world, state)["printer_ready"] == 0
    state = act(world, state, "toggle")  # too late: the step begins with the printer on
    assert labels(world, state)["printer_ready"] == 1
    assert labels(world, act(world, state, "pickup", "toggle"))["printer_ready"] == 1


def test_food_above_the_sink_does_not_thaw():
    world = ThawingFrozenFood()
    state = world.state(
        agent=(6, 5),
        direction="right",
        sink_on=1,
        olive_position="carried",
        fish_position="carried",
        date_position=(3, 4),
        olive_frozen=5,
        fish_frozen=5,
        date_frozen=5,
    )
    state = act(world, state, "drop_olive", "drop_fish", "left", "right")
    after = labels(world, state)
    assert (after["olive_position"], after["fish_position"]) == ((6, 6), "above (6, 6)")
    assert (after["olive_frozen"], after["fish_frozen"]) == (2, 5)
    state = act(world, state, "pickup", "left", "right")  # the olive; the fish stays above
    after = labels(world, state)
    assert (after["olive_position"], after["fish_position"]) == ("carried", "above (6, 6)")
    assert (after["olive_frozen"], after["fish_frozen"]) == (1, 5)
    after = labels(world, act(world, state, "pickup", "drop_fish", "left"))
    assert (after["fish_position"], after["fish_frozen"]) == ((6, 6), 4)


def test_a_cell_of_the_car_holds_one_thing():
    world = CleaningACar()
    state = world.state(
        agent=(3, 2),
        direction="up",
        rag_position="carried",
        soap_position="carried",
        rag_soak=1,
        rag_cleanness=5,
        car_stain=1,
    )
    after = labels(world, act(world, state, "drop_soap", "drop_rag"))
    assert (after["soap_position"], after["rag_position"]) == ((2, 2), "carried")
    after = labels(world, act(world, state, "drop_rag"))
    assert (after["car_stain"], after["rag_cleanness"]) == (1, 5)
    after = labels(world, act(world, state, "drop_rag", "pickup"))
    assert (after["car_stain"], after["rag_cleanness"]) == (0, 0)
    assert after["rag_position"] == "carried"
