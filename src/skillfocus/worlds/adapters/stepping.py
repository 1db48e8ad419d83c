"""Explore and play environments that can only be stepped.

Such an environment is a `Simulator`: its state can be set and read, and it takes actions. If `step`
is random, each action is sampled several times, and frequencies stand for probabilities.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from skillfocus.errors import UserError, unknown
from skillfocus.spaces import State
from skillfocus.worlds.explored import (
    LOCAL_PREFIX,
    ExploredWorld,
    Model,
    ModelOutcome,
    Simulator,
    Values,
)

N_ROUND_TRIPS = 200
"""States in which it is checked that setting and then getting the state is the identity."""
MAX_SAMPLES = 10_000
"""The most samples of an action in a state: seconds of stepping."""


def stepped_model(env: Simulator, samples: int) -> Model:
    """Return a model that sets the state, steps and reads the state.

    Args:
        env: The environment.
        samples: How often each action is tried in each state.

    Raises:
        UserError: If `samples` is less than 1 or above `MAX_SAMPLES`, and from the model, if a
            state that was set is not the one that is read.
    """
    if not 1 <= samples <= MAX_SAMPLES:
        raise UserError(f"samples is {samples}; it must be 1 to {MAX_SAMPLES:,}")
    checked: set[Values] = set()

    def model(values: Values, action: int) -> Iterable[ModelOutcome]:
        if values not in checked and len(checked) < N_ROUND_TRIPS:
            checked.add(values)
            env.reset(values)
            if env.state() != values:
                raise UserError(
                    f"setting the state {values} and getting it again gives {env.state()}: what "
                    f"sets the state must set everything that is read"
                )
        counts: Counter[ModelOutcome] = Counter()
        for _ in range(samples):
            env.reset(values)
            counts[env.step(action)] += 1
        return [ModelOutcome(n / samples, *outcome[1:]) for outcome, n in counts.items()]

    return model


def environment_notes(samples: int, max_episode_steps: int | None) -> Iterator[str]:
    """Yield what users should know of samples, and of a limit of steps that worlds do not have."""
    if samples > 1:
        yield f"probabilities are frequencies of {samples:,} samples of each action, not exact"
    if max_episode_steps:
        yield (
            f"the environment cuts episodes after {max_episode_steps:,} steps (truncation, not "
            f"termination); skills and tasks have limits of their own"
        )


def changed_settings(
    factory: Callable[..., Any], arguments: Mapping[str, Any]
) -> dict[str, object]:
    """Return a call's settings of the environment, and its arguments that are not defaults.

    Functions are left out: files cannot store them.

    Args:
        factory: The adapter, whose signature has the defaults.
        arguments: What it was called with; `settings` are the environment's.
    """
    changed = dict(arguments.get("settings", {}))
    for name, parameter in inspect.signature(factory).parameters.items():
        value = arguments[name]
        if parameter.kind is parameter.KEYWORD_ONLY and value != parameter.default:
            parts = value.values() if isinstance(value, Mapping) else [value]
            if not any(map(callable, parts)):
                changed[name] = value
    return changed


# -------------------- Check a world's settings before it is made: they come from JSON

MAX_INT = 2**53
"""Whole numbers above this are exact neither in JSON nor in a float."""


def check_settings(
    name: str, factory: Callable[..., Any], settings: Mapping[str, object], *args: object
) -> None:
    """Check that a factory takes these settings, and that they have the types it declares.

    Only types in `_KINDS` are checked; a parameter of another one takes anything.

    Args:
        name: The world's name, for errors.
        factory: What makes the world: a class or a function.
        settings: Its keyword arguments.
        *args: Its positional arguments.

    Raises:
        UserError: Names a setting that is missing, unknown or of another type.
    """
    parameters = inspect.signature(factory).parameters
    try:
        inspect.signature(factory).bind(*args, **settings)
    except TypeError as error:
        known = [
            p.name for p in parameters.values() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        ]
        raise UserError(
            f"{name} does not take these settings: {error} (it takes: {', '.join(known) or 'none'})"
        ) from None
    for setting, value in settings.items():
        declared = parameters[setting].annotation if setting in parameters else None
        kind = "seed" if setting == "seed" else str(getattr(declared, "__name__", declared))
        fits, meaning = _KINDS.get(kind.removesuffix(" | None"), (None, ""))
        optional = kind.endswith(" | None") and value is None
        if fits and not optional and not fits(value):
            raise UserError(f"{setting} of {name} is {value!r}; it must be {meaning}")


def _is_int(value: object) -> bool:
    return (
        isinstance(value, Integral) and not isinstance(value, bool) and abs(int(value)) <= MAX_INT
    )


def _are_names(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


def _are_variables(value: object) -> bool:
    return _are_names(value) or (isinstance(value, Mapping) and all(map(callable, value.values())))


def _are_groups(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(names, str) or (_are_names(names) and names) for names in value.values()
    )


def _is_any(*kinds: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


_FUNCTION = (callable, "a function, which only Python can give")
_KINDS: dict[str, tuple[Callable[[Any], object], str]] = {
    "bool": (_is_any(bool), "true or false"),
    "int": (_is_int, "a whole number, of up to 15 digits"),
    "float": (_is_any(Real), "a number"),
    "str": (_is_any(str), "text"),
    "seed": (lambda value: _is_int(value) and value >= 0, "a whole number, 0 or more"),
    "str | Path": (_is_any(str, Path), "text"),
    "str | int | Path": (_is_any(str, Path, Integral), "text or a whole number"),
    "Sequence[str]": (_are_names, "a list of names"),
    "Variables": (_are_variables, "a list of names"),
    "Groups": (_are_groups, 'an object of names, such as {"at": ["at_*"]}'),
    "Callable[[Any], Any]": _FUNCTION,
    "Callable[[Any, Any], None]": _FUNCTION,
}
"""How the parameters of worlds are annotated: what a value must be, and how to say it. With
` | None`, a value may be missing too."""


# -------------------- Gymnasium environments, by their ids or already made


def find_env(env: Any, settings: Mapping[str, Any], library: str = "Gymnasium") -> tuple[Any, str]:
    """Return an environment, made and reset if its id is given, and the id of its world.

    Args:
        env: The environment or its id.
        settings: Arguments for `gymnasium.make`.
        library: Where an id comes from.

    Raises:
        UserError: If there is no such environment, or it cannot be made.
    """
    import gymnasium

    if isinstance(env, gymnasium.Env):
        if settings:
            raise UserError(f"an environment that is already made takes no {', '.join(settings)}")
        name = env.spec.id if env.spec else type(env.unwrapped).__name__
        return env, f"{LOCAL_PREFIX}{name}"
    if not isinstance(env, str):
        raise UserError(f"from_gymnasium takes an environment or an id, not {env!r}")
    try:
        made = gymnasium.make(env, disable_env_checker=True, **settings)
        made.reset(seed=0)
    except (gymnasium.error.NameNotFound, gymnasium.error.NamespaceNotFound):
        raise unknown("Gymnasium environment", env, sorted(gymnasium.registry)) from None
    except Exception as error:  # an environment may fail in any way
        reason = f"{type(error).__name__}: {error}"
        raise UserError(f"{library} cannot make {env} with {dict(settings)}: {reason}") from error
    return made, f"{library.lower()}:{env}"


# -------------------- What the states and actions of Gymnasium's toy-text environments mean

_LOCATIONS = ("red", "green", "yellow", "blue")


class ToyText(NamedTuple):
    """Names for an environment whose states are bare numbers or tuples."""

    names: tuple[str, ...]
    """Names of the variables."""
    actions: tuple[str, ...]
    """Names of the actions."""
    read: Callable[[Any, Any], Values]
    """`read(env, state)`: the values of the variables."""
    get: Callable[[Any], Any] | None = None
    """`get(env)`: the state, for environments without a model."""
    set: Callable[[Any, Any], None] | None = None
    """`set(env, state)`, for environments without a model."""
    rules: tuple[tuple[Values, ...], Model] | None = None
    """Where episodes begin and what can follow, where the environment offers no model but its rules
    are known."""


def _read_taxi(env: Any, state: int) -> Values:
    row, column, passenger, destination = env.decode(state)
    return int(row), int(column), (*_LOCATIONS, "in taxi")[passenger], _LOCATIONS[destination]


def _set_hand(env: Any, state: tuple) -> None:
    """Deal a hand with this sum, and the dealer's first card.

    Cards are drawn with replacement, so it does not matter which cards make the sum.
    """
    player, dealer, ace = state
    env.player = [1, player - 11] if ace else [player]
    env.dealer = [dealer, 10]


_CARDS = {**dict.fromkeys(range(1, 10), 1 / 13), 10: 4 / 13}
"""Cards by their value, the ace as 1, with their probabilities: they are drawn with replacement."""


def _total(points: int, ace: bool) -> tuple[int, int]:
    """Return a hand's sum and whether an ace counts as 11 in it, from the sum with aces as 1."""
    usable = ace and points + 10 <= 21
    return points + 10 * usable, int(usable)


