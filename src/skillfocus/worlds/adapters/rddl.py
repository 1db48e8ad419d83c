"""RDDL domains as worlds, with exact probabilities.

Variables   the grounded state fluents: `person-waiting-up(f1)`. Observations are left out.
Actions     `noop`, then whatever can be set to other than its default: `open-door(e0)`,
            `move=left`; joined by `+`, as many as the instance allows at a time. An action that
            breaks a precondition leaves the state as it is.
Starts      the instance's initial state
Final       states in which the domain's termination holds or a state invariant is broken
"""

from __future__ import annotations

import inspect
import itertools
import math
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from skillfocus.core.world import MAX_ACTIONS, STATE_LIMIT
from skillfocus.errors import UserError, unknown
from skillfocus.worlds.adapters.rddl_formula import Known
from skillfocus.worlds.adapters.rddl_model import ExactModel
from skillfocus.worlds.adapters.stepping import changed_settings
from skillfocus.worlds.adapters.validation import compare
from skillfocus.worlds.explored import ExploredWorld, Groups, ModelOutcome, Values


def from_rddl(
    domain: str | Path,
    instance: str | int | Path | None = None,
    *,
    groups: Groups | None = None,
    step_limit: int = 40,
    limit: int = STATE_LIMIT,
    check: bool = True,
) -> ExploredWorld:
    """A world from a domain and an instance (default: the first) of rddlrepository, or from the
    paths of two RDDL files. Flags that tell the place of something become one variable unless
    `groups` say otherwise. `check` compares the world with pyRDDLGym's own steps."""
    name, files, settings = _find(domain, instance)
    world_id = f"rddl:{name}"
    rddl, enumerator, simulator = _load(*files)
    model = ExactModel(world_id, rddl, enumerator)
    actions = _actions(world_id, rddl, model, simulator)
    numbered = list(actions.values())
    start = model.state(simulator.init_values)
    if model.ended(start):
        raise UserError(f"{world_id} is over in its first state: choose another instance")
    original = _Original(simulator, model, numbered)
    plain = groups and {k: v if isinstance(v, str) else list(v) for k, v in groups.items()}
    world = ExploredWorld(
        world_id,
        names=[entry for name in model.next for entry in model.fluents[name].entries],
        actions=list(actions),
        starts=[start],
        model=lambda values, action: model.follow(values, numbered[action]),
        limit=limit,
        settings=changed_settings(
            settings,
            groups=(plain, None),
            step_limit=(step_limit, 40),
            limit=(limit, STATE_LIMIT),
            check=(check, True),
        ),
        groups=partial(_positions, model) if groups is None else groups,
        step_limit=step_limit,
        simulator=original,
        notes=_notes(rddl),
    )
    if groups is None and world.groups:
        world.notes += (
            f"joined, as one at most or always equally many of their flags are up: "
            f"{', '.join(world.groups)}; groups={{}} keeps them apart",
        )
    if check:
        compare(world, frequencies=False, way_out="check=False takes the world as it is")
    return world


def make_by_name(name: str, **settings: Any) -> ExploredWorld:
    """The world `rddl:NAME`, from its settings: DOMAIN/INSTANCE, or two paths joined by `+`."""
    known = inspect.signature(from_rddl).parameters
    for setting in settings:
        if setting not in known:
            raise unknown("setting of an RDDL world", setting, known)
    if "domain" in settings:
        return from_rddl(**settings)
    domain, _, instance = name.partition("+" if name.endswith(".rddl") else "/")
    return from_rddl(domain, instance or None, **settings)


def _find(
    domain: str | Path, instance: str | int | Path | None
) -> tuple[str, tuple[str, str], dict[str, object]]:
    """The name of a world, its two files, and the settings that say which they are."""
    try:
        import pyRDDLGym  # noqa: F401
        from rddlrepository.core.manager import RDDLRepoManager
    except ImportError:
        raise UserError(
            "RDDL worlds need pyRDDLGym and rddlrepository: pip install 'skillfocus[rddl]'"
        ) from None
    if str(domain).endswith(".rddl"):
        files = str(domain), str(instance or "(none given)")
        for file, what in zip(files, ("domain", "instance"), strict=True):
            if not Path(file).is_file():
                raise UserError(f"there is no RDDL {what} file {file}")
        name = "+".join(Path(file).name for file in files)
        return name, files, {"domain": files[0], "instance": files[1]}
    repository = RDDLRepoManager()
    names, wanted = sorted(repository.list_problems()), str(domain).lower()
    same = [n for n in names if n.lower() == wanted]
    alike = same or [n for n in names if n.lower().startswith(wanted)]
    if not alike:
        raise unknown("RDDL domain", str(domain), names)
    if len(alike) > 1:
        raise UserError(f"the RDDL domain {domain!r} can be {', '.join(alike)}: name one of them")
    problem = repository.get_problem(alike[0])
    number = problem.instances[0] if instance is None else str(instance)
    if number not in problem.instances:
        raise unknown(f"instance of {alike[0]}", number, problem.instances)
    return f"{alike[0]}/{number}", (problem.get_domain(), problem.get_instance(number)), {}


def _load(domain: str, instance: str) -> tuple[Any, Any, Any]:
    """What the files say, and two simulators of it: one to be changed, one to be played."""
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


