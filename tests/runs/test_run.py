from __future__ import annotations

from dataclasses import dataclass

import pytest

from runs_for_tests import Tiny
from skillfocus.runs.run import Run, flatten, identify


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