def _play_hand(state: Any, action: int) -> list[ModelOutcome]:
    """Return what follows in Blackjack: the dealer's other cards are seen by nobody.

    An ace that counts as 1 never becomes usable again, so it need not be known.
    """
    player, dealer, ace = state
    if action == 0:  # stick
        return [ModelOutcome(1.0, state, ended=True)]
    outcomes = []
    for card, probability in _CARDS.items():
        total, usable = _total(player - 10 * ace + card, bool(ace) or card == 1)
        outcomes.append(ModelOutcome(probability, (total, dealer, usable), ended=total > 21))
    return outcomes


_HANDS = tuple(
    (total, dealer, usable)
    for first, second in itertools.product(_CARDS, repeat=2)
    for total, usable in [_total(first + second, 1 in (first, second))]
    for dealer in _CARDS
)
"""The first hands: two cards, and one of the dealer's."""

TOY_TEXT = {
    "TaxiEnv": ToyText(
        ("taxi_row", "taxi_column", "passenger", "destination"),
        ("south", "north", "east", "west", "pick up", "drop off"),
        _read_taxi,
    ),
    "FrozenLakeEnv": ToyText(
        ("row", "column"),
        ("left", "down", "right", "up"),
        lambda env, state: divmod(int(state), int(env.ncol)),
    ),
    "CliffWalkingEnv": ToyText(
        ("row", "column"),
        ("up", "right", "down", "left"),
        lambda env, state: divmod(int(state), int(env.shape[1])),
    ),
    "BlackjackEnv": ToyText(
        ("player", "dealer", "usable_ace"),
        ("stick", "hit"),
        lambda _, state: tuple(map(int, state)),
        lambda env: env._get_obs(),
        _set_hand,
        (_HANDS, _play_hand),
    ),
}
"""Toy-text environments by the name of their class."""


