"""Worlds made by exploring a foreign model from its starts.

Exploring enumerates every reachable state, and each variable gets the values that occur. A state
entered by an outcome that ends the episode is *final*: no action leaves it. If the same values
occur both during and at the end of an episode, a variable `ended` is added to tell the two states
apart.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from skillfocus.core.enumeration import StateGraph
from skillfocus.core.factored import FactoredSpace, State, Variable
from skillfocus.core.world import STATE_LIMIT, Outcome, World, check_step_limit
from skillfocus.errors import UserError
from skillfocus.files import digest
from skillfocus.worlds.exploration_cache import cached_exploration, exploration_key
from skillfocus.worlds.grouping import Groups, constant_variables, sort_values, value_columns
from skillfocus.worlds.model import Key, Model, Simulator, Values, explore

LOCAL_PREFIX = "environment:"
"""Begins the ids of worlds that hold functions or objects, which only their own program can make
again."""


class ExploredWorld(World):
    """A world whose states were enumerated by exploring a model.

    Adapters such as `sf.adapters.from_gymnasium` make them::

        world = sf.adapters.from_gymnasium("FrozenLake-v1")
        world.final_states  # holes and the goal
        list(world.play(skills.policy(0), start))  # a skill in the environment itself
    """

    all_states: list[State]
    """Every state, in the order of exploration."""
    groups: Groups
    """The variables that were joined."""
    constant_variables: list[str]
    """Variables of the model that never change and were left out."""
    model_variables: tuple[str, ...]
    """All variables of the model, in the order of its values."""
    simulator: Simulator | None
    """The environment itself, if it can be set to a state and stepped."""
    exact: bool
    """Whether the probabilities are exact rather than frequencies of samples."""

    def __init__(
        self,
        world_id: str,
        *,
        names: Sequence[str],
        actions: Sequence[str],
        starts: Iterable[Values],
        model: Model,
        limit: int = STATE_LIMIT,
        settings: Mapping[str, object] | None = None,
        groups: Groups | Callable[[list[Values]], Groups] | None = None,
        declared: Mapping[str, Variable] | None = None,
        step_limit: int = 40,
        simulator: Simulator | None = None,
        exact: bool = True,
        notes: Iterable[str] = (),
        packages: Sequence[str] = (),
        files: Sequence[str | Path] = (),
    ) -> None:
        """Explore a model.

        Args:
            world_id: The id; it gets `LOCAL_PREFIX` if `settings` do not fit into JSON.
            names: Names of the model's variables, in the order of its values.
            actions: Names of the actions.
            starts: Where skills may start.
            model: What can follow a state and an action.
            limit: The most states to accept.
            settings: Arguments that make this world again.
            groups: Variables to join, or a function of all states that returns them.
            declared: Variables with given values and scale; the others get the values that occur.
            step_limit: The most steps a skill may take.
            simulator: The environment itself, for `play` and for validation.
            exact: Whether the model's probabilities are exact.
            notes: What a user should know, in sentences.
            packages: The packages whose code steps the model. If there are any, what exploring
                finds is kept on disk (see `exploration_cache.py`); so leave them out where other
                code, which may change without notice, has a part in it.
            files: Files that decide what exploring finds.

        Raises:
            UserError: If there are no starts or too many states, if a group is wrong, or if a
                declared variable takes an undeclared value.
        """
        check_step_limit(step_limit)
        self.actions, self.step_limit, self.limit = tuple(actions), step_limit, limit
        self.simulator, self.exact, self.model_variables = simulator, exact, tuple(names)
        self.id, self._settings = _storable(world_id, dict(settings or {}))
        key, digests = None, [digest(Path(file).read_bytes()) for file in files]
        if packages and self.id == world_id:
            key = exploration_key(
                world_id, self._settings, packages, names=self.model_variables,
                actions=self.actions, limit=limit, files=digests,
            )  # fmt: skip
        graph = cached_exploration(
            key, len(self.actions),
            lambda: explore(world_id, len(self.actions), starts, model, limit),
        )  # fmt: skip
        self._keys = graph.states
        if callable(groups):
            groups = groups([values for values, _ in self._keys])
        self.groups = groups or {}
        columns = value_columns(self.model_variables, self._keys, self.groups)
        self.constant_variables = constant_variables(columns, declared or {})
        for name in self.constant_variables:
            del columns[name]
        given = {n: v for n, v in (declared or {}).items() if n not in self.groups}
        self.space = FactoredSpace(
            tuple(
                given.get(name) or Variable(name, sort_values(set(column)))
                for name, column in columns.items()
            )
        )
        self.all_states = _encode(world_id, self.space, columns)
        self._numbers = {state: number for number, state in enumerate(self.all_states)}
        self.state_graph = StateGraph(self.all_states, graph.transitions, graph.n_starts)
        self.final_states = frozenset(
            state for state, (_, ended) in zip(self.all_states, self._keys, strict=True) if ended
        )
        self.fixed = self._find_fixed()
        self.notes = (*notes, *self._exploration_notes())

    @property
    def settings(self) -> dict[str, object]:
        """JSON-compatible arguments that make this world again."""
        return dict(self._settings)

    @property
    def goals(self) -> tuple[str, ...]:
        """The variables that get two skills each by default; never an added `ended`."""
        return tuple(n for n in super().goals if n != "ended" or n in self.model_variables)

    def states(self) -> Iterable[State]:
        """Return the model's starts."""
        assert self.state_graph is not None
        return self.all_states[: self.state_graph.n_starts]

    def transition(self, state: State, action: int) -> list[Outcome]:
        """Return the possible outcomes of an action."""
        assert self.state_graph is not None
        transitions = self.state_graph.transitions[self._numbers[tuple(state)]][action]
        return [Outcome(t.probability, self.all_states[t.successor]) for t in transitions]

    def values_of(self, state: State) -> Values:
        """Return the values of the model's variables in a state."""
        return self._keys[self._numbers[tuple(state)]][0]

    def state_of(self, values: Values, ended: bool = False) -> State | None:
        """Return the state with the given values of the model, or `None` if there is none."""
        return self._state_by_key.get((tuple(values), bool(ended)))

    @cached_property
    def _state_by_key(self) -> dict[Key, State]:
        return dict(zip(self._keys, self.all_states, strict=True))

    def play(
        self,
        policy: Callable[[State], int | None],
        start: State,
        seed: int | None = None,
        max_steps: int = 100_000,
    ) -> Iterator[State]:
        """Follow a policy in the environment that this world was explored in.

        Args:
            policy: Returns an action, or `None` to stop; `skills.policy(z)` is one.
            start: The state to start in.
            seed: Seed of the environment; `None` continues its random numbers.
            max_steps: The most steps to take.

        Yields:
            The states visited, `start` first, until the policy stops or the episode ends.

        Raises:
            UserError: If there is no environment to play in, or it leaves the explored states.
        """
        if self.simulator is None:
            raise UserError(f"{self.id} was not explored in an environment that can be played")
        self.simulator.reset(self.values_of(start), seed)
        state = tuple(start)
        yield state
        for _ in range(max_steps):
            action = policy(state)
            if action is None or state in self.final_states:
                return
            _, values, ended = self.simulator.step(action)
            successor = self.state_of(values, ended)
            if successor is None:
                labels = dict(zip(self.model_variables, values, strict=True))
                raise UserError(
                    f"{self.id}: playing led to {labels}, which exploring never reached"
                )
            state = successor
            yield state

    def _find_fixed(self) -> tuple[str, ...]:
        """Return the names of the variables that no transition changes."""
        assert self.state_graph is not None
        changing: set[int] = set()
        indices = range(len(self.space))
        for state, by_action in zip(self.all_states, self.state_graph.transitions, strict=True):
            for transitions in by_action:
                for transition in transitions:
                    after = self.all_states[transition.successor]
                    changing.update(j for j in indices if state[j] != after[j])
            if len(changing) == len(indices):
                return ()
        return tuple(name for j, name in enumerate(self.space.names) if j not in changing)

    def _exploration_notes(self) -> Iterator[str]:
        if self.final_states:
            count, total = len(self.final_states), len(self.all_states)
            verb = "is" if count == 1 else "are"
            yield (
                f"{count:,} of {total:,} states {verb} final: an episode ends there, and no skill "
                f"leaves them"
            )
        if self.constant_variables:
            count, examples = len(self.constant_variables), ", ".join(self.constant_variables[:3])
            more = ", …" if count > 3 else ""
            yield f"left out, as they never have another value: {examples}{more} ({count} in all)"
        if "ended" in self.space.names and "ended" not in self.model_variables:
            yield "the variable ended was added: the same values occur with the episode over or not"

    def _repr_details(self) -> Iterable[str]:
        final = f" ({len(self.final_states):,} final)" if self.final_states else ""
        yield f"{len(self.all_states):,} states{final}"


def _storable(world_id: str, settings: dict[str, object]) -> tuple[str, dict[str, object]]:
    """Return id and settings as a file can store them; no settings if JSON cannot hold them."""
    try:
        return world_id, json.loads(json.dumps(settings))
    except TypeError:
        return LOCAL_PREFIX + world_id.partition(":")[2], {}


def _encode(
    world_id: str, space: FactoredSpace, columns: Mapping[str, Sequence[Hashable]]
) -> list[State]:
    """Return every state as value indices.

    Raises:
        UserError: If a value is not among those of its variable.
    """
    encoded: list[list[int]] = []
    for variable, column in zip(space.variables, columns.values(), strict=True):
        undeclared = set(column) - set(variable.values)
        if undeclared:
            raise UserError(
                f"{world_id}: {variable.name} takes the value {min(undeclared, key=repr)!r}, which "
                f"is not among its values {variable.values}"
            )
        index = {value: i for i, value in enumerate(variable.values)}
        encoded.append([index[value] for value in column])
    return list(zip(*encoded, strict=True))
