"""Worlds made by exploring a foreign model from its starts.

Exploring enumerates every reachable state, and each variable gets the values that occur. A state
entered by an outcome that ends the episode is *final*: no action leaves it. If the same values
occur both during and at the end of an episode, a variable `ended` is added to tell the two states
apart.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np

from skillfocus.errors import UserError, unknown
from skillfocus.files import digest, make_folder, seal, unseal, write_atomically
from skillfocus.machine import code_version
from skillfocus.mdp import StateGraph, Successor, Transitions, enumerate_states
from skillfocus.progress import Progress, no_progress
from skillfocus.spaces import Space, State, Variable
from skillfocus.world import STATE_LIMIT, Outcome, World, check_step_limit

# -------------------- Foreign models: what an adapter provides, and their exploration
#
# An adapter describes an environment by its starts and a `Model`: a function that returns what can
# follow a state and an action. A `Simulator` is the environment itself, to be stepped.

Values = tuple[Hashable, ...]
"""A state of a model: the value of each of its variables."""
exploration_progress: ContextVar[Progress] = ContextVar("exploration_progress", default=no_progress)
"""Progress callback of exploration, called once per state with the number of states found and done.

A context variable rather than an argument: the arguments of `make` and of the adapters are settings
of the world, which skills files store.
"""


class ModelOutcome(NamedTuple):
    """One possible outcome of an action in a foreign model."""

    probability: float
    values: Values
    """The values of the model's variables afterwards."""
    ended: bool = False
    """Whether the episode ends here."""


Model = Callable[[Values, int], Iterable[ModelOutcome]]
"""`model(values, action)`: the possible outcomes of an action, given by its index."""
Key = tuple[Values, bool]
"""A state of the model: its values, and whether the episode has ended."""


class Simulator(Protocol):
    """The environment that a world was explored in, to be stepped one action at a time."""

    def reset(self, values: Values, seed: int | None = None) -> None:
        """Go to a state; a seed resets the random number generator."""

    def state(self) -> Values:
        """Return the current values of the variables."""
        ...

    def step(self, action: int) -> ModelOutcome:
        """Take an action and return what happened, with probability 1."""
        ...


def explore(
    world_id: str, n_actions: int, starts: Iterable[Values], model: Model, limit: int
) -> StateGraph[Key]:
    """Enumerate the states of a model, and report to `exploration_progress`.

    Outcomes of probability 0 are dropped, equal ones merged, and no action leaves a final state.

    Args:
        world_id: The world's id, for errors and progress.
        n_actions: How many actions there are.
        starts: The first states.
        model: What can follow a state and an action.
        limit: The most states to accept.

    Raises:
        UserError: If there are no starts, or too many states.
    """

    def expand(key: Key) -> Iterator[list[Successor[Key]]]:
        values, ended = key
        for action in range(n_actions):
            merged: dict[Key, float] = {key: 1.0} if ended else {}
            for probability, after, over in () if ended else model(values, action):
                if probability > 0:
                    successor = (after, bool(over))
                    merged[successor] = merged.get(successor, 0.0) + probability
            yield [(p, successor, -1, None) for successor, p in merged.items()]

    return enumerate_states(
        world_id,
        ((values, False) for values in starts),
        expand,
        limit=limit,
        limit_advice="use a smaller one, or raise the limit with limit=…",
        progress=exploration_progress.get(),
    )


# -------------------- Explored worlds on disk, so that several commands explore once
#
# An entry is a sealed file (`files.py`) under the digest of all that decides what exploring finds.
# One that is damaged, or does not fit, is made again. States with values that JSON cannot hold are
# not stored. `SKILLFOCUS_CACHE` names another folder, or is "off". A cache that cannot be read is
# empty, and one that cannot be written stays as it is.

VARIABLE = "SKILLFOCUS_CACHE"
OFF = ("off", "0", "")
MAX_BYTES = 500_000_000
"""The most that all entries may take; the least recently used go first."""
SUFFIX = ".world"
_Plain = bool | int | float | str | None
_States = list[tuple[_Plain | tuple[_Plain, ...], ...]]
"""States that JSON gives back as they were."""


