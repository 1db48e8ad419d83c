from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor
from skill_sets import target_change
from skillfocus.errors import UserError
from skillfocus.metrics import side_effects

QUICK = sf.Planning(rounds=4, rollouts=50)
QUICK_Q = sf.QLearning(episodes=2000, block=20)


@pytest.mark.parametrize("learner", [QUICK, QUICK_Q], ids=lambda learner: learner.name)
@pytest.mark.parametrize("objective", [sf.focused(sf.vic()), sf.diayn()], ids=lambda o: o.name)
def test_equal_seeds_equal_skills_alone_in_a_batch_and_on_threads(four_rooms, learner, objective):
    alone = [
        sf.discover(
            four_rooms, objective, seed=seed, learner=learner, n_skills=10
        ).tabular.flat_actions
        for seed in (3, 4, 5)
    ]
    for workers in (1, 3):
        batch = sf.discover_many(
            four_rooms, objective, [3, 4, 5], workers=workers, learner=learner, n_skills=10
        )
        for expected, got in zip(alone, batch, strict=True):
            assert np.array_equal(expected, got.tabular.flat_actions)
    assert not np.array_equal(alone[0], alone[1])


def test_focused_vic_fetches_every_tool_and_comes_home(focused_vic):
    effects = side_effects(focused_vic)
    for tool in ("tool_1", "tool_2", "tool_3", "tool_4"):
        mine = [e for e in effects if e.targets == (tool,)]
        assert max(map(target_change, mine)) >= 0.99
    assert max(e.side_effects for e in effects) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("base", [sf.diayn, sf.lsd])
def test_focused_diayn_and_lsd_do_too(four_rooms, base):
    targets = {"tool_1": 2, "tool_3": 2, "position": 4}
    skills = sf.discover(four_rooms, sf.focused(base()), seed=1, targets=targets)
    effects = side_effects(skills)
    for tool in ("tool_1", "tool_3"):
        assert max(target_change(e) for e in effects if e.targets == (tool,)) >= 0.95
    assert max(e.side_effects for e in effects) <= 0.10


@pytest.mark.slow
def test_dusdi_fetches_and_does_not_return(four_rooms):
    skills = sf.discover(four_rooms, sf.dusdi(sf.vic()), seed=0, learner=sf.Planning(rounds=30))
    effects = [e for e in side_effects(skills) if e.targets == ("tool_2",)]
    best = max(effects, key=target_change)
    assert best.changes_target > 0.9
    assert best.by_variable["position"] > 0.9


@pytest.mark.slow
def test_forage_skills_spare_the_plants():
    world = sf.make("forage-world")
    skills = sf.discover(world, sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=40))
    for resource in ("resource_1", "resource_2"):
        mine = [e for e in side_effects(skills) if e.targets == (resource,)]
        best = max(mine, key=target_change)
        place = world.space.index(resource)
        plants = sum(p for name, p in best.by_variable.items() if name.startswith("plant"))
        assert best.changes_target >= 0.97
        assert plants / best.amount[:, place].mean() <= 0.04
        assert best.side_effects - plants <= 0.10


@pytest.mark.slow
def test_mud_skills_wash_before_they_come_home():
    world = sf.make("mud-world")
    skills = sf.discover(
        world, sf.focused(sf.vic()), seed=0, targets={"treasure": 2, "position": 2},
        learner=sf.Planning(rounds=25),
    )  # fmt: skip
    effects = side_effects(skills, rng=np.random.default_rng(0))
    best = max(effects[:2], key=target_change)
    assert best.changes_target >= 0.97
    assert best.by_variable["muddy"] <= 0.03
    assert best.amount[:, world.space.index("muddy_cells")].mean() <= 3


@pytest.mark.slow
def test_two_target_skills_change_both(four_rooms):
    skills = sf.discover(
        four_rooms, sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=30),
        targets=[{"tool_1": 0}, {"tool_1": 1}, {"tool_1": 0, "position": 0},
                 {"tool_1": 1, "position": 1}, {"position": 0}, {"position": 1}],
    )  # fmt: skip
    effects = side_effects(skills)
    assert skills.targets[2] == ("position", "tool_1")
    assert max(map(target_change, effects[2:4])) > 0.9


def test_progress_rises_to_the_end(four_rooms):
    seen = []
    sf.discover(
        four_rooms, sf.focused(sf.vic()), seed=0, learner=QUICK,
        progress=lambda fraction, what: seen.append(fraction),
    )  # fmt: skip
    assert seen == sorted(seen)
    assert len(seen) == 4 + 16  # four rounds, then the last solution of each skill
    assert 0 <= seen[0] < seen[-1] < 1


def test_leaving_early_stops_the_rest(four_rooms):
    seen = set()
    runs = sf.discover_many(
        four_rooms, sf.focused(sf.vic()), range(50), workers=2, learner=QUICK,
        progress=lambda seed, fraction, what: seen.add(seed),
    )  # fmt: skip
    next(runs)
    runs.close()
    assert len(seen) <= 5  # the one yielded, and at most two ahead per worker


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": sf.vic(), "targets": {"tool_1": 2}}, "vic skills have no targets"),
        ({"n_skills": 1}, "too few"),
        ({"n_skills": 0}, "too few"),
        ({"n_skills": 3}, "only one skill targets position"),
        ({"n_skills": None, "targets": {"tool_1": 1}}, "only one skill targets tool_1"),
        ({"n_skills": None, "targets": {"tool_1+tool_1": 2}}, "twice"),
        ({"objective": sf.vic(), "n_skills": 0}, "at least 2"),
        ({"step_limit": -1}, "step limit"),
        ({"step_limit": 0}, "step limit"),
        ({"step_limit": 10**6}, "step limit"),
        ({"seed": -1}, "seed must be a non-negative integer, got -1"),
    ],
)
def test_bad_requests_are_refused(settings, message):
    objective = settings.pop("objective", sf.focused(sf.vic()))
    with pytest.raises(UserError, match=message):
        sf.discover(corridor(), objective, **{"seed": 0, "n_skills": 4, **settings})


def test_numpy_s_seeds_can_be_saved(tmp_path):
    skills = sf.discover(  # pyright: ignore[reportCallIssue]
        corridor(),
        sf.focused(sf.vic()),
        n_skills=4,
        learner=QUICK,
        seed=np.int64(3),  # pyright: ignore[reportArgumentType]
    )
    assert sf.Skills.load(skills.save(tmp_path / "a.skills")).info["seed"] == 3


def test_a_reward_that_cannot_be_compiled_is_named():
    def broken(component, start, value):
        return undefined_name  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

    objective = sf.focused(sf.Objective("broken", sf.Reward("broken", broken)))
    with pytest.raises(UserError, match="the formula broken cannot be compiled"):
        sf.discover(corridor(), objective, seed=0, n_skills=4)


def test_a_seed_twice_is_refused(four_rooms):
    with pytest.raises(UserError, match="twice"):
        next(sf.discover_many(four_rooms, sf.vic(), [1, 1]))
