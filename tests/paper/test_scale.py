from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest

from frames import claims_by_id, make_results
from paper import scale
from paper.agents import FURTHER_SETUPS
from paper.claims import MISSED, REACHED
from paper.scale import MORE, HouseholdSkills, TreasureSkills, first_state_rows
from paths import ROOT
from skillfocus.discovery import cached_world
from skillfocus.learners.cost_network.learner import Neural
from skillfocus.progress import no_progress

SMALL, LARGE = FURTHER_SETUPS
TINY = Neural(steps=20 * 16, environments=16, batch=16, hidden=8, memory=64, updates_per_jit=10)


def results(rows):
    return make_results(rows, preset="scale", learner="neural-large")


@pytest.mark.parametrize("setup", FURTHER_SETUPS, ids=lambda setup: setup.learner)
def test_every_case_has_a_label_and_a_run_of_its_own(setup):
    pytest.importorskip("jax")
    made = scale.cases(setup, [0, 1])
    assert len({case.labels for case in made}) == len(made)
    assert len({case.run.id for case in made}) == len(made)


def test_what_needs_a_gpu_is_left_to_one():
    pytest.importorskip("jax")
    worlds = [{case.world for case in scale.cases(setup, [0])} for setup in (SMALL, LARGE)]
    assert worlds[0] == {"four-rooms", "installing-a-printer"}
    assert worlds[1] == {
        "tool-rooms", "room-blocks", "visible-mud", "thawing-frozen-food", "cleaning-a-car",
    }  # fmt: skip


def test_skills_in_households_learn_from_as_many_steps_as_skild():
    pytest.importorskip("jax")
    steps = {
        (case.variant, case.run.learner.updates * case.run.learner.environments)
        for case in scale.cases(LARGE, [0])
        if isinstance(case.run, HouseholdSkills)
    }
    assert steps == {("", 20_000_000), (MORE, 262_144_000)}


def test_only_skills_with_targets_learn_from_more_steps():
    pytest.importorskip("jax")
    more = {(case.world, case.agent) for case in scale.cases(LARGE, [0]) if case.variant == MORE}
    worlds, agents = ("thawing-frozen-food", "cleaning-a-car"), ("focused-vic", "dusdi-vic")
    assert more == set(itertools.product(worlds, agents))


def test_rooms_are_learned_as_the_page_on_networks_says():
    pytest.importorskip("jax")
    text = " ".join((ROOT / "docs/neural.md").read_text().split())
    runs = {(case.world, case.variant): case.run for case in scale.cases(LARGE, [0, 1])}
    expected = {"tool-rooms": (2.5, 24_000), "room-blocks": (5.0, 60_000)}
    for world, (strength, updates) in expected.items():
        run = runs[world, ""]
        assert (run.strength, run.learner.updates) == (strength, updates)
        assert runs[world, scale.BEST].strength == strength
        assert f"at strength {strength:g}" in text
    assert "60,000 updates instead of 24,000" in text


def test_four_rooms_is_judged_by_exact_planning():
    rows = [
        ("four-rooms", "focused-vic", variant, metric, None, values)
        for variant, metric, values in (
            ("", "goal/control", [1.0, 0.99]),
            ("", "goal/side_effects", [0.05, 0.07]),
            (scale.PLANNED, "goal/control", [1.0, 1.0]),
            (scale.PLANNED, "goal/side_effects", [0.02, 0.02]),
        )
    ]
    claims = claims_by_id(scale.analyze(results(rows)))
    assert claims["scale-changes-focused-vic"].verdict == REACHED
    assert claims["scale-effects-focused-vic"].verdict == MISSED
    assert claims["scale-effects-focused-vic"].ours.estimate == pytest.approx(0.04)


def room_rows(world, variant, changes, effects):
    """Rows of two seeds and two tools: all have the values of the first, but for `changes`."""
    rows = []
    for tool in (0, 1):
        for kind in scale.KINDS:
            rows += [
                (world, "focused-vic", variant, f"{kind}/changes", tool, [changes[tool]] * 2),
                (world, "focused-vic", variant, f"{kind}/tool_effects", tool, [effects] * 2),
            ]
    return rows


