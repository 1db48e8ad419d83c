from __future__ import annotations

from frames import (
    claims_by_id,
    make_results,
)
from skillfocus.experiments import skill_count
from skillfocus.experiments.claims import (
    REPRODUCED,
)


def test_skill_count_claims():
    rows = [
        ("four-rooms", agent, "skills=8", metric, 20_000, [value] * 6)
        for agent, good in (("vic", False), ("focused-vic", True))
        for metric, value in (("task/true/steps", 90 if good else 320),
                              ("task/true/true_return", float(good)))
    ]  # fmt: skip
    claims = claims_by_id(skill_count.analyze(make_results(rows)))
    assert {f.verdict for f in claims.values()} == {REPRODUCED}
    assert set(claims) == {"skills-8-vic", "skills-8-focused-vic"}
