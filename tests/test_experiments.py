from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from frames import results, whole
from probes import CORRIDOR

import skillfocus as sf
from skillfocus.errors import UserError
from skillfocus.experiments import (
    ablation,
    controls,
    coverage,
    downstream,
    reproduction,
    side_effects,
    skill_count,
    underspecified,
)
from skillfocus.experiments.cases import Setup, costs
from skillfocus.experiments.cases import results as results_of
from skillfocus.experiments.condense import condense
from skillfocus.experiments.deviations import DEVIATIONS
from skillfocus.experiments.findings import (
    DIRECTION,
    MISSED,
    NOT,
    REACHED,
    REPRODUCED,
    UNDECIDED,
    agent_name,
    at_least,
    at_most,
    comparable,
    count_shown,
    difference,
    judged,
    majority,
    mean_shown,
    middle_of,
    n_pairs,
    n_seeds,
    ratio,
    shown,
    values,
    verdict,
    worst_skill,
)
from skillfocus.experiments.pipeline import Pipeline, Primitives
from skillfocus.experiments.presets import OBJECTIVES, PRESETS, task_learner
from skillfocus.metrics.coverage import chain_coverage
from skillfocus.metrics.intervals import Interval, mean_interval, success_interval
from skillfocus.runs import Header, encode, settings_of
from skillfocus.store import Store


def found(analysis):
    return {finding.id: finding for finding in analysis.findings}


# -------------------------------------------------------------------- verdicts and values


@pytest.mark.parametrize(
    ("direction", "size", "seeds", "expected"),
    [(True, True, 2, REPRODUCED), (True, False, 2, DIRECTION), (False, True, 2, NOT),
     (False, False, 50, NOT), (True, True, 1, UNDECIDED)],
)  # fmt: skip
def test_verdicts(direction, size, seeds, expected):
    assert verdict(direction, size, seeds) == expected


@pytest.mark.parametrize(
    ("successes", "n", "succeeds", "expected"),
    [(0, 4, False, UNDECIDED), (0, 5, False, REPRODUCED), (5, 5, False, NOT), (3, 5, False, UNDECIDED),
     (10, 50, False, DIRECTION), (1, 50, False, REPRODUCED), (50, 50, True, REPRODUCED),
     (40, 50, True, DIRECTION), (3, 5, True, UNDECIDED), (0, 5, True, NOT), (1, 1, False, UNDECIDED)],
)  # fmt: skip
def test_most_seeds_need_an_interval_on_one_side_of_a_half(successes, n, succeeds, expected):
    """0 of 4 leaves up to 0.53 possible, 0 of 5 up to 0.45; 10 of 50 are not none."""
    assert majority(success_interval(successes, n), succeeds) == expected


@pytest.mark.parametrize(
    ("ours", "expected"), [(9.0, True), (8.99, False), (20.0, True)]
)  # fmt: skip
def test_sizes_are_the_paper_s_give_or_take_a_tenth(ours, expected):
    assert at_least(ours, 10.0) is expected
    assert at_least(ours - 0.5, 10.0, reading=0.5) is expected
    assert at_most(-ours, -10.0) is expected
    assert at_most(11.0, 10.0)
    assert not at_most(11.1, 10.0)


def test_comparable_numbers_have_an_interval_near_one():
    assert comparable(Interval(1.0, 0.8, 1.25))
    assert not comparable(Interval(1.0, 0.79, 1.1))
    assert not comparable(Interval(1.0, 0.9, 1.26))


@pytest.mark.parametrize(
    ("interval", "paper", "expected"),
    [((-3, -5, -1), -4, REPRODUCED), ((3, 1, 5), -4, NOT), ((-3, -7, 1), -4, UNDECIDED),
     ((-1, -3, 1), -4, NOT), ((-3, -7, 1), None, UNDECIDED), ((1, -3, 5), None, NOT),
     ((1, -9, 11), -4, UNDECIDED)],
)  # fmt: skip
def test_an_interval_too_wide_to_tell_leaves_it_open(interval, paper, expected):
    """One that holds 0 and the paper's difference, or, without one, that leans the right way."""
    assert judged(Interval(*interval), -1, True, 5, paper) == expected
    flipped = Interval(-interval[0], -interval[2], -interval[1])
    assert judged(flipped, 1, True, 5, None if paper is None else -paper) == expected


