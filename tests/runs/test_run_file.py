from __future__ import annotations

import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillfocus.runs.run_file import Damaged, Header, build_frame, build_records, decode, encode

HEADER = Header("0" * 16, "Tiny", 1, {"seed": 3, "name": "x"}, {"host": "here"})


def test_a_finished_run_is_a_parquet_file_for_anybody():
    content = encode(HEADER, [("a", 0, 0.5), ("b", None, None)])
    frame = pl.read_parquet(io.BytesIO(content))
    assert frame.rows() == [("0" * 16, "a", 0, 0.5), ("0" * 16, "b", None, None)]
    assert decode(content) == HEADER
    assert decode(encode(HEADER, [])) == HEADER


@given(st.data())
def test_every_flipped_byte_is_found(data):
    content = bytearray(encode(HEADER, [("a", 0, 0.5)]))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(Damaged):
        decode(bytes(content))


@given(st.data())
def test_every_truncation_is_found(data):
    content = encode(HEADER, [("a", 0, 0.5)])
    with pytest.raises(Damaged):
        decode(content[: data.draw(st.integers(0, len(content) - 1))])


def table(number, rows, **settings):
    header = Header(f"{number:016x}", "Tiny", 1, settings, {"host": f"host-{number}"})
    return encode(header, rows), header


def test_a_frame_does_not_depend_on_the_order_of_its_files():
    files = [table(n, [("a", n, 0.5)], seed=n) for n in range(3)]
    frame = build_frame(files)
    assert frame.equals(build_frame(reversed(files)))
    assert frame.columns == ["kind", "version", "seed", "run", "metric", "step", "value"]
    assert frame["step"].to_list() == [0, 1, 2]


def test_a_setting_of_several_types_becomes_one():
    numbers = build_frame([table(0, [("a", 0, 1.0)], x=1), table(1, [("a", 0, 1.0)], x=1.5)])
    assert numbers["x"].to_list() == [1.0, 1.5]
    mixed = build_frame([table(0, [("a", 0, 1.0)], x=1), table(1, [("a", 0, 1.0)], x="b")])
    assert mixed["x"].to_list() == ["1", "b"]
    missing = build_frame([table(0, [("a", 0, 1.0)], x=1), table(1, [("a", 0, 1.0)])])
    assert sorted(missing["x"].to_list(), key=str) == [1, None]


def test_nothing_gives_empty_frames():
    assert build_frame([]).columns == ["kind", "version", "run", "metric", "step", "value"]
    assert build_records([]).columns == ["run"]


def test_records_hold_settings_and_what_varies():
    records = build_records([table(n, [], seed=n)[1] for n in range(2)])
    assert records.select("run", "seed", "host").rows() == [
        (f"{n:016x}", n, f"host-{n}") for n in range(2)
    ]
