"""Run files of version 1, as polars wrote them, and run files that somebody has tampered with."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from skillfocus.core.rows import Row
from skillfocus.runs.run_file import Header, encode
from skillfocus.runs.run_table import COLUMNS

_DIGEST = re.compile(rb"(?<=skillfocus-sha256:)[0-9a-f]{64}")


def encode_old(header: Header, rows: Iterable[Row]) -> bytes:
    """Return a run's file as versions up to 0.6.0 wrote it."""
    table = pl.DataFrame([(header.id, *row) for row in rows], schema=COLUMNS, orient="row")
    text = json.dumps({**vars(header), "format_version": 1})
    metadata = {"skillfocus": text, "digest": "skillfocus-sha256:" + "0" * 64}
    buffer = io.BytesIO()
    table.write_parquet(buffer, metadata=metadata, statistics=False)
    return sign(buffer.getvalue())


def sign(content: bytes) -> bytes:
    """Mend the digest of a run's file, as a tamperer would."""
    zeroed = _DIGEST.sub(b"0" * 64, content)
    return _DIGEST.sub(hashlib.sha256(zeroed).hexdigest().encode(), zeroed)


def crashing(header: Header) -> bytes:
    """Return a run's file with a fitting digest that makes polars ask for 2^61 bytes, and abort: a
    page of its steps has -80 rows."""
    content = encode(replace(header, format_version=1), [("a", step, 0.5) for step in range(80)])
    number, negative = b"\x15\xa0\x01\x15\x00", b"\x15\x9f\x01\x15\x00"  # 80 and -80, then PLAIN
    assert content.count(number) == 2  # steps and values
    return sign(content.replace(number, negative, 1))
