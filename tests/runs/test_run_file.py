from __future__ import annotations

import hashlib
import io
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from old_run_files import crashing, encode_old, sign
from skillfocus.errors import UserError
from skillfocus.runs import run_file
from skillfocus.runs.run_file import (
    _ZERO_DIGEST,
    FORMAT,
    Damaged,
    Header,
    build_frame,
    build_records,
    decode,
    encode,
)

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


SIGNED = {
    "id": 3, "kind": None, "version": "1", "settings": {"run": 1}, "record": {"host": [1]},
    "skills_sha256": {}, "more": 1,
}  # fmt: skip


@pytest.mark.parametrize("field", [*SIGNED, "settings of lists", "half a letter"])
def test_a_header_of_other_types_is_damaged_though_its_digest_fits(field):
    changes = {
        "settings of lists": {"settings": {"seed": [3]}},
        "half a letter": {"kind": "\ud800"},
    }.get(field) or {field: SIGNED[field]}
    header: Any = SimpleNamespace(**{**vars(HEADER), **changes})
    with pytest.raises(Damaged, match="its header is not that of a run"):
        decode(encode(header, []))


def test_a_header_without_most_of_its_fields_is_damaged():
    header: Any = SimpleNamespace(id="a", format=FORMAT, format_version=1)
    with pytest.raises(Damaged, match="its header is not that of a run"):
        decode(encode(header, []))


def test_another_version_is_one_sentence():
    with pytest.raises(UserError, match=r"it has version 'a\\nb' of the file format"):
        decode(encode(replace(HEADER, format_version="a\nb"), []))  # pyright: ignore[reportArgumentType]


def test_what_is_no_parquet_file_is_damaged_though_its_digest_fits():
    text = _ZERO_DIGEST.encode() + b" is all"
    digest = hashlib.sha256(text).hexdigest().encode()
    with pytest.raises(Damaged, match="it has no header"):
        decode(text.replace(b"0" * 64, digest))


@given(st.data())
def test_no_flipped_byte_of_a_tampered_file_is_a_traceback(data):
    content = bytearray(encode(HEADER, [("a", 0, 0.5), ("b", None, None)]))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
    signed = sign(bytes(content))
    try:
        header = decode(signed)
    except (Damaged, UserError):
        return
    if header.format_version == HEADER.format_version:
        assert len(build_frame([(signed, header)])) == 2


def test_a_table_of_other_rows_is_damaged_though_its_digest_fits():
    content = encode(HEADER, [("a", 0, 0.5)])
    with pytest.raises(Damaged, match="its rows are another run's"):
        decode(sign(content.replace(b"\x10\0\0\0" + b"0" * 16, b"\x10\0\0\0" + b"1" * 16)))
    with pytest.raises(Damaged, match="not laid out as the sizes of its parts say"):
        decode(sign(content.replace(b"metric", b"Metric")))


OLD = replace(HEADER, id="1" * 16, settings={"seed": 4}, format_version=1)


@pytest.mark.slow
def test_files_of_version_1_are_read():
    rows = [("a", 2, 0.5), ("b", None, None)]
    old, new = encode_old(OLD, rows), encode(HEADER, [("a", 1, 1.5)])
    assert decode(old) == OLD
    frame = build_frame([(old, OLD), (new, HEADER)])
    expected = [(HEADER.id, "a", 1, 1.5), *((OLD.id, *row) for row in rows)]
    assert frame.select("run", "metric", "step", "value").rows() == expected
    assert frame["seed"].to_list() == [3, 4, 4]


@pytest.mark.slow
def test_tables_of_version_1_that_cannot_be_read_are_left_out(monkeypatch):
    others = replace(OLD, id="2" * 16)
    with monkeypatch.context() as patch:
        patch.setattr("old_run_files.COLUMNS", {"run": pl.String, "other": pl.String})
        rows: Any = [("a",)]
        foreign = encode_old(OLD, rows)
    mixed = encode_old(others, [("a", 0, 1.0)])
    good = table(5, [("a", 0, 1.0)])
    with pytest.warns(UserWarning, match=f"run {OLD.id} is damaged .* left out") as warned:
        frame = build_frame([(foreign, decode(foreign)), good, (mixed, OLD)])
    assert len(warned) == 2
    assert frame["run"].to_list() == [good[1].id]


@pytest.mark.slow
def test_a_file_that_crashes_polars_is_left_out(tmp_path):
    """polars aborts the process, so that this is tried in another one."""
    (tmp_path / f"crashing_{OLD.id}.parquet").write_bytes(crashing(OLD))
    (tmp_path / f"good_{HEADER.id}.parquet").write_bytes(encode(HEADER, [("a", 0, 0.5)]))
    code = (
        "import sys, warnings, skillfocus as sf\n"
        "with warnings.catch_warnings(record=True) as warned:\n"
        "    print(sf.Store(sys.argv[1]).frame()['run'].to_list(), warned[0].message)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        f"['{HEADER.id}'] the table of run {OLD.id} is damaged (it crashes polars, or takes too "
        f"much memory or time) and left out; delete its file to run it again\n"
    )


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "[]"])
def test_what_is_no_header_is_damaged_though_its_digest_fits(text, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(run_file.json, "dumps", lambda value: text)
        content = encode(HEADER, [])
    with pytest.raises(Damaged):
        decode(content)


def test_records_keep_settings_and_take_any_mixture():
    headers = [
        replace(HEADER, settings={"host": "set"}, record={"host": "there", "load": load})
        for load in (1, "high")
    ]
    assert build_records(headers).select("host", "load").rows() == [("set", "1"), ("set", "high")]


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
