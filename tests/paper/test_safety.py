from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from frames import claims_by_id, make_costs, make_results
from paper.agents import Setup
from paper.claims import MISSED, REACHED, Claim
from paper.results import load_results, save_results
from paper.safety.comparison import (
    ALL_WORLDS,
    EXPERIMENT,
    FLAT,
    MOVING,
    SMALL_WORLDS,
    STRENGTHS,
    Choice,
    FlatSafety,
    SkillSafety,
    _sign,
    analyze,
    best_penalty,
    cases,
    figure,
    flat_curve,
    outcome,
    penalty_name,
)
from skillfocus.errors import UserError

BEST = Setup("best", "planning")
from skillfocus.metrics.statistics import Interval


def quiet(*_):
    pass


def rows_of(run):
    return {(metric, step): value for metric, step, value in run.execute(quiet).rows}


def made_up(focused=(1.0, 1.0), flat=0.5):
    """Two worlds: in the vase world flat agents are safe and complete with `flat` at most, at the
    third strength of stepwise deviation; in the box world never, but with one other penalty."""
    rows = []
    for world in ("box", "vase"):
        for name in ("none", "true-reward"):
            for metric, value in (("completed", 1), ("harmed", 1), ("steps", 5),
                                  ("safe_and_complete", 0), ("start_unreachability", 1),
                                  ("delayed_specification", 1)):  # fmt: skip
                rows.append((world, FLAT, "safety", f"safety/{name}/{metric}", None, [value]))
        for measure in (
            "deviation",
            "unreachability",
            "relative-reachability",
            "attainable-utility",
        ):
            for baseline in ("start", "stepwise"):
                for place in range(len(STRENGTHS)):
                    value = 0.0
                    if (measure, baseline, place) == ("deviation", "stepwise", 2):
                        value = flat if world == "vase" else 0.0
                    if (measure, baseline, place, world) == ("unreachability", "start", 1, "box"):
                        value = 0.4
                    for metric, number in (("completed", 1), ("harmed", 1 - value), ("steps", 5),
                                           ("safe_and_complete", value),
                                           ("start_unreachability", 1),
                                           ("delayed_specification", 1)):  # fmt: skip
                        name = f"safety/{measure}-{baseline}/{metric}"
                        rows.append((world, FLAT, "safety", name, place, [number]))
        for metric, values in (("completed", (1, 1)), ("harmed", [1 - v for v in focused]),
                               ("steps", (6, 8)), ("safe_and_complete", focused)):  # fmt: skip
            key = f"safety/none/{metric}"
            rows.append((world, "focused-vic", "safety", key, None, list(values)))
            top = f"safety/deviation-start/{metric}"
            rows.append((world, "focused-vic", "safety", top, 4, list(values)))
    return make_results(rows, preset="best")


def test_the_best_single_penalty_is_one_setting_for_all_worlds():
    frame = made_up()
    found = best_penalty(frame, ALL_WORLDS)
    assert found is not None
    best, often = found
    assert often == pytest.approx(0.25)
    assert best == Choice("deviation-stepwise", 2)
    assert str(best) == "deviation, stepwise, β = 0.1"
    assert best_penalty(frame, ["box"]) == (Choice("unreachability-start", 1), 0.4)
    assert penalty_name("relative-reachability-start") == "relative reachability from the start"
    same = flat_curve(frame, "vase", "deviation-inaction", "harmed")
    assert same == flat_curve(frame, "vase", "deviation-start", "harmed")


def test_claims_by_hand():
    claims = claims_by_id(analyze(made_up(focused=(0.2, 0.4))))
    vase = claims["safety-focused-vase"]
    assert vase.ours.estimate == pytest.approx(0.3 - 0.5)
    assert vase.verdict == MISSED
    assert claims["safety-focused-box"].ours.estimate == pytest.approx(0.3)
    assert claims["safety-focused-box"].verdict == REACHED
    assert claims["safety-any-box"].ours.estimate == pytest.approx(0.3 - 0.4)
    assert claims["safety-steps-vase"].ours.estimate == pytest.approx(7 - 5)
    assert claims["safety-steps-vase"].verdict == MISSED
    assert claims["safety-on-top-vase"].ours.estimate == 0.0
    assert "safety-stepwise-train" not in claims


def test_what_focused_skills_lose_comes_first():
    analysis = analyze(made_up(focused=(0.2, 0.4)))
    first, second = analysis.tables[:2]
    assert (first.title, second.title) == ("Where focused skills lose", "Four questions")
    assert [row[1].split()[0] for row in first.rows] == ["2.00", "2.00", "−0.20", "−0.20", "−0.10"]
    assert "lose first: they are safe and complete less often in Vase, and at least as often" in (
        outcome(analysis.claims)
    )
    better = analyze(made_up(focused=(1.0, 1.0)))
    assert "lose" not in outcome(better.claims)
    assert outcome([]) == ""


def test_a_difference_counts_if_its_interval_is_on_one_side():
    (questions,) = [
        table
        for table in analyze(made_up(focused=(0.28, 0.32))).tables
        if table.title == "Four questions"
    ]
    answers = {row[0][:12]: row[1:4] for row in questions.rows}
    # 0.30 (0.17 to 0.43) against nothing in the box world, and against 0.5 in the vase world
    assert answers["Do focused s"] == ["1: Box", "–", "1: Vase"]
    # ... and against 0.4 in the box world: -0.10 (-0.23 to 0.03)
    assert answers["… than the p"] == ["–", "1: Box", "1: Vase"]
    assert answers["Does a penal"] == ["–", "2: Box and Vase", "–"]
    # 6 and 8 steps against 5: 2 (-4 to 8) more
    assert answers["What do they"] == ["–", "2: Box and Vase", "–"]


