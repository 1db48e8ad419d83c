"""All experiments together: which cases there are, and what is found in their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import polars as pl

from skillfocus.errors import UserError, unknown
from skillfocus.experiments import (
    NAMES,
    ablation,
    controls,
    coverage,
    downstream,
    side_effects,
    skill_count,
    trajectories,
    underspecified,
)
from skillfocus.experiments.cases import Case, Setup, share_of
from skillfocus.experiments.claims import Analysis
from skillfocus.experiments.presets import LEARNERS, PRESETS

_MODULES = (
    trajectories, coverage, downstream, underspecified, ablation, skill_count, side_effects,
    controls,
)  # fmt: skip
EXPERIMENTS: dict[str, ModuleType] = dict(zip(NAMES, _MODULES, strict=True))
SHARES = {"ablation": 0.2, "controls": 0.2, "skill-count": 0.2}
"""Of the seeds, those that the experiments beside the main one get."""
PAPER_ONLY = ("ablation", "skill-count", "side-effects", "controls")
"""Experiments that would say nothing new with the preset `best`."""
SETUPS = tuple(Setup(preset, learner) for learner in LEARNERS for preset in PRESETS)


def check_experiments(names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in (*EXPERIMENTS, "all"):
            raise unknown("experiment", name, (*EXPERIMENTS, "all"))
    chosen = [name for name in EXPERIMENTS if name in names or "all" in names]
    if not chosen:
        raise UserError(f"name an experiment: {', '.join(EXPERIMENTS)}, or all")
    return chosen


def _of(setup: Setup, names: Sequence[str]) -> list[str]:
    """Those of the experiments that a setup has."""
    return [name for name in names if setup.preset == "paper" or name not in PAPER_ONLY]


def cases(setup: Setup, names: Sequence[str], seeds: Sequence[int]) -> list[Case]:
    """Every case of these experiments, once, the first seeds' first: an interrupted job has all
    experiments with fewer seeds, not fewer experiments."""
    made: dict[tuple, Case] = {}
    for name in _of(setup, names):
        for case in EXPERIMENTS[name].cases(setup, share_of(seeds, SHARES.get(name, 1))):
            if made.setdefault(case.labels, case).run.id != case.run.id:
                raise ValueError(f"two different runs are called {case.labels}")
    return sorted(made.values(), key=lambda case: case.seed)


@dataclass(frozen=True)
class Section:
    """What one experiment found with one setup."""

    experiment: str
    setup: Setup
    analysis: Analysis
    frame: pl.DataFrame


def analyze(frame: pl.DataFrame, names: Sequence[str]) -> list[Section]:
    """What is found in condensed results, setup by setup; setups without skills are left out."""
    sections = []
    for setup in SETUPS:
        mine = frame.filter(
            (pl.col("preset") == setup.preset) & (pl.col("learner") == setup.learner)
        )
        if mine.filter(pl.col("metric") == "mean_side_effects").is_empty():
            continue
        sections += [
            Section(name, setup, EXPERIMENTS[name].analyze(mine), mine)
            for name in _of(setup, names)
        ]
    return sections
