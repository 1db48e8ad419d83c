"""Results and costs of cases as frames: collected from a store, saved, and loaded again."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from skillfocus._internal.atomic_io import write_atomically
from skillfocus._internal.environment_info import package_versions
from skillfocus.errors import UserError
from skillfocus.experiments.cases import Case
from skillfocus.experiments.pipeline import Pipeline
from skillfocus.runs.folder_store import Store

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
FILES = {"results.parquet": RESULTS, "costs.parquet": COSTS}
"""The files of saved results, with their schemas."""
VERSION_FILE = "version.json"
"""Says which version of the runs saved results are of."""


def collect_results(store: Store, cases: Sequence[Case]) -> pl.DataFrame:
    """Collect everything that the finished ones of these cases measured.

    Args:
        store: The folder of runs.
        cases: The cases; several may share a run, whose rows then appear under each label.

    Returns:
        A row per number, with the columns `RESULTS`.
    """
    frame = store.frame([case.run for case in cases]).select("run", "metric", "step", "value")
    joined = _run_labels(cases).join(frame, on="run", how="inner", maintain_order="left_right")
    return joined.select(*RESULTS)


def collect_costs(store: Store, cases: Sequence[Case]) -> pl.DataFrame:
    """Collect time, memory and package versions of the finished ones of these cases.

    Args:
        store: The folder of runs.
        cases: The cases.

    Returns:
        A row per case, with the columns `COSTS`.
    """
    records = store.records([case.run for case in cases])
    if records.is_empty():
        return pl.DataFrame(schema=COSTS)
    records = records.select("run", *VERSIONS, "cpu_seconds", "peak_memory_mb")
    return _run_labels(cases).join(records, on="run", how="inner").select(*COSTS)


def _run_labels(cases: Iterable[Case]) -> pl.DataFrame:
    rows = {case.labels: case.run.id for case in cases}
    return pl.DataFrame(
        [(*labels, run) for labels, run in rows.items()],
        schema={**LABELS, "run": pl.String}, orient="row",
    )  # fmt: skip


def save_results(folder: Path, results: pl.DataFrame, costs: pl.DataFrame) -> None:
    """Save reduced results and costs to a folder, in single precision.

    Args:
        folder: The folder; it is created.
        results: Reduced results (`reduce.reduce_results`).
        costs: Costs (`collect_costs`).
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in zip(FILES, (results, costs), strict=True):
        buffer = io.BytesIO()
        compact = table.with_columns(pl.col(pl.Float64).cast(pl.Float32))
        compact.write_parquet(buffer, compression="zstd", compression_level=19)
        write_atomically(folder / name, buffer.getvalue())
    version = {"results": Pipeline.version, "skillfocus": package_versions()["skillfocus"]}
    write_atomically(folder / VERSION_FILE, (json.dumps(version) + "\n").encode())


def saved_version(folder: Path) -> int | None:
    """Return the version of the runs that saved results are of; None if they do not say."""
    try:
        return int(json.loads((folder / VERSION_FILE).read_text())["results"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def load_results(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Load what `save_results` saved.

    Returns:
        Results and costs.

    Raises:
        UserError: If a file is missing, unreadable, or has other columns.
    """
    tables = []
    for name, schema in FILES.items():
        path = folder / name
        try:
            table = pl.read_parquet(path)
        except FileNotFoundError:
            raise UserError(
                f"there is no {name} in {folder}; name a folder of saved results, such as the "
                f"project's `results`"
            ) from None
        except (OSError, pl.exceptions.PolarsError) as error:
            raise UserError(f"cannot read {path}: {error}") from None
        if list(table.columns) != list(schema):
            raise UserError(f"{path} has other columns than saved results: {table.columns}")
        tables.append(table.cast(schema))  # pyright: ignore[reportArgumentType]
    return tables[0], tables[1]
