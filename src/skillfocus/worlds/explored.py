"""A world found by exploring somebody else's model from its first states on.

A model says what can follow a state (its values, one per variable) and an action. Exploring
collects every state that can be reached, and each variable's values are those that were met. A
state entered by an outcome that ends the episode is *final*: no action leaves it. Where the same
values are met both with the episode over and with it going on, a variable `ended` is added.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cached_property
from typing import NamedTuple, Protocol

from skillfocus.core.factored import FactoredSpace, State, Variable
from skillfocus.core.world import STATE_LIMIT, Outcome, World
from skillfocus.errors import UserError
from skillfocus.worlds.grouping import Groups, Values, columns_of, constant, in_order

OWN = "environment:"
"""What the ids of worlds begin with that only their maker can make again."""
EXPLORING: ContextVar[Callable[[str, int, int], None] | None] = ContextVar(
    "EXPLORING", default=None
)
"""Set it to be told how exploring goes on: (world, states done, states found so far)."""


class Following(NamedTuple):
    """One way an action can end in a model."""

    probability: float
    values: Values
    ended: bool = False


class Original(Protocol):
    """The environment a world was found in, to be played step by step."""

    def reset(self, values: Values, seed: int | None = None) -> None:
        """Go to a state. A seed starts its chance anew."""

    def now(self) -> Values:
        """The state it is in."""
        ...

    def step(self, action: int) -> Following:
        """Take an action, and say what followed."""
        ...


class ExploredWorld(World):
    def __init__(
        self,
        world_id: str,
        *,
        names: Sequence[str],
        actions: Sequence[str],
        starts: Iterable[Values],
        follow: Callable[[Values, int], Iterable[Following]],
        limit: int = STATE_LIMIT,
        settings: Mapping[str, object] | None = None,
        groups: Groups | Callable[[list[Values]], Groups] | None = None,
        domains: Mapping[str, Variable] | None = None,
        step_limit: int = 40,
        original: Original | None = None,
        exact: bool = True,
        notes: Iterable[str] = (),
    ) -> None:
        self.actions, self.step_limit, self.limit = tuple(actions), step_limit, limit
        self.original, self.exact = original, exact
        self.id, self._settings = _kept(world_id, dict(settings or {}))
        self._order, self._rows, n_starts = _explore(
            world_id, len(self.actions), starts, follow, limit
        )
        if callable(groups):
            groups = groups([values for values, _ in self._order])
        self.groups = groups or {}
        known = domains or {}
        columns = columns_of(tuple(names), self._order, self.groups)
        self.left_out = constant(columns, known)
        for name in self.left_out:
            del columns[name]
        self.space = FactoredSpace(
            tuple(
                known[name]
                if name in known and name not in self.groups
                else Variable(name, in_order(set(column)))
                for name, column in columns.items()
            )
        )
        places = [
            {value: i for i, value in enumerate(variable.values)}
            for variable in self.space.variables
        ]
        for variable, column in zip(self.space.variables, columns.values(), strict=True):
            strange = set(column) - set(variable.values)
            if strange:
                raise UserError(
                    f"{world_id}: {variable.name} takes the value {min(strange, key=repr)!r}, "
                    f"which is none of its values {variable.values}"
                )
        self.every_state: list[State] = [
            tuple(place[value] for place, value in zip(places, row, strict=True))
            for row in zip(*columns.values(), strict=True)
        ]
        self._numbers = {state: number for number, state in enumerate(self.every_state)}
        self._n_starts = n_starts
        self.names_found = tuple(names)
        self.final = frozenset(
            state for state, (_, ended) in zip(self.every_state, self._order, strict=True) if ended
        )
        self.fixed = self._unchanged()
        self.notes = (*notes, *self._remarks())

    @property
    def settings(self) -> dict[str, object]:
        return dict(self._settings)

    @property
    def goals(self) -> tuple[str, ...]:
        added = "ended" not in self.names_found
        return tuple(name for name in super().goals if not (added and name == "ended"))

    def states(self) -> Iterable[State]:
        return self.every_state[: self._n_starts]

    def transition(self, state: State, action: int) -> list[Outcome]:
        rows = self._rows[self._numbers[tuple(state)]][action]
        return [Outcome(probability, self.every_state[number]) for probability, number in rows]

    def values_of(self, state: State) -> Values:
        """A state as the model it was found in knows it."""
        return self._order[self._numbers[tuple(state)]][0]

    def find(self, values: Values, ended: bool = False) -> State | None:
        """The state of a model's values, if exploring met them."""
        return self._known.get((tuple(values), bool(ended)))

    @cached_property
    def _known(self) -> dict[tuple[Values, bool], State]:
        return dict(zip(self._order, self.every_state, strict=True))

    def play(
        self,
        policy: Callable[[State], int | None],
        start: State,
        seed: int | None = None,
        most: int = 100_000,
    ) -> Iterator[State]:
        """Follow a policy (such as `skills.policy(z)`) in the environment this world was found in:
        the states met, the first one too, until the policy has no action or the episode ends."""
        if self.original is None:
            raise UserError(f"{self.id} was not found in an environment that can be played")
        self.original.reset(self.values_of(start), seed)
        state = tuple(start)
        yield state
        for _ in range(most):
            action = policy(state)
            if action is None or state in self.final:
                return
            _, values, ended = self.original.step(action)
            found = self.find(values, ended)
            if found is None:
                met = dict(zip(self.names_found, values, strict=True))
                raise UserError(f"{self.id}: playing led to {met}, which exploring never met")
            state = found
            yield state

    def _unchanged(self) -> tuple[str, ...]:
        changing: set[int] = set()
        places = range(len(self.space))
        for state, per_action in zip(self.every_state, self._rows, strict=True):
            for rows in per_action:
                for _, number in rows:
                    after = self.every_state[number]
                    changing.update(j for j in places if state[j] != after[j])
            if len(changing) == len(places):
                return ()
        return tuple(name for j, name in enumerate(self.space.names) if j not in changing)

    def _remarks(self) -> Iterator[str]:
        if self.final:
            share = f"{len(self.final):,} of {len(self.every_state):,} states"
            verb = "is" if len(self.final) == 1 else "are"
            yield f"{share} {verb} final: an episode ends there, and no skill leaves them"
        if self.left_out:
            count, few = len(self.left_out), ", ".join(self.left_out[:3])
            more = ", …" if count > 3 else ""
            yield f"left out, as they never have another value: {few}{more} ({count} in all)"
        if "ended" in self.space.names and "ended" not in self.names_found:
            yield "the variable ended was added: the same values occur with the episode over or not"


