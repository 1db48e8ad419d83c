from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from frames import results, whole
from skillfocus.errors import UserError
from skillfocus.experiments import (
    ablation,
    controls,
    coverage,
    downstream,
    side_effects,
    skill_count,
    underspecified,
)
from skillfocus.experiments.claims import (
    DIRECTION,
    MISSED,
    NOT,
    REACHED,
    REPRODUCED,
    UNDECIDED,
)
from skillfocus.metrics.coverage import chain_coverage


def found(analysis):
    return {finding.id: finding for finding in analysis.findings}


def changed(frame, agent, metric, value):
    """The same results but for one metric of an agent; `value` may be a number or an expression."""
    mine = (pl.col("agent") == agent) & (pl.col("metric") == metric)
    return frame.with_columns(value=pl.when(mine).then(value).otherwise("value"))


def test_coverage_ratios():
    """By hand: sqrt(2.0 / 0.4 * 2.2 / 0.5) = 4.69, within a tenth of 5.3 (4.77)? No."""
    analysis = coverage.analyze(whole())
    findings = found(analysis)
    assert findings["coverage-vic"].ours.estimate == pytest.approx((5.0 * 4.4) ** 0.5)
    assert findings["coverage-vic"].ours.low > 1
    assert findings["coverage-vic"].verdict == DIRECTION
    assert findings["coverage-dusdi-vic"].verdict == REPRODUCED
    assert "coverage-lsd" not in findings  # nothing was run
    assert [row[0] for row in analysis.tables[0].rows] == ["focused VIC", "DUSDi VIC", "VIC"]
    assert "coverage-scattered-vic" not in findings
    best = found(coverage.analyze(whole().with_columns(preset=pl.lit("best"))))
    assert not best  # of these agents the preset has nothing new to say
    near = changed(whole(), "vic", "auc", pl.col("value") * 0.98)
    assert found(coverage.analyze(near))["coverage-vic"].verdict == REPRODUCED
    worse = changed(whole(), "vic", "auc", 2.15)
    assert found(coverage.analyze(worse))["coverage-vic"].verdict == NOT
    far = changed(whole(), "dusdi-vic", "auc", 1.2)
    assert found(coverage.analyze(far))["coverage-dusdi-vic"].verdict == NOT


@pytest.mark.parametrize(("area", "worst", "expected"),
    [(1.85, 0.05, REACHED), (1.84, 0.0, MISSED), (2.5, 0.051, MISSED)])  # fmt: skip
def test_the_aim_needs_coverage_and_few_side_effects(area, worst, expected):
    frame = results([
        ("four-rooms", "scattered-focused-vic", "", "auc", None, [area, area]),
        ("four-rooms", "scattered-focused-vic", "", "goal/worst/side_effects", None, [0.0, worst]),
    ], preset="best")  # fmt: skip
    assert found(coverage.analyze(frame))["aim-scattered-focused-vic"].verdict == expected


def test_ideal_skills_by_hand():
    """Two cells and a tool: one skill fetches, one does nothing, one goes to the other cell. Of the
    4 states, chains of 1 end in the tool's, the first and the other cell's; of 2, in all."""
    states = np.array([(c, t) for c in range(2) for t in range(2)])
    moves = coverage.ideal_moves(states, (2, 2), "same", 1, np.random.default_rng(0))
    assert [move.shape for move in moves] == [(4, 4)] * 3
    for move in moves:
        assert move.sum(axis=1) == pytest.approx(np.ones(4))
    fetch = moves[0]
    assert fetch[0, 1] == fetch[1, 1] == fetch[2, 3] == 1
    other = [np.eye(4)[[2, 3, 0, 1]]]
    covered = chain_coverage([*moves[:2], *other], np.array([0]), lengths=2)
    assert covered[:, 0] == pytest.approx([3 / 4, 1.0])


@pytest.mark.slow
def test_ideal_skills_of_four_rooms():
    """The counts of an independent simulation: 0.22, 1.20 and 1.88 with eight position skills."""
    areas = {
        ends: coverage.Ideal(ends).execute(lambda *_: None).rows[-1][2]
        for ends in ("same", "mapped", "region")
    }
    assert areas == pytest.approx({"same": 0.22, "mapped": 1.20, "region": 1.88}, abs=0.02)
    with pytest.raises(UserError, match="unknown way to end"):
        coverage.Ideal("nowhere")


