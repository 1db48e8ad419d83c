from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from runs_for_tests import Tiny
from skillfocus._internal.environment_info import package_versions
from skillfocus.runs.execution import Failed, Finished, perform
from skillfocus.runs.run import Result, Run
from skillfocus.runs.run_file import decode


def test_performing_records_what_varies():
    outcome = perform(Tiny(4, seconds=0.05))
    assert isinstance(outcome, Finished)
    header = decode(outcome.table)
    assert (header.id, header.kind, header.version) == (Tiny(4, seconds=0.05).id, "Tiny", 1)
    assert header.settings == {"scale": 1.0, "seconds": 0.05, "seed": 4}
    record: Any = header.record
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

    def peak(run) -> Any:
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
            return Result([("metric", "not a step", 1.0)])  # pyright: ignore[reportArgumentType]

    assert isinstance(perform(Odd()), Failed)


def test_a_run_that_cannot_be_identified_here_is_a_failed_run():
    """A worker may lack what the run's settings need, such as a registered world."""

    @dataclass(frozen=True)
    class Local(Run):
        seed: int

        def settings(self):
            if "id" in self.__dict__:
                raise LookupError("this worker does not know that world")
            return {"seed": self.seed}

    run = Local(0)
    known = run.id
    outcome = perform(run)
    assert isinstance(outcome, Failed)
    assert (outcome.id, "does not know that world" in outcome.error) == (known, True)


def test_the_device_of_networks_is_recorded(monkeypatch):
    @dataclass(frozen=True)
    class Small(Run):
        def execute(self, report):
            return Result([("metric", None, 1.0)])

    class Device:
        device_kind = "NVIDIA H200"

    def recorded(module) -> Any:
        monkeypatch.setitem(sys.modules, "jax", module)
        return decode(perform(Small()).table).record

    jax = SimpleNamespace(__version__="0.11.2", devices=lambda: [Device()])
    with_jax, without = recorded(jax), recorded(None)
    assert (with_jax["jax"], with_jax["device"]) == ("0.11.2", "NVIDIA H200")
    assert (without["jax"], without["device"]) == (None, None)
