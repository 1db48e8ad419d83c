"""Small exact cases give what they gave when they were recorded (`support/guard_rails.py`)."""

from __future__ import annotations

import json

import pytest

from guard_rails import CASES, FILE

RECORDED = json.loads(FILE.read_text()) if FILE.exists() else {}


def assert_close(found, expected, where):
    """Compare documents: numbers to six digits, everything else exactly."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key in expected:
            assert_close(found[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for i, value in enumerate(expected):
            assert_close(found[i], value, f"{where}[{i}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-9), where
    else:
        assert found == expected, where


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_small_case_gives_what_was_recorded(name):
    assert_close(json.loads(json.dumps(CASES[name]())), RECORDED[name], name)
