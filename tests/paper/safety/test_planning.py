from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillfocus as sf
from paper.safety.penalties import Distance, attainable_utility, deviation, penalize, unreachability
from paper.safety.planning import follow_plan, learn_penalized, option_models, plan
from probes import RandomWorld, corridor
from skillfocus.mdp import after_inaction


def plain_value(mdp, penalized, distance, baseline, gamma, t=0, s=None, paid=False):
    """The value of the best plan, by the definition: recursion over actions and outcomes."""
    task, strength = penalized.task, penalized.strength
    s = task.start if s is None else s
    if t == task.max_episode_steps:
        return 0.0
    after = after_inaction(mdp, task.start, task.max_episode_steps)
    noop = mdp.n_actions - 1
    best = -np.inf
    for a in range(mdp.n_actions):
        worth = 0.0
        for m in np.flatnonzero(mdp.probabilities[s, a]):
            following = mdp.successors[s, a, m]
            if baseline == "start":
                against = [(1.0, task.start)]
            elif baseline == "inaction":
                against = [(after[t + 1, b], b) for b in np.flatnonzero(after[t + 1])]
            else:
                against = list(
                    zip(mdp.probabilities[s, noop], mdp.successors[s, noop], strict=True)
                )
            cost = sum(
                p * distance.between(np.array([following]), np.array([b]))[0] for p, b in against
            )
            pays = bool(penalized.done[following]) and not paid
            value = float(pays) - strength * cost
            if not (pays and task.ends):
                value += gamma * plain_value(
                    mdp, penalized, distance, baseline, gamma, t + 1, following, paid or pays
                )
            worth += mdp.probabilities[s, a, m] * value
        best = max(best, worth)
    return best


def random_task(seed, ends=True, horizon=3):
    world = RandomWorld(seed, sizes=(3, 2), n_actions=2)
    world.actions = ("go", "wait")
    mdp = sf.tabulate(world)
    task = sf.make_task(mdp, "reach", (0, 0), horizon, lambda state: state["v0"] == 2)
    return mdp, type(task)(task.name, task.start, horizon, task.true, task.proxy, ends)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["start", "inaction", "stepwise"]), st.booleans())
def test_plans_are_worth_what_the_plain_recursion_finds(seed, baseline, ends):
    mdp, task = random_task(seed, ends)
    distance = deviation(mdp)
    penalized = penalize(mdp, task, distance, baseline, strength=0.3)
    made = plan(mdp, penalized, gamma=0.9)
    expected = plain_value(mdp, penalized, distance, baseline, 0.9)
    assert made.value == pytest.approx(expected)


def test_a_penalty_by_hand():
    """The corridor's tool is two steps away and cannot be put back. Deviation from the start is 1
    once it is taken, so with strength 0.25 the plan is worth gamma (1 - 0.25), at the second
    step; the first, which moves the agent alone, costs nothing. At strength 1 it is worth 0."""
    mdp = sf.tabulate(corridor())
    task = sf.make_task(mdp, "tool", (0, 0), 5, lambda state: state["tool_1"] == 1)
    for baseline in ("start", "inaction", "stepwise"):
        penalized = penalize(mdp, task, deviation(mdp), baseline, strength=0.25)
        made = plan(mdp, penalized, gamma=0.5)
        assert made.value == pytest.approx(0.5 * 0.75), baseline
        assert plan(mdp, replace(penalized, strength=1.5), gamma=0.5).value == 0.0
        episodes = follow_plan(mdp, made)
        assert (episodes.completed, episodes.steps) == (1.0, 2.0)
        assert episodes.last[mdp.number((2, 1))] == 1.0


def test_episodes_are_followed_with_chance():
    """One move, which succeeds with probability 0.7 (the other directions keep the agent here)."""
    mdp = sf.tabulate(corridor(slip=0.3))
    task = sf.make_task(mdp, "next", (0, 0), 1, lambda state: state["position"] == (1, 2))
    episodes = follow_plan(mdp, plan(mdp, penalize(mdp, task)))
    assert episodes.completed == pytest.approx(0.7)
    assert episodes.last[task.start] == pytest.approx(0.3)
    np.testing.assert_allclose(episodes.occupancy.sum(axis=1), 1.0)


