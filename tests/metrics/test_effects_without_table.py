"""Side effects in worlds without a table, and of networks in worlds with one."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax")

import skillfocus as sf
from neural_skills import SMALL_ROOM, Tableless, neural_skills, small_room
from probes import RandomWorld
from skillfocus.cli.printing import effects_tables
from skillfocus.errors import UserError
from skillfocus.metrics import coverage, side_effects
from skillfocus.metrics.side_effects import usable_starts
from skillfocus.metrics.summary import evaluate, skill_records
from skillfocus.skills.network import NeuralPolicy
from skillfocus.skills.policy import Policy
from skillfocus.worlds.four_rooms import FourRooms


def without_table(skills: sf.Skills) -> sf.Skills:
    """The same skills in the same world, which does not show its table."""
    policies = skills.policies
    hidden = NeuralPolicy(policies.model, policies.weights, tuple(skills.n_modes.tolist()))
    world = Tableless(skills.world, skills.mdp)
    return sf.Skills(world, hidden, skills.targets, skills.step_limit, skills.info)


@pytest.fixture(scope="module")
def finite():
    return neural_skills(FourRooms(SMALL_ROOM, slip=0.2, step_limit=8))


@pytest.fixture(scope="module")
def effects(finite):
    return side_effects(without_table(finite), "all", rng=np.random.default_rng(0))


def assert_near(sampled, exact, n):
    """Within three standard errors, or both as good as certain."""
    error = 3 * np.sqrt(np.maximum(exact * (1 - exact), 1 / n) / n)
    assert (np.abs(sampled - exact) <= error).all(), np.abs(sampled - exact) / error


def test_sampled_effects_are_near_the_exact_ones(finite, effects):
    exact = side_effects(finite, "all")
    for mine, truth in zip(effects, exact, strict=True):
        n = len(mine.starts)
        assert n == 4000
        assert not mine.exact
        assert_near(mine.changed.mean(axis=0), truth.changed.mean(axis=0), n)
        assert_near(mine.changes_target, truth.changes_target, n)
        spread = mine.amount.std(axis=0) + 1e-9
        off = np.abs(mine.amount.mean(axis=0) - truth.amount.mean(axis=0))
        assert (off <= 3.5 * spread / n**0.5 + 1e-3).all()
        low, high = mine.interval
        half = (high - low) / 2
        assert abs(mine.side_effects - truth.side_effects) <= 3 / 1.6449 * half + 1e-3
        assert abs(mine.steps.mean() - truth.steps.mean()) <= 3 * mine.steps.std() / n**0.5 + 1e-3
        assert mine.per_start == pytest.approx(
            (mine.changed * [name not in mine.targets for name in mine.variables]).sum(axis=1)
        )


def test_dynamics_of_any_kind_are_sampled_alike():
    world = RandomWorld(3, sizes=(3, 2, 2), one_way=True)
    finite = neural_skills(world, targets={"v0": 2, "v2": 2})
    mine = side_effects(without_table(finite), rng=np.random.default_rng(2), sample=20_000)
    for one, truth in zip(mine, side_effects(finite, "all"), strict=True):
        assert_near(one.changed.mean(axis=0), truth.changed.mean(axis=0), 20_000)


def test_effects_of_networks_are_those_of_their_tables(finite):
    """The exact metric of the network's own table, and of one made state by state."""
    plain = Policy.tabulate(finite.policies, finite.mdp)
    table = sf.Skills(finite.world, plain, finite.targets, finite.step_limit, finite.info)
    for one, other in zip(side_effects(finite), side_effects(table), strict=True):
        assert (one.changed == other.changed).all()
        assert (one.ends == other.ends).all()
        assert one.exact


def test_starts_whose_target_is_at_its_last_value_do_not_count(finite):
    hidden = without_table(finite)
    effects = side_effects(hidden, sample=200, rng=np.random.default_rng(0))
    tool, position = effects[0].starts, effects[4].starts
    assert effects[0].targets == ("tool_1",)
    assert (tool[:, 1] == 0).all()
    assert {0, 1} == set(tool[:, 2]) == set(position[:, 1])


def test_targets_that_nothing_changes_keep_all_starts(rng):
    """Nothing was left, so nothing is known to be last."""

    class Stop(Policy):
        context_variables = ((),)

        def actions(self, skill, starts, states, mode=0):
            return np.full(len(states), 4)

    skills = sf.Skills(small_room(), Stop(), (("tool_1",),), 8)
    assert usable_starts(skills, ("tool_1",), {}, 300, rng) == 300
    unchanging = side_effects(skills, rng=rng, sample=50)[0]
    assert (unchanging.side_effects, unchanging.changes_target) == (0, 0)


def test_starts_of_ones_own(finite, rng):
    skills = neural_skills(small_room())
    own = np.array([skills.world.state(position=(1, 1))])
    effects = side_effects(skills, own, sample=20, rng=rng)[0]
    assert (effects.starts == own).all()
    assert effects.ends.shape == (20, 3)
    with pytest.raises(UserError, match="is not a state"):
        side_effects(skills, np.array([[99, 0, 0]]), sample=20, rng=rng)
    with pytest.raises(UserError, match="starts must be 'fair', 'all', 'settled' or an array"):
        side_effects(skills, "some", sample=20, rng=rng)
    with pytest.raises(UserError, match="need a random generator"):
        side_effects(skills)


def test_equal_seeds_give_equal_records():
    skills = neural_skills(small_room())
    one, other = (skill_records(skills, sample=300, seed=3) for _ in "12")
    assert one == other
    assert one != skill_records(skills, sample=300, seed=4)
    assert one[0]["starts"] == 300
    assert one[0]["exact"] is False
    assert one[0]["side_effects_interval"][0] <= one[0]["side_effects"]
    assert one[0]["all_starts"]["side_effects"] == one[0]["side_effects"]


def test_files_are_evaluated_and_coverage_is_refused(tmp_path):
    skills = neural_skills(sf.make("tool-rooms", tools=2, step_limit=5))
    file = skills.save(tmp_path / "a.skills")
    (record,) = evaluate(file, sample=100)
    assert record["world"] == "ToolRooms-v0"
    assert record["skills"][4]["starts"] == 100
    (shown,) = effects_tables([record])
    assert "from starts that the world draws" in str(shown.title)
    assert len(shown.columns) == 8
    for use in (lambda: coverage(skills), lambda: evaluate(file, sample=100, coverage=True)):
        with pytest.raises(UserError, match="coverage is a share of all states, and ToolRooms-v0"):
            use()
