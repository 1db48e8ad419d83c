from __future__ import annotations

import pytest

from skillfocus.metrics.summary import overall, records_of, rows_of


def test_records_without_starts_and_odd_names_come_back():
    nothing = {"changes_target": None, "side_effects": None, "side_effects_interval": None,
               "steps": None, "side_effects_by_variable": {"a/b": None, "starts": 0.5, "targets": 0.25},
               "mean_change_by_variable": {"a/b": None}, "starts": 0, "exact": False}  # fmt: skip
    record = {"skill": 0, "targets": ["a/b", "c"], **nothing, "all_starts": nothing}
    assert records_of(rows_of([record]), [["a/b", "c"]]) == [record]


def test_a_run_in_three_numbers():
    def skill(targets, changes, effects, starts=1):
        return {
            "targets": targets,
            "changes_target": changes,
            "side_effects": effects,
            "starts": starts,
        }

    records = [
        skill(["a"], 0.2, 0.1),
        skill(["a"], 0.9, 0.3),
        skill(["b"], 0.5, 0.2),
        skill(["c"], None, None, 0),
    ]
    numbers = {name: value for name, _, value in overall(records)}
    assert numbers["control"] == pytest.approx((0.9 + 0.5) / 2)
    assert numbers["mean_side_effects"] == pytest.approx(0.2)
    assert numbers["focus"] == pytest.approx(0.5)
    plain = {name: value for name, _, value in overall([skill([], None, 0.4)])}
    assert plain == {"control": None, "mean_side_effects": 0.4, "focus": None}
