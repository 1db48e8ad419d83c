"""Downstream tasks: what an agent with skills is asked to do, and what it is told.

A task begins in one state and pays +1 when a state is entered in which it is accomplished. The
*true* reward says what is wanted; the *proxy* reward forgets the side effects (Section 5 of the
paper). In the three worlds the agent starts in the top-left cell, nothing changed, and ends in
the bottom-right one:

world         the true task is done with                  the proxy with         steps
FourRooms     all tools                                   the same               320
ForageWorld   all resources, no plant destroyed           all resources          60
MudWorld      the treasure, fewer than 5 tracked cells    the treasure, clean    60
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from skillfocus.core.factored import State
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.worlds.forage_world import ForageWorld
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.mud_world import MudWorld

MUDDY_CELLS_ALLOWED = 4
MAX_EPISODE_STEPS: dict[type[World], int] = {FourRooms: 320, ForageWorld: 60, MudWorld: 60}
"""The most steps that an episode of the paper's tasks may take."""
Accomplished = Callable[[dict], bool]
"""Whether a state, given as {variable: value}, accomplishes a task."""


@dataclass(frozen=True, eq=False)
class Task:
    name: str
    start: int
    """The first state's number."""
    max_episode_steps: int
    """The most steps an episode may take."""
    true: np.ndarray
    """[state]: whether the task is accomplished there."""
    proxy: np.ndarray
    """[state]: whether the proxy takes it for accomplished."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The rewards it can be learned from: `true`, and `proxy` where that is another."""
        return ("true",) if np.array_equal(self.true, self.proxy) else ("true", "proxy")

    def reward(self, kind: str) -> np.ndarray:
        """[state]: where the `true` or the `proxy` reward is paid."""
        if kind not in ("true", "proxy"):
            raise UserError(f"the reward is {kind!r}; it must be 'true' or 'proxy'")
        return self.true if kind == "true" else self.proxy


def make_task(
    mdp: TabularMDP,
    name: str,
    start: State,
    max_episode_steps: int,
    true: Accomplished,
    proxy: Accomplished | None = None,
) -> Task:
    """A task of your own: predicates over {variable: value}."""
    if max_episode_steps < 1:
        raise UserError(f"the task {name} may take {max_episode_steps} steps; it needs at least 1")
    labels = [mdp.space.labels(row) for row in mdp.values]
    done = np.array([bool(true(state)) for state in labels])
    taken = done if proxy is None else np.array([bool(proxy(state)) for state in labels])
    if not done.any() or not taken.any():
        raise UserError(f"no state accomplishes the task {name}")
    return Task(name, mdp.number(start), max_episode_steps, done, taken)


def task_of(world: World, mdp: TabularMDP) -> Task:
    """The paper's task in one of its worlds."""
    if isinstance(world, FourRooms):
        corner = _corner(world, world.goals)
        return make_task(mdp, "tools", _start(mdp), MAX_EPISODE_STEPS[FourRooms], corner)
    if isinstance(world, ForageWorld):
        gathered = _corner(world, world.goals)
        plants = [name for name in world.space.names if name.startswith("plant")]
        return make_task(
            mdp, "resources", _start(mdp), MAX_EPISODE_STEPS[ForageWorld],
            lambda state: gathered(state) and not any(state[name] for name in plants), gathered,
        )  # fmt: skip
    if isinstance(world, MudWorld):
        taken = _corner(world, world.goals)
        return make_task(
            mdp, "treasure", _start(mdp), MAX_EPISODE_STEPS[MudWorld],
            lambda state: taken(state) and state["muddy_cells"] <= MUDDY_CELLS_ALLOWED,
            lambda state: taken(state) and not state["muddy"],
        )  # fmt: skip
    raise UserError(f"{world.id} has no task of its own; make one with make_task")


def _start(mdp: TabularMDP) -> State:
    """The top-left cell, nothing changed: the first value of every variable."""
    return (0,) * len(mdp.space)


def _corner(world: World, goals: tuple[str, ...]) -> Accomplished:
    """In the bottom-right cell, with as much as can be of every goal."""
    variables = {variable.name: variable for variable in world.space.variables}
    last = variables["position"].values[-1]
    most = {name: variables[name].values[-1] for name in goals}
    return lambda state: (
        state["position"] == last and all(state[name] == n for name, n in most.items())
    )


@njit(cache=True, nogil=True)
def _fewest_steps(successors, probabilities, done, max_episode_steps, steps, success):
    """Backwards from the last step: the expected number of steps of the best policy, and how
    often it is done in time."""
    n, n_actions, n_outcomes = successors.shape
    for _ in range(max_episode_steps):
        now = np.zeros(n)
        won = np.zeros(n)
        for s in range(n):
            if done[s]:
                won[s] = 1.0
                continue
            now[s] = np.inf
            for a in range(n_actions):
                cost = 1.0
                chance = 0.0
                for m in range(n_outcomes):
                    cost += probabilities[s, a, m] * steps[successors[s, a, m]]
                    chance += probabilities[s, a, m] * success[successors[s, a, m]]
                if cost < now[s] - 1e-12 or (cost < now[s] + 1e-12 and chance > won[s]):
                    now[s] = cost
                    won[s] = chance
        steps[:] = now
        success[:] = won


def optimum(mdp: TabularMDP, task: Task, kind: str = "true") -> tuple[float, float]:
    """What the best policy over primitive moves needs: expected steps (the cap for a failure) and
    the probability of success, exact by dynamic programming over the steps left. Where a world
    hides marks, every mark is taken to be new: the steps are then an upper bound."""
    done = task.reward(kind)
    steps, success = np.zeros(mdp.n_states), done.astype(float)
    _fewest_steps(mdp.successors, mdp.probabilities, done, task.max_episode_steps, steps, success)
    return float(steps[task.start]), float(success[task.start])


def highest_return(mdp: TabularMDP, task: Task, kind: str = "true") -> float:
    """The largest probability with which any policy over primitive moves accomplishes the task
    within its cap; where a world hides marks, a lower bound, as every mark is taken to be new."""
    done = task.reward(kind)
    chance = done.astype(float)
    for _ in range(task.max_episode_steps):
        following = (mdp.probabilities * chance[mdp.successors]).sum(axis=2).max(axis=1)
        chance = np.where(done, 1.0, following)
    return float(chance[task.start])
