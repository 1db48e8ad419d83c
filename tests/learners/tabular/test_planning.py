from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import RandomWorld, corridor
from problems import make_problem
from reference import plain_values
from skill_sets import target_change
from skillfocus.errors import UserError
from skillfocus.learners.planning import learner as planning
from skillfocus.learners.planning.learner import BLOCK, Model
from skillfocus.learners.planning.rewards import state_reward as skill_reward
from skillfocus.learners.planning.sweeps import greedy, new_stamps, sweep
from skillfocus.objectives.kinds import assign, untargeted
from skillfocus.objectives.objective import FunctionEstimate
from skillfocus.worlds.four_rooms import FourRooms

OBJECTIVES = [
    sf.vic(), sf.diayn(), sf.lsd(), sf.dusdi(sf.vic()), sf.dusdi(sf.diayn()),
    sf.focused(sf.vic()), sf.focused(sf.diayn()), sf.focused(sf.lsd()),
]  # fmt: skip


def make(world, objective, targets=None, n_skills=4):
    mdp = sf.tabulate(world)
    made = assign(world, targets=targets) if objective.targeted else untargeted(n_skills)
    return make_problem(mdp, objective, made, step_limit=world.step_limit, world_id=world.id)


@given(st.integers(0, 1000), st.sampled_from(OBJECTIVES), st.sampled_from([0.9, 0.99]))
def test_sweeps_reach_the_plain_values(seed, objective, gamma):
    """Values, and the value of the greedy policy, for every skill and context; random worlds
    have up to five outcomes per action, so both paths of the sweep are taken."""
    world = RandomWorld(seed, sizes=(3, 2), n_actions=1 + seed % 3, one_way=seed % 2 == 0)
    problem = make(world, objective, {"v0": 2} if seed % 2 == 0 else {"v0": 2, "v1": 2})
    params = problem.initial_params(np.random.default_rng(seed))
    model = Model(problem, gamma)
    for z, skill in enumerate(problem.skills):
        model.improve(z, params, 5000)
        got = model.values[z]
        stop = skill_reward(problem, params, z).astype(float)
        for c in range(skill.context.size):
            exact = plain_values(
                problem.mdp, stop[:, c], float(model.step_share), gamma, float(model.loss_discount),
                skill.event_cost,
            )  # fmt: skip
            assert got[:, c] == pytest.approx(exact, abs=5e-3 / (1 - gamma) ** 0.5, rel=1e-3)
            follows = model.actions[z][:, c]
            stops = follows == problem.mdp.n_actions
            assert stop[stops, c] == pytest.approx(exact[stops], abs=2e-2)


@given(st.integers(0, 300), st.sampled_from([0.9, 0.99]))
def test_sweeps_reach_the_plain_values_if_termination_ends_the_reward(seed, gamma):
    world = RandomWorld(seed, sizes=(3, 2), n_actions=1 + seed % 3)
    problem = make(world, sf.focused(sf.diayn()), {"v0": 2})
    params = problem.initial_params(np.random.default_rng(seed))
    model = Model(problem, gamma, keeps_earning=False)
    assert model.stop_share == model.step_share
    model.improve(0, params, 5000)
    got = model.values[0]
    stop = skill_reward(problem, params, 0).astype(float)
    for c in range(problem.skills[0].context.size):
        exact = plain_values(
            problem.mdp, stop[:, c], float(model.step_share), gamma, float(model.loss_discount),
            problem.skills[0].event_cost, stop_share=float(model.stop_share),
        )  # fmt: skip
        assert got[:, c] == pytest.approx(exact, abs=5e-3 / (1 - gamma) ** 0.5, rel=1e-3)


def test_a_skill_whose_reward_ends_with_it_never_stops_while_it_pays():
    """Two skills, one of which earns log 2 or less in its cell: it runs to the limit."""
    world = corridor(slip=0.0)
    usual, ending = (
        sf.discover(
            world, sf.focused(sf.diayn()), seed=0, targets={"position": 2},
            learner=sf.Planning(rounds=5, keeps_earning=keeps),
        )
        for keeps in (True, False)
    )  # fmt: skip
    steps = [
        max(float(e.steps.max()) for e in sf.metrics.side_effects(skills, "all"))
        for skills in (usual, ending)
    ]
    assert steps[0] < world.step_limit == steps[1]


def test_costs_of_changes_for_good_reach_the_values():
    """By hand: the step that picks the tool up costs a position skill the penalty's strength, 2."""
    world = corridor(slip=0.0)
    problem = make(world, sf.focused(sf.lsd(rate=1e-9)), {"position": 2})
    params = problem.initial_params(np.random.default_rng(0))
    params[0][0] = 0.0
    params[0][0, 0, 1] = params[0][0, -2, 1] = (
        1.0  # W = (1, 0): skill 0 earns 1 a cell to the right
    )
    model = Model(problem, 0.9)
    model.improve(0, params, 100)
    mdp = problem.mdp
    start = mdp.number((1, 0))
    context = problem.skills[0].context.of_state[start]
    got = model.values[0][start, context]
    assert got == 0.0  # going right would pay 0.9 (1 - 2)
    free = mdp.number((1, 1))
    got = model.values[0][free, context]
    assert got == pytest.approx(0.9)


