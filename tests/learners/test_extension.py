"""Learners, estimators, policies and penalties defined outside the package work everywhere."""

from __future__ import annotations

import json
import math
from collections import deque
from dataclasses import dataclass

import numpy as np
import pytest

import skillfocus as sf
from probes import CORRIDOR, corridor
from skill_sets import target_change
from skillfocus.learners.problem import Learned, Learner
from skillfocus.objectives.objective import log_ratio
from skillfocus.objectives.variants import StatePenalty, check_penalty
from skillfocus.skills.policy import Policy

RIGHT, LEFT, STOP = 1, 3, 4


class ErrandPolicy(Policy):
    """Skill 0 fetches the corridor's tool and returns to its start cell; skill 1 stays."""

    context_variables = (("position",), ())

    def actions(self, skill, starts, states, mode=0):
        cell, tool, home = states[:, 0], states[:, 1], starts[:, 0]
        fetch = np.where(tool == 0, RIGHT, np.where(cell > home, LEFT, STOP))
        return fetch if skill == 0 else np.full(len(states), STOP)


@dataclass(frozen=True)
class ErrandLearner(Learner):
    """A third learner: it knows the answer, and returns a policy that is no table."""

    name: str = "errand"

    def learn(self, problem, rng, progress):
        assert [problem.kinds.targets(z) for z in range(2)] == [(1,), (1,)]
        progress(0.5, "thinking")
        return Learned(ErrandPolicy())


@pytest.fixture
def errand():
    return sf.discover(
        corridor(), sf.focused(sf.vic()), seed=0, targets={"tool_1": 2}, learner=ErrandLearner()
    )


def test_a_third_learner_serves_rollouts_metrics_files_and_environments(errand, tmp_path, rng):
    path = [(0, 0), (1, 0), (2, 1), (1, 1), (0, 1)]
    assert errand.info["learner"] == {"name": "errand"}
    assert errand.rollout(0, (0, 0), rng) == path
    assert errand.likely_path(0, (0, 0)) == path
    fetch, stay = sf.metrics.side_effects(errand, np.array([errand.mdp.number((0, 0))]))
    assert (fetch.changes_target, fetch.side_effects, fetch.steps[0]) == (1.0, 0.0, 4.0)
    assert (stay.changes_target, stay.steps[0]) == (0.0, 0.0)
    assert sf.metrics.coverage(errand, 1).curve[0] == pytest.approx(
        (2 + 2 + 1) / 3 / 6
    )  # on the tool it walks into the wall
    loaded = sf.Skills.load(errand.save(tmp_path / "errand.skills"))
    assert loaded == errand
    assert loaded.rollout(0, (0, 0), rng) == path
    steps, policy, state = [], errand.policy(0), (0, 0)
    while (action := policy(state)) is not None:
        steps.append(action)
        state = errand.mdp.state(errand.mdp.successors[errand.mdp.number(state), action, 0])
    assert steps == [RIGHT, RIGHT, LEFT, LEFT]
    assert errand.view(tmp_path / "errand.html").stat().st_size > 10_000


def test_a_third_learner_makes_runs_that_are_kept_and_found_again(tmp_path):
    settings = json.dumps({"drawing": CORRIDOR, "slip": 0.0})
    run = sf.Discovery(
        "four-rooms", "focused-vic", 0, ErrandLearner(), targets="tool_1=2", world_settings=settings
    )
    result = run.execute(lambda fraction, activity: None)
    rows = {(metric, step): value for metric, step, value in result.rows}
    assert rows["changes_target", 0] == pytest.approx(2 / 3)  # not from the tool's own cell
    assert rows["control", None] == pytest.approx(2 / 3)
    assert run.settings()["learner"] == "errand"
    assert run.id != sf.Discovery("four-rooms", "focused-vic", 0, targets="tool_1=2").id


@dataclass(frozen=True)
class CountDiscriminator:
    """A third estimator: q(z | value) by counting, each skill seen once everywhere at first."""

    rate: float = 1.0
    discriminates = True
    learns_prior = False

    def init(self, n_components, n_starts, coordinates, rng):
        first = 1.0 + 0.1 * rng.random((n_components, len(coordinates), 1))
        return first.astype(np.float32)

    @staticmethod
    def predict(params, coordinates, component, start, value):
        total = 0.0
        for k in range(params.shape[0]):
            total += params[k, value, 0]
        return math.log(params[component, value, 0] / total), -math.log(params.shape[0])

    @staticmethod
    def update(params, coordinates, component, start, value, rate):
        params[component, value, 0] += rate

    def log_prior(self, params):
        return None


@pytest.mark.parametrize("variant", [sf.focused, sf.dusdi], ids=["focused", "dusdi"])
@pytest.mark.parametrize(
    "learner", [sf.Planning(rounds=12), sf.QLearning(episodes=30_000, estimator_rate_scale=0.01)],
    ids=lambda learner: learner.name,
)  # fmt: skip
def test_a_third_estimator_learns_with_every_variant_and_learner(variant, learner):
    counted = sf.Objective(
        "counted", sf.Reward("counted", log_ratio, CountDiscriminator(), uses_start=False)
    )
    sf.testing.check_objective(counted)
    skills = sf.discover(
        corridor(slip=0.1, step_limit=12), variant(counted), seed=0, targets={"tool_1": 2},
        learner=learner,
    )  # fmt: skip
    effects = max(sf.metrics.side_effects(skills), key=target_change)
    assert effects.changes_target > 0.95
    if variant is sf.focused:
        assert effects.side_effects < 0.1
    assert skills.intrinsic_reward is not None