# -------------------- The actions and state variables of a Gymnasium environment

Variables = Sequence[str] | Mapping[str, Callable[[Any], Hashable]]
"""Names for the parts of a state, or {name: function that reads it from a state}."""
IN_A_FILE = "or, on the command line, name a function of a file that does so, FILE.py:NAME"
"""What an error adds that asks for functions, which names of worlds and JSON cannot hold."""
MAX_ACTION_COMBINATIONS = 10_000
"""The most combinations of a composite action space; a world has a lower limit still."""


def list_actions(space: Any, world_id: str) -> tuple[list[Any], list[str]]:
    """Return the actions to pass to `step`, and their names.

    Args:
        space: A `Discrete`, `MultiBinary` or `MultiDiscrete` space; the last two become all
            combinations of their parts.
        world_id: The world's id, for errors.

    Raises:
        UserError: If there are infinitely many actions, or too many.
    """
    from gymnasium.spaces import Discrete, MultiBinary, MultiDiscrete

    if isinstance(space, Discrete):
        codes = [int(space.start) + a for a in range(int(space.n))]
        return codes, [str(code) for code in codes]
    if not isinstance(space, MultiBinary | MultiDiscrete):
        raise UserError(f"{world_id} has actions {space}; only a finite number can be explored")
    sizes = [2] * math.prod(space.shape) if isinstance(space, MultiBinary) else space.nvec.ravel()
    if math.prod(map(int, sizes)) > MAX_ACTION_COMBINATIONS:
        raise UserError(
            f"{world_id} has more than {MAX_ACTION_COMBINATIONS:,} actions; wrap it to offer fewer"
        )
    first = getattr(space, "start", 0)
    combined = [
        first + np.array(c).reshape(space.shape) for c in itertools.product(*map(range, sizes))
    ]
    return combined, [",".join(map(str, code.ravel())) for code in combined]