def test_intervals_end_where_values_can_no_longer_be():
    assert mean_shown({0: 0.0, 1: 1.0}, 2, 0, 1) == "0.50 (0.00 to 1.00)"
    assert mean_shown({0: 0.25}, 2, 0, 1) == "0.25"
    assert mean_shown({}) == "–"


def test_values_are_the_last_step_s_by_seed():
    frame = results([
        ("w", "a", "", "m", 10, [1, 2]), ("w", "a", "", "m", 20, [3, 4]),
        ("w", "a", "x=1", "m", 20, [5]), ("w", "b", "", "m", None, [6]),
    ])  # fmt: skip
    assert values(frame, "m", "w", "a") == {0: 3, 1: 4}
    assert values(frame, "m", "w", "a", step=10) == {0: 1, 1: 2}
    assert values(frame, "m", "w", "a", "x=1") == {0: 5}
    assert values(frame, "m", "w", "b") == {0: 6}
    assert values(frame, "m", "w", "nobody") == {}


def test_differences_and_ratios_are_of_the_seeds_both_have():
    assert difference({0: 3.0, 1: 5.0, 2: 99.0}, {1: 1.0, 0: 1.0, 7: 0.0}).estimate == 3.0
    assert difference({0: 1.0}, {1: 1.0}) is None
    assert n_pairs({0: 3.0, 1: 5.0, 2: 99.0}, {1: 1.0, 0: 1.0, 7: 0.0}) == 2
    times = ratio({0: 2.0, 1: 8.0}, {0: 1.0, 1: 1.0})
    assert times.estimate == pytest.approx(4.0)  # geometric
    low, high = mean_interval([np.log(2), np.log(8)])[1:]
    assert times[1:] == pytest.approx((np.exp(low), np.exp(high)))
    assert ratio({0: 3.0}, {0: 0.0}) is None


@pytest.mark.parametrize("n", [2, 5, 20])
def test_the_interval_of_a_ratio_holds_it_as_often_as_it_says(n):
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(400):
        below = rng.lognormal(0, 0.3, size=n)
        above = 3 * below * rng.lognormal(0, 0.4, size=n)
        times = ratio(dict(enumerate(above)), dict(enumerate(below)))
        held += times.low <= 3 <= times.high
    assert 0.86 <= held / 400 <= 0.94


def test_the_middle_of_few_seeds_has_no_interval():
    assert middle_of(dict(enumerate(range(9)))) == (4.0, -np.inf, np.inf)
    assert np.isfinite(middle_of(dict(enumerate(range(10)))).low)


def test_the_worst_skill_may_be_for_anything():
    frame = results([
        ("w", "a", "", "goal/worst/side_effects", None, [0.1, 0.5]),
        ("w", "a", "", "roam/worst/side_effects", None, [0.2, 0.3]),
    ])  # fmt: skip
    assert worst_skill(frame, "w", "a") == {0: 0.2, 1: 0.5}


def test_numbers_in_words():
    assert shown(Interval(-1.234, -2.0, 0.5)) == "−1.23 (−2.00 to 0.50)"
    assert shown(Interval(1.0, -np.inf, np.inf)) == "1.00"
    assert count_shown({0: 0.9, 1: 0.2}) == "1 of 2 (0.03 to 0.97)"
    assert agent_name("scattered-focused-vic-on-two") == "scattered focused VIC, two targets each"
    assert agent_name("dusdi-diayn") == "DUSDi DIAYN"
    assert n_seeds([2, 1]) == "1 to 2"
    assert n_seeds([3, 3]) == "3"


# -------------------------------------------------------------------- analyses


def changed(frame, agent, metric, value):
    """The same results but for one metric of an agent; `value` may be a number or an expression."""
    mine = (pl.col("agent") == agent) & (pl.col("metric") == metric)
    return frame.with_columns(value=pl.when(mine).then(value).otherwise("value"))