def test_rooms_are_judged_by_the_worst_tool_and_the_best_possible():
    rows = [
        *room_rows("tool-rooms", scale.BEST, [1.0, 1.0], 0.3),
        *room_rows("tool-rooms", "", [1.0, 0.9], 0.32),
        *room_rows("room-blocks", "", [0.96, 0.97], 0.2),
    ]
    analysis = scale.analyze(results(rows))
    claims = claims_by_id(analysis)
    assert claims["scale-changes-tool-rooms"].ours.estimate == pytest.approx(0.9)
    assert claims["scale-changes-tool-rooms"].verdict == MISSED
    assert claims["scale-effects-tool-rooms"].ours.estimate == pytest.approx(0.02)
    assert claims["scale-effects-tool-rooms"].verdict == REACHED
    assert claims["scale-changes-room-blocks"].verdict == REACHED
    assert claims["scale-effects-room-blocks"].verdict == MISSED
    assert [row[:3] for row in analysis.tables[0].rows] == [
        ["tool-rooms", scale.BEST, "1.000 (1.000 to 1.000)"],
        ["tool-rooms", "networks", "0.950 (0.950 to 0.950)"],
        ["room-blocks", "networks", "0.965 (0.965 to 0.965)"],
    ]


def test_mud_and_tasks_are_judged_by_their_aims():
    rows: list[tuple] = [
        ("visible-mud", "focused-vic", "", "treasure/changes", None, [0.96, 0.98]),
        ("visible-mud", "focused-vic", "", "treasure/muddy", None, [0.1, 0.1]),
        ("visible-mud", "focused-vic", "", "treasure/tracked", None, [2.0, 2.5]),
    ]
    for agent, final in (("focused-vic", 1.0), ("dusdi-vic", 0.5)):
        for steps, share in ((500_000, 0.2), (1_000_000, final)):
            metric = ("installing-a-printer", agent, "", "install-printer/success", steps)
            rows.append((*metric, [share, share]))
    analysis = scale.analyze(results(rows))
    verdicts = {name: claim.verdict for name, claim in claims_by_id(analysis).items()}
    assert verdicts == {
        "scale-mud-changes": REACHED,
        "scale-mud-muddy": MISSED,
        "scale-mud-tracked": REACHED,
        "scale-install-printer": REACHED,
    }
    assert [row[1:4] for row in analysis.tables[1].rows] == [
        ["focused VIC", "", "1.000 (1.000 to 1.000)"],
        ["DUSDi VIC", "", "0.500 (0.500 to 0.500)"],
    ]


def test_households_are_judged_by_the_side_effects_of_dusdi():
    world = "thawing-frozen-food"
    rows: list[tuple] = [
        (world, "focused-vic", "", "goal/control", None, [0.6, 0.8]),
        (world, "focused-vic", "", "goal/side_effects", None, [0.8, 0.9]),
        (world, "dusdi-vic", "", "goal/side_effects", None, [1.7, 1.8]),
        (world, "vic", "", "any/side_effects", None, [3.0, 4.0]),
    ]
    analysis = scale.analyze(results(rows))
    claim = claims_by_id(analysis)[f"scale-effects-{world}"]
    assert (claim.ours.estimate, claim.verdict) == (pytest.approx(-0.9), REACHED)
    assert [row[1] for row in analysis.tables[0].rows] == ["focused VIC", "DUSDi VIC", "VIC"]
    assert analysis.tables[0].rows[0][3].startswith("0.700")
    worse = [(*row[:5], [2.0, 1.6]) if row[1] == "focused-vic" else row for row in rows[1:]]
    assert claims_by_id(scale.analyze(results(worse)))[f"scale-effects-{world}"].verdict == MISSED


def test_the_first_state_lists_what_often_changes_along():
    world = "thawing-frozen-food"
    rows = [
        (world, agent, "", f"first/fish_position/{metric}", None, values)
        for agent, metric, values in (
            ("focused-vic", "changes", [1.0, 0.8]),
            ("focused-vic", "also/agent", [1.0, 0.9]),
            ("focused-vic", "also/fridge_open", [0.0, 0.08]),
            ("dusdi-vic", "changes", [1.0, 1.0]),
            ("dusdi-vic", "also/fridge_open", [0.9, 1.0]),
        )
    ]
    (row,) = scale.analyze(results(rows)).tables[0].rows
    assert row[:3] == [world, "", "`fish_position`"]
    assert row[3].startswith("0.90")
    assert (row[4], row[6]) == ("`agent` 0.95", "`fridge_open` 0.95")


