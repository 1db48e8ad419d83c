from __future__ import annotations

from collections import deque

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from enumerated import enumerate_world
from skillfocus.errors import UserError
from skillfocus.spaces import Space, Variable
from skillfocus.worlds.jax.mini_behavior.chores import InstallingAPrinter
from skillfocus.worlds.jax.table import TableWorld
from skillfocus.worlds.jax.world import JaxWorld

RIGHT, DOWN, LEFT, UP = (1, 0), (0, 1), (-1, 0), (0, -1)


class Ring(JaxWorld):
    """Add 1 or 2 modulo 5, and remember whether 0 was passed; "draw" adds at random."""

    id = "Ring-v0"
    space = Space((Variable("number", (0, 1, 2, 3, 4)), Variable("passed", (0, 1))))
    actions = ("one", "two")
    random = False

    def reset(self, key):
        return jnp.zeros(2, jnp.int32)

    def step(self, key, state, action):
        move = jax.random.randint(key, (), 0, 1000) if self.random else action + 1
        number = state[0] + move
        return jnp.stack([number % 5, jnp.where(number >= 5, 1, state[1])]).astype(jnp.int32)


def test_states_are_numbered_breadth_first():
    world = enumerate_world(Ring(), [(3, 0), (0, 0), (3, 0)])
    assert world.states() == [(3, 0), (0, 0)]
    states = [(3, 0), (0, 0), (4, 0), (0, 1), (1, 0), (2, 0), (1, 1), (2, 1), (3, 1), (4, 1)]
    assert [tuple(row) for row in world.mdp.values.tolist()] == states
    assert world.mdp.successors[0, :, 0].tolist() == [2, 3]
    assert world.transition((4, 0), 1)[0].state == (1, 1)


def test_an_enumerated_world_steps_in_jax_again():
    world = enumerate_world(Ring(), [(3, 0)])
    table = TableWorld(world, world.mdp)
    key = jax.random.key(0)
    state = table.place(key, jnp.array([4, 0]))
    assert table.values(table.step(key, state, jnp.array(1))).tolist() == [1, 1]
    assert table.one_way == ("passed",)


def test_limit_starts_and_chance_are_errors():
    with pytest.raises(UserError, match="Ring-v0 has more than 9 states: use fewer variables"):
        enumerate_world(Ring(), [(3, 0), (0, 0)], limit=9)
    with pytest.raises(UserError, match="Ring-v0 names no state to start from"):
        enumerate_world(Ring(), [])
    world = Ring()
    world.random = True
    with pytest.raises(UserError, match=r"'one' in state .*'number': 3.* has a random outcome"):
        enumerate_world(world, [(3, 0)])


# The printer world once more, from its rules: positions are (column, row), the room is 8 × 8 with
# walls around it, and the table fills columns 1 to 3 of rows 2 and 3.
TABLE = {(x, y) for x in (1, 2, 3) for y in (2, 3)}


def follow(state, action):
    """Return the state that follows an action: agent, facing, printer or None, on, ready, clean."""
    (x, y), facing, printer, on, ready, clean = state
    if printer in TABLE and on and clean:
        ready = True
    front = (x + facing[0], y + facing[1])
    inside = 1 <= front[0] <= 6 and 1 <= front[1] <= 6
    if action == "left":
        facing = {RIGHT: UP, UP: LEFT, LEFT: DOWN, DOWN: RIGHT}[facing]
    elif action == "right":
        facing = {RIGHT: DOWN, DOWN: LEFT, LEFT: UP, UP: RIGHT}[facing]
    elif action == "forward":
        if inside and front not in TABLE and front != printer:
            x, y = front
    elif action == "pickup":
        if printer == front:
            printer = None
    elif action == "drop":
        if printer is None and inside:
            printer = front
    elif action == "toggle":
        if printer is None or printer == front:
            on = not on
    elif action == "clean" and front in TABLE:
        clean = True
    return (x, y), facing, printer, on, ready, clean


def encode(world, state):
    """Return a state of the search as value indices."""
    (x, y), facing, printer, on, ready, clean = state
    return world.space.state(
        agent=(y, x),
        direction={RIGHT: "right", DOWN: "down", LEFT: "left", UP: "up"}[facing],
        printer_position="carried" if printer is None else (printer[1], printer[0]),
        printer_on=int(on),
        printer_ready=int(ready),
        table_clean=int(clean),
    )


@pytest.fixture(scope="module")
def printer():
    world = InstallingAPrinter()
    return enumerate_world(world, [world.task_start])


def test_printer_world_equals_a_search_by_its_rules(printer):
    start = ((4, 4), RIGHT, (6, 5), False, False, False)
    found: dict[tuple, tuple] = {start: encode(printer, start)}
    queue: deque[tuple] = deque([start])
    transitions = {}
    while queue:
        state = queue.popleft()
        after = [follow(state, action) for action in printer.actions]
        for successor in after:
            if successor not in found:
                found[successor] = encode(printer, successor)
                queue.append(successor)
        transitions[found[state]] = [found[successor] for successor in after]
    assert printer.mdp.n_states == len(found) == 25_248
    codes = printer.space.encode(printer.mdp.values)
    assert len(np.unique(codes)) == len(codes)
    numbers = np.array([printer.mdp.number(state) for state in transitions])
    expected = np.array(list(transitions.values()))
    actual = printer.mdp.values[printer.mdp.successors[numbers, :, 0]]
    np.testing.assert_array_equal(actual, expected)


def test_one_way_variables_of_the_printer_world_are_exact(printer):
    names = printer.space.names
    irreversible = {n for n, back in zip(names, printer.mdp.reversible, strict=True) if not back}
    assert irreversible == set(InstallingAPrinter.one_way)


def test_varied_starts_of_the_printer_world_are_states_of_the_task(printer):
    world = InstallingAPrinter(starts="varied")
    states = jax.jit(jax.vmap(world.reset))(jax.random.split(jax.random.key(1), 20_000))
    drawn = np.unique(printer.space.encode(np.asarray(states)))
    assert np.isin(drawn, printer.space.encode(printer.mdp.values)).all()
    assert len(drawn) > 5_000
