"""The mud map as variables moves exactly as the hidden marks of MudWorld."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from probes import TINY_MUD, tiny_mud
from skillfocus.worlds.jax.rooms import FIRST_FLAG, VisibleMud
from skillfocus.worlds.mud_world import MudWorld

jax = pytest.importorskip("jax")
jnp = jax.numpy
from skillfocus.worlds.jax.table import TableWorld


@pytest.mark.parametrize(
    ("finite", "world"),
    [(tiny_mud(), VisibleMud(TINY_MUD)), (MudWorld(most_muddy=40), VisibleMud())],
    ids=["tiny", "paper"],
)
def test_it_moves_as_the_finite_world_with_its_marks(finite, world):
    """Shared draws, from clean maps and from drawn ones; no walk here muddies 40 cells."""
    table = TableWorld(finite, sf.tabulate(finite))
    n, steps = 256, 30
    place_keys, key = jax.random.split(jax.random.key(0))
    starts = jax.jit(jax.vmap(table.reset))(jax.random.split(place_keys, n))
    few = table.values(starts)[:, 3] <= 40 - steps  # the count must not reach its limit
    starts = jax.tree.map(lambda leaf: leaf[np.flatnonzero(few)], starts)
    n = int(few.sum())
    actions = np.random.default_rng(0).integers(4, size=(steps, n))

    def visible(state):
        return jnp.concatenate([jax.vmap(table.values)(state)[:, :3], state[1]], axis=1)

    def step(states, given):
        (on_table, seen), (keys, actions) = states, given
        on_table = jax.vmap(table.step)(keys, on_table, actions)
        seen = jax.vmap(world.step)(keys, seen, actions)
        counts = table.values(on_table)[:, 3], world.muddy_cells(seen)
        return (on_table, seen), ((visible(on_table) == seen).all(), *counts)

    first = starts, visible(starts).astype(jnp.int32)
    _, (equal, counted, flags) = jax.jit(lambda s, k: jax.lax.scan(step, s, k))(
        first, (jax.random.split(key, (steps, n)), jnp.asarray(actions))
    )
    assert equal.all()
    np.testing.assert_array_equal(counted, flags)
    assert (flags[-1] > flags[0]).mean() > 0.05  # tracks were left


def test_variables():
    world = VisibleMud()
    assert len(world.vacant) == 86
    assert world.space.n_combinations == 100 * 4 * 2**86
    assert world.goals == ("treasure",)
    assert world.default_target == "position"
    assert len(world.one_way) == 87
    assert world.space.names[FIRST_FLAG] == "mud_1_1"
    assert "muddy" not in world.one_way
    assert world.settings == {k: v for k, v in MudWorld().settings.items() if k != "most_muddy"}
    with pytest.raises(sf.UserError, match="the map has no puddle 'W'"):
        VisibleMud("####\n#MX#\n####")


def test_environments_start_with_little_and_much_mud():
    world = VisibleMud()
    states = np.asarray(jax.jit(jax.vmap(world.reset))(jax.random.split(jax.random.key(0), 4000)))
    share = np.asarray(world.muddy_cells(jnp.asarray(states))) / 86
    np.testing.assert_allclose(np.quantile(share, [0.1, 0.5, 0.9]), [0.1, 0.5, 0.9], atol=0.05)
    np.testing.assert_allclose(states[:, 1:3].mean(axis=0), 0.5, atol=0.05)
    assert len(np.unique(states[:, 0])) == 100


def test_drawing_shows_tracks():
    world = VisibleMud(TINY_MUD)
    shown = world.draw(world.state(position=(1, 6), muddy=1, treasure=1, mud_1_2=1))
    assert shown == "########\n#.,MMM@#\n########\nmuddy=1\ntreasure=1\nmuddy_cells=1"