class Header(msgspec.Struct, forbid_unknown_fields=True):
    """What an entry holds beside its arrays."""

    n_starts: int


def cache_folder() -> Path | None:
    """Return where entries are kept; None if the cache is switched off or there is no home."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return None if named.strip().lower() in OFF else Path(named)
    try:
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except (RuntimeError, KeyError):  # a container's user without a home, or without a name
        return None
    return Path(base) / "skillfocus"


def describe_cache() -> str:
    """Return where explored worlds are kept, and how many there are, for people."""
    folder = cache_folder()
    if folder is None:
        return f"off ({VARIABLE})" if VARIABLE in os.environ else f"off (no home; see {VARIABLE})"
    sizes = [size for _, size, _ in _entries(folder)]
    total = sum(sizes) / 1e6
    return f"{folder}: {len(sizes)} explored worlds, {total:.1f} MB; {VARIABLE} moves it, or off"


def _entries(folder: Path) -> list[tuple[float, int, Path]]:
    """Return when each entry was used last, its size and its path, the oldest first."""
    with contextlib.suppress(OSError):
        found = [(path.stat(), path) for path in folder.glob(f"*{SUFFIX}")]
        return sorted((status.st_mtime, status.st_size, path) for status, path in found)
    return []


def cache_entry(decides: Sequence[Any], packages: Sequence[str]) -> Path | None:
    """Return where the cache keeps what exploring finds; None if it keeps nothing.

    Args:
        decides: Everything that decides what exploring finds, as JSON holds it, besides code.
        packages: The packages whose code does.
    """
    folder = cache_folder()
    if folder is None:
        return None
    try:
        code = code_version(), [version(name) for name in packages]
    except PackageNotFoundError:  # its code may be of any version
        return None
    return folder / f"{digest(json.dumps([decides, packages, code]).encode())}{SUFFIX}"


def read_entry(path: Path, n_actions: int) -> StateGraph[Key] | None:
    """Return what exploring has found; None if it is not there, or does not fit together."""
    try:
        header, arrays = unseal(path.read_bytes(), Header)
        moves = Transitions(
            n_actions, arrays["begins"], arrays["probabilities"], arrays["successors"]
        )
        values = msgspec.json.decode(arrays["states"].tobytes(), type=_States)
        states: list[Key] = list(zip(values, arrays["ended"].tolist(), strict=True))
        fits = len(moves) == len(set(states)) == len(states) >= header.n_starts >= 1
        fits = fits and not len(moves.wrong_sums(1e-9))
        os.utime(path)
    except Exception:  # anything about an entry may be wrong
        return None
    return StateGraph(states, moves, header.n_starts) if fits else None


def write_entry(path: Path, graph: StateGraph[Key]) -> None:
    """Store what exploring found, unless JSON cannot hold it or its probabilities are wrong."""
    states, moves = [values for values, _ in graph.states], graph.transitions
    with contextlib.suppress(Exception):  # a world that cannot be stored is one all the same
        plain = msgspec.json.encode(states)
        if msgspec.json.decode(plain, type=_States) != states or len(moves.wrong_sums(1e-9)):
            return
        arrays = {
            "states": np.frombuffer(plain, np.uint8),
            "ended": np.array([ended for _, ended in graph.states]),
            "begins": moves.begins,
            "probabilities": moves.probabilities,
            "successors": moves.successors,
        }
        content = seal(Header(graph.n_starts), arrays, compress=1)
        if len(content) > MAX_BYTES:
            return
        make_folder(path.parent)
        write_atomically(path, content)
        entries = _entries(path.parent)
        total = sum(size for _, size, _ in entries)
        for _, size, old in entries[:-1]:
            if total > MAX_BYTES:
                old.unlink(missing_ok=True)
                total -= size


# --------------------
#
# The states of a model as columns of values: join groups, drop constants, sort values

Groups = Mapping[str, str | Sequence[str]]
"""Variables to join into one: `{new name: names}`, where patterns such as `at_*` are names too."""


def value_columns(
    names: tuple[str, ...], states: Sequence[tuple[Values, bool]], groups: Groups
) -> dict[str, list[Hashable]]:
    """Return each variable's value in every state, with groups joined.

    Args:
        names: Names of the model's variables.
        states: Values and whether the episode has ended. If the same values occur with both, a
            column `ended` is added.
        groups: Variables to join; a group takes the place of its first member.

    Raises:
        UserError: If a group names no variable, or has the name of a variable outside it.
    """
    columns: dict[str, list[Hashable]] = {
        name: list(column)
        for name, column in zip(names, zip(*(v for v, _ in states), strict=True), strict=True)
    }
    if len({values for values, _ in states}) < len(states):
        if "ended" in columns:
            raise UserError(
                "the name ended is reserved for episodes that have ended: rename that variable"
            )
        columns["ended"] = [ended for _, ended in states]
    for group, wanted in groups.items():
        patterns = [wanted] if isinstance(wanted, str) else list(wanted)
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in columns):
                raise unknown(f"variable in the group {group!r}", pattern, columns)
        members = [n for n in columns if any(fnmatchcase(n, pattern) for pattern in patterns)]
        if group in columns and group not in members:
            raise UserError(f"the group {group!r} has the name of a variable; choose another")
        joined = _join_values(members, list(zip(*map(columns.get, members), strict=True)))
        columns = {
            group if name == members[0] else name: joined if name == members[0] else column
            for name, column in columns.items()
            if name not in members[1:]
        }
    return columns


def constant_variables(
    columns: Mapping[str, list[Hashable]], declared: Mapping[str, Variable]
) -> list[str]:
    """Return the undeclared variables with a single value, which can be left out.

    If fewer than two others remain, none is returned: a skill needs a target and something to leave
    unchanged.
    """
    constant = [n for n, column in columns.items() if len(set(column)) == 1 and n not in declared]
    return constant if len(columns) - len(constant) >= 2 else []


def _join_values(members: list[str], rows: list[tuple[Hashable, ...]]) -> list[Hashable]:
    """Return the values of a group: of flags, the names of those set; else tuples of all values."""
    if not all(type(value) is bool for row in rows for value in row):
        return list(rows)
    labels = distinguishing_parts(members)
    flags_set = ([label for label, flag in zip(labels, row, strict=True) if flag] for row in rows)
    return [" + ".join(names) or "none" for names in flags_set]


def distinguishing_parts(names: list[str]) -> list[str]:
    """Return the parts of names that tell them apart.

    Of `at(x1,y2)` and `at(x2,y2)` these are `x1,y2` and `x2,y2`; of `on_a` and `on_b`, `a` and `b`.
    Names are cut at punctuation, not within words.
    """
    words = [re.split(r"([\W_]+)", name) for name in names]

    def shared(columns: Iterable[Sequence[str]]) -> int:
        return len(list(takewhile(lambda column: len(set(column)) == 1, columns)))

    n_prefix = shared(zip(*words, strict=False))
    n_suffix = shared(zip(*(each[n_prefix:][::-1] for each in words), strict=False))
    parts = ["".join(each[n_prefix : len(each) - n_suffix]).strip("(),_") for each in words]
    return parts if all(parts) and len(set(parts)) == len(parts) else names


def sort_values(values: set[Hashable]) -> tuple[Hashable, ...]:
    """Return values in a reproducible order: numbers, then texts, then tuples, then the rest."""

    def key(value: Hashable) -> tuple:
        if isinstance(value, (bool, int, float)):
            return 0, value
        if isinstance(value, str):
            return 1, value
        if isinstance(value, tuple):
            return 2, tuple(key(part) for part in value)
        return 3, repr(value)

    return tuple(sorted(values, key=key))


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
        check: Callable[[ExploredWorld], None] | None = None,
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
                finds is kept on disk; so leave them out where other code, which may change without
                notice, has a part in it.
            files: Files that decide what exploring finds.
            check: Raises an error if the world is not what it should be.

        Raises:
            UserError: If there are no starts or too many states, if a group is wrong, or if a
                declared variable takes an undeclared value; and what `check` raises.
        """
        check_step_limit(step_limit)
        self.actions, self.step_limit, self.limit = tuple(actions), step_limit, limit
        self.simulator, self.exact, self.model_variables = simulator, exact, tuple(names)
        try:
            self.id, self._settings = world_id, json.loads(json.dumps(settings or {}))
        except TypeError:  # a file cannot store them
            self.id, self._settings = LOCAL_PREFIX + world_id.partition(":")[2], {}
        notes = tuple(notes)

        def use(graph: StateGraph[Key]) -> None:
            self._encode(world_id, graph, groups, declared or {})
            self.notes = (*notes, *self._exploration_notes())
            if check is not None:
                check(self)

        entry = None
        if packages and self.id == world_id:
            digests = [digest(Path(file).read_bytes()) for file in files]
            entry = cache_entry(
                [world_id, self._settings, names, actions, limit, digests], packages
            )
        if entry and (graph := read_entry(entry, len(self.actions))):
            # What does not fit, or holds another world under a digest of its own, fails here.
            with contextlib.suppress(Exception):
                use(graph)
                return
        graph = explore(world_id, len(self.actions), starts, model, limit)
        use(graph)
        if entry:
            write_entry(entry, graph)

    def _encode(
        self,
        world_id: str,
        graph: StateGraph[Key],
        groups: Groups | Callable[[list[Values]], Groups] | None,
        declared: Mapping[str, Variable],
    ) -> None:
        """Set the variables, and every state as value indices."""
        self._keys = graph.states
        if callable(groups):
            groups = groups([values for values, _ in self._keys])
        self.groups = groups or {}
        columns = value_columns(self.model_variables, self._keys, self.groups)
        self.constant_variables = constant_variables(columns, declared)
        for name in self.constant_variables:
            del columns[name]
        given = {n: v for n, v in declared.items() if n not in self.groups}
        self.space = Space(
            tuple(
                given.get(name) or Variable(name, sort_values(set(column)))
                for name, column in columns.items()
            )
        )
        indices = []
        for variable, column in zip(self.space.variables, columns.values(), strict=True):
            index = {value: i for i, value in enumerate(variable.values)}
            if undeclared := set(column) - index.keys():
                raise UserError(
                    f"{world_id}: {variable.name} takes the value {min(undeclared, key=repr)!r}, "
                    f"which is not among its values {variable.values}"
                )
            indices.append([index[value] for value in column])
        self.all_states = list(zip(*indices, strict=True))
        self._numbers = {state: number for number, state in enumerate(self.all_states)}
        self._state_by_key = dict(zip(self._keys, self.all_states, strict=True))
        self.state_graph = StateGraph(self.all_states, graph.transitions, graph.n_starts)
        self.final_states = frozenset(
            state for state, (_, ended) in zip(self.all_states, self._keys, strict=True) if ended
        )
        moves, values = graph.transitions, np.array(self.all_states)
        before = np.repeat(np.arange(len(values)), np.diff(moves.begins[:: moves.n_actions]))
        self.fixed = tuple(
            name
            for name, column in zip(self.space.names, values.T, strict=True)
            if (column[before] == column[moves.successors]).all()
        )

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
        state: State | None = tuple(start)
        yield state
        for _ in range(max_steps):
            action = policy(state)
            if action is None or state in self.final_states:
                return
            _, values, ended = self.simulator.step(action)
            state = self.state_of(values, ended)
            if state is None:
                labels = dict(zip(self.model_variables, values, strict=True))
                raise UserError(
                    f"{self.id}: playing led to {labels}, which exploring never reached"
                )
            yield state

    def _exploration_notes(self) -> Iterator[str]:
        if count := len(self.final_states):
            verb = "is" if count == 1 else "are"
            yield (
                f"{count:,} of {len(self.all_states):,} states {verb} final: an episode ends "
                f"there, and no skill leaves them"
            )
        if count := len(self.constant_variables):
            examples = ", ".join([*self.constant_variables[:3], *(["…"] if count > 3 else [])])
            yield f"left out, as they never have another value: {examples} ({count} in all)"
        if "ended" in self.space.names and "ended" not in self.model_variables:
            yield "the variable ended was added: the same values occur with the episode over or not"

    def _repr_details(self) -> Iterable[str]:
        final = f" ({len(self.final_states):,} final)" if self.final_states else ""
        yield f"{len(self.all_states):,} states{final}"
