from __future__ import annotations

import pytest

pytest.importorskip("jax")

from frames import claims_by_id, make_results
from paper import continuous
from paper.agents import FURTHER_SETUPS
from paper.claims import MISSED, REACHED
from paper.continuous import ContinuousStudy
from skillfocus.learners.actor.learner import Actor
from skillfocus.progress import no_progress

SMALL, LARGE = FURTHER_SETUPS


def results(rows):
    return make_results(rows, preset="scale", learner="neural-large")


@pytest.mark.parametrize("setup", FURTHER_SETUPS, ids=lambda setup: setup.learner)
def test_every_case_has_a_label_and_a_run_of_its_own(setup):
    made = continuous.cases(setup, [0, 1])
    assert len({case.labels for case in made}) == len(made)
    assert len({case.run.id for case in made}) == len(made)


def test_a_cpu_takes_as_many_steps_in_the_worlds_of_dusdi():
    small, large = (continuous.cases(setup, [0]) for setup in (SMALL, LARGE))
    assert [case.labels[2:] for case in small] == [case.labels[2:] for case in large]
    for case in small:
        if case.world != "two-rooms":
            assert case.run.actor.steps == 4_000_000  # as many as DUSDi


@pytest.mark.parametrize("setup", FURTHER_SETUPS, ids=lambda setup: setup.learner)
def test_only_components_of_a_variable_are_given_credit(setup):
    credit = {case.labels[2:5]: case.run.actor.credit for case in continuous.cases(setup, [0])}
    assert credit["gunner", "focused-diayn", ""] == credit["gunner", "dusdi-diayn", ""] == 4
    assert credit["gunner", "dusdi-diayn", continuous.SINGLE] == 4
    assert credit["particles", "dusdi-diayn", ""] == 1
    assert credit["gunner", "metra", ""] == credit["particles", "diayn", ""] == 0
    assert credit["two-rooms", "focused-vic", ""] == 0


def test_focused_skills_must_disturb_less_than_those_of_dusdi():
    rows = [
        ("gunner", "focused-diayn", "", "from_random/side_effects", None, [0.1, 0.12, 0.11]),
        (
            "gunner",
            "dusdi-diayn",
            continuous.SINGLE,
            "from_random/side_effects",
            None,
            [0.5, 0.6, 0.5],
        ),
        ("two-rooms", "focused-vic", "", "from_random/side_effects", None, [0.1, 0.5, 0.3]),
        (
            "two-rooms",
            "dusdi-vic",
            continuous.SINGLE,
            "from_random/side_effects",
            None,
            [0.3, 0.3, 0.4],
        ),
    ]
    analysis = continuous.analyze(results(rows))
    claims = claims_by_id(analysis)
    assert claims["continuous-effects-gunner"].verdict == REACHED
    assert claims["continuous-effects-gunner"].ours.estimate == pytest.approx(-0.4233, abs=1e-3)
    assert claims["continuous-effects-two-rooms"].verdict == MISSED  # the interval holds 0
    assert [row[:3] for row in analysis.tables[0].rows][:2] == [
        ["gunner", "focused DIAYN", ""], ["gunner", "DUSDi DIAYN", continuous.SINGLE]
    ]  # fmt: skip


def test_returns_stand_beside_published_ones():
    rows = [
        ("gunner", "focused-diayn", "", "gunner-limited/return", 100, [33.5, 34.0]),
        ("gunner", "dusdi-diayn", "", "gunner-limited/return", 100, [30.0, 31.0]),
        ("gunner", "focused-diayn", "", "gunner-unlimited/return", 100, [36.0, 37.0]),
    ]
    analysis = continuous.analyze(results(rows))
    verdicts = {name: claim.verdict for name, claim in claims_by_id(analysis).items()}
    assert verdicts == {
        "continuous-gunner-limited": REACHED, "continuous-gunner-unlimited": MISSED
    }  # fmt: skip
    by_agent = {(row[0], row[1]): row[5] for row in analysis.tables[0].rows}
    assert by_agent["gunner-limited", "DUSDi DIAYN"] == "31.5"
    assert by_agent["gunner-limited", "focused DIAYN"] == "–"


@pytest.mark.slow
@pytest.mark.usefixtures("unoptimized")
def test_runs_measure_what_the_analysis_reads():
    actor = Actor(
        steps=480, environments=4, batch=100, hidden=8, estimator_hidden=4, rounds_per_jit=2
    )
    run = ContinuousStudy(
        "two-rooms", "focused-diayn", 0, "agent=2,lamp=2", rollouts=8, task_rounds=2,
        task_environments=4, actor=actor,
    )  # fmt: skip
    metrics = {row[0] for row in run.execute(no_progress).rows}
    assert {f"from_{s}/side_effects" for s in ("random", "settled")} <= metrics
    assert {"carry-box/return", "carry-box/true_return", "carry-box/training_return"} <= metrics
