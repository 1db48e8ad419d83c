from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import RandomWorld, corridor
from skill_sets import make_skills, target_change
from skillfocus.errors import UserError
from skillfocus.metrics import reachability, side_effects
from skillfocus.worlds.four_rooms import FourRooms

RIGHT, LEFT, STOP = 1, 3, 4


def fetcher(slip: float, step_limit: int) -> sf.Skills:
    """A hand-written skill for the corridor: fetch the tool, walk home, terminate there."""
    world = corridor(slip=slip, step_limit=step_limit)
    mdp = sf.tabulate(world)
    policy = np.empty((6, 3), np.uint8)  # contexts are the first cell
    for s in range(6):
        cell, tool = mdp.state(s)
        for home in range(3):
            away = RIGHT if cell < home else LEFT
            policy[s, home] = RIGHT if not tool else STOP if cell == home else away
    return make_skills(world, mdp, (("tool_1",),), (("position",),), policy.ravel(), step_limit)


def test_equation_1_by_hand():
    """Slip 0.3, two steps from the middle cell. After step 1: 0.7 at the tool, 0.1 at the left,
    0.2 where it was. After step 2: picked and home 0.49; picked, away 0.7*0.3 + 0.2*0.7 = 0.35;
    not picked, home 0.1*0.7 + 0.2*0.2 = 0.11; not picked, left 0.1*0.3 + 0.2*0.1 = 0.05."""
    skills = fetcher(slip=0.3, step_limit=2)
    start = np.array([skills.mdp.number((1, 0))])
    (effects,) = side_effects(skills, start)
    assert effects.changes_target == pytest.approx(0.84)
    assert effects.side_effects == pytest.approx(0.40)
    assert effects.by_variable == pytest.approx({"position": 0.40})
    assert effects.amount[0] == pytest.approx([0.40, 0.84])  # one cell away either way
    assert effects.steps[0] == pytest.approx(2.0)
    ends = {skills.mdp.state(s): p for s, p in enumerate(effects.ends) if p > 0}
    assert ends == pytest.approx({(1, 1): 0.49, (2, 1): 0.35, (1, 0): 0.11, (0, 0): 0.05})


def test_without_slips_it_comes_home_and_stops():
    skills = fetcher(slip=0.0, step_limit=10)
    start = np.array([skills.mdp.number((0, 0))])
    (effects,) = side_effects(skills, start)
    assert (effects.changes_target, effects.side_effects) == (1.0, 0.0)
    assert effects.steps.tolist() == [4.0]


def enumerate_ends(mdp, policy, context, s, steps):
    """Every branch, one after another: [(probability, last state, steps taken)]."""
    a = policy[s, context]
    if steps == 0 or a == mdp.n_actions:
        return [(1.0, s, 0)]
    return [
        (p * q, last, t + 1)
        for p, following in zip(mdp.probabilities[s, a], mdp.successors[s, a], strict=True)
        if p > 0
        for q, last, t in enumerate_ends(mdp, policy, context, following, steps - 1)
    ]


@given(st.integers(0, 200))
def test_exact_values_equal_enumeration_in_random_worlds(seed):
    world = RandomWorld(seed, sizes=(2, 2, 2), n_actions=2)
    mdp = sf.tabulate(world)
    rng = np.random.default_rng(seed)
    policy = rng.integers(3, size=(8, 2)).astype(np.uint8)
    skills = make_skills(world, mdp, (("v0",),), (("v1",),), policy.ravel(), 3)
    (effects,) = side_effects(skills, np.arange(8))
    for first in range(8):
        ends = enumerate_ends(mdp, policy, mdp.state(first)[1], first, 3)
        changed = sum(
            (p * (mdp.values[last] != mdp.values[first]) for p, last, _ in ends), start=np.zeros(3)
        )
        assert effects.changed[first] == pytest.approx(changed)
        assert effects.per_start[first] == pytest.approx(changed[1] + changed[2])
        assert effects.controlled[first] == pytest.approx(changed[0])
        assert effects.steps[first] == pytest.approx(sum(p * t for p, _, t in ends))
    assert effects.ends.sum() == pytest.approx(1.0)


def test_two_targets_count_only_if_both_change():
    world = RandomWorld(3, sizes=(2, 2, 2), n_actions=2)
    mdp = sf.tabulate(world)
    policy = np.random.default_rng(0).integers(3, size=8).astype(np.uint8)
    skills = make_skills(world, mdp, (("v0", "v1"),), ((),), policy, 3)
    (effects,) = side_effects(skills, np.arange(8))
    for first in range(8):
        ends = enumerate_ends(mdp, policy[:, None], 0, first, 3)
        both = sum(p for p, last, _ in ends if (mdp.values[last] != mdp.values[first])[:2].all())
        assert effects.controlled[first] == pytest.approx(both)


