"""Conformance checks for your own worlds and objectives, to call in your own tests.

Each raises a `UserError` that says what is wrong, and where.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from skillfocus.discovery import discover
from skillfocus.errors import UserError
from skillfocus.learners.planning.estimators import (
    Estimator,
    compiled_reward,
    compiled_update,
    tabular_estimator,
)
from skillfocus.learners.planning.learner import Planning
from skillfocus.mdp import TabularMDP, tabulate
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.variants import focused
from skillfocus.spaces import State
from skillfocus.world import World, check_declared, check_step_limit
from skillfocus.worlds.adapters.stepping import validate
from skillfocus.worlds.explored import ExploredWorld
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.jax.world import JaxWorld, require_jax
from skillfocus.worlds.registry import can_remake, make

SAMPLED_STATES = 200
"""Worlds with more states are checked in this many, evenly spread."""


def check_world(world: World) -> TabularMDP | None:
    """Check that a world keeps the contract that learners and metrics rely on.

    Of a world with a table, names, states, probabilities, drawings, default targets and settings
    are checked, and that a second enumeration gives the same world. A world explored in an
    environment is also compared with it: setting and then getting a state is the identity, steps
    are possible and as frequent as the world says, and equal seeds give equal steps.

    Of a world in JAX, names, bounds and settings are checked, and in random rollouts of many
    environments at once: states keep their structure, values are in range, `one_way` variables
    never return, equal keys give equal steps, and `place` keeps the values it is given.

    Returns:
        `tabulate(world)`; None without a table.

    Raises:
        UserError: Says what is wrong, and where.
    """
    _check_declared(world)
    if not world.has_table:
        _check_settings(world, lambda w: (w.space, w.settings) == (world.space, world.settings))
        if isinstance(world, JaxWorld):
            _check_in_jax(world)
        return None
    mdp = tabulate(world)
    if tabulate(world).fingerprint != mdp.fingerprint:
        raise UserError(
            f"{world.id} is not the same twice: states() or transition() returns something else "
            f"the second time; use probabilities instead of random numbers in them"
        )
    numbers = np.unique(np.linspace(0, mdp.n_states - 1, SAMPLED_STATES).astype(int))
    states = [mdp.state(s) for s in numbers]
    _check_drawing(world, states)
    for name in (*world.goals, world.default_target):
        if name in mdp.fixed and len(mdp.fixed) < len(mdp.space):
            raise UserError(
                f"{world.id}: no action changes {name}, so no skill can target it; name it in fixed"
            )
    _check_settings(world, lambda w: tabulate(w).fingerprint == mdp.fingerprint)
    if isinstance(world, ExploredWorld):
        _check_simulator(world, states)
    return mdp


def _check_in_jax(world: JaxWorld) -> None:
    require_jax("check_world")
    from skillfocus.worlds.jax.checking import check_rollouts

    values = check_rollouts(world)
    finite = world.space.is_finite
    _check_drawing(world, [tuple(row) if finite else row for row in values[-1].tolist()])


def _check_declared(world: World) -> None:
    """Check what a world says of itself: actions and their bounds, and names of variables."""
    check_declared(world)
    if not isinstance(world.actions, tuple):
        raise UserError(f"{type(world).__name__} needs actions, a tuple")
    if len(set(world.actions)) != len(world.actions):
        raise UserError(f"{world.id}: two actions share a name among {', '.join(world.actions)}")
    check_step_limit(world.step_limit)
    n = len(world.actions)
    if world.has_real_actions and (len(world.action_low), len(world.action_high)) != (n, n):
        raise UserError(f"{world.id}: action_low and action_high need {n} numbers, one per action")
    bounds = zip(world.action_low, world.action_high, strict=True)
    for name, (low, high) in zip(world.actions, bounds, strict=False):
        if not low < high or not np.isfinite([low, high]).all():
            raise UserError(f"{world.id}: action {name} ranges from {low} to {high}")
    declared = {
        "goals": world.goals, "default_target": (world.default_target,),
        "one_way": world.one_way, "fixed": world.fixed,
    }  # fmt: skip
    for attribute, names in declared.items():
        for name in names:
            if name not in world.space.names:
                raise UserError(f"{world.id}: {attribute} names {name!r}, which is not a variable")


def _check_drawing(world: World, states: list[Any]) -> None:
    for state in states:
        try:
            drawing = world.draw(state)
        except Exception as error:
            raise UserError(
                f"{world.id}: draw fails in {world.space.labels(state)}: {error!r}"
            ) from error
        if not isinstance(drawing, str) or not drawing:
            raise UserError(
                f"{world.id}: draw returns {drawing!r} in {world.space.labels(state)}; it must "
                f"return text"
            )


def _check_settings(world: World, is_same: Callable[[World], bool]) -> None:
    """Check that the settings can be stored, and make the same world again."""
    try:
        json.dumps(world.settings)
    except TypeError as error:
        raise UserError(f"{world.id}: its settings cannot be stored as JSON: {error}") from None
    if can_remake(world.id) and not is_same(make(world.id, **world.settings)):
        raise UserError(f"{world.id}: its settings recreate another world")


def _check_simulator(world: ExploredWorld, states: list[State]) -> None:
    """Compare an explored world with the environment it was explored in."""
    simulator = world.simulator
    if simulator is None:
        return
    for state in (state for state in states if state not in world.final_states):
        values = world.values_of(state)
        simulator.reset(values, 0)
        if tuple(simulator.state()) != values:
            raise UserError(
                f"{world.id}: set, then get, is not the identity: {values} came back as "
                f"{tuple(simulator.state())}"
            )
        action = state[-1] % len(world.actions)
        results = []
        for _ in range(2):
            simulator.reset(values, 1)
            results.append(simulator.step(action))
        if results[0] != results[1]:
            raise UserError(
                f"{world.id}: equal seeds give different steps: {world.actions[action]!r} in "
                f"{world.space.labels(state)} led to {results[0].values}, then to "
                f"{results[1].values}; use only random numbers that the seed determines (in an "
                f"object, define seed(seed))"
            )
    validate(world, advice="make it again from its environment as it is now")


def check_objective(objective: Objective) -> None:
    """Check that tabular learners can learn skills for an objective.

    Its formula and estimator compile, its rewards are numbers, its parameters have the shape that
    kernels expect and stay finite as it learns, it can be described in JSON, `focused` applies, and
    equal seeds give equal skills. It is tried in a corridor with a tool; compiling takes a few
    seconds.

    Raises:
        UserError: Saying what is wrong.
    """
    if not isinstance(objective, Objective):
        raise UserError(f"{objective!r} is no Objective: make one with skillfocus.Objective(…)")
    world = FourRooms("#######\n#...T.#\n#######", slip=0.0, step_limit=12)
    try:
        json.dumps(objective.to_dict())
    except TypeError as error:
        raise UserError(f"{objective.name} cannot be described in JSON: {error}") from None
    coordinates = np.ascontiguousarray(world.space.variables[0].coordinates)
    estimator = tabular_estimator(objective.reward.estimate, 0)
    params = _initial(objective, estimator, coordinates)
    if _initial(objective, estimator, coordinates).tobytes() != params.tobytes():
        raise UserError(f"{objective.name}: init is not the same for equal generators")
    _check_finite(objective, estimator, params, coordinates)
    targeted = objective if objective.targeted else focused(objective)

    def actions(seed: int) -> bytes:
        targets = {"tool_1": 2, "position": 2}
        skills = discover(world, targeted, seed=seed, targets=targets, learner=Planning(rounds=3))
        return skills.tabular.flat_actions.tobytes()

    if actions(0) != actions(0):
        raise UserError(f"{objective.name}: equal seeds give different skills")


def _initial(objective: Objective, estimator: Estimator, coordinates: np.ndarray) -> np.ndarray:
    n_starts = len(coordinates) if objective.reward.uses_start else 1
    params = estimator.init(2, n_starts, coordinates, np.random.default_rng(0))
    if not isinstance(params, np.ndarray) or params.ndim != 3 or params.dtype != np.float32:
        raise UserError(
            f"{objective.name}: init must give a float32 array of three dimensions, not "
            f"{getattr(params, 'dtype', type(params).__name__)} of shape "
            f"{getattr(params, 'shape', ())}"
        )
    return params


def _check_finite(
    objective: Objective, estimator: Estimator, params: np.ndarray, coordinates: np.ndarray
) -> None:
    uses_start = objective.reward.uses_start
    reward: Callable = compiled_reward(objective.reward.formula, estimator.predict)
    update: Callable = compiled_update(estimator.update)
    n_values = len(coordinates)
    one_start = not uses_start and params.size > 1  # parameters may have one start only
    starts = range(1 if one_start else n_values)
    every = [(z, s, v) for z in range(2) for s in starts for v in range(n_values)]
    for when in ("at first", "once it has learned"):
        for component, start, value in every:
            where = f"component {component} from value {start} to value {value}"
            try:
                earned = reward(params, coordinates, component, start, value)
            except ArithmeticError as error:
                raise UserError(f"{objective.name}: the reward of {where} fails: {error}") from None
            if not uses_start and earned != reward(params, coordinates, component, 0, value):
                raise UserError(
                    f"{objective.name}: the reward depends on where a skill started, but "
                    f"uses_start is False, so policies would not know it; leave uses_start out"
                )
            if not np.isfinite(earned):
                raise UserError(
                    f"{objective.name}: the reward of {where} is {earned} {when}; it must be a "
                    f"finite number"
                )
        for component, start, value in every:
            rate = objective.reward.estimate.rate or 0.1
            update(params, coordinates, component, start, value, rate)
        if not np.isfinite(params).all():
            raise UserError(f"{objective.name}: update makes its parameters infinite or undefined")
