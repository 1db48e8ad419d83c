"""Probe worlds: small ones with known answers, and random ones."""

from __future__ import annotations

import itertools

import numpy as np

from skillfocus.spaces import Space, Variable
from skillfocus.world import Outcome, World
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.mud_world import MudWorld

CORRIDOR = "#####\n#..T#\n#####"


def corridor(slip: float = 0.0, step_limit: int = 6) -> FourRooms:
    """Three cells in a row, a tool in the third: 6 states, numbered 2 * cell + tool."""
    return FourRooms(CORRIDOR, slip=slip, step_limit=step_limit)


TINY_MUD = "########\n#..MXMW#\n########"


def tiny_mud(slip: float = 0.1) -> MudWorld:
    """A corridor with mud, the treasure and a puddle in a row: two vacant cells, so two marks."""
    return MudWorld(TINY_MUD, slip=slip, step_limit=6, most_muddy=2)


class RandomWorld(World):
    """Random sparse dynamics over a few small variables; every combination is a state. The last
    variable only ever rises if `one_way`."""

    id = "Random-v0"
    step_limit = 5

    def __init__(self, seed: int, sizes: tuple[int, ...] = (3, 2), n_actions: int = 2,
                 one_way: bool = False) -> None:  # fmt: skip
        rng = np.random.default_rng(seed)
        self.space = Space(tuple(Variable(f"v{i}", tuple(range(n))) for i, n in enumerate(sizes)))
        self.actions = tuple(f"a{i}" for i in range(n_actions))
        self.follows = {}
        states = list(self.states())
        for state in states:
            for action in range(n_actions):
                n = int(rng.integers(1, 6))
                chosen = rng.choice(len(states), size=min(n, len(states)), replace=False)
                shares = rng.dirichlet(np.ones(len(chosen)))
                follows: dict[tuple[int, ...], float] = {}
                for p, i in zip(shares, chosen, strict=True):
                    last = max(state[-1], states[i][-1]) if one_way else states[i][-1]
                    target = (*states[i][:-1], last)
                    follows[target] = follows.get(target, 0.0) + float(p)
                self.follows[state, action] = [Outcome(p, s) for s, p in follows.items()]

    def states(self):
        return itertools.product(*(range(size) for size in self.space.sizes))

    def transition(self, state, action):
        return self.follows[state, action]


class Door(World):
    """A door that is unlocked for good and then opened and shut; a painted wall."""

    id, actions = "Door-v0", ("turn", "push")
    space = Space(
        (
            Variable("door", ("locked", "shut", "open")),
            Variable("wall", ("red", "blue")),
            Variable("light", (0, 1)),
        )
    )

    def states(self):
        return [(0, wall, 0) for wall in range(2)]

    def transition(self, state, action):
        door, wall, light = state
        if action == 0:
            return [Outcome(1.0, (max(door, 1), wall, light))]
        return [Outcome(1.0, (3 - door if door else 0, wall, 1))]


class Button(World):
    """A lamp whose button works with probability 0.4 and touches nothing else, and a dial."""

    id, actions, step_limit = "Button-v0", ("press", "turn"), 10
    space = Space((Variable("lamp", ("off", "on")), Variable("dial", (0, 1, 2))))

    def states(self):
        return [(0, dial) for dial in range(3)]

    def transition(self, state, action):
        lamp, dial = state
        if action == 1:
            return [Outcome(1.0, (lamp, (dial + 1) % 3))]
        return [Outcome(0.4, (1, dial)), Outcome(0.6, (lamp, dial))]
