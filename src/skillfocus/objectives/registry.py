"""Objectives by name: `vic`, `dusdi-diayn`, `focused-lsd`, `scattered-focused-vic`, …

A name is an algorithm with variants in front of it. A new algorithm is one file in `rewards/` and
one entry in `ALGORITHMS`; it gets `focused-…` and, if it has a discriminator, `dusdi-…` for free.
Objectives of your own are named by their file, `my.py:rotate`, with the same variants.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from skillfocus._internal.checks import shown
from skillfocus._internal.own_files import is_own, load_own, own_code, own_digest
from skillfocus.errors import UserError, unknown
from skillfocus.objectives.controls import oracle, permuted
from skillfocus.objectives.objective import Objective, check_objective_type
from skillfocus.objectives.penalties import Penalty, changed_variables, path_norm, weighted_norm
from skillfocus.objectives.rewards.diayn import diayn
from skillfocus.objectives.rewards.lsd import lsd
from skillfocus.objectives.rewards.metra import metra
from skillfocus.objectives.rewards.reach import reach
from skillfocus.objectives.rewards.vic import vic
from skillfocus.objectives.variants.dusdi import dusdi
from skillfocus.objectives.variants.focused import focused
from skillfocus.objectives.variants.scattered import scattered

ALGORITHMS: dict[str, Callable[..., Objective]] = {"vic": vic, "diayn": diayn, "lsd": lsd}
"""Factories of plain objectives; each takes a `rate`."""
CONTINUOUS: dict[str, Callable[..., Objective]] = {"metra": metra}
"""The same for objectives of continuous worlds alone."""
TOLD: dict[str, Callable[..., Objective]] = {"reach": reach, "change": partial(reach, change=True)}
"""Objectives whose skills are told what to reach; they learn nothing, take no rate, and need
targets: `focused-reach`, `focused-change`."""
CONTROLS: dict[str, Callable[..., Objective]] = {"oracle": oracle}
"""Objectives that serve as controls only; they learn nothing, and take no rate."""
OUTER_VARIANTS: dict[str, Callable[[Objective], Objective]] = {
    "scattered": scattered,
    "permuted": permuted,
}
"""Variants of objectives that have targets already, without settings of their own."""
PENALTIES: dict[str, Callable[..., Penalty]] = {
    "weighted-norm": weighted_norm,
    "path-norm": path_norm,
    "changed-variables": changed_variables,
}
"""Penalties of `focused-…` by name; each takes a `strength`."""


def _focused(
    objective: Objective,
    *,
    strength: float | Literal["auto"] | None = None,
    baseline: Any = None,
    penalty: str | None = None,
) -> Objective:
    """`focused` with a penalty by name."""
    if penalty is None:
        return focused(objective, strength=strength, baseline=baseline)
    check_objective_type(objective, "focused({})")
    if penalty not in PENALTIES:
        raise unknown("penalty", penalty, PENALTIES)
    made = PENALTIES[penalty](objective.reward.penalty_strength)
    return focused(objective, strength=strength, penalty=made, baseline=baseline)


_VARIANTS: dict[str, tuple[Callable[..., Objective], tuple[str, ...]]] = {
    "focused": (_focused, ("strength", "baseline", "penalty")),
    "dusdi": (dusdi, ("weight",)),
    **{name: (variant, ()) for name, variant in OUTER_VARIANTS.items()},
}
"""All variants, and the settings of their own that each takes."""


def objective_names() -> tuple[str, ...]:
    """Return the names of all algorithms: plain, with DUSDi and focused."""
    with_discriminator = [
        name for name, make in ALGORITHMS.items() if make().reward.estimate.discriminates
    ]
    return (
        *ALGORITHMS,
        *(f"dusdi-{name}" for name in with_discriminator),
        *(f"focused-{name}" for name in (*ALGORITHMS, *TOLD)),
    )


def make_objective(
    name: str,
    *,
    rate: float | None = None,
    strength: float | Literal["auto"] | None = None,
    weight: float | None = None,
    prior: float | None = None,
    baseline: str | None = None,
    penalty: str | None = None,
) -> Objective:
    """Make the objective of a name.

    Args:
        name: Such as "focused-vic".
        rate: Learning rate of its estimate (default: the paper's).
        strength: Strength of the penalty, for `focused-…` (default: the paper's), or "auto".
        weight: DUSDi's weight, for `dusdi-…` (default: 0.1).
        prior: Probability of each skill under nu, for objectives with a discriminator (default:
            uniform over the skills that share a target).
        baseline: What the penalty compares with, for `focused-…` (default: the start).
        penalty: Name of the penalty, for `focused-…` (default: "weighted-norm").

    Raises:
        UserError: If the name is unknown, or a setting does not apply to it.
    """
    outer, _, inner = name.partition("-")
    if outer in OUTER_VARIANTS:
        plain = make_objective(
            inner, rate=rate, strength=strength, weight=weight, prior=prior, baseline=baseline,
            penalty=penalty,
        )  # fmt: skip
        return OUTER_VARIANTS[outer](plain)
    factories = {**ALGORITHMS, **CONTINUOUS, **TOLD, **CONTROLS}
    variant, _, base = name.rpartition("-")
    if base not in factories or variant not in ("", "focused", "dusdi"):
        raise unknown("objective", name, objective_names())
    if strength is not None and variant != "focused":
        raise UserError(f"{name} has no penalty, so it takes no strength; try focused-{base}")
    if baseline is not None and variant != "focused":
        raise UserError(f"{name} has no penalty, so it takes no baseline; try focused-{base}")
    if penalty is not None and variant != "focused":
        raise UserError(f"{name} has no penalty to choose; try focused-{base}")
    if weight is not None and variant != "dusdi":
        raise UserError(f"{name} takes no DUSDi weight; try dusdi-vic or dusdi-diayn")
    if rate is not None and base not in {**ALGORITHMS, **CONTINUOUS}:
        raise UserError(f"{name} learns nothing, so it takes no rate")
    settings = {
        key: value for key, value in (("rate", rate), ("prior", prior)) if value is not None
    }
    if "prior" in settings and not factories[base]().reward.estimate.discriminates:
        raise UserError(f"{name} has no discriminator, so it takes no prior")
    objective = factories[base](**settings)
    if variant == "focused":
        return _focused(objective, strength=strength, baseline=baseline, penalty=penalty)
    if variant == "dusdi":
        return dusdi(objective) if weight is None else dusdi(objective, weight=weight)
    return objective


def named_objective(name: str, **settings: Any) -> Objective:
    """Make the objective of a name, which may be `FILE.py:NAME`, with variants in front of it.

    `my.py:rotate` is an objective in a file of the user's, or a function that returns one;
    `focused-my.py:rotate` its focused variant. The file is run, so the name must be the user's own.

    Args:
        name: Such as "focused-vic" or "focused-my.py:rotate".
        settings: Settings of `make_objective`; None leaves one out.

    Raises:
        UserError: If there is no such objective, or a setting does not apply to it.
    """
    if not is_own(name):
        return make_objective(name, **settings)
    given = {key: value for key, value in settings.items() if value is not None}
    variant, _, inner = name.partition("-")
    if variant not in _VARIANTS:
        return _own_objective(name, given)
    function, names = _VARIANTS[variant]
    own = {name: given.pop(name) for name in names if name in given}
    return function(named_objective(inner, **given), **own)


def own_objective_digest(name: str) -> str | None:
    """Return a digest of the file that defines an objective; None for the objectives here."""
    if not is_own(name):
        return None
    variant, _, inner = name.partition("-")
    return own_objective_digest(inner) if variant in _VARIANTS else own_digest(name)


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
        raise UserError(
            f"{name} must be an Objective, or a function that returns one, got {shown(made)}"
        )
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
    """Return an objective as it is, or the one of a name.

    Raises:
        UserError: If it is neither an objective nor a known name.
    """
    if isinstance(objective, str):
        return named_objective(objective)
    check_objective_type(objective, "discover(world, {})")
    return objective
