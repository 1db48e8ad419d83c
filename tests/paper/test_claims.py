from __future__ import annotations

import pytest

from paper.agents import Setup
from paper.claims import (
    DIRECTION_ONLY,
    MISSED,
    NOT_REPRODUCED,
    PARTLY,
    REACHED,
    REPRODUCED,
    UNDECIDED,
    Claim,
    Tally,
    aim_claim,
    comparable,
    judge,
    judge_difference,
    judge_majority,
    judge_paper_claims,
    reaches,
)
from skillfocus.metrics.statistics import Interval, success_interval


@pytest.mark.parametrize(
    ("direction", "size", "seeds", "expected"),
    [(True, True, 2, REPRODUCED), (True, False, 2, DIRECTION_ONLY), (False, True, 2, NOT_REPRODUCED),
     (False, False, 50, NOT_REPRODUCED), (True, True, 1, UNDECIDED)],
)  # fmt: skip
def test_verdicts(direction, size, seeds, expected):
    assert judge(direction, size, seeds) == expected


@pytest.mark.parametrize(
    ("successes", "n", "succeeds", "expected"),
    [(0, 4, False, UNDECIDED), (0, 5, False, REPRODUCED), (5, 5, False, NOT_REPRODUCED), (3, 5, False, UNDECIDED),
     (10, 50, False, DIRECTION_ONLY), (1, 50, False, REPRODUCED), (50, 50, True, REPRODUCED),
     (40, 50, True, DIRECTION_ONLY), (3, 5, True, UNDECIDED), (0, 5, True, NOT_REPRODUCED), (1, 1, False, UNDECIDED)],
)  # fmt: skip
def test_most_seeds_need_an_interval_on_one_side_of_a_half(successes, n, succeeds, expected):
    """0 of 4 leaves up to 0.53 possible, 0 of 5 up to 0.45; 10 of 50 are not none."""
    assert judge_majority(success_interval(successes, n), succeeds) == expected


@pytest.mark.parametrize(
    ("ours", "expected"), [(9.0, True), (8.99, False), (20.0, True)]
)  # fmt: skip
def test_sizes_are_the_paper_s_give_or_take_a_tenth(ours, expected):
    assert reaches(ours, 10.0) is expected
    assert reaches(ours - 0.5, 10.0, reading_error=0.5) is expected
    assert reaches(-ours, -10.0, sign=-1) is expected
    assert reaches(11.0, 10.0, sign=-1)
    assert not reaches(11.1, 10.0, sign=-1)


def test_comparable_numbers_have_an_interval_near_one():
    assert comparable(Interval(1.0, 0.8, 1.25))
    assert not comparable(Interval(1.0, 0.79, 1.1))
    assert not comparable(Interval(1.0, 0.9, 1.26))


@pytest.mark.parametrize(
    ("interval", "paper", "expected"),
    [((-3, -5, -1), -4, REPRODUCED), ((3, 1, 5), -4, NOT_REPRODUCED), ((-3, -7, 1), -4, UNDECIDED),
     ((-1, -3, 1), -4, NOT_REPRODUCED), ((-3, -7, 1), None, UNDECIDED), ((1, -3, 5), None, NOT_REPRODUCED),
     ((1, -9, 11), -4, UNDECIDED)],
)  # fmt: skip
def test_an_interval_too_wide_to_tell_leaves_it_open(interval, paper, expected):
    """One that holds 0 and the paper's difference, or, without one, that leans the right way."""
    assert judge_difference(Interval(*interval), -1, True, 5, paper) == expected
    flipped = Interval(-interval[0], -interval[2], -interval[1])
    assert judge_difference(flipped, 1, True, 5, None if paper is None else -paper) == expected


@pytest.mark.parametrize(
    ("values", "sign", "allowed", "expected"),
    [([1.0, 3.2], 1, True, REACHED), ([1.0, 3.2], -1, True, MISSED), ([1.0, 2.8], -1, True, REACHED),
     ([1.0, 3.2], 1, False, MISSED), ([3.0], 1, True, UNDECIDED), ([2.0, 2.0], 1, True, REACHED)],
)  # fmt: skip
def test_aims_are_reached_by_the_mean(values, sign, allowed, expected):
    by_seed = dict(enumerate(values))
    (claim,) = aim_claim("continuous", 2.0, by_seed, sign, allowed=allowed, task="t", agent="vic")
    assert (claim.verdict, claim.reference, claim.source) == (expected, 2.0, "aim")
    assert (claim.id, claim.statement) == ("continuous-t", "t: return with VIC skills")
    assert not aim_claim("continuous", 2.0, {}, task="t", agent="vic")


# -------------------------------------------------------------------- the paper's claims

YES, HALF, NO, OPEN = REPRODUCED, DIRECTION_ONLY, NOT_REPRODUCED, UNDECIDED


@pytest.mark.parametrize(
    ("verdicts", "expected", "printed"),
    [([YES, YES], REPRODUCED, "reproduced (2 of 2)"),
     ([YES, HALF], DIRECTION_ONLY, "direction only (2 of 2)"),
     ([OPEN, OPEN], UNDECIDED, "undecided (0 of 2)"),
     ([NO, OPEN], NOT_REPRODUCED, "not reproduced (0 of 2)"),
     ([YES, OPEN], PARTLY, "partly (1 of 2)"),
     ([HALF, YES, NO], PARTLY, "partly (2 of 3)")],
)  # fmt: skip
def test_verdicts_are_aggregated(verdicts, expected, printed):
    tally = Tally(verdicts)
    assert (tally.verdict, str(tally)) == (expected, printed)
    assert tally.total() == len(verdicts)


def claims(*listed: tuple[str, str, str]) -> list[Claim]:
    """Claims from (id, verdict, source)."""
    one = Interval(1.0, 0.5, 1.5)
    return [Claim(i, "…", None, one, verdict, 2, source=source) for i, verdict, source in listed]


def test_claims_are_judged_setup_by_setup():
    planned = claims(("coverage-vic", YES, "paper"), ("coverage-dusdi-vic", NO, "paper"))
    best = claims(("coverage-vic", OPEN, "paper"), ("coverage-dusdi-vic", YES, "aim"))
    coverage, dusdi = judge_paper_claims({Setup(): planned, Setup("best"): best}, {})
    assert (coverage.claim.name, dusdi.claim.name) == ("coverage", "coverage-dusdi")
    assert {s: t.verdict for s, t in coverage.tallies.items()} == {
        Setup(): REPRODUCED, Setup("best"): UNDECIDED,
    }  # fmt: skip
    assert list(dusdi.tallies) == [Setup()]  # aims are no claims of the paper


def test_causes_are_given_where_results_differ():
    def judged(verdict, **flips):
        return judge_paper_claims({Setup(): claims(("proxy-w-vic", verdict, "paper"))}, flips)[0]

    same, alone = judged(YES), judged(HALF)
    assert (same.differs, same.explanation, same.record()["cause"]) == (False, "", "")
    assert alone.explanation == alone.claim.cause
    told = f"{alone.claim.cause} Statements that hold: ties=random (1 → 2 of 3)."
    assert judged(HALF, proxy=["ties=random (1 → 2 of 3)"]).explanation == told
