from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from frames import (
    claims_by_id,
    make_results,
)
from paper import controls
from paper.agents import Setup
from paper.claims import DIRECTION_ONLY, NOT_REPRODUCED, REPRODUCED
from paper.controls import NoStrength, RandomLearner, oracle, permuted
from probes import corridor
from problems import make_problem
from skillfocus.learners.planning.estimators import compiled_reward, tabular_estimator
from skillfocus.metrics.summary import overall, skill_records

SKILLS = {"tool_1": 2, "position": 2}


def test_an_oracle_deals_values_in_order():
    """By hand: of three values, the first of two skills owns 0 and 1, the second 2."""
    objective = oracle()
    estimator = tabular_estimator(objective.reward.estimate, 0)
    points = np.zeros((3, 1))
    params = estimator.init(2, 1, points, np.random.default_rng(0))
    reward = compiled_reward(objective.reward.formula, estimator.predict)
    owns = [[reward(params, points, z, 0, v) for v in range(3)] for z in (0, 1)]
    assert owns == [[1, 1, 0], [0, 0, 1]]


def test_oracle_skills_do_what_they_are_to_do():
    skills = sf.discover(
        corridor(), sf.focused(oracle()), seed=0, targets=SKILLS, learner=sf.Planning(rounds=1)
    )
    leave, take, left, right = sf.metrics.side_effects(skills)
    assert leave.changes_target == 0
    assert take.changes_target == 1
    assert take.side_effects == 0  # and returns
    assert left.ends[[0, 1]].sum() + left.ends[[2, 3]].sum() == pytest.approx(1)
    assert right.side_effects == pytest.approx(right.by_variable["tool_1"])


def test_permuted_skills_spare_the_next_variable():
    world = corridor()
    objective = permuted(sf.focused(sf.vic()))
    assert objective.penalty.unpenalized((0,), 2) == [1]
    assert objective.penalty.unpenalized((1,), 2) == [0]
    mdp, assignment = sf.tabulate(world), sf.assign(world, targets=SKILLS)
    problem = make_problem(mdp, objective, assignment, step_limit=6, world_id="")
    fetch = problem.skills[1]
    s = mdp.number((1, 0))
    taken = mdp.successors[s, 1, 0]  # one step to the right picks the tool up
    assert mdp.state(taken) == (2, 1)
    assert fetch.event_cost[s, 1, 0] == 4  # its own target costs the whole strength
    assert (fetch.penalty == 0).all()  # and the position nothing
    plain = make_problem(mdp, sf.focused(sf.vic()), assignment, step_limit=6, world_id="")
    assert plain.skills[1].event_cost[s, 1, 0] == 0


def test_permuted_skills_do_not_control_their_targets():
    """With a penalty that outweighs what a discriminator can pay."""
    skills = sf.discover(
        corridor(),
        permuted(sf.focused(sf.vic(), strength=20.0)),
        seed=0,
        targets={"tool_1": 2},
        learner=sf.Planning(rounds=5),
    )
    control = {name: value for name, _, value in overall(skill_records(skills))}["control"]
    assert control == 0


def test_chance_draws_moves_and_never_terminates():
    made = [
        sf.discover(
            corridor(), sf.focused(sf.vic()), seed=s, targets=SKILLS, learner=RandomLearner()
        )
        for s in (0, 0, 1)
    ]
    assert made[0] == made[1] != made[2]
    assert made[0].tabular.flat_actions.max() < 4
    assert made[0].tabular.flat_actions.shape == (4 * 6,)  # no memory of the start
    assert set(np.unique(made[0].tabular.flat_actions)) == {0, 1, 2, 3}


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["focused-vic", "focused-diayn", "focused-lsd"])
def test_no_strength_is_no_penalty_bit_for_bit(objective):
    result = NoStrength("four-rooms", objective, 0, rounds=3).execute(lambda *_: None)
    assert result.rows == [("identical", None, 1.0)]