class _Original:
    """pyRDDLGym's own simulator, drawing at random (see `found.Simulator`)."""

    def __init__(self, simulator: Any, model: ExactModel, actions: list[Known]) -> None:
        self.simulator, self.model = simulator, model
        self.actions = [
            {name: model.fluents[name].array(values) for name, values in action.items()}
            for action in actions
        ]

    def reset(self, values: Values, seed: int | None = None) -> None:
        if seed is not None:
            self.simulator.seed(seed)
        parts = self.model.known(values).items()
        arrays = {name: self.model.fluents[name].array(part) for name, part in parts}
        self.simulator.subs = {**self.simulator.init_values, **arrays}

    def state(self) -> Values:
        return self.model.state(self.simulator.subs)

    def step(self, action: int) -> ModelOutcome:
        ended = False
        if self.simulator.check_action_preconditions(self.actions[action], silent=True):
            _, _, terminated = self.simulator.step(self.actions[action])
            ended = terminated or not self.simulator.check_state_invariants(silent=True)
        return ModelOutcome(1.0, self.state(), ended)


def _actions(world_id: str, rddl: Any, model: ExactModel, simulator: Any) -> dict[str, Known]:
    """Every action by its name: the values of all action fluents."""
    usual = {n: model.fluents[n].values(simulator.init_values[n]) for n in model.actions}
    choices: list[list[tuple[str, str, int, Any]]] = []
    for name in model.actions:
        fluent = model.fluents[name]
        for place, entry in enumerate(fluent.entries):
            default = usual[name][place]
            if fluent.kind is bool:
                choices.append([(entry, name, place, not default)])
                continue
            values = fluent.objects or _integers(world_id, entry, place, name, rddl, simulator)
            others = [v for v in values if v != default]
            choices.append([(f"{entry}={v}", name, place, v) for v in others])
    ways = [1] + [0] * len(choices)
    for options in choices:
        for k in range(len(choices), 0, -1):
            ways[k] += ways[k - 1] * len(options)
    most = min(rddl.max_allowed_actions, len(choices))
    able = [k for k in range(most + 1) if sum(ways[: k + 1]) <= MAX_ACTIONS]
    if able[-1] < most:
        way_out = (
            f"give an instance file with max-nondef-actions = {able[-1]}"
            if able[-1]
            else "use a smaller instance"
        )
        raise UserError(
            f"{world_id} has {sum(ways[: most + 1]):,} actions, counting up to {most} at a time; "
            f"{MAX_ACTIONS} can be: {way_out}"
        )
    nothing = "default" if "noop" in model.actions else "noop"
    actions: dict[str, Known] = {}
    for k in range(most + 1):
        for chosen in itertools.combinations(choices, k):
            for parts in itertools.product(*chosen):
                values = {name: list(entries) for name, entries in usual.items()}
                for _, name, place, value in parts:
                    values[name][place] = value
                label = "+".join(label for label, *_ in parts) or nothing
                actions[label] = {name: tuple(entries) for name, entries in values.items()}
    return actions


def _integers(world_id: str, entry: str, place: int, name: str, rddl: Any, simulator: Any) -> range:
    """The values of an integer action, from the bounds that the preconditions set."""
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


def _notes(rddl: Any) -> Iterator[str]:
    yield f"episodes end after {rddl.horizon:,} steps; skills have their own step limit"
    if rddl.preconditions:
        yield "an action whose preconditions do not hold leaves the state as it is"
    if rddl.observ_fluents:
        yield "observations are left out: the variables are the state itself"


def _positions(model: ExactModel, states: list[Values]) -> Groups:
    """The flags that are one variable: the place of something, of which never more than one is up,
    or the places of several things alike, of which always equally many are."""
    groups: dict[str, str] = {}
    found = [model.known(values) for values in states]
    for name in (name for name in model.next if model.fluents[name].kind is bool):
        fluent = model.fluents[name]
        flags = np.array([known[name] for known in found])
        moving = [
            e
            for e, column in zip(fluent.entries, flags.T, strict=True)
            if np.unique(column).size > 1
        ]
        flags, axes = flags.reshape(-1, *fluent.shape), range(len(fluent.shape))
        ways = [k for n in axes for k in itertools.combinations(axes, n)]
        up = {k: flags.sum(axis=tuple(axis + 1 for axis in axes if axis not in k)) for k in ways}
        one = [k for k in ways if up[k].max() == 1]
        alike = [k for k in ways if (up[k].min(axis=0) == up[k].max(axis=0)).all()]
        for kept in (*one, *alike)[:1]:
            groups |= _groups(name, moving, kept)
    return groups


def _groups(name: str, moving: list[str], kept: tuple[int, ...]) -> dict[str, str]:
    """{new name: pattern}: flags with the same objects in the places kept, two or more of which
    move."""
    families: dict[tuple[str, ...], int] = {}
    for entry in moving:
        objects = entry[len(name) + 1 : -1].split(",")
        family = tuple(o if i in kept else "*" for i, o in enumerate(objects))
        families[family] = families.get(family, 0) + 1
    groups: dict[str, str] = {}
    for family, size in families.items():
        if size > 1:
            shown = ",".join(family[i] for i in kept)
            groups[f"{name}({shown})" if kept else name] = f"{name}({','.join(family)})"
    return groups
