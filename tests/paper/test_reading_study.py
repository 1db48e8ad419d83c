from __future__ import annotations

import pytest

from frames import make_results
from paper.agents import Setup
from paper.readings import (
    EXPERIMENT,
    analyze,
    cases,
    claims_table,
    decision_table,
    distance,
    distances,
    figure,
    flips,
    measured_readings,
    paper_numbers,
    statements,
    study_setups,
)
from paper.settings import READING, READINGS
from paths import ROOT


def rows_of(name, change=lambda number: number.value):
    """Results of a reading whose numbers are the paper's, but for a change."""
    return [
        (n.world, n.agent, f"{READING}{name}", n.metric, 20_000, [change(n)])
        for n in paper_numbers()
    ]


def test_the_paper_has_8_areas_27_steps_and_16_pairs_of_returns():
    figures = [number.figure for number in paper_numbers()]
    assert [figures.count(f) for f in (2, 3, 4)] == [8, 27, 32]


def test_distances_by_hand():
    """Areas off by 0.266 of 2.66, steps by 6 of 60 or 32 of 320, returns by 0.3."""
    off = {2: 0.266, 4: 0.3}
    ours = {n: n.value + off.get(n.figure, 0.1 * n.scale) for n in paper_numbers()}
    assert distances(ours) == pytest.approx({2: 0.1, 3: 0.1, 4: 0.3})
    assert distance(ours) == pytest.approx(0.5 / 3)
    assert distance({n: n.value for n in paper_numbers()}) == 0


def test_all_statements_hold_of_the_paper_s_own_numbers():
    """LSD solves ForageWorld in some of the paper's runs, and DUSDi VIC earns half of its return:
    these are no statements."""
    held = statements({n: n.value for n in paper_numbers()})
    assert {name: (sum(h), len(h)) for name, h in held.items()} == {
        "coverage": (3, 3), "coverage-dusdi": (2, 2), "tasks": (9, 9), "failures": (11, 11),
        "dusdi": (6, 6), "proxy": (15, 15),
    }  # fmt: skip


def test_a_reading_flips_a_claim_that_a_third_of_its_statements_leave():
    def all_solved(number):
        return 20.0 if number.figure == 3 else number.value

    frame = make_results(rows_of("paper") + rows_of("ties=random", all_solved))
    readings = measured_readings(frame)
    assert list(readings) == ["paper", "ties=random"]
    assert flips(readings) == {
        "failures": ["ties=random (11 → 0 of 11)"], "dusdi": ["ties=random (6 → 2 of 6)"],
    }  # fmt: skip
    assert flips({"ties=random": readings["ties=random"]}) == {}
    assert claims_table(readings).rows[1][4] == "0 of 11"


def test_a_reading_without_all_numbers_is_left_out():
    frame = make_results(rows_of("paper") + rows_of("memory=none")[1:])
    assert list(measured_readings(frame)) == ["paper"]
    assert analyze(frame).tables == []


def test_tables_and_figure():
    nearer = make_results(
        rows_of("paper", lambda n: n.value + 0.2 * n.scale)
        + rows_of("ties=random", lambda n: n.value + 0.1 * n.scale)
    )
    tables = {table.title: table for table in analyze(nearer).tables}
    assert tables["Distance to the paper's numbers, nearest first"].rows == [
        ["`ties=random`", "0.100", "0.100", "0.100", "0.100", "1"],
        ["`paper`", "0.200", "0.200", "0.200", "0.200", "1"],
    ]
    steps = tables["Figure 3, MudWorld: steps"]
    assert steps.rows[0][:2] == ["the paper", "30.0"]
    assert steps.rows[1][1] == "42.0"
    assert len(tables) == 3 + 1 + 3 + 4
    labels = [label.get_text() for label in figure(nearer).axes[0].get_yticklabels()]
    assert labels == ["paper", "ties=random"]  # from below


def test_readings_run_on_tuning_seeds():
    listed = cases(Setup(), range(50))
    assert {case.variant for case in listed} == {f"{READING}{name}" for name in study_setups()}
    assert len(study_setups()) == len(READINGS) + 1
    seeds = {
        name: {case.seed for case in listed if case.variant == f"{READING}{name}"}
        for name in study_setups()
    }
    assert seeds["paper"] == seeds["ties=random"] == set(range(1000, 1005))
    assert seeds["memory=none"] == {1000, 1001}
    assert seeds["learner=q-learning"] == {1000}
    assert cases(Setup(), range(9)) == cases(Setup("best"), range(50)) == []
    assert EXPERIMENT.presets == ("paper",)


def test_the_guide_has_the_table_of_decisions():
    _, table, *_ = decision_table().markdown().split("\n\n")
    assert table in (ROOT / "docs" / "readings.md").read_text()