def steps_back(mdp):
    """[start, end]: the fewest steps from end back to start; 10 if there is no way back."""
    n = mdp.n_states
    distances = np.full((n, n), 10.0)
    for end in range(n):
        queue = deque([(end, 0)])
        while queue:
            s, steps = queue.popleft()
            if distances[s, end] > steps or (s == end and steps == 0):
                distances[s, end] = steps
                queue.extend((int(t), steps + 1) for t in np.unique(mdp.successors[s]) if t != s)
    return distances


def unreachability(mdp, start, end, watched):
    """A penalty on full states: how far the start is from the end, if a watched variable changed."""
    changed = ((mdp.values[start] != mdp.values[end]) & watched).any(axis=1)
    return steps_back(mdp)[start, end] * changed


def test_a_penalty_may_look_at_the_full_state():
    world = corridor()
    mdp = sf.tabulate(world)
    penalty = StatePenalty("unreachability", 0.1, unreachability)
    check_penalty(penalty, mdp)
    objective = sf.focused(sf.vic(), penalty=penalty)
    skills = sf.discover(world, objective, seed=0, targets={"tool_1": 2}, mdp=mdp)
    assert skills.context_variables[0] == ("position", "tool_1")  # the whole start state
    paths = {tuple(skills.rollout(z, (0, 0), np.random.default_rng(0))) for z in range(2)}
    # by hand: log 2 ends 4 steps later; 0.1 * 10 is what ending away with the tool costs
    assert ((0, 0), (1, 0), (2, 1), (1, 1), (0, 1)) in paths
    with pytest.raises(sf.UserError, match="needs the MDP"):
        penalty(mdp.space, mdp.values[:1], mdp.values[:1], np.ones(2, dtype=bool))


def ahead(component, before, after):
    """A transition reward: component 0 earns 1 for a cell to the right, component 1 to the left."""
    return (after - before) * (1.0 - 2.0 * component)


@pytest.mark.parametrize(
    "learner", [sf.Planning(rounds=1), sf.QLearning(episodes=20_000)], ids=lambda each: each.name
)
def test_transition_rewards_are_earned_on_every_move(learner):
    """By hand: from the first of three cells, skill 0 earns 1 for each of two moves to the right."""
    objective = sf.Objective("ahead", sf.Reward("ahead", ahead, timing="transition"))
    skills = sf.discover(
        corridor(), sf.focused(objective, strength=0.0), seed=0, targets={"position": 2},
        learner=learner,
    )  # fmt: skip
    assert skills.context_variables == ((), ())  # nothing of the start is needed
    paths = [[state[0] for state in skills.likely_path(z, (1, 1))] for z in range(2)]
    assert paths == [[1, 2], [1, 0]]
    assert [state[0] for state in skills.likely_path(0, (0, 1))] == [0, 1, 2]
    assert skills.intrinsic_reward is None


def test_transition_values_by_hand():
    """gamma 0.9, no penalty: two moves to the right from the first cell are worth 0.9 + 0.81; a
    penalty of strength 2 on the tool makes the second one not worth it."""
    from problems import make_problem
    from skillfocus.learners.planning.learner import Model
    from skillfocus.objectives.kinds import assign

    world = corridor()
    objective = sf.Objective("ahead", sf.Reward("ahead", ahead, timing="transition"))
    mdp = sf.tabulate(world)
    for strength, expected in ((0.0, 0.9 + 0.81), (2.0, 0.9)):
        problem = make_problem(
            mdp, sf.focused(objective, strength=strength), assign(world, targets={"position": 2}),
            step_limit=6, world_id=world.id,
        )  # fmt: skip
        model = Model(problem, 0.9)
        model.improve(0, problem.initial_params(np.random.default_rng(0)), 100)
        assert model.values[0][mdp.number((0, 0)), 0] == pytest.approx(expected, rel=1e-5)


def test_a_transition_reward_needs_two_states():
    with pytest.raises(sf.UserError, match="compares two states"):
        sf.Reward("ahead", ahead, timing="transition", uses_start=False)
    with pytest.raises(sf.UserError, match="timing must be one of final, step"):
        sf.Reward("ahead", ahead, timing="often")  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True)
class RatedLearner(ErrandLearner):
    """A learner whose setting has the name of one of the run's."""

    rate: float = 0.5


def test_settings_of_learner_and_run_may_not_share_a_name():
    """They would share a column, and two different runs an identity."""
    run = sf.Discovery("four-rooms", "focused-vic", 0, RatedLearner(), targets="tool_1=2")
    with pytest.raises(TypeError, match="both have a setting named rate"):
        _ = run.id


@pytest.mark.parametrize(
    ("seed", "message"),
    [("0", r"seed must be a non-negative integer, got '0'; try seed=0"),
     (-1, "got -1"), (0.5, "got 0.5")],
)  # fmt: skip
def test_a_seed_that_is_none_is_named(seed, message):
    with pytest.raises(sf.UserError, match=message):
        sf.discover(corridor(), sf.focused(sf.vic()), seed=seed)
