from __future__ import annotations

import pytest

from frames import (
    claims_by_id,
    make_results,
)
from paper import figure_1
from paper.claims import DIRECTION_ONLY, NOT_REPRODUCED, REPRODUCED


def test_side_effects_claims():
    rows = [
        ("mud-world", "focused-vic", "", "mean_side_effects", None, [0.1, 0.12]),
        ("mud-world", "vic", "", "mean_side_effects", None, [1.1, 1.12]),
        ("mud-world", "focused-vic", "", "goal/side_effects", None, [0.5, 0.6]),
        ("mud-world", "dusdi-vic", "", "goal/side_effects", None, [0.4, 0.7]),
        ("mud-world", "focused-vic", "", "goal/side_effects_by_variable/muddy", None, [0.01, 0.02]),
    ]
    analysis = figure_1.analyze(make_results(rows))
    claims = claims_by_id(analysis)
    assert claims["effects-mud-world-focused-vic-vic"].ours.estimate == pytest.approx(-1.0)
    assert claims["effects-mud-world-focused-vic-vic"].verdict == REPRODUCED
    assert (
        claims["effects-mud-world-focused-vic-dusdi-vic"].verdict == NOT_REPRODUCED
    )  # no fewer, in the mean
    assert analysis.tables[-1].columns == ["agent", "muddy"]


@pytest.mark.parametrize(
    ("control", "verdict"),
    [([0.9, 0.92], REPRODUCED), ([0.8, 0.82], DIRECTION_ONLY), ([0.4, 0.95], NOT_REPRODUCED)],
)
def test_skills_must_change_their_targets_too(control, verdict):
    rows = [("mud-world", "focused-lsd", "", "goal/control", None, control)]
    claim = claims_by_id(figure_1.analyze(make_results(rows)))[
        "effects-mud-world-focused-lsd-control"
    ]
    assert claim.verdict == verdict


def test_side_effects_tables_by_hand():
    rows = [
        ("four-rooms", "focused-vic", "", "mean_side_effects", None, [0.1, 0.1]),
        ("four-rooms", "focused-vic", "", "goal/side_effects", None, [0.2, 0.2]),
        ("four-rooms", "focused-vic", "", "roam/side_effects", None, [0.05, 0.05]),
        ("four-rooms", "focused-vic", "", "goal/worst/side_effects", None, [0.3, 0.3]),
        ("four-rooms", "focused-vic", "", "roam/worst/side_effects", None, [0.4, 0.4]),
        ("four-rooms", "focused-vic", "", "goal/control", None, [1.0, 1.0]),
        ("four-rooms", "vic", "", "mean_side_effects", None, [1.5, 1.5]),
        ("four-rooms", "vic", "", "any/worst/side_effects", None, [2.0, 2.0]),
    ]
    (table,) = figure_1.analyze(make_results(rows)).tables  # nothing by variable
    cells = [[cell.split(" (")[0] for cell in row] for row in table.rows]
    assert cells == [
        ["focused VIC", "1.000", "0.100", "0.200", "0.050", "0.400", "2"],
        ["VIC", "–", "1.500", "–", "–", "2.000", "2"],
    ]
    assert "MudWorld" not in table.note


def test_the_side_effects_figure_shows_means_and_every_seed():
    rows = [
        ("mud-world", "focused-vic", "", "mean_side_effects", None, [0.1, 0.3]),
        ("mud-world", "dusdi-vic", "", "mean_side_effects", None, [1.0, 1.0]),
    ]
    panel = figure_1.draw_side_effects(make_results(rows)).axes[2]
    bars = {round(bar.get_x() + bar.get_width() / 2): bar for bar in panel.patches}
    assert {place: bar.get_height() for place, bar in bars.items()} == {
        0: pytest.approx(0.2), 3: 1.0,
    }  # fmt: skip
    assert (bars[0].get_hatch(), bars[3].get_hatch()) == (None, "//")
    assert [line.get_ydata().tolist() for line in panel.get_lines()] == [[0.1, 0.3], [1.0, 1.0]]
    labels = [t.get_text() for t in panel.get_xticklabels()]
    assert (labels[0], labels[3]) == ("focused VIC", "DUSDi VIC")
    assert panel.get_yscale() == "log"
