"""RDDL domains as worlds, with exact probabilities.

Variables   the grounded state fluents, such as `person-waiting-up(f1)`; observations are left out
Actions     `noop`, then every action fluent that can be set to another value than its default:
            `open-door(e0)`, `move=left`; combined with `+`, as many at a time as the instance
            allows. An action that breaks a precondition leaves the state unchanged.
Starts      the instance's initial state
Final       states in which the domain's termination holds or a state invariant is broken
"""

from __future__ import annotations

import itertools
import math
import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from skillfocus.errors import UserError, unknown
from skillfocus.world import MAX_ACTIONS, STATE_LIMIT
from skillfocus.worlds.adapters.rddl_formula import (
    MAX_OUTCOMES,
    Assignment,
    Factor,
    Fluent,
    Formula,
    OutcomeEnumerator,
    too_many_outcomes,
)
from skillfocus.worlds.adapters.stepping import changed_settings, check_settings, validate
from skillfocus.worlds.explored import ExploredWorld, Groups, ModelOutcome, Values

# -------------------- The dynamics of an RDDL domain, with exact probabilities
#
# Fluents that others read come first, in an order that pyRDDLGym determines; each of their outcomes
# opens a branch. Within a branch the remaining fluents are independent, so their outcomes are
# multiplied. Rewards and observations are never evaluated.


class ExactModel:
    """The fluents of a domain, and the possible outcomes of a state and an action.

    Attributes:
        actions: Names of the action fluents.
        next: {state fluent: its primed name}, in the order of a state's values.
        fluents: Every state, action and intermediate fluent by its name.
    """

    def __init__(self, world_id: str, rddl: Any, simulator: Any) -> None:
        """Compile the formulas of a domain.

        Args:
            world_id: The world's id, for errors.
            rddl: pyRDDLGym's lifted model.
            simulator: A simulator of its own: its random draws are replaced.
        """
        self.world_id, self.actions = world_id, tuple(rddl.action_fluents)
        enumerator = OutcomeEnumerator(world_id, simulator)
        self.next: dict[str, str] = dict(rddl.next_state)
        names = [*self.next, *self.actions, *(name for name, _, _ in simulator.cpfs)]
        self.fluents = {name: Fluent.of(rddl, name) for name in names}

        def formulas(name: str, expressions: list[Any]) -> list[Formula]:
            return [Formula(name, each, self.fluents, enumerator) for each in expressions]

        self._preconditions = formulas("a precondition", rddl.preconditions)
        self._endings = [(f, True) for f in formulas("the termination", rddl.terminations)]
        self._endings += [(f, False) for f in formulas("a state invariant", rddl.invariants)]
        by_name = {name: formulas(name, [each])[0] for name, each, _ in simulator.cpfs}
        needed, read = list(self.next.values()), set()
        for name in needed:  # grows while it is iterated
            new = [n for n in by_name[name].reads if n in by_name and n not in read]
            read.update(new)
            needed.extend(new)
        self._branching = [by_name[name] for name in by_name if name in read]
        self._independent = {n: by_name[n] for n in self.next.values() if n not in read}

    def state(self, arrays: dict[str, Any]) -> Values:
        """Return the state that a simulator's arrays hold."""
        return tuple(v for name in self.next for v in self.fluents[name].values(arrays[name]))

    def assignment(self, values: Values) -> Assignment:
        """Return a state as {fluent: values of its entries}."""
        left = iter(values)
        sizes = {name: len(self.fluents[name].entries) for name in self.next}
        return {name: tuple(itertools.islice(left, size)) for name, size in sizes.items()}

    def ended(self, values: Values) -> bool:
        """Return whether an episode ends on entering a state."""
        state = self.assignment(values) if self._endings else {}
        return any(_holds(formula, state) == ends for formula, ends in self._endings)

    def outcomes(self, values: Values, action: Assignment) -> list[ModelOutcome]:
        """Return the possible outcomes of an action.

        Raises:
            UserError: If there are too many to enumerate.
        """
        start = {**self.assignment(values), **action}
        if not all(_holds(f, start) for f in self._preconditions):
            return [ModelOutcome(1.0, values)]
        branches = [(1.0, start)]
        for formula in self._branching:
            extended: list[tuple[float, Assignment]] = []
            for p, branch in branches:
                combined = self._combine(formula(branch))
                extended += [(p * q, {**branch, formula.name: new}) for q, new in combined]
                self._check_count(len(extended))
            branches = extended
        outcomes: list[ModelOutcome] = []
        for p, branch in branches:
            factors: list[Factor] = []
            for name in self.next.values():
                formula = self._independent.get(name)
                factors += [[(1.0, branch[name])]] if formula is None else formula(branch)
            combined = self._combine(factors)
            outcomes += [ModelOutcome(p * q, after, self.ended(after)) for q, after in combined]
            self._check_count(len(outcomes))
        return outcomes

    def _combine(self, factors: list[Factor]) -> Factor:
        """Multiply independent factors."""
        self._check_count(math.prod(map(len, factors)))
        product: Factor = [(1.0, ())]
        for factor in factors:
            product = [(p * q, values + more) for p, values in product for q, more in factor]
        return product

    def _check_count(self, n_outcomes: int) -> None:
        if n_outcomes > MAX_OUTCOMES:
            raise too_many_outcomes(self.world_id, "an action")