def _kept(world_id: str, settings: dict[str, object]) -> tuple[str, dict[str, object]]:
    """Id and settings as a file can hold them; what it cannot hold, only its maker can make."""
    try:
        return world_id, json.loads(json.dumps(settings))
    except TypeError:
        return OWN + world_id.partition(":")[2], {}


def _explore(
    world_id: str,
    n_actions: int,
    starts: Iterable[Values],
    follow: Callable[[Values, int], Iterable[Following]],
    limit: int,
) -> tuple[list[tuple[Values, bool]], list[list[list[tuple[float, int]]]], int]:
    """Everything that can be reached, in the order met: states, what follows them, and how many
    of them were starts."""
    numbers: dict[tuple[Values, bool], int] = {}
    order: list[tuple[Values, bool]] = []

    def number(values: Values, ended: bool) -> int:
        key = (values, ended)
        if key not in numbers:
            if len(order) >= limit:
                raise UserError(
                    f"{world_id} has more than {limit:,} states: use a smaller one, leave out "
                    f"variables, or raise the limit with limit=…"
                )
            numbers[key] = len(order)
            order.append(key)
        return numbers[key]

    for values in starts:
        number(values, False)
    n_starts = len(order)
    if not order:
        raise UserError(f"{world_id} names no state to start from")
    rows: list[list[list[tuple[float, int]]]] = []
    exploring = EXPLORING.get()
    while len(rows) < len(order):
        here = len(rows)
        if exploring is not None:
            exploring(world_id, here, len(order))
        values, ended = order[here]
        rows.append([])
        for action in range(n_actions):
            if ended:
                rows[-1].append([(1.0, here)])
                continue
            merged: dict[int, float] = {}
            for probability, following, over in follow(values, action):
                if probability > 0:
                    target = number(following, bool(over))
                    merged[target] = merged.get(target, 0.0) + probability
            rows[-1].append([(p, target) for target, p in merged.items()])
    return order, rows, n_starts
