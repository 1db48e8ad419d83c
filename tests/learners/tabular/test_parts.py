"""Skills learned one target at a time, with memory for little more than what is solved."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor
from problems import corridor_problem
from skillfocus.errors import UserError
from skillfocus.learners.planning import learner as planning
from skillfocus.learners.planning.learner import (
    Model,
    independent_parts,
    interleave_modes,
    keep_reachable,
    part_of_problem,
)
from skillfocus.learners.problem import make_problem
from skillfocus.mdp import index_values
from skillfocus.skills.policy import Packer

BUILDER = "skillfocus.learners.planning.problem"
SHORT = sf.Planning(rounds=3)
TARGETS = {"tool_1": 2, "position": 3}


@pytest.fixture
def small_limits(monkeypatch):
    """Limits that make every problem one of parts."""
    monkeypatch.setattr(f"{BUILDER}.MAX_CELLS", 20)
    monkeypatch.setattr(f"{BUILDER}.PACKED_CELLS", 10_000)
    monkeypatch.setattr(planning, "MAX_UNPACKED", 20)
    monkeypatch.setattr("skillfocus.skills.policy.MAX_UNPACKED", 20)


@pytest.mark.parametrize(("objective", "targets", "expected"), [
    (sf.focused(sf.vic()), {"tool_1": 2, "position": 3}, [(0, 1), (2, 3, 4)]),
    (sf.focused(sf.vic()), [{"tool_1": 0}, {"position": 0}, {"tool_1": 1}, {"position": 1}],
     [(0, 2), (1, 3)]),
    (sf.dusdi(sf.vic()), {"tool_1": 2, "position": 3}, [(0, 1), (2, 3, 4)]),
    (sf.scattered(sf.focused(sf.vic())), {"tool_1": 2, "position": 2}, [(0, 1), (2, 3)]),
    (sf.vic(), None, [tuple(range(16))]),
])  # fmt: skip
def test_skills_that_share_a_discriminator_stay_together(objective, targets, expected):
    problem = make_problem(corridor(), objective, targets=targets)
    assert independent_parts(problem) == expected


def test_a_skill_on_two_targets_joins_their_parts(two_tools):
    targets = [{"tool_1": 0}, {"tool_1": 1}, {"tool_2": 0}, {"tool_2": 1}]
    problem = make_problem(two_tools, sf.focused(sf.vic()), targets=targets)
    assert independent_parts(problem) == [(0, 1), (2, 3)]
    both = [*targets, {"tool_1": 0, "tool_2": 1}]
    problem = make_problem(two_tools, sf.focused(sf.vic()), targets=both)
    assert independent_parts(problem) == [(0, 1, 2, 3, 4)]


@pytest.fixture(scope="module")
def two_tools():
    return sf.make("four-rooms")


def test_a_part_keeps_its_skills_and_their_modes():
    objective = sf.scattered(sf.focused(sf.vic()))
    problem = make_problem(corridor(), objective, targets={"tool_1": 2, "position": 2})
    part = part_of_problem(problem, (2, 3))
    assert part.modes == problem.modes[2:]
    assert part.kinds.skills == problem.kinds.skills[sum(problem.modes[:2]) :]
    assert part.mdp is problem.mdp


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("kept_values", [0, planning.KEPT_VALUES])
@pytest.mark.parametrize("objective", [sf.focused(sf.vic()), sf.scattered(sf.focused(sf.lsd()))])
def test_a_part_alone_is_learned_as_ever(monkeypatch, objective, kept_values):
    """With one target there is one part. Where it keeps its values, or nobody does, its rewards
    and what its skills do are those of the whole problem, given the part's random numbers."""
    monkeypatch.setattr(planning, "KEPT_VALUES", kept_values)
    learner = sf.Planning(rounds=3, warm_start=bool(kept_values))
    world = corridor()
    problem = make_problem(world, objective, targets={"position": 2})
    packed = learner.learn(problem, np.random.default_rng(4), lambda *_: None)
    assert packed.policies.arrays.actions.dtype == np.uint32
    for name in (f"{BUILDER}.MAX_CELLS", "skillfocus.skills.policy.MAX_UNPACKED"):
        monkeypatch.setattr(name, 10**6)
    monkeypatch.setattr(planning, "MAX_UNPACKED", 10**6)
    source = np.random.default_rng(4).spawn(1)[0]
    whole = learner.learn(problem, source, lambda *_: None)
    assert packed.intrinsic_reward == whole.intrinsic_reward
    skills = [
        sf.Skills(world, each.policies, (("position",),) * 2, problem.step_limit)
        for each in (packed, whole)
    ]
    for got, expected in zip(*map(sf.metrics.side_effects, skills), strict=True):
        assert (got.ends == expected.ends).all()
        assert (got.steps == expected.steps).all()