def _holds(formula: Formula, assignment: Assignment) -> bool:
    return formula(assignment) == [[(1.0, (True,))]]


# --------------------
#
# The actions of an RDDL instance: `noop` and every combination of changed action fluents


def list_actions(
    world_id: str, rddl: Any, model: ExactModel, simulator: Any
) -> dict[str, Assignment]:
    """Return every action by its name, as the values of all action fluents.

    As many fluents are changed at a time as the instance allows (`max-nondef-actions`).

    Args:
        world_id: The world's id, for errors.
        rddl: pyRDDLGym's lifted model.
        model: The dynamics, which know the fluents.
        simulator: pyRDDLGym's simulator, for default values and bounds.

    Raises:
        UserError: If there are too many actions, or infinitely many.
    """
    defaults = {n: model.fluents[n].values(simulator.init_values[n]) for n in model.actions}
    choices: list[list[tuple[str, str, int, Any]]] = []  # label, fluent, entry, value
    for name in model.actions:
        fluent = model.fluents[name]
        for place, (entry, default) in enumerate(zip(fluent.entries, defaults[name], strict=True)):
            if fluent.kind is bool:
                options = {entry: not default}
            else:
                values = fluent.objects or _integer_range(
                    world_id, entry, place, name, rddl, simulator
                )
                options = {f"{entry}={v}": v for v in values if v != default}
            choices.append([(label, name, place, value) for label, value in options.items()])
    max_changes = min(rddl.max_allowed_actions, len(choices))
    counts = [1]  # counts[k] actions change k entries
    for options in choices:
        more = [len(options) * count for count in counts]
        counts = [a + b for a, b in zip([*counts, 0], [0, *more], strict=True)]
    totals = list(itertools.accumulate(counts))
    if totals[max_changes] > MAX_ACTIONS:
        possible = sum(total <= MAX_ACTIONS for total in totals) - 1
        advice = f"give an instance file with max-nondef-actions = {possible}"
        raise UserError(
            f"{world_id} has {totals[max_changes]:,} actions, counting up to {max_changes} at a "
            f"time, but at most {MAX_ACTIONS} are possible: "
            f"{advice if possible else 'use a smaller instance'}"
        )
    noop = "default" if "noop" in model.actions else "noop"
    actions: dict[str, Assignment] = {}
    for n_changes in range(max_changes + 1):
        for entries in itertools.combinations(choices, n_changes):
            for changes in itertools.product(*entries):
                values = {name: list(default) for name, default in defaults.items()}
                for _, name, place, value in changes:
                    values[name][place] = value
                label = "+".join(label for label, *_ in changes) or noop
                actions[label] = {name: tuple(entries) for name, entries in values.items()}
    return actions


def _integer_range(
    world_id: str, entry: str, place: int, name: str, rddl: Any, simulator: Any
) -> range:
    """Return the values of an integer action, from the bounds that the preconditions set."""
    from pyRDDLGym.core.constraints import RDDLConstraints

    low = high = math.inf
    if rddl.variable_ranges[name] == "int":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bounds = RDDLConstraints(simulator, vectorized=True).bounds[name]
        low, high = (float(np.ravel(bound)[place]) for bound in bounds)
    if not math.isfinite(low) or not math.isfinite(high):
        raise UserError(
            f"{world_id}: the action {entry} has infinitely many values: make it bool, an "
            f"enumeration, or an int with bounds in action-preconditions"
        )
    return range(math.ceil(low), math.floor(high) + 1)


# -------------------- Default groups of an RDDL world: flags that together say where something is


