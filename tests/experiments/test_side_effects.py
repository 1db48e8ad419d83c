from __future__ import annotations

import pytest

from frames import (
    claims_by_id,
    make_results,
)
from skillfocus.experiments import side_effects
from skillfocus.experiments.claims import (
    NOT_REPRODUCED,
    REPRODUCED,
)


def test_side_effects_claims():
    rows = [
        ("mud-world", "focused-vic", "", "mean_side_effects", None, [0.1, 0.12]),
        ("mud-world", "vic", "", "mean_side_effects", None, [1.1, 1.12]),
        ("mud-world", "focused-vic", "", "goal/side_effects", None, [0.5, 0.6]),
        ("mud-world", "dusdi-vic", "", "goal/side_effects", None, [0.4, 0.7]),
        ("mud-world", "focused-vic", "", "goal/side_effects_by_variable/muddy", None, [0.01, 0.02]),
    ]
    analysis = side_effects.analyze(make_results(rows))
    claims = claims_by_id(analysis)
    assert claims["effects-mud-world-focused-vic-vic"].ours.estimate == pytest.approx(-1.0)
    assert claims["effects-mud-world-focused-vic-vic"].verdict == REPRODUCED
    assert (
        claims["effects-mud-world-focused-vic-dusdi-vic"].verdict == NOT_REPRODUCED
    )  # no fewer, in the mean
    assert analysis.tables[-1].columns == ["agent", "muddy"]