def test_longer_training_has_rows_and_claims_of_its_own():
    world = "cleaning-a-car"
    rows = [
        (world, agent, variant, metric, step, values)
        for agent, variant, metric, step, values in (
            ("focused-vic", "", "first/bucket_soaped/changes", None, [0.0, 0.2]),
            ("focused-vic", MORE, "first/bucket_soaped/changes", None, [1.0, 0.9]),
            ("focused-vic", MORE, "goal/side_effects", None, [0.4, 0.5]),
            ("dusdi-vic", MORE, "goal/side_effects", None, [1.4, 1.5]),
            ("focused-vic", MORE, "clean-rag/success", 100, [0.4, 0.4]),
        )
    ]
    analysis = scale.analyze(results(rows))
    verdicts = {name: claim.verdict for name, claim in claims_by_id(analysis).items()}
    assert verdicts == {
        "scale-first-bucket_soaped": MISSED,
        "scale-first-bucket_soaped-more": REACHED,
        f"scale-effects-{world}-more": REACHED,
        "scale-clean-rag-more": MISSED,
    }
    assert [row[1:4] for row in analysis.tables[1].rows] == [
        ["", "`bucket_soaped`", "0.10 (0.00 to 0.73)"],
        [MORE, "`bucket_soaped`", "0.95 (0.63 to 1.00)"],
    ]


class ScriptedSkills:
    """Three skills that switch the printer on, the second most often, and one without a target."""

    targets = (("printer_on",), ("printer_on",), ("printer_on",), ())

    def __init__(self):
        self.world = cached_world("installing-a-printer", "{}")

    def run(self, skills, starts, rng):
        del rng
        ends = starts.copy()
        on, agent = (self.world.space.index(name) for name in ("printer_on", "agent"))
        share = (0.25, 0.5, 0.25, 1.0)[skills[0]]
        ends[: int(share * len(ends)), on] += 1
        ends[: len(ends) // 4, agent] += 1
        return SimpleNamespace(ends=ends)


def test_the_first_state_is_judged_by_the_best_skill_of_each_variable():
    pytest.importorskip("jax")
    rows = first_state_rows(ScriptedSkills(), 0)  # pyright: ignore[reportArgumentType]
    by_metric = {metric: value for metric, _, value in rows}
    assert by_metric.pop("first/printer_on/changes") == 0.5
    assert by_metric.pop("first/printer_on/also/agent") == 0.5
    assert set(by_metric.values()) == {0.0}
    assert "first/printer_on/also/table_clean" in by_metric


def test_without_results_there_is_nothing_to_say():
    analysis = scale.analyze(results([("four-rooms", "vic", "", "auc", None, [1.0])]))
    assert not analysis.claims
    assert not analysis.tables


@pytest.mark.slow
@pytest.mark.usefixtures("unoptimized")
def test_runs_measure_what_the_analysis_reads():
    pytest.importorskip("jax")
    run = HouseholdSkills(
        "installing-a-printer", "focused-vic", 0, TINY, targets="printer_on=2", task_steps=2560
    )
    metrics = {row[0] for row in run.execute(no_progress).rows}
    assert {"changes_target", "install-printer/success", "install-printer/true_success"} <= metrics
    assert {"install-printer/held/table untouched", "first/printer_on/changes"} <= metrics


def test_the_best_of_the_treasure_s_skills_is_judged(monkeypatch):
    records = [
        {"targets": ["position"], "changes_target": 1.0, "side_effects_by_variable": {}},
        {
            "targets": ["treasure"], "changes_target": 0.1,
            "side_effects_by_variable": {"muddy": 0.9, "position": 1.0, "mud_1_1": 1.0},
        },
        {
            "targets": ["treasure"], "changes_target": 0.9,
            "side_effects_by_variable": {
                "muddy": 0.125, "position": 0.5, "mud_1_1": 0.25, "mud_1_2": 0.5,
            },
        },
    ]  # fmt: skip
    monkeypatch.setattr("paper.scale.skill_records", lambda skills: records)
    pytest.importorskip("jax")
    run = TreasureSkills("visible-mud", "focused-vic", 0, TINY)
    assert run.measure(None, no_progress).rows == [  # pyright: ignore[reportArgumentType]
        ("treasure/changes", None, 0.9),
        ("treasure/muddy", None, 0.125),
        ("treasure/tracked", None, 0.75),
    ]