def state_reader(
    inner: Any, example: Any, variables: Variables | None, world_id: str
) -> tuple[tuple[str, ...], Callable[[Any], Values]]:
    """Return the names of the variables, and a function that reads their values from a state.

    Args:
        inner: The unwrapped environment.
        example: Any of its states.
        variables: Names or functions given by the user, if any.
        world_id: The world's id, for errors.

    Raises:
        UserError: If states have no parts, or not as many as there are names.
    """
    toy_text = TOY_TEXT.get(type(inner).__name__)
    names: Iterable[Any] = ()  # those of the parts, if they have names
    if isinstance(variables, Mapping):
        functions = variables.values()
        names, split = variables, lambda state: [function(state) for function in functions]
    elif toy_text is not None:
        names, split = toy_text.names, partial(toy_text.read, inner)
    elif isinstance(example, Mapping):
        names, split = list(example), lambda state: [state[key] for key in names]
    elif callable(getattr(inner, "decode", None)):
        split = inner.decode
    elif isinstance(example, np.ndarray):
        split = np.ravel
    elif isinstance(example, (tuple, list)):
        names, split = getattr(example, "_fields", ()), tuple
    else:
        raise UserError(
            f"the states of {world_id} are single values such as {example!r}: say what they mean "
            f"by functions, from_gymnasium(…, variables={{name: function}}), {IN_A_FILE}"
        )

    def read(state: Any) -> Values:
        return tuple(map(to_python, split(state)))

    parts = tuple(map(str, names)) or tuple(f"part_{i + 1}" for i in range(len(read(example))))
    if variables is not None and len(variables) != len(parts):
        raise UserError(
            f"the states of {world_id} have {len(parts)} parts, but {len(variables)} names are "
            f"given"
        )
    return tuple(variables or parts), read


