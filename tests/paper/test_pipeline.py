from __future__ import annotations

from dataclasses import replace

import pytest

import skillfocus as sf
from paper.agents import Pipeline, Primitives
from paper.settings import PRESETS, task_learner
from probes import CORRIDOR

SMALL = '{"text": "' + CORRIDOR.replace("\n", "\\n") + '", "slip": 0.0, "step_limit": 6}'


def test_stored_pipelines_do_not_outlive_their_settings():
    """How tasks are learned is no part of a pipeline's settings: raise Pipeline.version with it."""
    assert (Pipeline.version, Primitives.version) == (501, 502)
    learners = [
        task_learner(p, w, "vic") for p in PRESETS for w in ("FourRooms-v0", "ForageWorld-v0")
    ]
    assert [(h.epsilon_decay, h.alpha_decay, h.intra_option) for h in learners] == [
        (0.001, 0.0, False), (0.0005, 0.0, False), (0.0002, 0.0001, True), (0.0002, 0.0001, True),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_pipeline_measures_all_there_is(tmp_path):
    """In a corridor of three cells with the tool in the last, the task takes two steps."""
    import inspect

    from skillfocus.worlds.four_rooms import FourRooms

    name = next(iter(inspect.signature(FourRooms).parameters))
    run = Pipeline(
        "four-rooms", "focused-vic", 0, sf.Planning(rounds=3), skills=4,
        world_settings=SMALL.replace('"text"', f'"{name}"'), coverage=True,
    )  # fmt: skip
    result = run.execute(lambda *_: None)
    assert result.skills is None
    rows = {(metric, step): value for metric, step, value in result.rows}
    assert rows["paper/true/steps", 20_000] == rows["best/true/steps", 20_000] == 2.0
    assert rows["best/true/true_return", 20_000] == 1.0
    assert ("paper/proxy/steps", 20_000) not in rows  # the same as the true reward here
    assert ("ties=random/true/steps", 20_000) not in rows
    tuning = {row[0] for row in replace(run, seed=1000).execute(lambda *_: None).rows}
    assert {"paper/true/steps", "ties=random/true/steps"} <= tuning
    assert rows["path/0", 0] == run.make_mdp().number((0, 0))
    area = rows["auc", None]
    assert area is not None
    assert 0 < area <= 4
    record = result.document
    assert [skill["skill"] for skill in record["skills"]] == [0, 1, 2, 3]
    assert len(record["coverage"]) == 5


@pytest.mark.slow
def test_primitives_know_the_optimum():
    rows = {m: v for m, _, v in Primitives("mud-world", 0).execute(lambda *_: None).rows}
    assert rows["optimum/true/steps"] == pytest.approx(22.5, abs=0.06)
    assert rows["optimum/proxy/steps"] == pytest.approx(21.0, abs=0.06)
    assert rows["optimum/true/success"] == pytest.approx(0.962, abs=0.001)
    success, total = rows["optimum/true/success"], rows["optimum/true/return"]
    assert success is not None
    assert total is not None
    assert success <= total <= 1
    assert {"paper/true/steps", "best/proxy/true_return"} <= set(rows)