def test_putting_off_a_loss_is_no_gain():
    """By hand, gamma 0.9: a skill that loses 1 wherever it ends, 2 a cell further on, stops at once
    at home; a cell away it goes home, where it loses 1, though it gets there a step later."""
    world = corridor(slip=0.0)
    problem = make(world, sf.focused(sf.lsd(rate=1e-9)), {"tool_1": 2})
    model = Model(problem, 0.9)
    assert model.loss_discount == pytest.approx(1 / 0.9)
    mdp, n = problem.mdp, problem.mdp.n_states
    t = np.array([[-1.0 - mdp.values[s, 0]] for s in range(n)], dtype=np.float32)
    backup = model.backup(0, problem.initial_params(np.random.default_rng(0)))
    backup = backup._replace(costs=np.zeros_like(backup.costs), step_share=np.float32(0))
    values = t.copy()
    for _ in range(50):
        sweep(values, t, backup, False, new_stamps(n), 0)
    follows = greedy(values, t, backup)[:, 0]
    home, away, far = (mdp.number((cell, 0)) for cell in range(3))
    assert values[[home, away, far], 0] == pytest.approx([-1, -1 / 0.9, -1 / 0.81], rel=1e-5)
    assert follows[home] == 4
    assert [world.actions[follows[s]] for s in (away, far)] == ["left", "left"]


def test_the_first_runs_follow_a_solved_plan(monkeypatch):
    """Staying pays the tool's owner log 2(1 - u) <= 0, and fetching it gamma^n log 2u' >= 0, with
    u, u' in [1/2, 1]: it fetches, and returns, from every cell, however far away."""
    world = FourRooms("#" * 14 + "\n#T" + "." * 11 + "#\n" + "#" * 14, slip=0.0, step_limit=30)
    mdp, runs = sf.tabulate(world), []
    monkeypatch.setattr(
        planning, "update_estimates", lambda *arguments: runs.append(arguments[2:4])
    )
    learner = sf.Planning(rounds=1, sweeps=1)
    sf.discover(world, sf.focused(sf.vic()), seed=0, learner=learner, targets={"tool_1": 2})
    ((skills, paths),) = runs
    first, last = mdp.values[paths[:, 0]], mdp.values[paths[:, -1]]
    assert set(first[:, 0]) == set(range(12))
    fetched = [last[skills == z, 1] for z in (0, 1)]
    assert sorted(f.mean() for f in fetched) == [0.0, 1.0]
    assert (first[:, 0] == last[:, 0]).all()


def _pays_in_the_last_cell(params, coordinates, component, start, value):
    return params[0, 0, 0] if value == 2 else 0.0


def _pays_no_more(params, coordinates, component, start, value, rate):
    params[0, 0, 0] = 0.0


def _pays_two(n_components, n_starts, coordinates, rng):
    return np.full((1, 1, 1), 2.0, dtype=np.float32)


@pytest.mark.parametrize(("warm_start", "longest"), [(True, 6), (False, 0)])
def test_values_from_scratch_forget_a_reward_that_fell(warm_start, longest, monkeypatch):
    """A cell pays 2 in the first round and nothing afterwards. Two sweeps on from the first round's
    values, neighbouring cells promise each other's: runs walk back and forth until the limit, 6.
    From scratch nothing pays, and they stop at once."""
    estimate = FunctionEstimate(_pays_in_the_last_cell, _pays_no_more, _pays_two)
    objective = sf.Objective("pay", sf.Reward("pay", lambda x: x, estimate, uses_start=False))
    steps, update = [], planning.update_estimates

    def record(*arguments):
        steps.append(arguments[4])
        update(*arguments)

    monkeypatch.setattr(planning, "update_estimates", record)
    learner = sf.Planning(rounds=2, warm_start=warm_start)
    objective = sf.focused(objective, strength=0.0)
    sf.discover(corridor(), objective, seed=0, learner=learner, targets={"position": 1})
    first, second = steps
    assert set(first) == {0, 1, 2}
    assert set(second) == {longest}


def test_an_objective_earned_at_every_step_waits_as_before():
    problem = make(corridor(), sf.focused(sf.diayn()), {"tool_1": 2})
    model = Model(problem, 0.9)
    assert model.loss_discount == model.gamma


