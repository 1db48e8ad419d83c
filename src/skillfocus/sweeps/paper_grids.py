"""The searches of the paper's appendix, as ready sweeps: what is varied, and over which values."""

from __future__ import annotations

from dataclasses import dataclass

from skillfocus.errors import UserError, unknown


@dataclass(frozen=True)
class PaperGrid:
    setting: str
    values: dict[str, tuple[float, ...]]
    """By the end of an objective's name; `""` stands for every other."""
    learner: str | None = None
    """The learner that has this setting, if not all do."""


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
}  # fmt: skip


def paper_axis(name: str, objective: str, learner: str) -> tuple[str, tuple[float, ...]]:
    """The setting and the values of a ready sweep for an objective."""
    if name not in PAPER_GRIDS:
        raise unknown("sweep", name, PAPER_GRIDS)
    ready = PAPER_GRIDS[name]
    if ready.learner not in (None, learner):
        raise UserError(f"the sweep {name!r} belongs to --learner {ready.learner}")
    for ending, values in ready.values.items():
        if objective.endswith(ending):
            return ready.setting, values
    raise UserError(
        f"the sweep {name!r} has no meaning for {objective}; it is for {', '.join(ready.values)}"
    )