def test_coverage_ratios():
    """By hand: sqrt(2.0 / 0.4 * 2.2 / 0.5) = 4.69, within a tenth of 5.3 (4.77)? No."""
    analysis = coverage.analyse(whole())
    findings = found(analysis)
    assert findings["coverage-vic"].ours.estimate == pytest.approx((5.0 * 4.4) ** 0.5)
    assert findings["coverage-vic"].ours.low > 1
    assert findings["coverage-vic"].verdict == DIRECTION
    assert findings["coverage-dusdi-vic"].verdict == REPRODUCED
    assert "coverage-lsd" not in findings  # nothing was run
    assert [row[0] for row in analysis.tables[0].rows] == ["focused VIC", "DUSDi VIC", "VIC"]
    assert "coverage-scattered-vic" not in findings
    best = found(coverage.analyse(whole().with_columns(preset=pl.lit("best"))))
    assert not best  # of these agents the preset has nothing new to say
    near = changed(whole(), "vic", "auc", pl.col("value") * 0.98)
    assert found(coverage.analyse(near))["coverage-vic"].verdict == REPRODUCED
    worse = changed(whole(), "vic", "auc", 2.15)
    assert found(coverage.analyse(worse))["coverage-vic"].verdict == NOT
    far = changed(whole(), "dusdi-vic", "auc", 1.2)
    assert found(coverage.analyse(far))["coverage-dusdi-vic"].verdict == NOT


@pytest.mark.parametrize(("area", "worst", "expected"),
    [(1.85, 0.05, REACHED), (1.84, 0.0, MISSED), (2.5, 0.051, MISSED)])  # fmt: skip
def test_the_aim_needs_coverage_and_few_side_effects(area, worst, expected):
    frame = results([
        ("four-rooms", "scattered-focused-vic", "", "auc", None, [area, area]),
        ("four-rooms", "scattered-focused-vic", "", "goal/worst/side_effects", None, [0.0, worst]),
    ], preset="best")  # fmt: skip
    assert found(coverage.analyse(frame))["aim-scattered-focused-vic"].verdict == expected


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
    findings = found(downstream.analyse(whole()))
    mud = findings["downstream-mud-world-focused-vic"]
    assert (mud.ours.estimate, mud.verdict) == (20.5, REPRODUCED)
    assert findings["fails-mud-world-vic"].verdict == UNDECIDED  # 0 of 2
    assert "fails-four-rooms-dusdi-vic" not in findings  # the paper's does not fail
    steps = findings["steps-mud-world-focused-vic-dusdi-vic"]
    assert (steps.ours.estimate, steps.reference, steps.verdict) == (-39.5, -30, REPRODUCED)
    assert findings["steps-four-rooms-focused-vic-dusdi-vic"].verdict == NOT  # 20 and 320 steps
    slow = changed(whole(), "focused-vic", downstream.STEPS, 50.0)
    findings = found(downstream.analyse(slow))
    assert findings["downstream-mud-world-focused-vic"].verdict == DIRECTION
    assert findings["steps-mud-world-focused-vic-vic"].verdict == DIRECTION  # -10, paper -30
    assert findings["downstream-four-rooms-focused-vic"].verdict == REPRODUCED
    idle = found(downstream.analyse(changed(whole(), "focused-vic", downstream.STEPS, 60.0)))
    assert idle["downstream-mud-world-focused-vic"].verdict == NOT  # as many as primitives alone
    best = found(downstream.analyse(slow.with_columns(preset=pl.lit("best"))))
    assert best["aim-mud-world-focused-vic"].verdict == MISSED
    assert best["downstream-mud-world-focused-vic"].verdict == DIRECTION


def test_comparisons_count_the_seeds_that_both_have():
    frame = whole().filter((pl.col("agent") != "vic") | (pl.col("seed") == 0))
    finding = found(downstream.analyse(frame))["steps-mud-world-focused-vic-vic"]
    assert (finding.seeds, finding.verdict) == (1, UNDECIDED)
    finding = found(underspecified.analyse(frame))["proxy-mud-world-focused-vic"]
    assert (finding.seeds, finding.verdict) == (1, UNDECIDED)