def test_downstream_claims():
    findings = found(downstream.analyze(whole()))
    mud = findings["downstream-mud-world-focused-vic"]
    assert (mud.ours.estimate, mud.verdict) == (20.5, REPRODUCED)
    assert findings["fails-mud-world-vic"].verdict == UNDECIDED  # 0 of 2
    assert "fails-four-rooms-dusdi-vic" not in findings  # the paper's does not fail
    steps = findings["steps-mud-world-focused-vic-dusdi-vic"]
    assert (steps.ours.estimate, steps.reference, steps.verdict) == (-39.5, -30, REPRODUCED)
    assert findings["steps-four-rooms-focused-vic-dusdi-vic"].verdict == NOT  # 20 and 320 steps
    slow = changed(whole(), "focused-vic", downstream.STEPS, 50.0)
    findings = found(downstream.analyze(slow))
    assert findings["downstream-mud-world-focused-vic"].verdict == DIRECTION
    assert findings["steps-mud-world-focused-vic-vic"].verdict == DIRECTION  # -10, paper -30
    assert findings["downstream-four-rooms-focused-vic"].verdict == REPRODUCED
    idle = found(downstream.analyze(changed(whole(), "focused-vic", downstream.STEPS, 60.0)))
    assert idle["downstream-mud-world-focused-vic"].verdict == NOT  # as many as primitives alone
    best = found(downstream.analyze(slow.with_columns(preset=pl.lit("best"))))
    assert best["aim-mud-world-focused-vic"].verdict == MISSED
    assert best["downstream-mud-world-focused-vic"].verdict == DIRECTION


def test_comparisons_count_the_seeds_that_both_have():
    frame = whole().filter((pl.col("agent") != "vic") | (pl.col("seed") == 0))
    finding = found(downstream.analyze(frame))["steps-mud-world-focused-vic-vic"]
    assert (finding.seeds, finding.verdict) == (1, UNDECIDED)
    finding = found(underspecified.analyze(frame))["proxy-mud-world-focused-vic"]
    assert (finding.seeds, finding.verdict) == (1, UNDECIDED)


def test_episodes_until_within_a_tenth_of_the_end():
    """By hand: 1.1 * 20 = 22; three in a row at most 22 begin at 400."""
    curve = {100: 60, 200: 21, 300: 33, 400: 22, 500: 20, 600: 21, 700: 33, 800: 20}
    rows = [("mud-world", "vic", "", downstream.STEPS, n, [v, 20, 60]) for n, v in curve.items()]
    rows.append(("mud-world", "vic", "", downstream.SUCCESS, 800, [1, 1, 0]))
    needed = downstream.episodes_needed(results(rows), "mud-world", "vic")
    assert needed == {0: 400.0, 1: 100.0}  # the third never learns it


def test_underspecified_claims():
    findings = found(underspecified.analyze(whole()))
    assert findings["proxy-forage-world-focused-vic"].verdict == REPRODUCED
    assert findings["proxy-forage-world-vic"].verdict == REPRODUCED  # proxy, but not true
    much = changed(whole(), "vic", "task/proxy/true_return", pl.col("value") + 0.2)
    assert found(underspecified.analyze(much))["proxy-forage-world-vic"].verdict == DIRECTION
    assert findings["aim-proxy-forage-world"].verdict == REACHED  # 0.925
    assert findings["aim-proxy-mud-world"].verdict == MISSED
    honest = whole().with_columns(
        metric=pl.col("metric").replace({"task/proxy/true_return": "x", "task/proxy/proxy_return": "task/proxy/true_return"})
    ).with_columns(metric=pl.col("metric").replace({"x": "task/proxy/proxy_return"}))  # fmt: skip
    assert found(underspecified.analyze(honest))["proxy-forage-world-vic"].verdict == NOT


def ablated(steps):
    rows = []
    for strength, by_seed in steps.items():
        variant = ablation.variant("focused-vic", strength)
        done = [float(v < 50) for v in by_seed]
        rows += [
            ("mud-world", "focused-vic", variant, "task/true/steps", 20_000, by_seed),
            ("mud-world", "focused-vic", variant, "task/true/true_return", 20_000, done),
        ]
    return results(rows)


