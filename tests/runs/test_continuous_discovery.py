"""Runs in a continuous world, where an actor learns the skills."""

from __future__ import annotations

import json

import polars as pl
import pytest

pytest.importorskip("jax")

import skillfocus as sf
from skillfocus.core.progress import no_progress
from skillfocus.errors import UserError
from skillfocus.learners.neural.learner import Neural
from skillfocus.runs.discovery_run import Discovery
from skillfocus.skills.continuous.skills import ContinuousSkills

QUICK = Neural(actor=sf.Actor(rounds=2, environments=4, batch=8, hidden=8, judge_hidden=4))
RUN = Discovery("two-rooms", "focused-diayn", 0, QUICK, targets="agent=2,box=sphere2", step_limit=5)


def test_a_skill_has_one_target_and_a_sphere_several_directions():
    assert RUN.kind.targets() == [["agent"]] * 2 + [["box"]] * 8
    assert RUN.settings()["skills"] == 10
    assert json.loads(str(RUN.settings()["targets"])) == [
        [["agent", 2]],
        [["box", {"sphere": 2}]],
    ]
    assert RUN.forecast() is None


def test_states_are_not_counted():
    with pytest.raises(UserError, match="coverage counts states"):
        Discovery("two-rooms", "focused-diayn", 0, QUICK, targets="agent=2", coverage=True)


@pytest.mark.slow
@pytest.mark.usefixtures("unoptimized")
def test_skills_are_discovered_measured_and_kept(tmp_path):
    result = RUN.execute(no_progress)
    assert result.skills is not None
    path = tmp_path / "box.skills"
    path.write_bytes(result.skills)
    assert ContinuousSkills.load(path).step_limit == 5
    measured = {metric for metric, _, _ in result.rows}
    assert {name for name in measured if "interval" not in name} <= set(RUN.metrics())
    assert {
        "side_effects",
        "settled/exceeds",
        "all_starts/side_effects_by_variable/vase",
    } <= measured
    rows = pl.DataFrame(
        [(RUN.id, *row) for row in result.rows],
        schema={"run": pl.String, "metric": pl.String, "step": pl.Int64, "value": pl.Float64},
        orient="row",
    )
    record = RUN.record(rows)
    assert [skill["targets"] for skill in record["skills"]] == RUN.kind.targets()  # pyright: ignore[reportGeneralTypeIssues, reportIndexIssue]
