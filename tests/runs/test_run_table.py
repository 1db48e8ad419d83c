"""The layout of run files: polars reads what is written, and we read nothing else."""

from __future__ import annotations

import io
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skillfocus.runs.run_layout import DIGEST, Sizes, join, split
from skillfocus.runs.run_table import COLUMNS, RunTable, from_parquet, table_of, to_parquet

ROWS = [("side_effects", 0, 0.5), ("ü", None, None), ("side_effects", 1, math.nan), ("", -3, 2.0)]
ZEROS = "0" * DIGEST

rows_of_any_kind = st.lists(
    st.tuples(
        st.sampled_from(["focus", "auc", "", "ü/☃"]) | st.text(max_size=3),
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.floats(),
    ),
    max_size=40,
)


def rows_of(table: RunTable):
    """The rows of a table, with bits instead of values, as NaN is not equal to itself."""
    return [
        (table.names[metric], int(step) if has_step else None, value.tobytes() if has_value else None)
        for metric, step, has_step, value, has_value in zip(*table[1:], strict=True)
    ]  # fmt: skip


def in_bits(rows):
    return [(*row[:-1], None if row[-1] is None else np.float64(row[-1]).tobytes()) for row in rows]


@given(rows_of_any_kind, st.text(min_size=1, max_size=20), st.text(max_size=200))
def test_polars_and_we_read_the_same(rows, run, header):
    content = to_parquet(run, header, ZEROS, table_of(rows))
    frame = pl.read_parquet(io.BytesIO(content))
    assert frame.schema == COLUMNS
    assert in_bits(frame.rows()) == in_bits([(run, *row) for row in rows])
    metadata = pl.read_parquet_metadata(io.BytesIO(content))
    assert (metadata["skillfocus"], metadata["digest"]) == (header, ZEROS)
    parts = from_parquet(content)
    assert (parts.run, parts.header) == (run if rows else "", header)
    assert rows_of(parts.table) == in_bits(rows)


def test_many_rows_and_metrics_are_read():
    rows = [(f"metric {n % 1000}", n, n / 7) for n in range(10_000)]
    content = to_parquet("run", "{}", ZEROS, table_of(rows))
    assert pl.read_parquet(io.BytesIO(content)).rows() == [("run", *row) for row in rows]
    assert rows_of(from_parquet(content).table) == in_bits(rows)


def test_a_row_without_a_metric_is_an_error():
    with pytest.raises(TypeError, match="no metric"):
        table_of([(None, 1, 2.0)])  # pyright: ignore[reportArgumentType]


CONTENT = to_parquet("run", "{}", ZEROS, table_of(ROWS))


@given(st.data())
def test_a_changed_byte_changes_a_part_or_is_an_error(data):
    """What is between the parts is all that tells a Parquet reader what to do."""
    place = data.draw(st.integers(0, len(CONTENT) - 1))
    changed = bytearray(CONTENT)
    changed[place] ^= data.draw(st.integers(1, 255))
    try:
        table = from_parquet(bytes(changed)).table
    except ValueError:
        return
    before, after = split(CONTENT)[1], split(bytes(changed))[1]
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1
    assert len(rows_of(table)) == len(ROWS)


@given(st.binary(max_size=400), st.integers(0, len(CONTENT) - 1))
def test_any_bytes_are_an_error(content, end):
    for foreign in (content, CONTENT[:end] + content, content + CONTENT[end + 1 :]):
        assume(foreign != CONTENT)
        with pytest.raises(ValueError, match=r"it|its"):
            from_parquet(foreign)


def test_sizes_of_any_magnitude_are_an_error():
    sizes, _ = split(CONTENT)
    old = ",".join(map(str, sizes)).encode()
    for field in Sizes._fields:
        for wrong in (0, 1, 2**31, 2**62, 2**64, 10**30):
            if wrong == getattr(sizes, field):
                continue
            new = ",".join(map(str, sizes._replace(**{field: wrong}))).encode()
            with pytest.raises(ValueError, match=r"larger than the file|not laid out"):
                from_parquet(CONTENT.replace(old, new))


@pytest.mark.parametrize("numbers", [b"", b"1", b"1,2,3,4,5,6,7,8", b",,,,,,,", b"9" * 99])
def test_other_than_seven_sizes_are_an_error(numbers):
    old = ",".join(map(str, split(CONTENT)[0])).encode()
    with pytest.raises(ValueError, match="does not end with the sizes"):
        from_parquet(CONTENT.replace(old, numbers))


@pytest.mark.parametrize(
    ("part", "content", "problem"),
    [
        (1, b"\x0c\0\0\0side_effects\xff\0\0\0\xc3\xbc\0\0\0\0", "ends after"),
        (1, b"\x16\0\0\0side_effects\x02\0\0\0\xc3\xbc\0\0\0\0", "does not have"),
        (1, b"\x0c\0\0\0side_effects\x02\0\0\0\xff\xff\0\0\0\0", "utf-8"),
        (2, b"\0\0\0\0\1\0\0\0\0\0\0\0\xff\xff\xff\xff" + bytes(16), "does not have"),
        (3, b"\x0f", "another number of values"),
        (3, b"\x19", "another number of values"),
        (5, b"\0", "another number of values"),
        (0, b"r\xffn", "utf-8"),
    ],
)  # fmt: skip
def test_parts_that_contradict_one_another_are_an_error(part, content, problem):
    sizes, parts = split(CONTENT)
    assert len(parts[part]) == len(content)
    parts[part] = content
    with pytest.raises(ValueError, match=problem):
        from_parquet(join(sizes, parts))


def test_padding_holds_no_row():
    sizes, parts = split(CONTENT)
    assert (parts[3], parts[2][16:]) == (b"\x0d", bytes(16))  # three of four rows have a step
    parts[3] = b"\x1c"  # three steps, one of them of a fifth row
    with pytest.raises(ValueError, match="another number of values"):
        from_parquet(join(sizes, parts))