def to_python(value: Any) -> Hashable:
    """Return NumPy numbers as Python numbers, arrays and lists as tuples."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    return tuple(map(to_python, value)) if isinstance(value, list | tuple) else value


# -------------------- Validate an explored world against the environment it was explored in
#
# Single steps from random states reveal what the world leaves out, random walks what the
# environment remembers from one step to the next, and many steps from the same state wrong
# probabilities.

N_STEPS = 400
"""State-action pairs that are tried once."""
N_WALKS, WALK_LENGTH = 20, 30
"""Random walks from starts, and their steps."""
N_REPEATED_PAIRS, N_REPEATS = 20, 300
"""State-action pairs with several outcomes whose frequencies are compared, and steps for each."""
MIN_P_VALUE = 1e-8
"""Frequencies further from their probability than this likely are taken to be wrong."""
MAX_MISSED_SHARE = 0.05
"""The share of steps that may lead elsewhere in a world explored by sampling."""


def validate(
    world: ExploredWorld, seed: int = 0, *, frequencies: bool = True, advice: str = ""
) -> None:
    """Compare a world with its simulator; does nothing if it has none.

    A world explored by sampling (not `exact`) may miss rare outcomes.

    Args:
        world: The world.
        seed: Seed of the random states, actions and simulator resets.
        frequencies: Whether to compare probabilities with frequencies too.
        advice: What the user can do about a difference, for the error.

    Raises:
        UserError: Names the first state and action where the simulator does what the world does
            not.
    """
    if world.simulator is None or len(world.final_states) == len(world.all_states):
        return
    beside = _Comparison(world, world.simulator, np.random.default_rng(seed), advice)
    for _ in range(N_STEPS):
        state, action = beside.random_pair()
        beside.follow(state, [action])
    starts = [state for state in world.states() if state not in world.final_states]
    for _ in range(N_WALKS if starts else 0):
        actions = beside.rng.integers(len(world.actions), size=WALK_LENGTH)
        beside.follow(starts[beside.rng.integers(len(starts))], actions.tolist())
    if world.exact and frequencies:
        pairs = dict.fromkeys(beside.random_pair() for _ in range(N_STEPS))
        random_pairs = [pair for pair in pairs if len(world.transition(*pair)) > 1]
        for state, action in random_pairs[:N_REPEATED_PAIRS]:
            beside.compare_frequencies(state, action)
    if beside.n_missed > MAX_MISSED_SHARE * beside.n_steps:
        raise UserError(
            f"{world.id}: {beside.n_missed / beside.n_steps:.0%} of the environment's steps lead "
            f"where no sample did; raise samples=…"
        )


class _Comparison:
    """A world beside its simulator, stepped together."""

    def __init__(
        self, world: ExploredWorld, simulator: Simulator, rng: np.random.Generator, advice: str
    ) -> None:
        self.world, self.simulator, self.rng, self.advice = world, simulator, rng, advice
        self.live_states = [s for s in world.all_states if s not in world.final_states]
        self.n_steps = self.n_missed = 0

    def random_pair(self) -> tuple[State, int]:
        """Return a random state that is not final, and a random action."""
        state = self.live_states[self.rng.integers(len(self.live_states))]
        return state, int(self.rng.integers(len(self.world.actions)))

    def follow(self, state: State, actions: Iterable[int]) -> State | None:
        """Step the simulator from a state until the actions or the episode end.

        Returns:
            The last state, `None` if the world lacks it.
        """
        self.simulator.reset(self.world.values_of(state), int(self.rng.integers(2**31)))
        after: State | None = state
        for action in actions:
            _, values, ended = self.simulator.step(action)
            after = self.world.state_of(values, ended)
            self.n_steps += 1
            if after not in [outcome.state for outcome in self.world.transition(state, action)]:
                self.n_missed += 1
                if self.world.exact:
                    labels = dict(zip(self.world.model_variables, values, strict=True))
                    why = "which was never reached" if after is None else "which has probability 0"
                    ending = " and ended" if ended else ""
                    self.fail(state, action, f"led to {labels}{ending}, {why}")
            if after is None or after in self.world.final_states:
                break
            state = after
        return after

    def compare_frequencies(self, state: State, action: int) -> None:
        """Compare the probabilities of an action's outcomes with their frequencies.

        Of `N_REPEATS` steps, the number that lead to an outcome of probability p is binomial.
        """
        from scipy.stats import binom

        outcomes = {o.state: o.probability for o in self.world.transition(state, action)}
        seen = Counter(self.follow(state, [action]) for _ in range(N_REPEATS))
        counts, right = np.array([seen[after] for after in outcomes]), [*outcomes.values()]
        tails = np.minimum(
            binom.cdf(counts, N_REPEATS, right), binom.sf(counts - 1, N_REPEATS, right)
        )
        if tails.min() < MIN_P_VALUE:
            shares, right = (np.round(p, 3).tolist() for p in (counts / N_REPEATS, right))
            self.fail(state, action, f"leads to its outcomes {shares} of the time, not {right}")

    def fail(self, state: State, action: int, problem: str) -> NoReturn:
        labels, name = self.world.space.labels(state), self.world.actions[action]
        advice = f"; {self.advice}" if self.advice else ""
        raise UserError(
            f"{self.world.id} differs from its environment: in {labels} the action {name!r} "
            f"{problem}{advice}"
        )
