"""Gymnasium environments as worlds."""

from __future__ import annotations

from collections import Counter

import gymnasium
import numpy as np
import pytest
from scipy.stats import chisquare

import skillfocus as sf
from skill_sets import target_change
from skillfocus.testing import check_world
from skillfocus.worlds.adapters import from_gymnasium
from skillfocus.worlds.adapters.gymnasium import is_bundled


@pytest.fixture(scope="module")
def taxi():
    return from_gymnasium("Taxi-v4")


def test_taxi(taxi):
    assert dict(zip(taxi.space.names, taxi.space.sizes, strict=True)) == {
        "taxi_row": 5, "taxi_column": 5, "passenger": 5, "destination": 4,
    }  # fmt: skip
    # 300 where episodes begin, 100 with the passenger in the taxi, 4 where it has been delivered
    assert sf.tabulate(taxi).n_states == 404
    assert len(taxi.final_states) == 4
    assert taxi.fixed == ("destination",)
    assert "destination" not in taxi.goals
    aboard = taxi.space.state(taxi_row=0, taxi_column=0, passenger="in taxi", destination="red")
    delivered = taxi.space.state(taxi_row=0, taxi_column=0, passenger="red", destination="red")
    assert taxi.transition(aboard, taxi.actions.index("drop off")) == [sf.Outcome(1.0, delivered)]
    assert taxi.transition(delivered, 0) == [sf.Outcome(1.0, delivered)]
    assert any("200 steps (truncation" in note for note in taxi.notes)


@pytest.mark.parametrize(
    ("name", "settings", "states", "final"),
    [
        ("FrozenLake-v1", {}, 16, 5),
        ("FrozenLake-v1", {"is_slippery": False, "map_name": "8x8"}, 64, 11),
        ("CliffWalking-v1", {}, 38, 1),
        ("CliffWalking-v1", {"is_slippery": True}, 38, 1),
        ("Taxi-v4", {"is_rainy": True}, 404, 4),
    ],
)
def test_toy_text_is_checked_and_made_again_from_its_settings(name, settings, states, final):
    world = from_gymnasium(name, **settings)
    assert check_world(world).n_states == states
    assert len(world.final_states) == final
    assert world.settings == settings


def test_frozen_lake_by_hand():
    """In the corner, going left stays with 2/3 and slips down with 1/3."""
    world = from_gymnasium("FrozenLake-v1")
    corner, below = world.space.state(row=0, column=0), world.space.state(row=1, column=0)
    found = {o.state: o.probability for o in world.transition(corner, 0)}
    assert found == pytest.approx({corner: 2 / 3, below: 1 / 3})


def test_a_model_that_step_does_not_follow_is_named():
    with pytest.raises(
        sf.UserError, match=r"differs from its environment: in .*'in taxi'.* its model"
    ):
        from_gymnasium("Taxi-v4", fickle_passenger=True)
    assert from_gymnasium("Taxi-v4", fickle_passenger=True, check=False).settings == {
        "fickle_passenger": True, "check": False,
    }  # fmt: skip


