from __future__ import annotations

import pytest

from paper import figure_1, figure_2, figure_5, figures_3_and_4
from paper.claims import (
    DIRECTION_ONLY,
    MISSED,
    NOT_REPRODUCED,
    REACHED,
    REPRODUCED,
    UNDECIDED,
    Claim,
    aims_outcome,
    default_outcome,
)
from skillfocus.metrics.statistics import Interval


def claim(name: str, ours: float = 0.0, paper: float | None = None, verdict: str = REPRODUCED):
    return Claim(name, "…", paper, Interval(ours, ours - 1, ours + 1), verdict, 5)


@pytest.mark.parametrize(
    ("outcome", "claims", "expected"),
    [
        (default_outcome, [claim("a"), claim("b", verdict=NOT_REPRODUCED)],
         "1 of 2 claims show at least the claimed direction."),
        (aims_outcome, [claim("a", verdict=REACHED), claim("b", verdict=MISSED)],
         "1 of 2 aims of our own are reached."),
        (aims_outcome, [claim("a", verdict=REACHED), claim("b", verdict=UNDECIDED)],
         "1 of 2 aims of our own are reached; undecided with one seed: 1."),
        (figure_1.outcome,
         [claim("effects-w-a"), claim("effects-w-b", verdict=NOT_REPRODUCED),
          claim("effects-w-c", verdict=DIRECTION_ONLY)],
         "Focused skills have fewer side effects than their DUSDi and plain counterparts in 2 of 3 "
         "comparisons."),
        (figure_1.outcome,
         [claim("effects-w-a-control", verdict=NOT_REPRODUCED), claim("effects-w-a-b")],
         "Focused skills change their targets in 0 of 1 cases, and have fewer side effects than "
         "their DUSDi and plain counterparts in 1 of 1 comparisons."),
        (figure_2.outcome,
         [claim("coverage-vic", 4.0, 5.3), claim("coverage-lsd", 2.0, 3.0),
          claim("coverage-dusdi-vic", 1.0, 1.06)],
         "Focused skills cover 4.00 and 2.00 times the area of plain VIC and LSD (the paper: 5.3 "
         "and 3), and 1.00 times that of DUSDi over VIC (the paper: 1.06)."),
        (figures_3_and_4.steps_outcome,
         [claim("downstream-four-rooms-focused-vic", 100, 93),
          claim("downstream-four-rooms-focused-lsd", 90, 105),
          claim("downstream-mud-world-focused-vic", 30, 30),
          claim("fails-mud-world-vic"), claim("fails-mud-world-lsd", verdict=NOT_REPRODUCED)],
         "With focused skills, tasks take 90.0 to 100.0 steps in FourRooms (the paper: 93.0 to "
         "105.0) and 30.0 in MudWorld (the paper: 30.0); of 2 cases that fail in the paper, 1 are "
         "shown to fail."),
        (figures_3_and_4.returns_outcome,
         [claim("proxy-mud-world-focused-vic", 0.9, 0.97), claim("proxy-mud-world-vic", 0.1, 0.0)],
         "Trained on the proxy, focused skills earn a true return of 0.90 in MudWorld (the paper: "
         "0.97); others earn 0.10 in MudWorld (the paper: 0.00)."),
        (figure_5.outcome,
         [claim("ablation-zero-focused-vic", 1.0, 0.0), claim("ablation-zero-focused-lsd", 0.2, 0.0)],
         "Without the penalty, the MudWorld task is learned with focused VIC and LSD in 100% and "
         "20% of the seeds (the paper: none)."),
    ],
)  # fmt: skip
def test_what_comes_out_is_said_in_one_sentence(outcome, claims, expected):
    assert outcome(claims) == expected
    assert outcome([]) == ""