def test_equally_good_ways_are_equally_likely_and_idling_comes_first():
    """From the vase world's (4, 1), two ways of two steps lead to (3, 2) … around the corner."""
    world = sf.make("vase")
    mdp = sf.tabulate(world)
    start = world.space.state(position=(1, 1))
    task = sf.make_task(mdp, "corner", start, 4, lambda state: state["position"] == (2, 2))
    episodes = follow_plan(mdp, plan(mdp, penalize(mdp, task)))
    first = episodes.occupancy[1]
    assert first[mdp.number(world.space.state(position=(1, 2)))] == pytest.approx(0.5)
    assert first[mdp.number(world.space.state(position=(2, 1)))] == pytest.approx(0.5)
    nothing_to_gain = type(task)("x", task.start, 4, task.true, np.zeros_like(task.proxy))
    idle = follow_plan(mdp, plan(mdp, penalize(mdp, nothing_to_gain)))
    assert idle.last[task.start] == 1.0


def skills_in(name, objective=None, **changes):
    world = sf.make(name)
    learner = sf.Planning(rounds=5, rollouts=50)
    return sf.discover(
        world, objective or sf.focused(sf.vic(0.7)), seed=0, learner=learner, **changes
    )


@pytest.mark.parametrize("baseline", ["start", "inaction", "stepwise"])
def test_skills_never_make_an_exact_plan_worse_or_better_than_actions_alone(baseline):
    """Skills are made of actions and every action can be chosen, so the best value is the same."""
    skills = skills_in("train")
    task = sf.task_of(skills.world, skills.mdp)
    penalized = penalize(skills.mdp, task, unreachability(skills.mdp), baseline, strength=0.05)
    with_skills = plan(skills.mdp, penalized, skills)
    assert with_skills.value == pytest.approx(plan(skills.mdp, penalized).value)
    episodes = follow_plan(skills.mdp, with_skills)
    np.testing.assert_allclose(episodes.occupancy.sum(axis=1), 1.0)


@pytest.mark.parametrize("primitives", [True, False])
@pytest.mark.parametrize("slip", [0.0, 0.2])
def test_a_plan_over_skills_is_worth_what_following_it_earns(primitives, slip):
    """The value is what the followed episodes earn, less what they pay while they run."""
    world = sf.make("vase", slip=slip)
    learner = sf.Planning(rounds=5, rollouts=50)
    objective = sf.focused(sf.vic(0.7))
    skills = sf.discover(world, objective, seed=0, learner=learner, targets={"position": 6})
    mdp, gamma = skills.mdp, 0.9
    task = sf.task_of(skills.world, mdp)
    penalized = penalize(mdp, task, deviation(mdp), "start", strength=0.1)
    made = plan(mdp, penalized, skills, primitives=primitives, gamma=gamma)
    occupancy = follow_plan(mdp, made).occupancy
    value, costs = 0.0, 0.1 * penalized.entering[0]
    for t in range(task.max_episode_steps):
        ended = np.where(task.proxy, occupancy[t], 0.0)
        entered = occupancy[t + 1] - ended
        value += gamma**t * (entered[task.proxy].sum() - entered @ costs)
    assert made.value == pytest.approx(value)


def test_a_skill_is_followed_as_rollouts_follow_it():
    """The model of a skill against samples of `Skills.run`, with slips."""
    world = sf.make("vase", slip=0.2)
    learner = sf.Planning(rounds=5, rollouts=50)
    skills = sf.discover(world, sf.focused(sf.vic(0.7)), seed=0, learner=learner)
    mdp = skills.mdp
    nowhere = sf.make_task(mdp, "x", (0, 0), 20, lambda s: s["position"] == (1, 2))
    penalized = penalize(mdp, type(nowhere)("x", 0, 20, nowhere.true, np.zeros(mdp.n_states, bool)))
    models = option_models(mdp, penalized, skills, primitives=False)
    start = mdp.number(tuple(world.showcase))
    z = int(np.argmax([len(skills.likely_path(z, world.showcase)) for z in range(len(skills))]))
    last = sum(stops[[start]].toarray()[0] for stops in models[z].stops)
    assert last.sum() == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    runs = np.full(4000, z), np.full(4000, start)
    ends = skills.run(*runs, rng).states
    counted = np.bincount(ends, minlength=mdp.n_states) / 4000
    assert np.abs(counted - last).max() < 0.03


