"""The file format of a finished run, and the data frames made of many such files.

A finished run is one Parquet file: a long table (run, metric, step, value), with a JSON header and
a SHA-256 digest of every other byte in the file's metadata. Any Parquet reader can open it.

Files may come from strangers. Those of version 2 have the layout of `run_table`, and no Parquet
library ever sees them; polars wrote those of version 1, and reads them in a process of its own.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from itertools import chain

import numpy as np
import polars as pl

from skillfocus._internal.foreign_parquet import metadata_of, read_footer, read_tables
from skillfocus.core.rows import Row
from skillfocus.errors import UserError
from skillfocus.runs.run import RESERVED, Setting
from skillfocus.runs.run_table import COLUMNS, RunTable, from_parquet, table_of, to_parquet

FORMAT, VERSION = "skillfocus-run", 2
_WRITTEN_BY_POLARS = 1
"""The version of files that polars wrote, and reads."""
_BATCH = 1000
"""Files parsed into one table at a time."""
_DIGEST = re.compile(rb"skillfocus-sha256:([0-9a-f]{64})")
_ZERO_DIGEST = "skillfocus-sha256:" + "0" * 64


class Damaged(Exception):
    """A file whose contents are not what was written to it."""


@dataclass(frozen=True)
class Header:
    """The JSON header of a run's file.

    Attributes:
        id: The run's id.
        kind: The name of the run's class.
        version: The class's version.
        settings: The run's settings by name.
        record: What varies between two executions of the same run: versions, host, time, memory.
        skills_sha256: Digest of the skills file beside the table, or None without skills.
        format: Always `FORMAT`.
        format_version: Version of the file format.
    """

    id: str
    kind: str
    version: int
    settings: dict[str, Setting]
    record: dict[str, object]
    skills_sha256: str | None = None
    format: str = FORMAT
    format_version: int = VERSION


def encode(header: Header, rows: Iterable[Row]) -> bytes:
    """Return the contents of a run's file."""
    return _seal(header, table_of(list(rows)))


def with_skills_digest(content: bytes, header: Header, sha256: str) -> bytes:
    """Return the contents of a run's file, which `decode` has checked, with other skills."""
    return _seal(replace(header, skills_sha256=sha256), from_parquet(content).table)


def _seal(header: Header, table: RunTable) -> bytes:
    content = to_parquet(header.id, json.dumps(vars(header)), _ZERO_DIGEST, table)
    digest = hashlib.sha256(content).hexdigest()
    return content.replace(_ZERO_DIGEST.encode(), f"skillfocus-sha256:{digest}".encode())


def decode(content: bytes) -> Header:
    """Verify the contents of a run's file and return its header.

    Raises:
        Damaged: If the contents do not match their digest, or are not those of a run.
        UserError: If the file has another version of the format.
    """
    digests = list(_DIGEST.finditer(content))
    if not digests:
        raise Damaged("it has no digest")
    first, last = digests[-1].span(1)
    zeroed = b"".join((content[:first], b"0" * (last - first), content[last:]))
    if hashlib.sha256(zeroed).hexdigest().encode() != content[first:last]:
        raise Damaged("its contents do not match its digest")
    parts, problem = None, ""
    try:
        parts = from_parquet(content)
    except ValueError as error:
        problem = str(error)
    try:
        header = json.loads(parts.header if parts else _foreign_header(content))
    except (KeyError, ValueError, RecursionError):
        raise Damaged("it has no header") from None
    if not isinstance(header, dict):
        raise Damaged("its header is not a JSON object")
    version = header.get("format_version")
    if header.get("format") != FORMAT or version not in (_WRITTEN_BY_POLARS, VERSION):
        raise UserError(
            f"it has version {version!r} of the file format, this program reads up to version "
            f"{VERSION}: use the skillfocus that wrote it"
        )
    if not _is_complete(header):
        raise Damaged("its header is not that of a run")
    if version == VERSION and parts is None:
        raise Damaged(problem)
    if parts and parts.run not in ("", header["id"]):
        raise Damaged("its rows are another run's")
    return Header(**header)


def _foreign_header(content: bytes) -> str:
    """Return the JSON header of a file of another version."""
    return metadata_of(read_footer(io.BytesIO(content)))["skillfocus"]


def _is_complete(header: dict[str, object]) -> bool:
    """Return whether a header has the fields of `Header`, all of their types."""
    settings, record = header.get("settings"), header.get("record")
    return (
        header.keys() == {field.name for field in fields(Header)}
        and isinstance(header["id"], str)
        and isinstance(header["kind"], str)
        and type(header["version"]) is int
        and isinstance(header["skills_sha256"], str | None)
        and isinstance(settings, dict)
        and isinstance(record, dict)
        and not settings.keys() & set(RESERVED)
        and all(isinstance(value, Setting) for value in (*settings.values(), *record.values()))
        and not any(
            "\ud800" <= letter <= "\udfff" for letter in json.dumps(header, ensure_ascii=False)
        )
    )


