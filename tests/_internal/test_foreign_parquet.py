from __future__ import annotations

import io
import subprocess
import sys
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from old_run_files import crashing
from skillfocus._internal import foreign_parquet
from skillfocus._internal.foreign_parquet import (
    column_names,
    metadata_of,
    read_footer,
    read_tables,
)
from skillfocus.runs.run_file import Header

FRAME = pl.DataFrame({"run": ["a", None, "ü"], "value": [1.5, float("nan"), None]})
CRASHING = crashing(Header("0" * 16, "Tiny", 1, {}, {}))


def parquet(frame, **options):
    buffer = io.BytesIO()
    frame.write_parquet(buffer, **options)
    return buffer.getvalue()


def test_a_footer_says_what_columns_and_texts_there_are():
    footer = read_footer(io.BytesIO(parquet(FRAME, metadata={"note": "ü", "more": ""})))
    assert column_names(footer) == ["run", "value"]
    assert metadata_of(footer).items() >= {"note": "ü", "more": ""}.items()


@pytest.mark.parametrize(
    "content",
    [b"", b"PAR1", b"PAR1PAR1", b"PAR1\xff\xff\xff\xffPAR1", b"PAR1\0\0\0\0PAR2",
     b"PAR1\0\1\0\0\0PAR1"],
)  # fmt: skip
def test_what_is_no_parquet_file_is_an_error(content):
    with pytest.raises(ValueError, match=r"no Parquet|columns|ends"):
        column_names(read_footer(io.BytesIO(content)))


@pytest.mark.parametrize("footer", [{}, {2: 1, 5: 1}, {2: [{}, {4: 1}], 5: [{1: b"a"}]}])
def test_a_footer_without_columns_or_texts_is_an_error(footer):
    with pytest.raises(ValueError, match="lists no columns"):
        column_names(footer)
    with pytest.raises(ValueError, match="carries no texts"):
        metadata_of(footer)


@pytest.mark.slow
def test_a_file_that_crashes_polars_costs_its_own_table_alone():
    good = parquet(FRAME)
    tables: Any = read_tables([good, CRASHING, b"foreign", good])
    first, crashed, foreign, last = tables
    assert "crashes polars" in crashed
    assert "parquet" in foreign
    assert_frame_equal(first, FRAME)
    assert_frame_equal(last, FRAME)


def test_no_files_start_no_process(monkeypatch):
    monkeypatch.setattr(subprocess, "run", None)
    assert read_tables([]) == []


@pytest.mark.skipif(
    sys.platform != "linux", reason="memory is limited where /proc says what is used"
)
def test_a_file_that_unpacks_to_more_memory_than_there_may_be_is_refused(monkeypatch):
    zeros = parquet(pl.select(pl.repeat(0, 10_000_000, dtype=pl.Int64).alias("zeros")))
    assert len(zeros) < 100_000
    monkeypatch.setattr(foreign_parquet, "MAX_BYTES", 64 * 1024**2)
    (reason,) = read_tables([zeros])
    assert "memory" in reason


def test_files_are_not_tried_forever(monkeypatch):
    calls = []
    monkeypatch.setattr(foreign_parquet, "_ask", lambda contents: calls.append(contents) or [])
    reasons = read_tables([b""] * 100)
    assert len(calls) == foreign_parquet.MAX_CRASHES
    assert len(reasons) == 100
    assert "not tried" in reasons[-1]


def test_a_process_that_takes_too_long_is_a_crash(monkeypatch):
    monkeypatch.setattr(foreign_parquet, "SECONDS", 0.001)
    (reason,) = read_tables([parquet(FRAME)])
    assert "too much memory or time" in reason


def test_no_process_is_a_reason(monkeypatch):
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    (reason,) = read_tables([parquet(FRAME)])
    assert str(reason) == "no process can be started to read it: No such file or directory"
