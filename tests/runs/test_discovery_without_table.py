"""Runs in a world without a table."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("jax")

import skillfocus as sf
from skillfocus.core.progress import no_progress
from skillfocus.learners.neural.learner import Neural
from skillfocus.runs.discovery_run import Discovery

QUICK = Neural(updates=20, stretch=10, environments=8, hidden=8)


def test_it_is_identified_without_a_table():
    run = Discovery("tool-rooms", "focused-vic", 0, QUICK, world_settings=json.dumps({"tools": 2}))
    assert run.make_mdp() is None
    run.check_size()
    assert run != Discovery("tool-rooms", "focused-vic", 0, QUICK)
    assert "fingerprint" not in json.dumps(run.settings())


@pytest.mark.slow
def test_skills_are_discovered_measured_and_kept():
    run = Discovery(
        "tool-rooms", "focused-vic", 0, QUICK, skills=6, world_settings=json.dumps({"tools": 2})
    )
    result = run.execute(no_progress)
    assert result.skills is not None
    skills = sf.Skills.from_bytes(result.skills)
    assert len(skills) == 6
    assert not skills.has_table
    rows = {(metric, step): value for metric, step, value in result.rows}
    assert rows["starts", 0] == 4000
    assert rows["exact", 0] == 0
