"""Numbers that the pages in docs/ quote, computed again: pages have gone stale without it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import skillfocus as sf
from paths import ROOT
from skillfocus.envs import SkillVectorEnv

EPISODES = 1000


def page(name):
    return " ".join((ROOT / "docs" / f"{name}.md").read_text().split())


def numbers(name, pattern):
    """Return the numbers that a page states in a sentence, one per group of the pattern."""
    (found,) = re.findall(pattern, page(name))
    return [float(number) for number in ([found] if isinstance(found, str) else found)]


def passenger(world, seed, targets=None):
    """Return changes and side effects of Taxi's skills for the passenger."""
    skills = sf.discover(world, sf.focused(sf.vic()), seed=seed, targets=targets)
    effects = [e for e in sf.metrics.side_effects(skills) if e.targets == ("passenger",)]
    assert {len(e.starts) for e in effects} == {400}
    return [e.changes_target for e in effects], [e.side_effects for e in effects]


def test_random_moves_in_four_rooms(four_rooms):
    (quoted,) = numbers("skill-env", r"Random moves .* with probability ([\d.]+) \(exact\)")
    mdp = sf.tabulate(four_rooms)
    task = sf.task_of(four_rooms, mdp)
    share = task.true.astype(float)
    for _ in range(task.max_episode_steps):
        following = (mdp.probabilities * share[mdp.successors]).sum(axis=2).mean(axis=1)
        share = np.where(task.true, 1.0, following)
    assert share[task.start] == pytest.approx(quoted, abs=0.00005)


@pytest.mark.slow
def test_random_choices_of_skills_in_four_rooms(four_rooms):
    low, high = numbers("skill-env", r"Random choices .* succeed in (\d+) to (\d+) % of")
    shares = []
    for seed in (1, 3):  # the least and the most of the four
        skills = sf.discover(four_rooms, sf.focused(sf.vic()), seed=seed)
        shares.append(100 * _random_success(skills, seed))
    margin = 3 * 100 * np.sqrt(0.25 / EPISODES)  # three standard errors at most
    assert low - margin <= min(shares) <= low + margin
    assert high - margin <= max(shares) <= high + margin


def _random_success(skills, seed):
    env = SkillVectorEnv(skills, "true", EPISODES, primitives=True)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    over, succeeded = np.zeros(EPISODES, bool), np.zeros(EPISODES, bool)
    while not over.all():
        actions = rng.integers(env.single_action_space.n, size=EPISODES)
        _, _, terminated, truncated, _ = env.step(actions)
        succeeded |= terminated & ~over
        over |= terminated | truncated
    return succeeded.mean()


@pytest.mark.slow
@pytest.mark.parametrize("rain", [False, True])
def test_the_passenger_of_taxi(rain):
    rows = re.findall(
        r"\| ([\w -]*)\| (\d) \| ([\d.]+), ([\d.]+) \| ([\d.]+), ([\d.]+) \|", page("gymnasium")
    )
    assert len(rows) == 6
    world = sf.make("gymnasium:Taxi-v4", is_rainy=rain)
    for _, seed, *quoted in rows[3:] if rain else rows[:3]:
        changes, effects = passenger(world, int(seed))
        assert [f"{number:.2f}" for number in changes] == quoted[:2]
        assert [f"{number:.3f}" for number in effects] == quoted[2:]


@pytest.mark.slow
def test_more_skills_than_the_passenger_supports():
    low, high = numbers("gymnasium", r"three have side effects of ([\d.]+) to (\d\.\d+)")
    world = sf.make("gymnasium:Taxi-v4")
    _, effects = passenger(world, 0, {"passenger": 4})
    several = sorted(effect for effect in effects if effect > 0.005)
    assert len(several) == 3
    assert [several[0], several[-1]] == pytest.approx([low, high], abs=0.005)
    assert passenger(world, 0, {"passenger": 2})[1] == [0.0, 0.0]


def test_the_help_advertises_what_works():
    from skillfocus.cli.commands import Discover

    assert "Taxi-v4 focused-vic --targets passenger=2" in (Discover.__doc__ or "")


def test_fair_starts_of_what_is_carried():
    pytest.importorskip("minigrid")
    (quoted,) = numbers("minigrid", r"KeyCorridorS3R1 `carrying` has (\d+) fair starts")
    assert "in DoorKey `carrying` has no fair start" in page("minigrid")
    for name, count in (("DoorKey-5x5", 0), ("KeyCorridorS3R1", quoted)):
        world = sf.adapters.from_minigrid(name)
        skills = sf.discover(
            world, sf.focused(sf.vic()), seed=0, targets={"carrying": 2},
            learner=sf.Planning(rounds=1),
        )  # fmt: skip
        assert [len(e.starts) for e in sf.metrics.side_effects(skills)] == [count, count]


def test_states_of_minigrid_worlds():
    pytest.importorskip("minigrid")
    quoted = numbers("minigrid", r"DoorKey-5x5 has (\d+) states, 6x6 1,(\d+)")
    worlds = [sf.adapters.from_minigrid(name) for name in ("DoorKey-5x5", "DoorKey-6x6")]
    assert [sf.tabulate(world).n_states for world in worlds] == [quoted[0], 1000 + quoted[1]]


@pytest.mark.slow
def test_the_measured_skills_of_door_key():
    pytest.importorskip("minigrid")
    text = (ROOT / "docs" / "minigrid.md").read_text()
    ((row, worst),) = re.findall(r"\| DoorKey-5x5 \| (.*) \|\n\| worst \| (.*) \|", text)
    best = _by_variable(4.0)
    order = ["x", "y", "direction", "yellow_key", "yellow_door"]
    assert row == " | ".join(f"{best[n][0]:.2f}, {best[n][1]:.2f}" for n in order)
    assert worst == " | ".join(f"{best[n][2]:.2f}" for n in order)
    (strength, share) = numbers("minigrid", r"at (\d+) the key's .* changes it from ([\d.]+) of")
    key = _by_variable(strength)["yellow_key"]
    assert key == pytest.approx((share, 0.0, 0.0), abs=0.005)


def _by_variable(strength):
    """Return per variable the control and side effects of its best skill, and the worst's."""
    world = sf.adapters.from_minigrid("DoorKey-5x5")
    skills = sf.discover(world, sf.focused(sf.vic(), strength=strength), seed=0)
    found: dict[str, list] = {}
    for effects in sf.metrics.side_effects(skills):
        if len(effects.starts):
            pair = (effects.changes_target, effects.side_effects)
            found.setdefault(effects.targets[0], []).append(pair)
    return {
        name: (*max(pairs, key=lambda pair: pair[0] - pair[1]), max(pair[1] for pair in pairs))
        for name, pairs in found.items()
    }
