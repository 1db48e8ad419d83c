"""Lines that announce what takes long."""

from __future__ import annotations

import pytest

from skillfocus.cli.forecasts import Forecaster, announce
from skillfocus.learners.forecast import Forecast


@pytest.fixture
def lines(monkeypatch):
    said = []
    monkeypatch.setattr("skillfocus.cli.forecasts.say", said.append)
    return said


def test_only_what_takes_long_is_announced(lines):
    announce(None)
    announce(Forecast(10, 20, 30, 29.0))
    assert lines == []
    announce(Forecast(10, 2_000_000, 3 * 10**8, 300.0))
    announce(Forecast(10, 2_000_000, 3 * 10**8, 300.0), 5)
    sizes = "10 states, 2 million cells of policy, about 0.3 GB of memory, about 5 minutes"
    assert lines == [f"forecast: {sizes}", f"forecast: {sizes} for each of 5 seeds"]


def run(lines, reports, memory: int | None = 1_240_000_000):
    """Report (time, fraction) pairs, and return what was said when."""
    now, seen, said = [0.0], [], []
    forecaster = Forecaster(lambda *report: seen.append(report), lambda: now[0], lambda: memory)
    for moment, fraction in reports:
        now[0] = moment
        forecaster(fraction, "working")
        said.append(len(lines))
    assert seen == [(fraction, "working") for _, fraction in reports]
    return said


def test_a_long_job_is_announced_once_it_can_be_extrapolated(lines):
    reports = [(0, 0.0), (1, 0.1), (3, 0.15), (4, 0.0), (5, 0.2), (9, 0.5)]
    assert run(lines, reports) == [0, 0, 0, 0, 1, 1]
    # a tenth in a second, and the other nine tenths at a tenth in four seconds
    assert lines == ["forecast: about 37 seconds in all, about 1.2 GB of memory"]


def test_what_comes_before_the_first_part_is_not_extrapolated(lines):
    """After ten seconds of compiling, a hundredth takes a tenth of a second."""
    run(lines, [(0, 0.0), (10, 0.01), (13, 0.31), (20, 1.0)])
    assert lines == []


def test_memory_that_is_not_known(lines):
    run(lines, [(0, 0.0), (0, 0.1), (5, 0.2)], memory=None)
    assert lines == ["forecast: about 45 seconds in all"]


def test_a_short_job_is_not(lines):
    run(lines, [(0, 0.0), (4, 0.5), (5, 0.51)])
    assert lines == []
