"""The file format of a finished run, and the data frames made of many such files.

A finished run is one Parquet file: a long table (run, metric, step, value), with a JSON header and
a SHA-256 digest of every other byte in the file's metadata. Any Parquet reader can open it.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import polars as pl

from skillfocus.core.rows import Row
from skillfocus.errors import UserError
from skillfocus.runs.run import Setting

FORMAT, VERSION = "skillfocus-run", 1
COLUMNS = {"run": pl.String, "metric": pl.String, "step": pl.Int64, "value": pl.Float64}
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
        Damaged: If the contents do not match their digest.
        UserError: If the file has another version of the format.
    """
    digests = list(_DIGEST.finditer(content))
    if not digests:
        raise Damaged("it has no digest")
    first, last = digests[-1].span(1)
    zeroed = b"".join((content[:first], b"0" * (last - first), content[last:]))
    if hashlib.sha256(zeroed).hexdigest().encode() != content[first:last]:
        raise Damaged("its contents do not match its digest")
    header = json.loads(pl.read_parquet_metadata(io.BytesIO(content))["skillfocus"])
    if header.get("format") != FORMAT or header.get("format_version") != VERSION:
        raise UserError(
            f"it has version {header.get('format_version')} of the file format, this program reads "
            f"version {VERSION}: use the skillfocus that wrote it"
        )
    return Header(**header)


def build_frame(files: Iterable[tuple[bytes, Header]]) -> pl.DataFrame:
    """Return the results of many runs as one long table.

    Args:
        files: The contents and the decoded header of each run's file, every run once.

    Returns:
        Columns kind, version, every setting, run, metric, step, value; sorted, so that the frame
        does not depend on when, where or in which order the runs were executed.
    """
    headers, contents, pending = [], [], []
    with ThreadPoolExecutor(1) as parser:  # parses one batch while the next is read and verified
        for content, header in files:
            headers.append(header)
            contents.append(content)
            if len(contents) == _BATCH:
                pending.append(parser.submit(_parse, contents))
                contents = []
        if contents:
            pending.append(parser.submit(_parse, contents))
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
    records = pl.DataFrame([h.record for h in headers], infer_schema_length=None)
    return pl.concat([_settings_frame(headers), records], how="horizontal")


def _parse(contents: list[bytes]) -> pl.DataFrame:
    return pl.scan_parquet(contents, schema=COLUMNS).collect()


def _settings_frame(headers: Sequence[Header]) -> pl.DataFrame:
    """Return one row per run with its id, kind, version and settings."""
    rows = [
        {"run": header.id, "kind": header.kind, "version": header.version, **header.settings}
        for header in headers
    ]
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