def test_many_contexts_are_solved_in_blocks_alike(four_rooms, rng):
    """A plain objective's contexts span several blocks; each must equal a problem of its own."""
    problem = make(four_rooms, sf.lsd(), n_skills=2)
    assert problem.index.widths[0] > 3 * BLOCK
    params = problem.initial_params(rng)
    model = Model(problem, 0.99)
    model.improve(0, params, 400)
    got = model.values[0]
    stop = skill_reward(problem, params, 0).astype(float)
    for c in (0, BLOCK - 1, BLOCK, 1663):
        exact = plain_values(
            problem.mdp, stop[:, c], 0.0, 0.99, 1 / 0.99, problem.skills[0].event_cost
        )
        assert got[:, c] == pytest.approx(exact, abs=2e-3)


@pytest.mark.parametrize("slip", [0.0, 0.1])
def test_leaving_settled_states_out_changes_no_bit(slip, rng):
    """Against sweeps of every state: the values, the largest changes and how many sweeps it takes;
    and in the end most states are indeed left out."""
    world = sf.make("four-rooms", slip=slip)
    problem = make(world, sf.focused(sf.vic()), {"tool_1": 2, "position": 4})
    params = problem.initial_params(rng)
    model, contexts = Model(problem, 0.99), np.arange(40)
    t, backup = skill_reward(problem, params, 0, contexts), model.backup(0, params)
    every, some = t.copy(), t.copy()
    n, stamps, shares = len(t), new_stamps(len(t)), []
    for number in range(60):
        change = sweep(every, t, backup, number % 2 == 1, new_stamps(n), 0)
        assert change == sweep(some, t, backup, number % 2 == 1, stamps, number * n)
        assert every.tobytes() == some.tobytes()
        shares.append((stamps.updated >= number * n).mean())
    assert shares[0] == 1.0
    assert shares[-1] < 0.2


def test_values_not_known_begin_as_what_terminating_earns(four_rooms, rng):
    problem = make(four_rooms, sf.vic(), n_skills=2)
    params = problem.initial_params(rng)
    model, some = Model(problem, 0.99), np.array([3, 700, 1500])
    t = skill_reward(problem, params, 0, some)
    expected = t.copy()
    sweep(expected, t, model.backup(0, params), False, new_stamps(len(t)), 0)
    model.improve(0, params, 1, some)
    got = model.values[0][:, some]
    np.testing.assert_array_equal(got, expected)


def test_some_contexts_are_solved_as_among_all(four_rooms, rng):
    """Whichever are asked for, and however they lie; the others are not touched."""
    problem = make(four_rooms, sf.vic(), n_skills=2)
    params = problem.initial_params(rng)
    everywhere, here = Model(problem, 0.99), Model(problem, 0.99)
    everywhere.improve(0, params, 400)
    some = np.sort(rng.choice(1664, size=BLOCK + 7, replace=False))
    here.improve(0, params, 400, some)
    got, policy = here.values[0], here.actions[0]
    every, follows = everywhere.values[0], everywhere.actions[0]
    np.testing.assert_allclose(got[:, some], every[:, some], atol=1e-3)
    assert (policy == follows[:, some]).mean() > 0.999
    assert not np.delete(got, some, axis=1).any()
    assert here.known[0].sum() == len(some)
    before = got[:, some].copy()
    here.improve(0, params, 1, some)  # goes on from what is known: nothing is left to change
    np.testing.assert_allclose(got[:, some], before, atol=1e-4)


def test_a_focused_skill_fetches_the_tool_and_comes_home():
    """By hand: from the first cell, right, right (the tool), left, left, terminate."""
    world = corridor(slip=0.0)
    skills = sf.discover(
        world, sf.focused(sf.vic()), seed=1, targets={"tool_1": 2}, learner=sf.Planning(rounds=20)
    )
    paths = {tuple(skills.rollout(z, (0, 0), np.random.default_rng(0))) for z in range(2)}
    assert paths == {((0, 0),), ((0, 0), (1, 0), (2, 1), (1, 1), (0, 1))}


def test_a_skill_without_a_penalty_stays_where_the_tool_was():
    world = corridor(slip=0.0)
    skills = sf.discover(
        world, sf.focused(sf.vic(), strength=0.0), seed=1, targets={"tool_1": 2},
        learner=sf.Planning(rounds=20),
    )  # fmt: skip
    paths = {tuple(skills.rollout(z, (0, 0), np.random.default_rng(0))) for z in range(2)}
    assert ((0, 0), (1, 0), (2, 1)) in paths


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"gamma": 0.0}, "gamma is 0.0"), ({"gamma": 1.1}, "gamma is 1.1"),
     ({"rounds": 0}, "at least 1")],
)  # fmt: skip
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(UserError, match=message):
        sf.Planning(**settings)


@pytest.mark.parametrize("base", [sf.vic, sf.diayn])
def test_without_a_discount_skills_still_arrive(base):
    skills = sf.discover(
        corridor(slip=0.1, step_limit=20), sf.focused(base()), seed=0, targets={"tool_1": 2},
        learner=sf.Planning(gamma=1.0),
    )  # fmt: skip
    best = max(sf.metrics.side_effects(skills), key=target_change)
    assert best.changes_target > 0.99
    assert best.side_effects < 0.05
