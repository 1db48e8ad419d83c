"""A case is a run and what it stands for in a comparison; results are tables over cases.

Analyses see cases by their labels alone, never by a run's id or the settings behind it:

    preset, learner, world, agent, variant, seed | metric, step, value

A variant is what differs from the preset, such as `strength=10`; mostly nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from skillfocus.experiments.pipeline import Pipeline, Primitives
from skillfocus.experiments.presets import ON_TWO, PRIMITIVES, discovery_learner, targets
from skillfocus.runs.folder_store import Store
from skillfocus.runs.run import Run, Setting

LABELS = {
    "preset": pl.String, "learner": pl.String, "world": pl.String, "agent": pl.String,
    "variant": pl.String, "seed": pl.Int64,
}  # fmt: skip
RESULTS = {**LABELS, "metric": pl.String, "step": pl.Int64, "value": pl.Float64}

VERSIONS = ("python", "skillfocus", "numpy", "numba")
COSTS = {
    **LABELS, **dict.fromkeys(VERSIONS, pl.String),
    "cpu_seconds": pl.Float64, "peak_memory_mb": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    preset: str
    learner: str
    world: str
    agent: str
    variant: str
    seed: int
    run: Run

    @property
    def labels(self) -> tuple[str, str, str, str, str, int]:
        return self.preset, self.learner, self.world, self.agent, self.variant, self.seed


@dataclass(frozen=True)
class Setup:
    """What all cases of a comparison share."""

    preset: str = "paper"
    learner: str = "planning"

    def case(
        self, world: str, agent: str, seed: int, variant: str = "", **changes: Setting
    ) -> Case:
        """The pipeline of an agent as the preset has it, but for some changes."""
        if agent == PRIMITIVES:
            run = Primitives(world, seed)
        else:
            run = Pipeline(
                world, agent.removesuffix(ON_TWO), seed,
                discovery_learner(self.preset, self.learner),
                targets=targets(self.preset, world, agent), coverage=world == "four-rooms",
            ).with_settings(changes)  # fmt: skip
        return Case(self.preset, self.learner, world, agent, variant, seed, run)


def share_of(seeds: Sequence[int], share: float) -> Sequence[int]:
    """The first of the seeds: as many as the share says, but two if there are two."""
    return seeds[: max(min(2, len(seeds)), round(share * len(seeds)))]


def main_cases(
    setup: Setup, worlds: Sequence[str], agents: Sequence[str], seeds: Sequence[int]
) -> list[Case]:
    """Every agent in every world. Planned VIC and LSD, which remember all of the first state, take
    as long as all others together, so they get two fifths of the seeds."""
    few = share_of(seeds, 0.4) if setup.learner == "planning" else seeds
    return [
        setup.case(world, agent, seed)
        for seed in seeds
        for world in worlds
        for agent in agents
        if agent not in ("vic", "lsd") or seed in few
    ]


def results(store: Store, cases: Sequence[Case]) -> pl.DataFrame:
    """What the finished ones among these cases measured."""
    frame = store.frame([case.run for case in cases]).select("run", "metric", "step", "value")
    joined = _labelled(cases).join(frame, on="run", how="inner", maintain_order="left_right")
    return joined.select(*RESULTS)


def costs(store: Store, cases: Sequence[Case]) -> pl.DataFrame:
    """What the finished ones among these cases took, and which versions they ran with."""
    records = store.records([case.run for case in cases])
    if records.is_empty():
        return pl.DataFrame(schema=COSTS)
    records = records.select("run", *VERSIONS, "cpu_seconds", "peak_memory_mb")
    return _labelled(cases).join(records, on="run", how="inner").select(*COSTS)


def _labelled(cases: Iterable[Case]) -> pl.DataFrame:
    rows = {case.labels: case.run.id for case in cases}
    return pl.DataFrame(
        [(*labels, run) for labels, run in rows.items()],
        schema={**LABELS, "run": pl.String}, orient="row",
    )  # fmt: skip