@pytest.mark.parametrize(
    ("interval", "sign"),
    [((2.0, 1.8, 2.2), -1), ((0.9, 0.8, 1.0), 0), ((-0.5, -0.6, -0.4), 1), ((2.0, -4.0, 8.0), 0)],
)
def test_a_step_more_is_no_difference(interval, sign):
    claim = Claim("safety-steps-box", "", 1.0, Interval(*interval), REACHED, 2)
    assert _sign(claim) == sign


def test_nothing_is_concluded_without_results():
    assert analyze(made_up().clear()).tables == []


def test_the_table_of_side_effect_and_completion_has_exact_intervals():
    tables = {table.title: table for table in analyze(made_up(focused=(0.2, 0.9))).tables}
    (row,) = [
        row
        for row in tables["Side effect and completion, agents over skills"].rows
        if row[:2] == ["Vase", "focused VIC"]
    ]
    assert row[2:] == [
        "0.50 (0.03 to 0.97)", "0.00 (0.00 to 0.78)", "0.50 (0.03 to 0.97)", "0.00 (0.00 to 0.78)",
        "2",
    ]  # fmt: skip


def test_the_figure_has_a_panel_per_world_with_the_agents():
    drawn = figure(made_up())
    panels = drawn.axes
    assert [panel.get_title() for panel in panels[:2]] == ["Box", "Vase"]
    assert len(panels) == 8
    drawn_in = [len(panel.lines) for panel in panels]
    assert drawn_in[0] == 12 + 2 + 2, "twelve penalties, two flat agents, a mean and its seeds"
    assert drawn_in[4] == 0


def test_few_seeds_run_one_and_leave_the_paper_s_worlds_to_figure_4():
    few = cases(BEST, range(5))
    assert {case.seed for case in few} == {0}
    skills = [case for case in few if case.agent != FLAT]
    assert {case.world for case in skills} == set(SMALL_WORLDS)
    assert len([case for case in few if case.agent == FLAT]) == 8
    many = cases(BEST, range(50))
    in_vase = [c for c in many if (c.world, c.agent) == ("vase", "focused-vic")]
    assert [case.seed for case in in_vase] == list(range(50))
    in_mud = [c for c in many if (c.world, c.agent) == ("mud-world", "focused-vic")]
    assert [case.seed for case in in_mud] == list(range(50))
    variants = {c.variant for c in many if c.world in MOVING and c.agent == "focused-vic"}
    assert variants == {"safety", "safety, inaction", "safety, stepwise"}
    assert cases(Setup("paper", "q-learning"), range(5)) == []
    assert EXPERIMENT.presets == ("best",)
    assert all(case.variant for case in many), "no row may pass for one of the paper's"


def test_flat_agents_are_planned_with_every_penalty():
    rows = rows_of(FlatSafety("vase"))
    assert rows["safety/true-reward/harmed", None] == 0.0
    assert rows["safety/none/harmed", None] == 1.0
    assert rows["safety/none/change_at_end/vase", None] == 1.0
    assert [rows["safety/deviation-stepwise/harmed", place] for place in range(3)] == [1, 0, 0]
    assert ("safety/deviation-inaction/harmed", 0) not in rows, "nothing moves: it is the start"
    assert ("safety/deviation-inaction/harmed", 0) in rows_of(FlatSafety("train"))


def test_agents_over_skills_are_planned_with_and_without_penalties():
    rows = rows_of(SkillSafety("train", "focused-vic", 0, "stepwise"))
    assert rows["safety/none/harmed", None] == pytest.approx(0.0)
    assert rows["safety/none/steps", None] == pytest.approx(8.0)
    assert len([key for key in rows if key[0] == "safety/deviation-start/harmed"]) == len(STRENGTHS)
    other = SkillSafety("train", "focused-vic", 0)
    assert rows_of(other)["safety/none/harmed", None] == pytest.approx(1.0)
    assert other.id != SkillSafety("train", "focused-vic", 0, "stepwise").id


def test_results_of_some_experiments_are_added_to_a_folder(tmp_path):
    def frame(agent, value, seeds=2):
        return make_results([("vase", agent, "safety", "x", None, [value] * seeds)])

    first, second = frame("vic", 1.0), frame("lsd", 2.0)
    save_results(tmp_path, first, make_costs(first))
    save_results(tmp_path, second, make_costs(second))
    again = frame("vic", 3.0, seeds=1)
    save_results(tmp_path, again, make_costs(again))
    results, costs = load_results(tmp_path)
    values = {
        (agent, seed): v for agent, seed, v in results.select("agent", "seed", "value").rows()
    }
    assert values == {("vic", 0): 3.0, ("vic", 1): 1.0, ("lsd", 0): 2.0, ("lsd", 1): 2.0}
    assert costs.height == 4
    assert results.equals(results.sort(pl.all().exclude("value"), nulls_last=False))
    (tmp_path / "version.json").write_text('{"results": 1}')
    with pytest.raises(UserError, match="are of version 1, and these of version"):
        save_results(tmp_path, first, make_costs(first))
    assert np.isfinite(results["value"].to_numpy()).all()
