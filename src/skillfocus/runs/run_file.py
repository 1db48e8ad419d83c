"""The file format of a finished run, and the data frames made of many such files.

A finished run is one Parquet file: a long table (run, metric, step, value), with a JSON header and
a SHA-256 digest of every other byte in the file's metadata. Any Parquet reader can open it.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields

import polars as pl

from skillfocus.core.rows import Row
from skillfocus.errors import UserError
from skillfocus.runs.run import RESERVED, Setting

FORMAT, VERSION = "skillfocus-run", 1
COLUMNS = {"run": pl.String, "metric": pl.String, "step": pl.Int64, "value": pl.Float64}
_BATCH = 1000
"""Files parsed into one table at a time."""
_DIGEST = re.compile(rb"skillfocus-sha256:([0-9a-f]{64})")
_UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""What polars raises at a file that is not Parquet."""
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
    table = pl.DataFrame([(header.id, *row) for row in rows], schema=COLUMNS, orient="row")
    buffer = io.BytesIO()
    metadata = {"skillfocus": json.dumps(vars(header)), "digest": _ZERO_DIGEST}
    table.write_parquet(buffer, metadata=metadata, statistics=False)
    content = buffer.getvalue()
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
    try:
        header = json.loads(pl.read_parquet_metadata(io.BytesIO(content))["skillfocus"])
    except (*_UNREADABLE, KeyError, ValueError, RecursionError):
        raise Damaged("it has no header") from None
    if not isinstance(header, dict):
        raise Damaged("its header is not a JSON object")
    if header.get("format") != FORMAT or header.get("format_version") != VERSION:
        raise UserError(
            f"it has version {header.get('format_version')!r} of the file format, this program "
            f"reads version {VERSION}: use the skillfocus that wrote it"
        )
    if not _is_complete(header):
        raise Damaged("its header is not that of a run")
    return Header(**header)


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
    """Return the tables of some runs as one, without those that cannot be read though their digest
    fits (somebody else wrote them)."""
    try:
        return pl.scan_parquet([content for content, _ in batch], schema=COLUMNS).collect()
    except _UNREADABLE as error:
        if len(batch) > 1:
            return pl.concat([_parse([one]) for one in batch])
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        warnings.warn(
            f"the table of run {batch[0][1].id} is damaged ({reason}) and left out; delete its "
            f"file to run it again",
            stacklevel=2,
        )
        return pl.DataFrame(schema=COLUMNS)


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