def test_ablation_claims():
    """The usual strength, 4, is compared with none and with the largest, on the seeds both have."""
    assert [ablation.variant("focused-vic", s) for s in (0.0, 4.0)] == ["strength=0", ""]
    assert ablation.variant("focused-lsd", 2.0) == ""
    steps = {0.0: [60, 60, 59, 60, 60], 4.0: [25, 26, 24, 25, 25, 99], 40.0: [30, 31, 29, 30, 30]}
    analysis = ablation.analyze(ablated(steps))
    findings = found(analysis)
    assert {name: f.verdict for name, f in findings.items()} == dict.fromkeys(
        ("ablation-zero-focused-vic", "ablation-more-focused-vic", "ablation-much-focused-vic"),
        REPRODUCED,
    )
    assert findings["ablation-more-focused-vic"].ours.estimate == pytest.approx(-34.8)
    assert findings["ablation-more-focused-vic"].compared == "25.0 steps against 59.8"
    assert findings["ablation-much-focused-vic"].ours.estimate == pytest.approx(5.0)
    assert analysis.tables[0].rows[1][-1] == "5"  # the sixth seed has no other strength
    assert [row[1] for row in analysis.tables[0].rows] == ["0", "4", "40"]
    flat = found(ablation.analyze(ablated({0.0: [30, 31], 4.0: [30, 32], 40.0: [31, 31]})))
    assert flat["ablation-more-focused-vic"].verdict == NOT
    assert flat["ablation-much-focused-vic"].verdict == NOT
    two = found(ablation.analyze(ablated({0.0: [60, 60], 1.0: [50]})))
    assert set(two) == {"ablation-zero-focused-vic"}  # the usual strength was not run
    assert not ablation.analyze(ablated({4.0: [60, 60]})).tables[0].rows  # nor any other


def test_skill_count_claims():
    rows = [
        ("four-rooms", agent, "skills=8", metric, 20_000, [value] * 6)
        for agent, good in (("vic", False), ("focused-vic", True))
        for metric, value in (("task/true/steps", 90 if good else 320),
                              ("task/true/true_return", float(good)))
    ]  # fmt: skip
    findings = found(skill_count.analyze(results(rows)))
    assert {f.verdict for f in findings.values()} == {REPRODUCED}
    assert set(findings) == {"skills-8-vic", "skills-8-focused-vic"}


def test_side_effects_claims():
    rows = [
        ("mud-world", "focused-vic", "", "mean_side_effects", None, [0.1, 0.12]),
        ("mud-world", "vic", "", "mean_side_effects", None, [1.1, 1.12]),
        ("mud-world", "focused-vic", "", "goal/side_effects", None, [0.5, 0.6]),
        ("mud-world", "dusdi-vic", "", "goal/side_effects", None, [0.4, 0.7]),
        ("mud-world", "focused-vic", "", "goal/side_effects_by_variable/muddy", None, [0.01, 0.02]),
    ]
    analysis = side_effects.analyze(results(rows))
    findings = found(analysis)
    assert findings["effects-mud-world-focused-vic-vic"].ours.estimate == pytest.approx(-1.0)
    assert findings["effects-mud-world-focused-vic-vic"].verdict == REPRODUCED
    assert (
        findings["effects-mud-world-focused-vic-dusdi-vic"].verdict == NOT
    )  # no fewer, in the mean
    assert analysis.tables[-1].columns == ["agent", "muddy"]


def test_controls_claims():
    rows = [
        ("mud-world", "focused-vic", "", "goal/control", None, [1.0, 0.99]),
        ("mud-world", "permuted-focused-vic", "", "goal/control", None, [0.0, 0.01]),
        ("mud-world", "focused-vic", "", "task/true/steps", 9, [30, 32]),
        ("mud-world", "permuted-focused-vic", "", "task/true/steps", 9, [60, 60]),
        ("mud-world", "focused-vic", "no strength", "identical", None, [1.0]),
        ("four-rooms", "focused-vic", "no strength", "identical", None, [1.0]),
    ]
    findings = found(controls.analyze(results(rows)))
    assert findings["control-permuted-mud-world"].verdict == REPRODUCED
    assert findings["control-benefit-mud-world"].ours.estimate == pytest.approx(29.0)
    assert findings["control-zero"].verdict == REPRODUCED
    rows[1] = (*rows[1][:-1], [0.3, 0.31])  # less, but not gone
    findings = found(controls.analyze(results(rows)))
    assert findings["control-permuted-mud-world"].verdict == DIRECTION
    rows[-1] = (*rows[-1][:-1], [0.0])
    assert found(controls.analyze(results(rows)))["control-zero"].verdict == NOT