def test_no_strength_notices_a_penalty(monkeypatch):
    """It can fail: a penalty of something is not the same."""
    monkeypatch.setattr(controls, "cached_world", lambda *_: corridor())
    monkeypatch.setattr(controls, "cached_mdp", lambda *_: sf.tabulate(corridor()))
    run = NoStrength("four-rooms", "focused-vic", 0, rounds=3)
    assert run.execute(lambda *_: None).rows[0][2] == 1.0
    monkeypatch.setattr(
        controls,
        "_zero_penalty",
        lambda space, start, end, watched: 9.0 * ((start != end) & watched).any(axis=1),
    )
    assert run.execute(lambda *_: None).rows[0][2] == 0.0


def test_controls_claims():
    rows = [
        ("mud-world", "focused-vic", "", "goal/control", None, [1.0, 0.99]),
        ("mud-world", "permuted-focused-vic", "", "goal/control", None, [0.0, 0.01]),
        ("mud-world", "focused-vic", "", "task/true/steps", 9, [30, 32]),
        ("mud-world", "permuted-focused-vic", "", "task/true/steps", 9, [60, 60]),
        ("mud-world", "focused-vic", "no strength", "identical", None, [1.0]),
        ("four-rooms", "focused-vic", "no strength", "identical", None, [1.0]),
    ]
    claims = claims_by_id(controls.analyze(make_results(rows)))
    assert claims["control-permuted-mud-world"].verdict == REPRODUCED
    assert claims["control-benefit-mud-world"].ours.estimate == pytest.approx(29.0)
    assert claims["control-zero"].verdict == REPRODUCED
    rows[1] = (*rows[1][:-1], [0.3, 0.31])  # less, but not gone
    claims = claims_by_id(controls.analyze(make_results(rows)))
    assert claims["control-permuted-mud-world"].verdict == DIRECTION_ONLY
    rows[-1] = (*rows[-1][:-1], [0.0])
    assert (
        claims_by_id(controls.analyze(make_results(rows)))["control-zero"].verdict == NOT_REPRODUCED
    )


def test_every_control_is_a_case():
    made = controls.cases(Setup(), range(2))
    assert len(made) == 2 * 3 * 4 + 9
    random = [c for c in made if c.variant == "learner=chance"]
    assert {c.run.learner for c in random} == {RandomLearner()}
    by_q_learning = controls.cases(Setup(learner="q-learning"), range(2))
    assert not [c for c in by_q_learning if isinstance(c.run, NoStrength)]


def test_the_controls_table_by_hand():
    rows = [
        ("mud-world", "focused-oracle", "", "task/true/steps", 9, [30, 30]),
        ("mud-world", "focused-oracle", "", "task/true/true_return", 9, [1, 0]),
        ("mud-world", "focused-oracle", "", "goal/control", None, [1, 1]),
        ("mud-world", "focused-vic", "learner=chance", "task/true/steps", 9, [60, 60]),
    ]
    (table,) = controls.analyze(make_results(rows)).tables
    assert [[cell.split(" (")[0] for cell in row] for row in table.rows] == [
        ["MudWorld", "random skills", "–", "–", "–", "60.0", "–", "2"],
        ["MudWorld", "oracle skills", "1.000", "–", "–", "30.0", "1 of 2", "2"],
    ]
    assert controls.analyze(make_results([])).tables == []


def test_a_benefit_that_stays_is_not_reproduced():
    rows = [
        ("mud-world", "focused-vic", "", "task/true/steps", 9, [30, 32]),
        ("mud-world", "permuted-focused-vic", "", "task/true/steps", 9, [20, 22]),
    ]
    (claim,) = controls.analyze(make_results(rows)).claims
    assert (claim.id, claim.ours.estimate) == ("control-benefit-mud-world", -10)
    assert (claim.verdict, claim.source) == (NOT_REPRODUCED, "control")
