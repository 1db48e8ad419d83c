"""The hyperparameter searches of the paper's appendix, by name; one entry per search."""

from __future__ import annotations

from dataclasses import dataclass

from skillfocus.errors import UserError, unknown
from skillfocus.sweeps.grid import Axis


@dataclass(frozen=True)
class PaperGrid:
    """One search of the appendix.

    Attributes:
        setting: The setting that was varied.
        values: Its values by the ending of an objective's name; `""` matches every objective.
        learner: Name of the learner that has this setting; None if all have it.
    """

    setting: str
    values: dict[str, tuple[float, ...]]
    learner: str | None = None


PAPER_GRIDS = {
    "gamma": PaperGrid("gamma", {"": (0.9, 0.99, 0.999)}),
    "alpha": PaperGrid("alpha", {"": (0.01, 0.1)}, "q-learning"),
    "decay": PaperGrid("decay", {"": (0.0001, 0.0002, 0.0005, 0.001)}, "q-learning"),
    "ewma": PaperGrid("rate", {"vic": (0.3, 0.5, 0.7), "diayn": (0.001, 0.01, 0.05)}),
    "sgd": PaperGrid("rate", {"lsd": (0.01, 0.1)}),
    "lambda": PaperGrid(
        "strength",
        {
            "focused-vic": (2, 4, 10, 40),
            "focused-diayn": (2, 4, 10, 40),
            "focused-lsd": (1, 2, 8, 10),
        },
    ),
    "dusdi-weight": PaperGrid(
        "weight", {"dusdi-vic": (0.01, 0.1, 0.2, 0.5), "dusdi-diayn": (0.01, 0.1, 0.2, 0.5)}
    ),
    "skills": PaperGrid("skills", {"": (8, 16, 24)}),
}
"""All searches by the name that `sweep --paper` takes."""


def paper_axis(name: str, objective: str, learner: str) -> Axis:
    """Return the axis of one of the paper's searches.

    Args:
        name: Name of the search, a key of `PAPER_GRIDS`.
        objective: Name of the objective.
        learner: Name of the learner.

    Raises:
        UserError: If the name is unknown, or the search does not apply to the objective or learner.
    """
    if name not in PAPER_GRIDS:
        raise unknown("sweep", name, PAPER_GRIDS)
    entry = PAPER_GRIDS[name]
    if entry.learner not in (None, learner):
        raise UserError(f"the sweep {name!r} belongs to --learner {entry.learner}")
    for ending, values in entry.values.items():
        if objective.endswith(ending):
            return Axis(entry.setting, values)
    raise UserError(
        f"the sweep {name!r} has no meaning for {objective}; it is for {', '.join(entry.values)}"
    )