class Wrong(gymnasium.Env):
    """A model that says 1/2 where step does 1/4."""

    action_space, observation_space = gymnasium.spaces.Discrete(1), gymnasium.spaces.Discrete(2)
    P = {s: {0: [(0.5, 0, 0.0, False), (0.5, 1, 0.0, False)]} for s in range(2)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.s = 0
        return 0, {}

    def step(self, action):
        self.s = int(self.np_random.random() < 0.25)
        return self.s, 0.0, False, False, {}


def test_probabilities_that_step_does_not_follow_are_named():
    with pytest.raises(sf.UserError, match=r"of the time, not \[0.5, 0.5\]"):
        from_gymnasium(Wrong(), variables={"s": lambda s: s})


class Tiring(gymnasium.Env):
    """A lamp and a bell; the model does not know that nothing happens after the fourth step."""

    action_space, observation_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(4)
    P = {s: {a: [(1.0, s ^ (1 << a), 0.0, False)] for a in range(2)} for s in range(4)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.s, self.steps = 0, 0
        return 0, {}

    def step(self, action):
        self.steps += 1
        self.s = self.P[self.s][action][0][1] if self.steps <= 4 else self.s
        return self.s, 0.0, False, False, {}


def test_what_only_a_walk_shows_is_found():
    bits = {"lamp": lambda s: s & 1, "bell": lambda s: s >> 1}
    with pytest.raises(sf.UserError, match="has probability 0; its model leaves something out"):
        from_gymnasium(Tiring(), variables=bits)


class Line(gymnasium.Env):
    """A model as a list, without a distribution of first states; the last cell ends the episode."""

    action_space, observation_space = gymnasium.spaces.Discrete(1), gymnasium.spaces.Discrete(4)
    P = [{0: [(1.0, min(s + 1, 3), 0.0, s == 2)]} for s in range(4)]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.s = 0
        return 0, {}

    def step(self, action):
        _, self.s, _, ended = self.P[self.s][0][0]
        return self.s, 0.0, ended, False, {}


def test_states_that_end_episodes_are_no_starts():
    world = from_gymnasium(Line(), variables={"x": lambda s: s, "odd": lambda s: s % 2})
    assert world.space.names == ("x", "odd")
    assert [state[0] for state in world.states()] == [0, 1, 2]
    assert world.final_states == {(3, 1)}


def test_starts_are_told_by_state_not_by_order():
    class Backwards(Line):
        P = dict(reversed(list(enumerate(Line.P))))
        initial_state_distrib = (1.0, 0.0, 0.0, 0.0)

    world = from_gymnasium(Backwards(), variables={"x": lambda s: s, "odd": lambda s: s % 2})
    assert [state[0] for state in world.states()] == [0]


class Bits(gymnasium.Env):
    """Its state is one array, changed in place."""

    action_space, observation_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.MultiBinary(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.bits = np.zeros(2, int)
        return self.bits, {}

    def step(self, action):
        self.bits[action] ^= 1
        return self.bits, 0.0, False, False, {}


def test_states_that_are_changed_in_place():
    world = from_gymnasium(
        Bits(), get_state=lambda env: env.bits, set_state=lambda env, s: setattr(env, "bits", s)
    )
    assert world.space.names == ("part_1", "part_2")
    assert sf.tabulate(world).n_states == 4
    assert world.transition((0, 1), 0) == [sf.Outcome(1.0, (1, 1))]
    written = from_gymnasium(
        Bits(), get_state=lambda env: env.bits, set_state=lambda env, s: np.copyto(env.bits, s)
    )
    assert sf.tabulate(written).fingerprint == sf.tabulate(world).fingerprint
    named = from_gymnasium(
        Bits(), get_state=lambda env: {"bits": env.bits, "one": int(env.bits[0])},
        set_state=lambda env, s: setattr(env, "bits", s["bits"]),
    )  # fmt: skip
    assert named.space.variables[0].values == ((0, 0), (0, 1), (1, 0), (1, 1))


class Counting(gymnasium.Env):
    """No model; a counter to 3 and a lamp, and a hidden number of presses."""

    action_space = gymnasium.spaces.MultiDiscrete([2, 2])
    observation_space = gymnasium.spaces.Discrete(8)

    def __init__(self, noise=0.0):
        self.noise, self.presses = noise, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count, self.lamp, self.presses = 0, 0, 0
        return 0, {}

    def step(self, action):
        up, press = action
        if self.np_random.random() >= self.noise:
            self.count = min(self.count + int(up), 3)
        self.lamp = (self.lamp + int(press)) % 2
        self.presses += int(press)
        return 0, 0.0, self.count == 3, False, {}


def get(env):
    return {"count": env.count, "lamp": env.lamp}


def put(env, state):
    env.count, env.lamp = state["count"], state["lamp"]


def test_an_environment_without_a_model_is_explored_by_stepping():
    world = from_gymnasium(Counting(), get_state=get, set_state=put)
    assert world.space.names == ("count", "lamp")
    assert world.actions == ("0,0", "0,1", "1,0", "1,1")
    assert world.transition((1, 0), 3) == [sf.Outcome(1.0, (2, 1))]
    # both counts of 3 are final, with the lamp as it was
    assert world.final_states == {(3, 0), (3, 1)}
    up = list(world.play(lambda state: 2, (0, 1)))
    assert up == [(0, 1), (1, 1), (2, 1), (3, 1)]
    check_world(world)


def test_chance_needs_samples_and_they_approach_the_probabilities():
    with pytest.raises(sf.UserError, match="raise samples"):
        from_gymnasium(Counting(0.25), get_state=get, set_state=put)
    world = from_gymnasium(Counting(0.25), get_state=get, set_state=put, samples=400)
    chances = {o.state: o.probability for o in world.transition((0, 0), 2)}
    # four standard errors of 400 draws are 0.087
    assert chances == pytest.approx({(1, 0): 0.75, (0, 0): 0.25}, abs=0.087)
    assert any("400 samples" in note for note in world.notes)


def test_hidden_state_is_found():
    """The lamp goes off for good after three presses, which get_state does not tell."""

    class Wearing(Counting):
        def step(self, action):
            answer = super().step(action)
            self.lamp = 0 if self.presses > 3 else self.lamp
            return answer

    with pytest.raises(sf.UserError, match="if get_state leaves something out"):
        from_gymnasium(Wearing(), get_state=get, set_state=put)


def test_variables_must_tell_states_apart():
    with pytest.raises(sf.UserError, match="have the same values"):
        from_gymnasium("Taxi-v4", variables={"row": lambda s: s // 100})


def test_names_and_readers_of_ones_own():
    named = from_gymnasium("FrozenLake-v1", variables=("y", "x"), actions=("w", "s", "e", "n"))
    assert named.space.names == ("y", "x")
    assert named.actions == ("w", "s", "e", "n")
    read = from_gymnasium("FrozenLake-v1", variables={"cell": lambda s: s, "odd": lambda s: s % 2})
    assert read.space.sizes == (16, 2)
    joined = from_gymnasium("Taxi-v4", groups={"taxi": ["taxi_row", "taxi_column"]})
    assert joined.space.names == ("taxi", "passenger", "destination")
    assert joined.default_target == "taxi"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("Taxi-v5x",), "unknown Gymnasium environment|cannot make"),
        (("Pendulum-v1",), "name its variables as slices"),
        (("CartPole-v1",), r"offers no model \(env.unwrapped.P\)"),
        ((7,), "takes an environment or an id"),
    ],
)
def test_mistakes(arguments, sentence):
    with pytest.raises(sf.UserError, match=sentence):
        from_gymnasium(*arguments)


def test_who_types_a_name_is_not_advised_to_write_a_lambda():
    with pytest.raises(sf.UserError) as error:
        sf.make("gymnasium:CartPole-v1")
    assert "lambda" not in str(error.value)
    assert "name a function of a file that does so, FILE.py:NAME" in str(error.value)


def test_more_mistakes():
    with pytest.raises(sf.UserError, match="give both"):
        from_gymnasium(Counting(), get_state=get)
    with pytest.raises(sf.UserError, match="6 actions, but 2 names"):
        from_gymnasium("Taxi-v4", actions=("a", "b"))
    with pytest.raises(sf.UserError, match="4 parts, but 1 names"):
        from_gymnasium("Taxi-v4", variables=("a",))
    with pytest.raises(sf.UserError, match="cannot make Taxi-v4"):
        from_gymnasium("Taxi-v4", rain=True)
    with pytest.raises(sf.UserError, match="single values such as 0"):
        from_gymnasium(Wrong())
    with pytest.raises(sf.UserError, match="takes no rain"):
        from_gymnasium(Wrong(), rain=True)


def test_blackjack_by_its_rules():
    """At 20 without a usable ace, 12 of 13 cards bust; a soft 17 becomes 18 by an ace or stays soft
    up to 21, and a ten makes it a hard 17. `check` has compared all with the environment."""
    world = from_gymnasium("Blackjack-v1")
    assert world.exact

    def after(player, ace, action):
        state = world.space.state(player=player, dealer=5, usable_ace=ace, ended=False)
        found = {}
        for outcome in world.transition(state, action):
            values = world.space.labels(outcome.state)
            key = values["player"], values["usable_ace"], values["ended"]
            found[key] = found.get(key, 0.0) + outcome.probability
        return found

    hit = after(20, 0, 1)
    assert hit[21, 0, False] == pytest.approx(1 / 13)
    assert sum(p for (_, _, ended), p in hit.items() if ended) == pytest.approx(12 / 13)
    soft = after(17, 1, 1)
    assert soft[18, 1, False] == soft[21, 1, False] == pytest.approx(1 / 13)
    assert soft[17, 0, False] == pytest.approx(4 / 13)
    assert not any(ended for _, _, ended in soft)
    assert after(20, 0, 0) == {(20, 0, True): 1.0}


def test_blackjack_by_samples():
    """Hitting at 20 without a usable ace busts unless an ace comes, with 1/13."""
    world = from_gymnasium("Blackjack-v1", resets=60, samples=300)
    assert world.space.names == ("player", "dealer", "usable_ace", "ended")
    start = next(s for s in world.all_states if world.values_of(s)[0] == 20
                 and not world.values_of(s)[2] and s not in world.final_states)  # fmt: skip
    safe = sum(
        o.probability for o in world.transition(start, 1) if o.state not in world.final_states
    )
    assert safe == pytest.approx(1 / 13, abs=0.062)


@pytest.mark.slow
@pytest.mark.parametrize("rain", [False, True])
def test_taxi_skills_move_the_passenger_and_bring_the_taxi_back(rain):
    """The measure is the oracle by breadth-first search: starts from which a round trip fits."""
    world = from_gymnasium("Taxi-v4", is_rainy=rain)
    skills = sf.discover(world, sf.focused(sf.vic()), seed=0)
    effects = [e for e in sf.metrics.side_effects(skills) if e.targets == ("passenger",)]
    assert all(len(e.starts) == 400 for e in effects)
    assert max(map(target_change, effects)) > 0.95
    assert max(e.side_effects for e in effects) <= 0.05


@pytest.mark.slow
def test_skills_do_in_the_original_what_they_do_in_the_world():
    """Played step by step in the rainy taxi itself, as often as the exact probabilities say."""
    world = from_gymnasium("Taxi-v4", is_rainy=True)
    skills = sf.discover(
        world, sf.focused(sf.vic()), seed=0, targets={"passenger": 2, "taxi_row": 2}
    )
    start = world.space.state(taxi_row=2, taxi_column=2, passenger="red", destination="blue")
    exact = sf.metrics.side_effects(skills, np.array([skills.mdp.number(start)]))
    runs = 300
    for z in range(len(skills)):
        ends = Counter()
        for seed in range(runs):
            *_, last = world.play(skills.policy(z), start, seed=seed)
            ends[skills.mdp.number(last)] += 1
        chances = exact[z].ends
        assert all(chances[s] > 0 for s in ends)
        likely = np.flatnonzero(chances * runs > 5)
        seen = np.array([ends[s] for s in likely] + [runs - sum(ends[s] for s in likely)])
        wanted = np.append(chances[likely], 1 - chances[likely].sum()) * runs
        seen, wanted = seen[wanted > 1e-6], wanted[wanted > 1e-6]
        if len(seen) > 1:
            assert chisquare(seen, wanted * seen.sum() / wanted.sum()).pvalue > 1e-4
        else:
            assert len(ends) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1"])
def test_skills_are_discovered_in_other_toy_text(name):
    world = from_gymnasium(name)
    skills = sf.discover(world, sf.focused(sf.vic()), seed=0)
    able = [e for e in sf.metrics.side_effects(skills, "all") if len(e.starts)]
    assert max(e.changes_target - e.side_effects for e in able) > 0.3


@pytest.mark.parametrize(
    ("env_id", "bundled"),
    [
        ("Taxi-v4", True),
        ("Pendulum-v1", True),
        ("CartPole-v1", False),
        ("skillfocus/FourRooms-v0", False),
        ("Nothing-v0", False),
    ],
)
def test_environments_of_gymnasium_itself(env_id, bundled):
    assert is_bundled(env_id) is bundled