def test_episodes_until_within_a_tenth_of_the_end():
    """By hand: 1.1 * 20 = 22; three in a row at most 22 begin at 400."""
    curve = {100: 60, 200: 21, 300: 33, 400: 22, 500: 20, 600: 21, 700: 33, 800: 20}
    rows = [("mud-world", "vic", "", downstream.STEPS, n, [v, 20, 60]) for n, v in curve.items()]
    rows.append(("mud-world", "vic", "", downstream.SUCCESS, 800, [1, 1, 0]))
    needed = downstream.episodes_needed(results(rows), "mud-world", "vic")
    assert needed == {0: 400.0, 1: 100.0}  # the third never learns it


def test_underspecified_claims():
    findings = found(underspecified.analyse(whole()))
    assert findings["proxy-forage-world-focused-vic"].verdict == REPRODUCED
    assert findings["proxy-forage-world-vic"].verdict == REPRODUCED  # proxy, but not true
    much = changed(whole(), "vic", "task/proxy/true_return", pl.col("value") + 0.2)
    assert found(underspecified.analyse(much))["proxy-forage-world-vic"].verdict == DIRECTION
    assert findings["aim-proxy-forage-world"].verdict == REACHED  # 0.925
    assert findings["aim-proxy-mud-world"].verdict == MISSED
    honest = whole().with_columns(
        metric=pl.col("metric").replace({"task/proxy/true_return": "x", "task/proxy/proxy_return": "task/proxy/true_return"})
    ).with_columns(metric=pl.col("metric").replace({"x": "task/proxy/proxy_return"}))  # fmt: skip
    assert found(underspecified.analyse(honest))["proxy-forage-world-vic"].verdict == NOT


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
    analysis = ablation.analyse(ablated(steps))
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
    flat = found(ablation.analyse(ablated({0.0: [30, 31], 4.0: [30, 32], 40.0: [31, 31]})))
    assert flat["ablation-more-focused-vic"].verdict == NOT
    assert flat["ablation-much-focused-vic"].verdict == NOT
    two = found(ablation.analyse(ablated({0.0: [60, 60], 1.0: [50]})))
    assert set(two) == {"ablation-zero-focused-vic"}  # the usual strength was not run
    assert not ablation.analyse(ablated({4.0: [60, 60]})).tables[0].rows  # nor any other


def test_skill_count_claims():
    rows = [
        ("four-rooms", agent, "skills=8", metric, 20_000, [value] * 6)
        for agent, good in (("vic", False), ("focused-vic", True))
        for metric, value in (("task/true/steps", 90 if good else 320),
                              ("task/true/true_return", float(good)))
    ]  # fmt: skip
    findings = found(skill_count.analyse(results(rows)))
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
    analysis = side_effects.analyse(results(rows))
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
    findings = found(controls.analyse(results(rows)))
    assert findings["control-permuted-mud-world"].verdict == REPRODUCED
    assert findings["control-benefit-mud-world"].ours.estimate == pytest.approx(29.0)
    assert findings["control-zero"].verdict == REPRODUCED
    rows[1] = (*rows[1][:-1], [0.3, 0.31])  # less, but not gone
    findings = found(controls.analyse(results(rows)))
    assert findings["control-permuted-mud-world"].verdict == DIRECTION
    rows[-1] = (*rows[-1][:-1], [0.0])
    assert found(controls.analyse(results(rows)))["control-zero"].verdict == NOT


# -------------------------------------------------------------------- cases and runs


def test_every_experiment_is_in_the_file_its_name_suggests():
    for name, module in reproduction.EXPERIMENTS.items():
        assert module.__name__.endswith("." + name.replace("-", "_"))


