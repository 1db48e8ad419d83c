"""A run's table as a Parquet file, written and read without a Parquet library.

Any Parquet reader opens such a file. Compiled readers, however, may take the whole process down
when somebody has made a file up: they allocate what it asks for, and abort. So stored runs are read
here, from a layout that leaves a file nothing to decide but the sizes of its parts (`run_layout`).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from skillfocus.core.rows import Row
from skillfocus.runs.run_layout import Sizes, join, split

COLUMNS = {"run": pl.String, "metric": pl.String, "step": pl.Int64, "value": pl.Float64}


class RunTable(NamedTuple):
    """The rows of a run, by column.

    Attributes:
        names: The metrics' names.
        metric: Each row's metric, as an index of `names`; uint32 `[n_rows]`.
        step: int64 `[n_rows]`, 0 where there is none.
        has_step: bool `[n_rows]`.
        value: float64 `[n_rows]`, 0 where there is none.
        has_value: bool `[n_rows]`.
    """

    names: list[str]
    metric: np.ndarray
    step: np.ndarray
    has_step: np.ndarray
    value: np.ndarray
    has_value: np.ndarray


class RunParts(NamedTuple):
    """What a file holds.

    Attributes:
        run: The id in the column `run`; empty without rows.
        header: The JSON header.
        table: The other columns.
    """

    run: str
    header: str
    table: RunTable


def table_of(rows: Sequence[Row]) -> RunTable:
    """Return rows as a table."""
    schema = {name: type for name, type in COLUMNS.items() if name != "run"}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    metrics = frame["metric"].to_list()
    if None in metrics:
        raise TypeError("a row has no metric")
    numbers = {name: number for number, name in enumerate(dict.fromkeys(metrics))}
    return RunTable(
        list(numbers),
        np.array([numbers[name] for name in metrics], dtype="<u4"),
        frame["step"].fill_null(0).to_numpy(),
        frame["step"].is_not_null().to_numpy(),
        frame["value"].fill_null(0.0).to_numpy(),
        frame["value"].is_not_null().to_numpy(),
    )


def to_parquet(run: str, header: str, digest: str, table: RunTable) -> bytes:
    """Return the contents of a run's file.

    Args:
        run: The run's id, in every row of the column `run`.
        header: The JSON header.
        digest: The digest, of `DIGEST` characters.
        table: The other columns.
    """
    rows = len(table.metric)
    words = [name.encode() for name in table.names]
    parts = [
        run.encode() if rows else b"",
        b"".join(struct.pack("<I", len(word)) + word for word in words),
        np.pad(table.metric, (0, -rows % 8)).astype("<u4").tobytes(),
        np.packbits(table.has_step, bitorder="little").tobytes(),
        table.step[table.has_step].astype("<i8").tobytes(),
        np.packbits(table.has_value, bitorder="little").tobytes(),
        table.value[table.has_value].astype("<f8").tobytes(),
        header.encode(),
        digest.encode(),
    ]
    steps, values = int(table.has_step.sum()), int(table.has_value.sum())
    lengths = [len(part) for part in parts]
    sizes = Sizes(rows, steps, values, len(words), lengths[0], lengths[1], lengths[7])
    return join(sizes, parts)


def from_parquet(content: bytes) -> RunParts:
    """Return what `to_parquet` was given.

    Args:
        content: The contents of a file of any origin.

    Raises:
        ValueError: If `to_parquet` does not write such a file.
    """
    sizes, parts = split(content)
    run, words, indices, step_bits, steps, value_bits, values, header, _ = parts
    names = _split_words(words)
    metric = np.frombuffer(indices, "<u4", sizes.rows)
    if len(names) != sizes.names or (sizes.rows and metric.max() >= len(names)):
        raise ValueError("its rows name metrics that it does not have")
    step, has_step = _spread(step_bits, np.frombuffer(steps, "<i8"), sizes.rows)
    value, has_value = _spread(value_bits, np.frombuffer(values, "<f8"), sizes.rows)
    table = RunTable(names, metric, step, has_step, value, has_value)
    return RunParts(run.decode(), header.decode(), table)


def _split_words(content: bytes) -> list[str]:
    words, at = [], 0
    while at < len(content):
        length = int.from_bytes(content[at : at + 4], "little")
        words.append(content[at + 4 : at + 4 + length].decode())
        at += 4 + length
    if at > len(content):
        raise ValueError("a metric's name ends after the others")
    return words


def _spread(bits: bytes, present: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a column's values, 0 where there is none, and where there are any."""
    is_present = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little").view(bool)
    if is_present.sum() != len(present) or is_present[rows:].any():
        raise ValueError("a column has another number of values than it says")
    values = np.zeros(rows, present.dtype)
    values[is_present[:rows]] = present
    return values, is_present[:rows]