def test_sampled_agrees_with_exact(focused_vic, rng):
    exact = side_effects(focused_vic, "all")
    sampled = side_effects(focused_vic, "all", sample=3000, rng=rng)
    for a, b in zip(exact, sampled, strict=True):
        spread = max(b.per_start.std() / np.sqrt(3000), 1e-3)
        assert abs(a.side_effects - b.side_effects) < 5 * spread
        assert abs(target_change(a) - target_change(b)) < 0.05
        assert abs(a.steps.mean() - b.steps.mean()) < 5 * b.steps.std() / np.sqrt(3000) + 1e-9
        assert a.interval == (a.side_effects, a.side_effects)
        assert b.interval[0] <= b.side_effects <= b.interval[1]


def test_the_interval_covers_as_often_as_it_says():
    skills = fetcher(slip=0.3, step_limit=2)
    start = np.array([skills.mdp.number((1, 0))])
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(400):
        (effects,) = side_effects(skills, start, sample=200, rng=rng)
        hits += effects.interval[0] <= 0.40 <= effects.interval[1]
    assert 0.84 < hits / 400 < 0.96


def test_a_world_that_hides_state_is_sampled(rng):
    world = sf.make("mud-world")
    mdp = sf.tabulate(world)
    idle = np.full(mdp.n_states, mdp.n_actions, np.uint8)
    skills = make_skills(world, mdp, (("treasure",),), ((),), idle, 20)
    with pytest.raises(UserError, match="pass rng"):
        side_effects(skills)
    (effects,) = side_effects(skills, rng=rng)
    assert not effects.exact
    assert effects.side_effects == 0.0
    assert (mdp.values[effects.starts][:, 1:] == 0).all()


def test_a_skill_without_a_start_within_reach_has_no_averages(four_rooms, focused_vic):
    short = make_skills(
        four_rooms, focused_vic.mdp, focused_vic.targets, focused_vic.context_variables,
        focused_vic.tabular.flat_actions, 2,
    )  # fmt: skip
    effects = side_effects(short)
    assert effects[0].summary()["changes_target"] is None
    assert effects[0].summary()["starts"] == 0
    assert effects[-1].summary()["starts"] == 1664  # position needs one step only
    assert (
        side_effects(short, sample=10, rng=np.random.default_rng(0))[0].summary()["steps"] is None
    )
    with pytest.raises(UserError, match="'fair', 'all' or an array of states, got 'some'"):
        side_effects(short, "some")
    for bad in (np.array([-1]), np.array([1664]), np.ones(1664, dtype=bool)):
        with pytest.raises(UserError, match="numbers of states, 0 to 1663"):
            side_effects(short, bad)
    with pytest.raises(UserError, match="at least 2, got 1"):
        side_effects(short, sample=1, rng=np.random.default_rng(0))


def test_averages_over_no_starts_are_nan_without_a_warning():
    (effects,) = side_effects(fetcher(slip=0.0, step_limit=2), np.zeros(0, np.int64))
    assert effects.changes_target == pytest.approx(np.nan, nan_ok=True)
    assert effects.changes_alone == pytest.approx(np.nan, nan_ok=True)
    assert np.isnan([effects.side_effects, *effects.by_variable.values()]).all()


def test_of_very_many_starts_a_sample_is_measured(monkeypatch):
    """The same sample every time; each start exactly; the mean with an interval."""
    world = FourRooms()
    skills = sf.discover(
        world, sf.focused(sf.vic()), seed=0, targets={"tool_1": 2}, learner=sf.Planning(rounds=1)
    )
    every = {kind: side_effects(skills, kind) for kind in ("fair", "all")}
    monkeypatch.setattr(reachability, "MAX_PAIRS", 300 * 1664)
    skills = sf.Skills.from_bytes(skills.to_bytes())  # with a table of its own
    for kind, whole in every.items():
        first, again = side_effects(skills, kind), side_effects(skills, kind)
        for few, same, all_of_them in zip(first, again, whole, strict=True):
            assert len(few.starts) == 300 if kind == "all" else 250 < len(few.starts) <= 300
            assert np.array_equal(few.starts, same.starts)
            assert not few.exact
            assert few.interval is not None
            low, high = few.interval
            assert low < few.side_effects < high or low == high
            places = np.searchsorted(all_of_them.starts, few.starts)
            assert np.array_equal(all_of_them.starts[places], few.starts)
            np.testing.assert_allclose(few.changed, all_of_them.changed[places])
    given = np.arange(1000)
    assert all(e.exact and len(e.starts) == 1000 for e in side_effects(skills, given))


def test_a_sample_of_one_has_no_interval():
    skills = fetcher(slip=0.3, step_limit=2)
    (effects,) = side_effects(skills, np.array([skills.mdp.number((1, 0))]))
    one = replace(effects, exact=False)
    assert one.interval is None
    assert one.summary()["side_effects_interval"] is None
    assert effects.interval == (effects.side_effects, effects.side_effects)


def test_more_rollouts_than_fit_in_memory_are_refused_with_their_size(focused_vic, rng):
    with pytest.raises(
        UserError, match=r"^1,000,000,000,000 rollouts of a skill take 227,242\.7 GiB"
    ):
        sf.metrics.side_effects(focused_vic, sample=10**12, rng=rng)