def build_frame(files: Iterable[tuple[bytes, Header]]) -> pl.DataFrame:
    """Return the results of many runs as one long table.

    Args:
        files: The contents and the decoded header of each run's file, every run once.

    Returns:
        Columns kind, version, every setting, run, metric, step, value; sorted, so that the frame
        does not depend on when, where or in which order the runs were executed.
    """
    headers, batch, pending = [], [], []
    with ThreadPoolExecutor(1) as parser:  # parses one batch while the next is read and verified
        for content, header in files:
            headers.append(header)
            batch.append((content, header))
            if len(batch) == _BATCH:
                pending.append(parser.submit(_parse, batch))
                batch = []
        if batch:
            pending.append(parser.submit(_parse, batch))
        tables = [table.result() for table in pending]
    if not tables:
        return pl.DataFrame(schema={"kind": pl.String, "version": pl.Int64, **COLUMNS})
    settings = _settings_frame(headers)
    names = [name for name in settings.columns if name != "run"]
    joined = pl.concat(tables).join(settings, on="run", how="left", maintain_order="left")
    return joined.select(*names, *COLUMNS).sort(*names, "run", maintain_order=True)


def build_records(headers: Sequence[Header]) -> pl.DataFrame:
    """Return one row per run: its settings, and when, where and at what cost it was executed."""
    if not headers:
        return pl.DataFrame(schema={"run": pl.String})
    settings, records = _settings_frame(headers), _frame_of([header.record for header in headers])
    records = records.drop(settings.columns, strict=False)
    return pl.concat([settings, records], how="horizontal")


def _parse(batch: Sequence[tuple[bytes, Header]]) -> pl.DataFrame:
    """Return the tables of some runs as one; each run's rows keep their order."""
    old = [file for file in batch if file[1].format_version == _WRITTEN_BY_POLARS]
    new = [file for file in batch if file[1].format_version != _WRITTEN_BY_POLARS]
    return pl.concat([_join_tables(new), *_read_old(old)])


def _join_tables(batch: Sequence[tuple[bytes, Header]]) -> pl.DataFrame:
    """Return the tables of runs, which `decode` has checked, as one."""
    tables = [table_of([]), *(from_parquet(content).table for content, _ in batch)]
    ids = ["", *(header.id for _, header in batch)]
    names = list(dict.fromkeys(chain.from_iterable(table.names for table in tables)))
    numbers = {name: number for number, name in enumerate(names)}
    runs = np.repeat(np.arange(len(tables)), [len(table.metric) for table in tables])
    metrics = [
        np.array([numbers[name] for name in table.names], np.int64)[table.metric]
        for table in tables
    ]
    frame = pl.DataFrame(
        {
            "run": pl.Series(ids).gather(runs),
            "metric": pl.Series(names, dtype=pl.String).gather(np.concatenate(metrics)),
            **{
                name: np.concatenate([getattr(table, name) for table in tables])
                for name in ("step", "has_step", "value", "has_value")
            },
        }
    )
    present = [pl.when(f"has_{name}").then(name).alias(name) for name in ("step", "value")]
    return frame.select("run", "metric", *present)


def _read_old(batch: Sequence[tuple[bytes, Header]]) -> Iterator[pl.DataFrame]:
    """Yield the tables of runs that polars wrote, without those that cannot be read though their
    digest fits (somebody else wrote them)."""
    tables = read_tables([content for content, _ in batch])
    for (_, header), table in zip(batch, tables, strict=True):
        reason = table
        if isinstance(table, pl.DataFrame):
            if table.schema == COLUMNS and (table["run"] == header.id).all():
                yield table
                continue
            reason = "it has other columns than a run, or other runs"
        warnings.warn(
            f"the table of run {header.id} is damaged ({reason}) and left out; delete its file to "
            f"run it again",
            stacklevel=2,
        )


def _settings_frame(headers: Sequence[Header]) -> pl.DataFrame:
    """Return one row per run with its id, kind, version and settings."""
    return _frame_of(
        [
            {"run": header.id, "kind": header.kind, "version": header.version, **header.settings}
            for header in headers
        ]
    )


def _frame_of(rows: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """Return rows as a frame; what a row lacks is null."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    return pl.DataFrame(
        [pl.Series(name, _unify(values), strict=False) for name, values in columns.items()]
    )


def _unify(values: list) -> list:
    """Give a column one type: ints become floats beside floats, any other mixture becomes text."""
    types = {type(value) for value in values} - {type(None)}
    if types == {int, float}:
        return [None if value is None else float(value) for value in values]
    if len(types) > 1:
        return [None if value is None else str(value) for value in values]
    return values