def test_every_experiment_s_cases_can_be_made():
    for setup in reproduction.SETUPS:
        made = reproduction.cases(setup, list(reproduction.EXPERIMENTS), range(5))
        same = [case for case in made if case.variant == "no strength"]
        assert len(same) == (9 if setup == Setup() else 0)
        assert [case.seed for case in made] == sorted(case.seed for case in made)
        main = [case for case in made if case.variant == "" and case.agent in OBJECTIVES]
        assert {(c.world, c.agent, c.seed) for c in main} >= {
            (w, a, s) for w in reproduction.downstream.WORLDS for a in OBJECTIVES for s in range(2)
        }
        seeds = {agent: {c.seed for c in main if c.agent == agent} for agent in OBJECTIVES}
        planned = setup.learner == "planning"
        assert seeds["vic"] == seeds["lsd"] == set(range(2 if planned else 5))
        assert seeds["diayn"] == seeds["focused-lsd"] == set(range(5))
    few = reproduction.cases(Setup(), ["ablation"], range(50))
    assert {case.seed for case in few} == set(range(10))
    assert {case.seed for case in reproduction.cases(Setup(), ["ablation"], range(1))} == {0}
    with pytest.raises(UserError, match=r"unknown experiment 'coverge'.*coverage"):
        reproduction.check_experiments(["coverge"])


def test_presets_share_the_runs_in_which_they_do_not_differ():
    paper, best = (Setup(preset).case("mud-world", "focused-vic", 0).run for preset in PRESETS)
    assert paper.id == best.id
    paper, best = (Setup(preset).case("forage-world", "focused-vic", 0).run for preset in PRESETS)
    assert paper.id != best.id
    letter, ours = (
        Setup(preset, "q-learning").case("mud-world", "vic", 0).run for preset in PRESETS
    )
    assert letter.id != ours.id


def test_stored_pipelines_do_not_outlive_their_settings():
    """How tasks are learned is no part of a pipeline's settings: raise Pipeline.version with it."""
    assert (Pipeline.version, Primitives.version) == (301, 302)
    learners = [
        task_learner(p, w, "vic") for p in PRESETS for w in ("FourRooms-v0", "ForageWorld-v0")
    ]
    assert [(h.decay, h.slowing, h.intra_option) for h in learners] == [
        (0.001, 0.0, False), (0.0005, 0.0, False), (0.0002, 0.0001, True), (0.0002, 0.0001, True),
    ]  # fmt: skip


def test_whoever_has_a_penalty_explores_as_the_paper_s_focused_skills_do():
    agents = ("focused-vic", "permuted-focused-vic", "focused-oracle", "dusdi-vic", "primitives")
    decays = [task_learner("paper", "ForageWorld-v0", agent).decay for agent in agents]
    assert decays == [0.001, 0.001, 0.001, 0.0005, 0.0005]
    assert task_learner("paper", "forage-world", "vic").decay == 0.0005


SMALL = '{"text": "' + CORRIDOR.replace("\n", "\\n") + '", "slip": 0.0, "step_limit": 6}'


def test_a_pipeline_measures_all_there_is(tmp_path):
    """In a corridor of three cells with the tool in the last, the task takes two steps."""
    import inspect

    from skillfocus.worlds.four_rooms import FourRooms

    name = next(iter(inspect.signature(FourRooms).parameters))
    run = Pipeline(
        "four-rooms", "focused-vic", 0, sf.Planning(rounds=3), skills=4,
        world_settings=SMALL.replace('"text"', f'"{name}"'), coverage=True,
    )  # fmt: skip
    result = run.execute(lambda *_: None)
    assert result.skills is None
    rows = {(metric, step): value for metric, step, value in result.rows}
    assert rows["paper/true/steps", 20_000] == rows["best/true/steps", 20_000] == 2.0
    assert rows["best/true/true_return", 20_000] == 1.0
    assert ("paper/proxy/steps", 20_000) not in rows  # the same as the true reward here
    assert rows["path/0", 0] == run.make_table().number((0, 0))
    assert 0 < rows["auc", None] <= 4