@pytest.mark.usefixtures("small_limits")
def test_all_targets_are_learned_and_put_in_order():
    world = corridor()
    targets = [{"position": 0}, {"tool_1": 0}, {"position": 1}, {"tool_1": 1}]
    skills = sf.discover(world, sf.focused(sf.vic()), seed=0, learner=SHORT, targets=targets)
    assert skills.targets == (("position",), ("tool_1",), ("position",), ("tool_1",))
    assert skills.intrinsic_reward is not None
    terms = skills.intrinsic_reward.terms
    assert [modes[0][0][:2] for modes in terms] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    effects = sf.metrics.side_effects(skills)
    assert max(effects[1].changes_target or 0, effects[3].changes_target or 0) > 0.99
    again = sf.discover(world, sf.focused(sf.vic()), seed=0, learner=SHORT, targets=targets)
    assert again.to_bytes() == skills.to_bytes()
    other = sf.discover(world, sf.focused(sf.vic()), seed=1, learner=SHORT, targets=targets)
    assert other.intrinsic_reward != skills.intrinsic_reward


def test_what_does_not_even_fit_packed_is_refused(monkeypatch):
    monkeypatch.setattr(f"{BUILDER}.MAX_CELLS", 20)
    monkeypatch.setattr(f"{BUILDER}.PACKED_CELLS", 1)
    with pytest.raises(UserError, match="more than 20: use fewer skills"):
        sf.discover(corridor(), sf.focused(sf.vic()), seed=0, targets=TARGETS)


def test_without_kept_values_every_round_solves_from_scratch(monkeypatch):
    _, problem = corridor_problem(sf.focused(sf.vic()))
    params, some = problem.initial_params(np.random.default_rng(0)), np.array([0, 2])
    kept = Model(problem, 0.99)
    monkeypatch.setattr(planning, "KEPT_VALUES", 0)
    forgetful = Model(problem, 0.99)
    assert (kept.keeps_values, forgetful.keeps_values) == (True, False)
    for z in range(len(problem.skills)):
        kept.improve(z, params, 300)
        forgetful.improve(z, params, 300, some)
        assert (forgetful.actions[z] == kept.actions[z][:, some]).all()
        contexts = forgetful.policy_arrays.contexts[z][np.isin(problem.index.contexts[z], some)]
        assert set(contexts.tolist()) == {0, 1}


def reachable(mdp, policy, context, starts, limit):
    """The pairs that occur, state by state in plain Python."""
    now, seen = set(starts), set()
    for _ in range(limit):
        seen |= now
        acting = [s for s in now if policy[s, context] < mdp.n_actions]
        now = set()
        for s in acting:
            a = policy[s, context]
            for m in np.flatnonzero(mdp.probabilities[s, a]):
                now |= {int(mdp.successors[s, a, m]), int(mdp.again[s, a, m])}
    return seen


@pytest.mark.parametrize("world", ["mud-world", "corridor"])
def test_pairs_that_cannot_occur_are_left_out(world, rng):
    made = corridor() if world == "corridor" else sf.make(world)
    mdp = sf.tabulate(made)
    index = index_values(mdp, [mdp.space.index(made.default_target)])
    policy = rng.integers(mdp.n_actions + 1, size=(mdp.n_states, index.size)).astype(np.uint8)
    chosen = rng.choice(index.size, size=3, replace=False)
    limit = 4
    kept = keep_reachable(mdp, policy[:, chosen], chosen, index, limit)
    for column, context in enumerate(chosen):
        starts = np.flatnonzero(index.of_state == context).tolist()
        expected = np.full(mdp.n_states, mdp.n_actions)
        seen = sorted(reachable(mdp, policy, context, starts, limit))
        expected[seen] = policy[seen, context]
        assert (kept[:, column] == expected).all()


def test_modes_lie_side_by_side(rng):
    tables = [rng.integers(3, size=(7, 150)).astype(np.uint8) for _ in range(3)]
    packer = Packer(3)
    numbers = interleave_modes(packer, [packer.pack(table) for table in tables], 150)
    whole = packer.blocks[numbers].reshape(7, -1)[:, :450]
    assert (whole == np.stack(tables, axis=2).reshape(7, -1)).all()