def position_groups(model: ExactModel, states: list[Values]) -> Groups:
    """Find flags that together say where something is.

    These are flags of which never more than one is up (the place of one thing), or of which always
    equally many are (the places of several things alike); the former win. Of a fluent
    `at(x, y, z)`, any subset of the parameters may name the thing while the others are its place;
    the smallest that works is used.

    Args:
        model: The domain's fluents.
        states: Every reachable state.

    Returns:
        {group: pattern of entries}.
    """
    groups: dict[str, str] = {}
    assignments = [model.assignment(values) for values in states]
    for name in (name for name in model.next if model.fluents[name].kind is bool):
        fluent = model.fluents[name]
        flags = np.array([assignment[name] for assignment in assignments])
        changing = (flags != flags[0]).any(axis=0)
        flags, axes = flags.reshape(-1, *fluent.shape), range(len(fluent.shape))
        n_up = {
            kept: flags.sum(axis=tuple(axis + 1 for axis in axes if axis not in kept))
            for n in axes
            for kept in itertools.combinations(axes, n)
        }
        at_most_one = [kept for kept, up in n_up.items() if up.max() == 1]
        constant = [kept for kept, up in n_up.items() if (up == up[0]).all()]
        for kept in (*at_most_one, *constant)[:1]:
            entries = itertools.compress(fluent.entries, changing)
            objects = [entry[len(name) + 1 : -1].split(",") for entry in entries]
            families = Counter(
                tuple(o if i in kept else "*" for i, o in enumerate(each)) for each in objects
            )
            for family in (family for family, size in families.items() if size > 1):
                which = f"({','.join(family[i] for i in kept)})" if kept else ""
                groups[f"{name}{which}"] = f"{name}({','.join(family)})"
    return groups


def from_rddl(
    domain: str | Path,
    instance: str | int | Path | None = None,
    *,
    groups: Groups | None = None,
    step_limit: int = 40,
    limit: int = STATE_LIMIT,
    check: bool = True,
) -> ExploredWorld:
    """Make a world from an RDDL domain and instance.

    Example::

        world = sf.adapters.from_rddl("Elevators_MDP_ippc2011", 1)

    Args:
        domain: A domain of rddlrepository, or the path of a `.rddl` file.
        instance: An instance of the domain (default: the first), or the path of a `.rddl` file.
        groups: Variables to join (default: flags that say where something is become one variable;
            `{}` keeps them apart).
        step_limit: The most steps a skill may take.
        limit: The most states to accept.
        check: Whether to compare the world with pyRDDLGym's own steps.

    Raises:
        UserError: If the files cannot be read, or the domain cannot be enumerated exactly.
    """
    name, domain_file, instance_file, settings = _find_problem(domain, instance)
    changed = changed_settings(from_rddl, locals())
    world_id = f"rddl:{name}"
    rddl, enumerated, simulated = _load(domain_file, instance_file)
    model = ExactModel(world_id, rddl, enumerated)
    actions = list_actions(world_id, rddl, model, simulated)
    assignments = list(actions.values())
    start = model.state(simulated.init_values)
    if model.ended(start):
        raise UserError(f"{world_id} is over in its first state: choose another instance")
    advice = "check=False takes the world as it is"
    world = ExploredWorld(
        world_id,
        names=[entry for name in model.next for entry in model.fluents[name].entries],
        actions=list(actions),
        starts=[start],
        model=lambda values, action: model.outcomes(values, assignments[action]),
        limit=limit,
        settings=changed,
        groups=partial(position_groups, model) if groups is None else groups,
        step_limit=step_limit,
        simulator=_RDDLSimulator(simulated, model, assignments),
        notes=_notes(rddl),
        packages=("pyRDDLGym", "rddlrepository"),
        files=(domain_file, instance_file),
        check=partial(validate, frequencies=False, advice=advice) if check else None,
    )
    if groups is None and world.groups:
        world.notes += (
            f"joined, as one at most or always equally many of their flags are up: "
            f"{', '.join(world.groups)}; groups={{}} keeps them apart",
        )
    return world


def make_by_name(name: str, **settings: Any) -> ExploredWorld:
    """Make the world `rddl:NAME`, for the command line and for skills files.

    Args:
        name: `DOMAIN/INSTANCE`, or the paths of two files joined by `+`.
        **settings: Arguments of `from_rddl`; `domain` and `instance` win over the name.
    """
    check_settings(f"rddl:{name}", from_rddl, {"domain": "", **settings})
    if "domain" in settings:
        return from_rddl(**settings)
    domain, _, instance = name.partition("+" if name.endswith(".rddl") else "/")
    return from_rddl(domain, **{"instance": instance or None, **settings})


