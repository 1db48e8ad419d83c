"""Objectives by name: `vic`, `dusdi-diayn`, `focused-lsd`, `scattered-focused-vic`, …

A name is an algorithm with variants in front of it. A new algorithm is a formula and a factory in
`objective.py` and an entry in `ALGORITHMS`; it gets `focused-…` and, if it has a discriminator,
`dusdi-…` for free. Objectives of your own are named by their file, `my.py:rotate`, with the same
variants.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

import msgspec

from skillfocus.errors import UserError, unknown
from skillfocus.files import is_own, load_own, own_code, own_digest
from skillfocus.objectives.objective import Objective, diayn, lsd, metra, reach, vic
from skillfocus.objectives.variants import (
    Penalty,
    changed_variables,
    dusdi,
    focused,
    path_norm,
    scattered,
    weighted_norm,
)

ALGORITHMS: dict[str, Callable[..., Objective]] = {
    "vic": vic, "diayn": diayn, "lsd": lsd, "metra": metra,
    "reach": reach, "change": partial(reach, change=True),
}  # fmt: skip
"""Factories of plain objectives."""
NEEDS_TARGETS = ("reach", "change")
"""Goal-conditioned algorithms, which have no plain variant."""
CONTINUOUS_ONLY = ("metra",)
PENALTIES: dict[str, Callable[..., Penalty]] = {
    "weighted-norm": weighted_norm,
    "path-norm": path_norm,
    "changed-variables": changed_variables,
}
"""Penalties of `focused-…` by name."""


def is_known_penalty(penalty: Penalty) -> bool:
    """Return whether a penalty is one of `PENALTIES`, at any strength and with any baseline."""
    factory = PENALTIES.get(penalty.name)
    return factory is not None and replace(
        penalty, strength=4.0, baseline="start", auto=False
    ) == factory(4.0)


def _focused(
    objective: Objective, *, strength: Any = None, penalty: str | None = None, baseline: Any = None
) -> Objective:
    """Apply `focused` with a penalty by name."""
    made = None
    if penalty is not None:
        if penalty not in PENALTIES:
            raise unknown("penalty", penalty, PENALTIES)
        made = PENALTIES[penalty](objective.reward.penalty_strength)
    return focused(objective, strength=strength, penalty=made, baseline=baseline)


VARIANTS: dict[str, tuple[Callable[..., Objective], tuple[str, ...]]] = {
    "focused": (_focused, ("strength", "penalty", "baseline")),
    "dusdi": (dusdi, ("weight",)),
    "scattered": (scattered, ()),
}
"""Variants by name, with the settings that each takes."""


def objective_names() -> tuple[str, ...]:
    """Return the names of the paper's algorithms, plain, with DUSDi and focused, and `reach`'s."""
    plain = [name for name in ALGORITHMS if name not in (*NEEDS_TARGETS, *CONTINUOUS_ONLY)]
    dusdis = [name for name in plain if ALGORITHMS[name]().reward.estimate.discriminates]
    return (
        *plain,
        *(f"dusdi-{name}" for name in dusdis),
        *(f"focused-{name}" for name in (*plain, *NEEDS_TARGETS)),
    )


def make_objective(name: str, **settings: Any) -> Objective:
    """Make the objective of a name, which may be `FILE.py:NAME`, with variants in front of it.

    `my.py:rotate` is an objective in a file of the user's, or a function that returns one;
    `focused-my.py:rotate` its focused variant. The file is run, so the name must be the user's own.

    Args:
        name: Such as "focused-vic" or "focused-my.py:rotate".
        **settings: `strength`, `penalty` (a name) and `baseline` of `focused-…`, `weight` of
            `dusdi-…`, and the arguments of the algorithm, such as `rate` and `prior`; None leaves
            one out.

    Raises:
        UserError: If there is no such objective, or a setting does not apply to it.
    """
    given = {key: value for key, value in settings.items() if value is not None}
    return _make(name, name, given)


class _Described(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What `Objective.to_dict` returns."""

    name: Annotated[str, msgspec.Meta(max_length=200)]
    rate: float
    prior: Literal["uniform", "learned"] | float | None = None
    random_start: bool | None = None
    strength: Literal["auto"] | float | None = None
    penalty: str | None = None
    baseline: str | None = None
    weight: float | None = None


def from_dict(settings: Mapping[str, Any]) -> Objective:
    """Return the objective whose `to_dict` this is; what a file says may be anything.

    Raises:
        UserError: If it was made in Python with a reward or a penalty of its own.
    """
    try:
        described = msgspec.convert(settings, _Described)
    except msgspec.ValidationError as error:
        raise UserError(f"these are not the settings of an objective: {error}") from None
    given = msgspec.to_builtins(described)
    name, rate = given.pop("name"), given.pop("rate")
    if ".py:" in name:  # what a file says must not run another file
        raise UserError(f"{name} is defined in a file of your own, which is not run")
    made = make_objective(name, **given)
    if rate != made.reward.estimate.rate:
        made = make_objective(name, rate=rate, **given)
    return made


def is_registered(objective: Objective) -> bool:
    """Return whether its settings make an objective again: it has no function of the user's."""
    try:
        return from_dict(objective.to_dict()) == objective
    except UserError:
        return False


def _make(whole: str, name: str, settings: dict[str, Any]) -> Objective:
    """Make an objective by the rest of its name, once the variants before it are stripped."""
    variant, _, inner = name.partition("-")
    if variant in VARIANTS and inner:
        function, names = VARIANTS[variant]
        own = {key: settings.pop(key) for key in names if key in settings}
        return function(_make(whole, inner, settings), **own)
    if is_own(name):
        return _own_objective(name, settings)
    if name not in ALGORITHMS:
        raise unknown("objective", whole, objective_names())
    factory = ALGORITHMS[name]
    for key in settings:
        if key not in inspect.signature(factory).parameters:
            takers = [variant for variant, (_, names) in VARIANTS.items() if key in names]
            advice = f"; try {takers[0]}-{name}" if takers else ""
            raise UserError(f"{whole} takes no {key}{advice}")
    return factory(**settings)


def own_objective_digest(name: str) -> str | None:
    """Return a digest of the file that defines an objective; None for the objectives here."""
    if not is_own(name):
        return None
    variant, _, inner = name.partition("-")
    return own_objective_digest(inner) if variant in VARIANTS else own_digest(name)


def _own_objective(name: str, settings: dict[str, Any]) -> Objective:
    """Return the plain objective that a file defines."""
    definition = load_own(name)
    made = definition
    if not isinstance(definition, Objective) and callable(definition):
        try:
            inspect.signature(definition).bind(**settings)
        except (TypeError, ValueError) as error:
            raise UserError(
                f"{name} must be an Objective, or a function that returns one: as such it cannot "
                f"be called with {settings or 'no arguments'} ({error})"
            ) from None
        with own_code(name):
            made, settings = definition(**settings), {}
    if not isinstance(made, Objective):
        raise UserError(f"{name} must be an Objective, or a function that returns one")
    strength = settings.pop("strength", None)
    if strength is not None and made.penalty is not None:
        change = {"auto": True} if strength == "auto" else {"strength": strength}
        made = replace(made, penalty=replace(made.penalty, **change))
    elif strength is not None:
        raise UserError(f"{name} has no penalty, so it takes no strength; try focused-{name}")
    if settings:
        raise UserError(f"{name} is an objective already, so it takes no {', '.join(settings)}")
    return made


def as_objective(objective: Objective | str) -> Objective:
    """Return an objective as it is, or the one of a name."""
    return make_objective(objective) if isinstance(objective, str) else objective
