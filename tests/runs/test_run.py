from __future__ import annotations

import io
import json
from dataclasses import dataclass

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_for_tests import Tiny
from skillfocus._internal.environment_info import package_versions
from skillfocus.runs.executors import Failed, Finished, perform
from skillfocus.runs.run import Damaged, Header, Result, Run, decode, encode, flatten, identify

HEADER = Header("0" * 16, "Tiny", 1, {"seed": 3, "name": "x"}, {"host": "here"})


@dataclass(frozen=True)
class Inner:
    gamma: float = 0.9


@dataclass(frozen=True)
class Outer(Run):
    world: str
    inner: Inner = Inner()
    seed: int = 0


def test_settings_are_the_fields_laid_flat():
    assert Outer("a", Inner(0.5), 7).settings() == {"world": "a", "gamma": 0.5, "seed": 7}


def test_two_settings_of_one_name_are_refused():
    @dataclass(frozen=True)
    class Twice(Run):
        gamma: float = 1.0
        inner: Inner = Inner()

    with pytest.raises(TypeError, match="two settings named gamma"):
        flatten(Twice())


@pytest.mark.parametrize("name", ["metric", "value", "run", "kind"])
def test_settings_cannot_have_a_column_s_name(name):
    run = type("Odd", (Run,), {"settings": lambda self: {name: 1}})()
    with pytest.raises(TypeError, match=name):
        identify(run)


def test_identity_is_kind_version_and_settings():
    run = Outer("a")
    newer = type("Outer", (Outer,), {"version": 2})("a")
    renamed = type("Other", (Outer,), {})("a")
    ids = {
        run.id,
        newer.id,
        renamed.id,
        Outer("b").id,
        Outer("a", Inner(0.8)).id,
        Outer("a", seed=1).id,
    }
    assert len(ids) == 6
    assert Outer("a").id == run.id
    assert Outer("a", Inner(1.0)).stem == Outer("a", Inner(1)).stem


def test_the_identity_of_a_run_does_not_drift():
    """Stored runs are found again by later programs: this must not change unnoticed."""
    assert Tiny(3).id == "4f7aeb7f9fc36a7d"


def test_a_name_that_is_no_file_name_becomes_one():
    run = Outer("a/b ../<c>\n" + "d" * 300)
    assert run.stem.endswith(run.id)
    assert "/" not in run.stem
    assert len(run.stem) < 130


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


def test_performing_records_what_varies():
    outcome = perform(Tiny(4, seconds=0.05))
    assert isinstance(outcome, Finished)
    header = decode(outcome.table)
    assert (header.id, header.kind, header.version) == (Tiny(4, seconds=0.05).id, "Tiny", 1)
    assert header.settings == {"scale": 1.0, "seconds": 0.05, "seed": 4}
    record = header.record
    assert package_versions().items() <= record.items()
    assert 0.05 <= record["wall_seconds"] < 5
    assert 0 <= record["cpu_seconds"] <= record["wall_seconds"] + 0.05
    assert 10 < record["peak_memory_mb"] < 10_000
    assert json.dumps(record)


def test_the_peak_is_the_run_s_own():
    @dataclass(frozen=True)
    class Big(Run):
        size: int

        def execute(self, report):
            return Result([("sum", None, float(sum(bytearray(self.size)[:10])))])

    def peak(run):
        return decode(perform(run).table).record["peak_memory_mb"]

    before = peak(Big(10))
    assert peak(Big(200_000_000)) > before + 150
    assert peak(Big(10)) < before + 100


def test_a_run_that_raises_says_where():
    @dataclass(frozen=True)
    class Bad(Run):
        def execute(self, report):
            raise ValueError("first line\nthe reason")

    outcome = perform(Bad())
    assert isinstance(outcome, Failed)
    assert outcome.error == "ValueError: first line"
    assert "in execute" in outcome.traceback


def test_a_run_that_exits_is_a_failure():
    @dataclass(frozen=True)
    class Exits(Run):
        def execute(self, report):
            raise SystemExit(0)

    assert perform(Exits()).error == "SystemExit: 0"


def test_rows_of_the_wrong_shape_are_that_run_s_failure():
    @dataclass(frozen=True)
    class Odd(Run):
        def execute(self, report):
            return Result([("metric", "not a step", 1.0)])

    assert isinstance(perform(Odd()), Failed)
