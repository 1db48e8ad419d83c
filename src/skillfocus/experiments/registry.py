"""All experiments. This module is cheap to import: experiments are loaded when they are used."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from skillfocus.errors import UserError, unknown

if TYPE_CHECKING:
    from skillfocus.experiments.experiment import Experiment

MODULES = (
    "trajectories", "coverage", "downstream", "underspecified", "ablation", "skill_count",
    "side_effects", "safety", "controls", "reading_study", "scale", "continuous",
)  # fmt: skip
"""The modules of this package that export an `EXPERIMENT`, in the order of the report."""
ON_REQUEST = ("scale", "continuous")
"""Modules that "all" leaves out when something is run: they take a GPU, or hours."""
_registered: dict[str, Experiment] = {}


def register_experiment(experiment: Experiment) -> None:
    """Add an experiment from outside the package.

    It can be reproduced by name from then on, in this process. Registering a name again replaces
    the experiment.

    Raises:
        UserError: If the package has an experiment of that name, or if the name is "all".
    """
    if experiment.name in (*_built_in(), "all"):
        raise UserError(f"the name {experiment.name!r} is taken; choose another")
    _registered[experiment.name] = experiment


def unregister_experiment(name: str) -> None:
    """Remove an experiment that `register_experiment` added."""
    _registered.pop(name, None)


def experiment_names() -> list[str]:
    """Return the names of all experiments without loading them, in the order of the report."""
    return [*_built_in(), *_registered]


def usual_names() -> list[str]:
    """Return the names of the experiments that "all" runs."""
    left_out = [name for name, module in _built_in().items() if module in ON_REQUEST]
    return [name for name in experiment_names() if name not in left_out]


def get_experiment(name: str) -> Experiment:
    """Return an experiment by its name.

    Raises:
        UserError: If there is none of that name.
    """
    if name in _registered:
        return _registered[name]
    module = _built_in().get(name)
    if module is None:
        raise unknown("experiment", name, experiment_names())
    return import_module(f"skillfocus.experiments.{module}").EXPERIMENT


def select_experiments(names: Sequence[str], on_request: bool = False) -> list[Experiment]:
    """Return the experiments of these names, in the order of the report.

    Args:
        names: Names of experiments; "all" stands for all but those that are on request.
        on_request: Whether "all" stands for those, too.

    Raises:
        UserError: If a name is unknown, or if there are none.
    """
    known = experiment_names()
    for name in names:
        if name not in (*known, "all"):
            raise unknown("experiment", name, (*known, "all"))
    if not names:
        raise UserError(f"name an experiment: {', '.join(known)}, or all")
    wanted = {*names, *(known if on_request else usual_names())} if "all" in names else set(names)
    return [get_experiment(name) for name in known if name in wanted]


def _built_in() -> dict[str, str]:
    """Names of the package's experiments, and their modules."""
    return {module.replace("_", "-"): module for module in MODULES}
