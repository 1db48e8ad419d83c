"""RDDL domains as worlds, with exact probabilities.

Variables   the grounded state fluents, such as `person-waiting-up(f1)`; observations are left out
Actions     `noop`, then every action fluent that can be set to another value than its default:
            `open-door(e0)`, `move=left`; combined with `+`, as many at a time as the instance
            allows. An action that breaks a precondition leaves the state unchanged.
Starts      the instance's initial state
Final       states in which the domain's termination holds or a state invariant is broken
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from skillfocus.core.world import STATE_LIMIT
from skillfocus.errors import UserError, unknown
from skillfocus.worlds.adapters.rddl_actions import list_actions
from skillfocus.worlds.adapters.rddl_fluents import Assignment
from skillfocus.worlds.adapters.rddl_groups import position_groups
from skillfocus.worlds.adapters.rddl_model import ExactModel
from skillfocus.worlds.adapters.stepping import changed_settings
from skillfocus.worlds.adapters.validation import validate
from skillfocus.worlds.explored import ExploredWorld
from skillfocus.worlds.grouping import Groups
from skillfocus.worlds.model import ModelOutcome, Values
from skillfocus.worlds.settings import check_settings


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
    problem = _find_problem(domain, instance)
    world_id = f"rddl:{problem.name}"
    rddl, enumerated, simulated = _load(problem.domain_file, problem.instance_file)
    model = ExactModel(world_id, rddl, enumerated)
    actions = list_actions(world_id, rddl, model, simulated)
    assignments = list(actions.values())
    start = model.state(simulated.init_values)
    if model.ended(start):
        raise UserError(f"{world_id} is over in its first state: choose another instance")
    stored_groups = groups and {k: v if isinstance(v, str) else list(v) for k, v in groups.items()}
    world = ExploredWorld(
        world_id,
        names=[entry for name in model.next for entry in model.fluents[name].entries],
        actions=list(actions),
        starts=[start],
        model=lambda values, action: model.outcomes(values, assignments[action]),
        limit=limit,
        settings=changed_settings(
            problem.settings,
            groups=(stored_groups, None),
            step_limit=(step_limit, 40),
            limit=(limit, STATE_LIMIT),
            check=(check, True),
        ),
        groups=partial(position_groups, model) if groups is None else groups,
        step_limit=step_limit,
        simulator=_RDDLSimulator(simulated, model, assignments),
        notes=_notes(rddl),
        packages=("pyRDDLGym", "rddlrepository"),
        files=(problem.domain_file, problem.instance_file),
    )
    if groups is None and world.groups:
        world.notes += (
            f"joined, as one at most or always equally many of their flags are up: "
            f"{', '.join(world.groups)}; groups={{}} keeps them apart",
        )
    if check:
        validate(world, frequencies=False, advice="check=False takes the world as it is")
    return world


def is_in_repository(name: str) -> bool:
    """Return whether `rddl:NAME` names a domain of rddlrepository, not files."""
    return not name.endswith(".rddl")


def make_by_name(name: str, **settings: Any) -> ExploredWorld:
    """Make the world `rddl:NAME`, for the command line and for skills files.

    Args:
        name: `DOMAIN/INSTANCE`, or the paths of two files joined by `+`.
        **settings: Arguments of `from_rddl`; `domain` and `instance` win over the name.
    """
    parameters = inspect.signature(from_rddl).parameters
    for setting in settings:
        if setting not in parameters:
            raise unknown("setting of an RDDL world", setting, parameters)
    check_settings(f"rddl:{name}", from_rddl, {"domain": "", **settings})
    if "domain" in settings:
        return from_rddl(**settings)
    domain, _, instance = name.partition("+" if name.endswith(".rddl") else "/")
    return from_rddl(domain, **{"instance": instance or None, **settings})


class _Problem(NamedTuple):
    """A domain and an instance."""

    name: str
    domain_file: str
    instance_file: str
    settings: dict[str, object]
    """The arguments that find the files again, if the name does not."""


def _find_problem(domain: str | Path, instance: str | int | Path | None) -> _Problem:
    try:
        import pyRDDLGym  # noqa: F401
        from rddlrepository.core.manager import RDDLRepoManager
    except ImportError:
        raise UserError(
            "RDDL worlds need pyRDDLGym and rddlrepository: pip install 'skillfocus[rddl]'"
        ) from None
    if str(domain).endswith(".rddl"):
        files = str(domain), str(instance or "(none given)")
        for file, kind in zip(files, ("domain", "instance"), strict=True):
            if not os.path.isfile(file):
                raise UserError(f"there is no RDDL {kind} file {file}")
        name = "+".join(Path(file).name for file in files)
        return _Problem(name, *files, {"domain": files[0], "instance": files[1]})
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
    name = f"{matches[0]}/{number}"
    return _Problem(name, problem.get_domain(), problem.get_instance(number), {})


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