def _find_problem(
    domain: str | Path, instance: str | int | Path | None
) -> tuple[str, str, str, Mapping[str, object]]:
    """Return a problem's name, its two files, and arguments that find them if the name does not."""
    try:
        import pyRDDLGym  # noqa: F401
        from rddlrepository.core.manager import RDDLRepoManager
    except ImportError:
        raise UserError(
            "RDDL worlds need pyRDDLGym and rddlrepository: pip install 'skillfocus[rddl]'"
        ) from None
    if str(domain).endswith(".rddl"):
        one, other = str(domain), str(instance or "(none given)")
        files = {"domain": one, "instance": other}
        for kind, file in files.items():
            if not os.path.isfile(file):
                raise UserError(f"there is no RDDL {kind} file {file}")
        return f"{Path(one).name}+{Path(other).name}", one, other, files
    repository = RDDLRepoManager()
    names, wanted = sorted(repository.list_problems()), str(domain).lower()
    exact = [n for n in names if n.lower() == wanted]
    matches = exact or [n for n in names if n.lower().startswith(wanted)]
    if not matches:
        raise unknown("RDDL domain", str(domain), names)
    if len(matches) > 1:
        raise UserError(f"the RDDL domain {domain!r} can be {', '.join(matches)}: name one of them")
    problem = repository.get_problem(matches[0])
    number = problem.instances[0] if instance is None else str(instance)
    if number not in problem.instances:
        raise unknown(f"instance of {matches[0]}", number, problem.instances)
    return f"{matches[0]}/{number}", problem.get_domain(), problem.get_instance(number), {}


def _load(domain: str, instance: str) -> tuple[Any, Any, Any]:
    """Return pyRDDLGym's model and two simulators: one to enumerate with, one to play in."""
    from ply.yacc import NullLogger
    from pyRDDLGym.core.compiler.model import RDDLLiftedModel
    from pyRDDLGym.core.parser.parser import RDDLParser
    from pyRDDLGym.core.parser.reader import RDDLReader
    from pyRDDLGym.core.simulator import RDDLSimulator

    try:
        text = RDDLReader(domain, instance).rddltxt
        parser = RDDLParser()
        parser.build(debug=False, errorlog=NullLogger())
        rddl = RDDLLiftedModel(parser.parse(text))
        first, second = (
            RDDLSimulator(rddl, keep_tensors=True, objects_as_strings=False) for _ in range(2)
        )
    except (SyntaxError, ValueError, TypeError, NotImplementedError, AttributeError) as error:
        raise UserError(f"{domain} with {instance} cannot be read: {error}") from error
    return rddl, first, second


class _RDDLSimulator:
    """pyRDDLGym's own simulator, which samples at random, as a `Simulator`."""

    def __init__(self, simulator: Any, model: ExactModel, actions: list[Assignment]) -> None:
        self.simulator, self.model = simulator, model
        self.actions = [
            {name: model.fluents[name].array(values) for name, values in action.items()}
            for action in actions
        ]

    def reset(self, values: Values, seed: int | None = None) -> None:
        """Go to a state; a seed resets the random number generator."""
        if seed is not None:
            self.simulator.seed(seed)
        parts = self.model.assignment(values).items()
        arrays = {name: self.model.fluents[name].array(part) for name, part in parts}
        self.simulator.subs = {**self.simulator.init_values, **arrays}

    def state(self) -> Values:
        """Return the current values of the state fluents."""
        return self.model.state(self.simulator.subs)

    def step(self, action: int) -> ModelOutcome:
        """Take an action, which does nothing if it breaks a precondition."""
        ended = False
        if self.simulator.check_action_preconditions(self.actions[action], silent=True):
            _, _, terminated = self.simulator.step(self.actions[action])
            ended = terminated or not self.simulator.check_state_invariants(silent=True)
        return ModelOutcome(1.0, self.state(), ended)


def _notes(rddl: Any) -> Iterator[str]:
    yield f"episodes end after {rddl.horizon:,} steps; skills have their own step limit"
    if rddl.preconditions:
        yield "an action whose preconditions do not hold leaves the state as it is"
    if rddl.observ_fluents:
        yield "observations are left out: the variables are the state itself"
