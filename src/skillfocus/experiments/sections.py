"""Several experiments together: their cases, and their analyses setup by setup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from skillfocus.experiments.cases import FURTHER_SETUPS, SETUPS, Case, Setup, first_seeds
from skillfocus.experiments.claims import Analysis
from skillfocus.experiments.experiment import Experiment
from skillfocus.experiments.presets import BASELINES


@dataclass(frozen=True)
class Section:
    """The analysis of one experiment with one setup."""

    experiment: Experiment
    setup: Setup
    analysis: Analysis
    frame: pl.DataFrame
    """Reduced results of the setup, with the columns `results.RESULTS`."""


def all_cases(setup: Setup, experiments: Sequence[Experiment], seeds: Sequence[int]) -> list[Case]:
    """Return every case of these experiments once, sorted by seed.

    An interrupted job then has all experiments with fewer seeds, not fewer experiments.

    Raises:
        ValueError: If two different runs have the same labels.
    """
    by_labels: dict[tuple, Case] = {}
    for experiment in experiments:
        if setup.preset not in experiment.presets:
            continue
        own = first_seeds(seeds, experiment.seed_share, experiment.least_seeds)
        for case in experiment.cases(setup, own):
            if by_labels.setdefault(case.labels, case).run.id != case.run.id:
                raise ValueError(f"two different runs are labelled {case.labels}")
    return sorted(by_labels.values(), key=lambda case: case.seed)


def analyze_results(frame: pl.DataFrame, experiments: Sequence[Experiment]) -> list[Section]:
    """Analyze reduced results, setup by setup.

    A setup without skills is left out: the baselines' results belong to every setup.
    """
    sections = []
    for setup in (*SETUPS, *FURTHER_SETUPS):
        mine = frame.filter(
            (pl.col("preset") == setup.preset) & (pl.col("learner") == setup.learner)
        )
        if mine.filter(~pl.col("agent").is_in(BASELINES)).is_empty():
            continue
        sections += [
            Section(experiment, setup, experiment.analyze(mine), mine)
            for experiment in experiments
            if setup.preset in experiment.presets
        ]
    return sections