@pytest.mark.parametrize(
    ("name", "baseline", "strength"),
    [("vase", "start", 0.3), ("box", "stepwise", 0.5), ("conveyor-sushi", "inaction", 0.3)],
)  # fmt: skip
def test_q_learning_finds_the_value_that_planning_finds(name, baseline, strength):
    world = sf.make(name)
    mdp = sf.tabulate(world)
    task = sf.task_of(world, mdp)
    utility = attainable_utility(mdp, np.random.default_rng(0))
    penalized = penalize(
        mdp, task, utility if name == "box" else deviation(mdp), baseline, strength
    )
    planned = plan(mdp, penalized)
    learner = sf.SMDPQLearning(episodes=20_000, alpha=1.0, epsilon_decay=0.0)
    q, episodes = learn_penalized(mdp, penalized, seed=1, settings=learner, runs=20)
    again, _ = learn_penalized(mdp, penalized, seed=1, settings=learner, runs=20)
    np.testing.assert_array_equal(q, again)
    best = q[penalized.phases[0], 0, task.start].max()
    assert best == pytest.approx(planned.value, abs=1e-6)
    assert episodes.completed == follow_plan(mdp, planned).completed


def test_q_learning_is_paid_once_where_the_reward_does_not_end_the_episode():
    """The vase can be taken off the belt again and again; all values stay below 1."""
    world = sf.make("conveyor-vase")
    mdp = sf.tabulate(world)
    task = sf.task_of(world, mdp)
    learner = sf.SMDPQLearning(episodes=3000, alpha=0.3)
    q, episodes = learn_penalized(mdp, penalize(mdp, task), seed=1, settings=learner, runs=20)
    assert q.max() <= 1.0
    assert (q[:, 1] == 0).all()
    assert (episodes.completed, episodes.steps) == (1.0, 2.0)


def test_q_learning_over_skills_pays_for_every_step_of_a_skill():
    """With step size 1 and one state of the world to choose in, Q of a skill is what it earns:
    gamma^(k-1) for k steps, less 0.1 for every step; a skill that ends at once pays for idling."""
    skills = skills_in("train")
    mdp, gamma = skills.mdp, 0.9
    task = sf.task_of(skills.world, mdp)
    ones = Distance(lambda states, baselines: np.ones(len(states)))
    penalized = penalize(mdp, task, ones, "start", strength=0.1)
    learner = sf.SMDPQLearning(episodes=4000, alpha=1.0, epsilon_decay=0.0, gamma=gamma)
    q = learn_penalized(mdp, penalized, skills, seed=0, settings=learner, runs=1)[0][
        0, 0, task.start
    ]
    values = learn_penalized(mdp, penalized, skills, seed=0, settings=learner, runs=1)[0][0, 0].max(
        axis=1
    )
    checked = 0
    for z in range(len(skills)):
        states = [mdp.number(state) for state in skills.likely_path(z, mdp.state(task.start))]
        done = [task.proxy[s] for s in states[1:]]
        k = done.index(True) + 1 if True in done else len(states) - 1
        if k == 0 or k >= task.max_episode_steps:
            continue
        costs = 0.1 * sum(gamma**i for i in range(k))
        last = gamma ** (k - 1) if True in done else gamma**k * values[states[k]]
        if True in done:
            assert q[z] == pytest.approx(last - costs)
            checked += 1
        else:
            assert q[z] <= last - costs + 1e-9
    assert checked


def test_skills_that_end_at_once_do_not_stop_the_world():
    """A skill that never acts: choosing it lets the train drive on."""
    world = sf.make("train")
    skills = skills_in("train")
    mdp = skills.mdp
    task = type(sf.task_of(world, mdp))("x", mdp.number(tuple(world.showcase)), 3,
                                        np.ones(mdp.n_states, bool), np.zeros(mdp.n_states, bool))  # fmt: skip
    made = plan(mdp, penalize(mdp, task), skills)
    z = next(z for z in range(len(skills)) if len(skills.likely_path(z, world.showcase)) == 1)
    made.choices[:] = False
    made.choices[..., z] = True
    episodes = follow_plan(mdp, made)
    assert mdp.values[episodes.last.argmax(), 1] == 3


def test_a_skill_that_ends_at_once_is_over_after_one_step_without_acting():
    """Even if it would act in the state that this step leads to."""
    skills = skills_in("train")
    mdp = skills.mdp
    task = sf.task_of(skills.world, mdp)
    models = option_models(mdp, penalize(mdp, task), skills, primitives=False)
    policy, checked = skills.arrays, 0
    for z, model in enumerate(models):
        table = policy.actions[policy.offsets[z] : policy.offsets[z + 1]].reshape(mdp.n_states, -1)
        for s in range(mdp.n_states):
            context, after = policy.contexts[z, s], mdp.successors[s, 4, 0]
            if (
                table[s, context] == mdp.n_actions != table[after, context]
                and not task.proxy[after]
            ):
                assert model.stops[0][[s]].toarray()[0, after] == 1.0
                checked += 1
    assert checked