@pytest.mark.slow
def test_primitives_know_the_optimum():
    rows = {m: v for m, _, v in Primitives("mud-world", 0).execute(lambda *_: None).rows}
    assert rows["optimum/true/steps"] == pytest.approx(22.5, abs=0.06)
    assert rows["optimum/proxy/steps"] == pytest.approx(21.0, abs=0.06)
    assert rows["optimum/true/success"] == pytest.approx(0.962, abs=0.001)
    assert rows["optimum/true/success"] <= rows["optimum/true/return"] <= 1
    assert {"paper/true/steps", "best/proxy/true_return"} <= set(rows)


def test_condensing_keeps_what_is_asked_for():
    """Two goals' skills and two for the position; each preset its own way to learn the task."""
    made = [
        Setup(p).case("four-rooms", "focused-vic", s, skills=10) for p in PRESETS for s in (0, 1)
    ]
    rows = []
    for case in made:
        effects = [("side_effects", z, float(z)) for z in range(10)]
        effects += [("changes_target", z, z / 10) for z in range(10)]
        task = [(f"{p}/true/steps", n, 10.0 * k) for k, p in enumerate(PRESETS) for n in (1, 2)]
        others = [("path/0", 0, 3.0), ("auc", None, 1.5), ("starts", 0, 9.0)]
        rows += [(*case.labels, *row) for row in [*effects, *task, *others]]
    small = condense(pl.DataFrame(rows, schema=results([]).schema, orient="row"), made)
    paper = small.filter((pl.col("preset") == "paper") & (pl.col("seed") == 1))
    kept = {(m, s): v for m, s, v in paper.select("metric", "step", "value").iter_rows()}
    assert kept == pytest.approx({
        ("goal/side_effects", None): 3.5, ("goal/worst/side_effects", None): 7.0,
        ("roam/side_effects", None): 8.5, ("roam/worst/side_effects", None): 9.0,
        ("goal/changes_target", None): 0.35, ("roam/changes_target", None): 0.85,
        ("goal/control", None): 0.4,  # the mean of 0.1, 0.3, 0.5, 0.7
        ("task/true/steps", 1): 0.0, ("task/true/steps", 2): 0.0, ("auc", None): 1.5,
    })  # fmt: skip
    assert small.filter(pl.col("metric") == "path/0")["seed"].unique().to_list() == [0]
    best = small.filter((pl.col("preset") == "best") & (pl.col("metric") == "task/true/steps"))
    assert set(best["value"]) == {10.0}


def test_two_runs_under_one_name_are_refused(monkeypatch):
    twice = [Setup().case("mud-world", "vic", 0), Setup().case("mud-world", "vic", 0, skills=8)]
    monkeypatch.setattr(coverage, "cases", lambda setup, seeds: twice)
    with pytest.raises(ValueError, match="two different runs"):
        reproduction.cases(Setup(), ["coverage"], range(1))


def test_results_and_costs_are_joined_to_the_labels_of_finished_cases(tmp_path):
    store = Store(tmp_path)
    made = [
        Setup(preset).case("mud-world", "primitives", seed) for preset in PRESETS for seed in (0, 1)
    ]
    store.prepare()
    assert results_of(store, made).is_empty()
    assert costs(store, made).is_empty()
    run = made[1].run
    record = {"python": "3", "skillfocus": "0", "numpy": "2", "numba": "0", "cpu_seconds": 2.5,
              "peak_memory_mb": None, "host": "somewhere"}  # fmt: skip
    header = Header(run.id, "Primitives", run.version, settings_of(run), record)
    store.add(run, encode(header, [("auc", None, 1.5), ("task", 2, 3.0)]), None)
    frame = results_of(store, made)
    assert frame.filter(pl.col("metric") == "auc").rows() == [
        (preset, "planning", "mud-world", "primitives", "", 1, "auc", None, 1.5)
        for preset in PRESETS
    ]
    assert costs(store, made)["cpu_seconds"].to_list() == [2.5, 2.5]


def test_deviations_are_the_page_s():
    from pathlib import Path

    page = (Path(__file__).parent.parent / "docs" / "deviations.md").read_text()
    assert page.count("\n1. ") == 1
    numbers = [int(line.split(".")[0]) for line in page.splitlines() if line[:1].isdigit()]
    assert numbers == list(range(1, len(DEVIATIONS) + 1))
