"""Results and costs of cases as frames: collected from a store, saved, and loaded again."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from skillfocus._internal.atomic_io import require_writable_folder, write_atomically
from skillfocus._internal.environment_info import package_versions
from skillfocus._internal.foreign_parquet import column_names, read_footer, read_tables
from skillfocus.errors import UserError
from skillfocus.experiments.cases import Case, Setup
from skillfocus.experiments.pipeline import Pipeline
from skillfocus.runs.folder_store import Store

LABELS = {
    "preset": pl.String, "learner": pl.String, "world": pl.String, "agent": pl.String,
    "variant": pl.String, "seed": pl.Int64,
}  # fmt: skip
RESULTS = {**LABELS, "metric": pl.String, "step": pl.Int64, "value": pl.Float64}
VERSIONS = ("python", "skillfocus", "numpy", "numba", "jax", "device")
"""What runs record of where they were executed; JAX and its device are null without networks."""
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
    unknown = [name for name in VERSIONS if name not in records.columns]
    records = records.with_columns(pl.lit(None, pl.String).alias(name) for name in unknown)
    records = records.select("run", *VERSIONS, "cpu_seconds", "peak_memory_mb")
    return _run_labels(cases).join(records, on="run", how="inner").select(*COSTS)


def _run_labels(cases: Iterable[Case]) -> pl.DataFrame:
    rows = {case.labels: case.run.id for case in cases}
    return pl.DataFrame(
        [(*labels, run) for labels, run in rows.items()],
        schema={**LABELS, "run": pl.String}, orient="row",
    )  # fmt: skip


def check_results_folder(folder: Path) -> None:
    """Create a folder for `save_results`, before hours of work depend on it.

    Raises:
        UserError: If it cannot be written to, or holds other files under the names of saved
            results, which would be overwritten.
    """
    require_writable_folder(folder)
    for name, schema in FILES.items():
        path = folder / name
        if path.exists() and _columns(path) != list(schema):
            raise UserError(
                f"{path} is not a file of saved results, and would be overwritten; choose another "
                f"folder with --keep"
            )
    path = folder / VERSION_FILE
    if path.exists() and saved_version(folder) is None:
        raise UserError(
            f"{path} is not of saved results, and would be overwritten; choose another folder with "
            f"--keep"
        )


def _columns(path: Path) -> list[str] | None:
    try:
        with path.open("rb") as file:
            return column_names(read_footer(file))
    except (OSError, ValueError):
        return None


def save_results(folder: Path, results: pl.DataFrame, costs: pl.DataFrame) -> None:
    """Save reduced results and costs to a folder, in single precision.

    Args:
        folder: The folder; it is created. See `check_results_folder`.
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


def add_results(
    folder: Path, results: pl.DataFrame, costs: pl.DataFrame, replaced: Sequence[Setup] = ()
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Add reduced results and costs to those saved in a folder.

    Cases that are saved already get their new rows; the others stay as they are.

    Args:
        folder: The folder; it may hold nothing yet.
        results: Reduced results.
        costs: Costs.
        replaced: Setups whose saved results are all replaced, and with them any of another version.

    Returns:
        All results and costs, for `save_results`.

    Raises:
        UserError: If the saved results are of another version of the runs, or cannot be read.
    """
    if not (folder / VERSION_FILE).exists():
        return results, costs
    if saved_version(folder) != Pipeline.version:
        if replaced:
            return results, costs
        raise UserError(
            f"the results in {folder} are of version {saved_version(folder)}, and these of version "
            f"{Pipeline.version}: save those of all experiments, or use another folder"
        )
    merged = []
    for saved, new in zip(load_results(folder), (results, costs), strict=True):
        others = saved.join(new.select(*LABELS).unique(), on=list(LABELS), how="anti")
        for setup in replaced:
            own = (pl.col("preset") == setup.preset) & (pl.col("learner") == setup.learner)
            others = others.filter(~own)
        both = pl.concat([others, new.cast(others.schema)])  # pyright: ignore[reportArgumentType]
        order = [name for name in (*LABELS, "metric", "step") if name in both.columns]
        merged.append(both.sort(*order, nulls_last=False))
    return merged[0], merged[1]


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
        UserError: If a file is missing or unreadable, has other columns, or rows without labels or
            with the same ones.
    """
    contents = []
    for name in FILES:
        try:
            contents.append((folder / name).read_bytes())
        except FileNotFoundError:
            raise UserError(
                f"there is no {name} in {folder}; name a folder of saved results, such as the "
                f"project's `results`"
            ) from None
        except OSError as error:
            raise UserError(f"cannot read {folder / name}: {error.strerror}") from None
    tables = []
    for (name, schema), table in zip(FILES.items(), read_tables(contents), strict=True):
        path = folder / name
        if isinstance(table, str):
            raise UserError(f"cannot read {path}: {table}")
        if list(table.columns) != list(schema):
            raise UserError(f"{path} has other columns than saved results: {table.columns}")
        try:
            table = table.cast(schema)  # pyright: ignore[reportArgumentType]
        except pl.exceptions.PolarsError:
            raise UserError(f"{path} has columns of other types than saved results") from None
        _check_rows(path, table)
        tables.append(table)
    return tables[0], tables[1]


def _check_rows(path: Path, table: pl.DataFrame) -> None:
    names = [name for name in (*LABELS, "metric", "step") if name in table.columns]
    labels = table.select(names)
    if any(labels[name].null_count() for name in names if name != "step"):
        raise UserError(f"{path} has rows without labels; save the results again with --keep")
    if labels.is_duplicated().any():
        raise UserError(f"{path} has several rows for the same result; save them again with --keep")


@contextmanager
def consistent(folder: Path | None) -> Iterator[None]:
    """Turn what saved results break into one sentence; without a folder, change nothing.

    Raises:
        UserError: If the results in the folder do not fit together.
    """
    try:
        yield
    except UserError:
        raise
    except (
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
        pl.exceptions.PolarsError,
    ) as error:
        if folder is None:
            raise
        reason = f"{type(error).__name__}: {error}"
        raise UserError(f"the results in {folder} do not fit together ({reason})") from error
