from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import skillfocus as sf
from skill_sets import target_change
from skillfocus.errors import UserError
from skillfocus.worlds.adapters import rddl_formula
from skillfocus.worlds.adapters.rddl import ExactModel, from_rddl, make_by_name

ARRIVE = 0.14635538
ELEVATORS = "Elevators_MDP_ippc2011"
LAMPS = """
domain lamps {
    types { lamp : object; colour : { @red, @green, @blue }; };
    pvariables {
        P(lamp) : { non-fluent, real, default = 0.25 };
        lit(lamp) : { state-fluent, bool, default = false };
        shade : { state-fluent, colour, default = @red };
        press(lamp) : { action-fluent, bool, default = false };
    };
    cpfs {
        lit'(?l) = if (press(?l)) then Bernoulli(P(?l)) else KronDelta(lit(?l));
        shade' = Discrete(colour, @red : 0.5, @green : 0.3, @blue : 0.2);
    };
    reward = 0;
    %s
}
"""
TWO = """
non-fluents nf { domain = lamps; objects { lamp : {a, b}; }; non-fluents { P(b) = 0.5; }; }
instance inst {
    domain = lamps; non-fluents = nf; max-nondef-actions = %s; horizon = 9; discount = 1.0;
}
"""


def lone(variables: str, formulas: str, rest: str = "") -> str:
    """A domain with one action, `go`, and objects a, b of the type thing."""
    return f"""
    domain lone {{
        types {{ thing : object; }};
        pvariables {{
            W(thing) : {{ non-fluent, real, default = 0.0 }};
            {variables}
            go : {{ action-fluent, bool, default = false }};
        }};
        cpfs {{ {formulas} }};
        reward = 0;
        {rest}
    }}
    """


LONE = """
non-fluents nf { domain = lone; objects { thing : {a, b}; }; non-fluents { W(a) = 1.0; }; }
instance inst { domain = lone; non-fluents = nf; max-nondef-actions = 1; horizon = 5; discount = 1.0; }
"""


@pytest.fixture
def written(tmp_path):
    """The world of a domain and an instance given as text."""

    def write(domain, instance=LONE, **settings):
        files = tmp_path / "domain.rddl", tmp_path / "instance.rddl"
        for file, text in zip(files, (domain, instance), strict=True):
            file.write_text(text)
        return from_rddl(*files, **settings)

    return write


@pytest.fixture(scope="module")
def elevators():
    return from_rddl(ELEVATORS, 1, groups={"floor": "elevator-at-floor(*)"})


def chances(world, action, **labels):
    """{changed variables: probability} of an action in the state with these labels, the rest as at
    the start."""
    start = world.space.labels(next(iter(world.states())))
    state = world.space.state(**{**start, **labels})
    before = world.space.labels(state)
    outcomes = {}
    for outcome in world.transition(state, world.actions.index(action)):
        after = world.space.labels(outcome.state)
        changed = frozenset((n, v) for n, v in after.items() if v != before[n])
        outcomes[changed] = outcome.probability
    return outcomes


def test_every_outcome_of_bernoulli_and_discrete_by_hand(written):
    world = written(LAMPS % "", TWO % 1)
    assert world.id == "rddl:domain.rddl+instance.rddl"
    assert world.space.names == ("lit(a)", "lit(b)", "shade")
    assert world.space.variables[2].values == ("blue", "green", "red")
    assert world.actions == ("noop", "press(a)", "press(b)")
    lit, green, blue = ("lit(b)", True), ("shade", "green"), ("shade", "blue")
    assert chances(world, "press(b)") == pytest.approx(
        {
            frozenset(): 0.25,
            frozenset({green}): 0.15,
            frozenset({blue}): 0.1,
            frozenset({lit}): 0.25,
            frozenset({lit, green}): 0.15,
            frozenset({lit, blue}): 0.1,
        }
    )
    out = frozenset({("lit(a)", False)})
    assert chances(world, "press(a)", **{"lit(a)": True})[out] == pytest.approx(0.75 * 0.5)
    assert sf.tabulate(world).n_states == 12


def test_actions_are_combined_as_far_as_the_instance_allows(written):
    world = written(LAMPS % "", TWO % "pos-inf")
    assert world.actions == ("noop", "press(a)", "press(b)", "press(a)+press(b)")
    both = frozenset({("lit(a)", True), ("lit(b)", True)})
    assert chances(world, "press(a)+press(b)")[both] == pytest.approx(0.25 * 0.5 * 0.5)


def test_an_action_of_the_name_noop_is_one_of_its_own(written):
    n, noop = (
        "n : { state-fluent, bool, default = false };",
        "noop : { action-fluent, bool, default = false };",
    )
    world = written(lone(n + noop, "n' = noop;"))
    assert world.actions == ("default", "noop", "go")
    assert chances(world, "noop") == {frozenset({("n", True)}): 1.0}


def test_what_preconditions_forbid_leaves_the_state_as_it_is(written):
    rule = "action-preconditions { forall_{?l : lamp} [press(?l) => ~lit(?l)]; };"
    world = written(LAMPS % rule, TWO % 1)
    assert chances(world, "press(a)", **{"lit(a)": True}) == {frozenset(): 1.0}
    assert len(chances(world, "press(b)", **{"lit(a)": True})) == 6
    assert any("preconditions do not hold" in note for note in world.notes)


@pytest.mark.parametrize(
    "rule",
    [
        "termination { forall_{?l : lamp} [lit(?l)]; };",
        "state-invariants { exists_{?l : lamp} [~lit(?l)]; };",
    ],
)
def test_terminations_and_broken_invariants_end_episodes(written, rule):
    world = written(LAMPS % rule, TWO % 1)
    both = {s for s in world.all_states if world.space.labels(s)["lit(a)"] and s[1]}
    assert world.final_states == both
    assert len(both) == 3
    assert all(world.transition(s, a) == [(1.0, s, -1, None)] for s in both for a in range(3))
    path = list(world.play(lambda state: 1 + (state[0] == 1), next(iter(world.states())), seed=0))
    assert path[-1] in both
    assert both.isdisjoint(path[:-1])


def test_an_instance_that_is_over_at_once_is_refused(written):
    with pytest.raises(UserError, match="over in its first state"):
        written(LAMPS % "termination { forall_{?l : lamp} [~lit(?l)]; };", TWO % 1)


def test_fluents_that_read_the_same_draw_agree(written):
    world = written(
        lone(
            "coin : { interm-fluent, bool }; unread : { interm-fluent, real };"
            "heads : { state-fluent, bool, default = false };"
            "tails : { state-fluent, bool, default = true };"
            "same : { state-fluent, bool, default = false };",
            "coin = Bernoulli(0.25); heads' = coin; tails' = ~coin; same' = heads';"
            "unread = Normal(0, 1);",
        )
    )
    met = {tuple(world.space.labels(s).values()) for s in world.all_states}
    assert met == {(False, True, False), (True, False, True)}
    assert chances(world, "go") == pytest.approx(
        {
            frozenset(): 0.75,
            frozenset({("heads", True), ("tails", False), ("same", True)}): 0.25,
        }
    )


def test_draws_that_other_entries_depend_on(written):
    world = written(
        lone(
            "rings : { state-fluent, bool, default = false };"
            "loud(thing) : { state-fluent, bool, default = false };",
            "rings' = exists_{?t : thing} [Bernoulli(0.25)];"
            "loud'(?t) = exists_{?u : thing} [Bernoulli(0.5) ^ (?u == ?t | go)];",
        )
    )
    loud = [frozenset({(f"loud({t})", True)}) for t in "ab"]
    ring, both = frozenset({("rings", True)}), loud[0] | loud[1]
    quiet = (1 - 0.25) ** 2
    got = chances(world, "noop")  # the draws of a and b are independent
    assert got[ring] == pytest.approx((1 - quiet) / 4)
    assert [got[s] for s in (*loud, both)] == pytest.approx([quiet / 4] * 3)
    assert chances(world, "go")[both] == pytest.approx(quiet * 0.75**2)


def test_each_entry_draws_for_itself(written):
    world = written(
        lone(
            "up(thing) : { state-fluent, bool, default = false };"
            "n(thing) : { state-fluent, int, default = 0 };",
            "up'(?t) = Bernoulli(0.25);"
            "n'(?t) = if (go) then Binomial(1 + up(?t), 0.5 * W(?t)) else 0;",
        )
    )
    assert sorted(chances(world, "noop").values()) == pytest.approx(
        [1 / 16, 3 / 16, 3 / 16, 9 / 16]
    )
    got = chances(world, "go", **{"up(a)": True, "up(b)": True})
    two = sum(p for changed, p in got.items() if ("n(a)", 2) in changed)
    assert two == pytest.approx(1 / 4)
    assert "n(b)" in world.constant_variables  # W(b) is 0


def test_counts_numbers_and_weights(written):
    world = written(
        lone(
            "n : { state-fluent, int, default = 0 }; x : { state-fluent, real, default = 0.0 };"
            "at(thing) : { state-fluent, bool, default = false };"
            "who : { state-fluent, thing };",
            "n' = if (go) then Binomial(3, 0.5) else n;"
            "x' = if (x > 0.25) then 0.0 else x + 0.1;"
            "at'(?t) = Bernoulli(W(?t));"
            "who' = UnnormDiscrete_{?t : thing} [1 + 2 * at(?t)];",
        ),
        LONE.replace("max-nondef", "init-state { who = a; }; max-nondef"),
    )
    values = {v.name: v.values for v in world.space.variables}
    assert values["n"] == (0, 1, 2, 3)
    assert values["x"] == (0.0, 0.1, 0.2, 0.3)
    assert world.constant_variables == ["at(b)"]
    assert values["who"] == ("a", "b")
    got = chances(world, "go")
    assert sum(p for changed, p in got.items() if ("n", 2) in changed) == pytest.approx(3 / 8)
    assert sum(p for changed, p in got.items() if ("who", "b") in changed) == pytest.approx(1 / 2)
    later = chances(world, "go", x=0.1, **{"at(a)": True})
    assert sum(p for changed, p in later.items() if ("who", "b") in changed) == pytest.approx(1 / 4)


def test_integer_and_enumerated_actions(written):
    variables = "n : { state-fluent, int, default = 0 }; add : { action-fluent, int, default = 0 };"
    bounded = "action-preconditions { add >= 0; add <= 2; };"
    world = written(lone(variables, "n' = min[n + add, 5];", bounded))
    assert world.actions == ("noop", "add=1", "add=2", "go")
    assert chances(world, "add=2", n=1) == {frozenset({("n", 3)}): 1.0}
    with pytest.raises(UserError, match="the action add has infinitely many values"):
        written(lone(variables, "n' = min[n + add, 5];"))


@pytest.mark.parametrize("name", ["Normal(0, 1)", "Poisson(1)", "Exponential(2)", "Uniform(0, 1)"])
def test_what_cannot_be_enumerated_is_refused_by_name(written, name):
    kind = "int" if "Poisson" in name else "real"
    domain = lone(f"x : {{ state-fluent, {kind}, default = 0 }};", f"x' = x + {name};")
    with pytest.raises(
        UserError,
        match=f"rddl:domain.rddl.instance.rddl: x' draws from {name.partition('(')[0]}, which "
        f"cannot be enumerated exactly",
    ):
        written(domain)


def test_shares_that_do_not_sum_to_one(written):
    def world(first):
        shares = f"@red : {first}, @green : 0.3, @blue : 0.2"
        return written(
            (LAMPS % "").replace("@red : 0.5, @green : 0.3, @blue : 0.2", shares), TWO % 1
        )

    with pytest.raises(UserError, match=r"probabilities of shade' sum to 1\.1: correct"):
        world(0.6)
    rounded = chances(
        world(0.499995), "noop"
    )  # drawn as the simulator does: the first has the rest
    assert rounded[frozenset()] == pytest.approx(0.5, abs=1e-12)
    assert rounded[frozenset({("shade", "green")})] == pytest.approx(0.3, abs=1e-12)


def test_arrivals_in_elevators_by_hand(elevators):
    assert elevators.id == f"rddl:{ELEVATORS}/1"
    assert elevators.actions == (
        "noop", "move-current-dir(e0)", "open-door-going-up(e0)", "open-door-going-down(e0)",
        "close-door(e0)",
    )  # fmt: skip
    up, down = ("person-waiting-up(f1)", True), ("person-waiting-down(f1)", True)
    free = 1 - ARRIVE
    assert chances(elevators, "noop") == pytest.approx(
        {
            frozenset(): free**2,
            frozenset({up}): ARRIVE * free,
            frozenset({down}): free * ARRIVE,
            frozenset({up, down}): ARRIVE**2,
        }
    )
    waiting = chances(elevators, "open-door-going-down(e0)", **{"person-waiting-up(f1)": True})
    opened = {("elevator-closed(e0)", False), ("elevator-dir-up(e0)", False)}
    assert waiting == pytest.approx({frozenset(opened): free, frozenset({*opened, down}): ARRIVE})


def test_elevators_tabulates_with_its_position_as_one_variable(elevators):
    # 3 floors, door, direction and 4 flags of persons make 192; whoever arrives leaves at once, so
    # one going up is at the top only behind a closed door and going up, and likewise one going down
    assert sf.tabulate(elevators).n_states == 192 - 2 * 3 * 8
    assert elevators.space.names[-1] == "floor"
    assert len(elevators.space.variables[-1].values) == 3
    assert elevators.default_target == "floor"
    assert elevators.constant_variables == [
        f"person-waiting-{way}({floor})" for way in ("up", "down") for floor in ("f0", "f2")
    ]
    moved = chances(elevators, "move-current-dir(e0)")
    floors = {value for changed in moved for name, value in changed if name == "floor"}
    assert floors == {elevators.space.variables[-1].values[1]}


def test_the_original_draws_as_often_as_the_world_says(elevators):
    state = next(iter(elevators.states()))
    action = elevators.actions.index("move-current-dir(e0)")
    outcomes = {o.state: o.probability for o in elevators.transition(state, action)}
    original = elevators.simulator
    counts = dict.fromkeys(outcomes, 0)
    for number in range(1000):
        original.reset(elevators.values_of(state), seed=7 if number == 0 else None)
        assert original.state() == elevators.values_of(state)
        _, values, ended = original.step(action)
        counts[elevators.state_of(values, ended)] += 1
    expected = np.array(list(outcomes.values())) * 1000
    assert len(outcomes) == 4
    assert chisquare(list(counts.values()), expected).pvalue > 0.01


def test_observations_are_left_out():
    world = from_rddl("Elevators_POMDP_ippc2011", 1, check=False)
    assert "observations are left out: the variables are the state itself" in world.notes
    assert len(world.all_states) == 144


def test_equal_seeds_play_alike_and_others_do_not(elevators):
    start = next(iter(elevators.states()))

    def path(seed):
        return list(elevators.play(lambda state: 0, start, seed=seed, max_steps=30))

    assert path(3) == path(3)
    assert len({tuple(path(seed)) for seed in range(5)}) > 1


def test_sokoban_pushes_boxes():
    world = from_rddl("sokoban", groups={"man": "man(*)"}, check=False)
    assert world.id == "rddl:Sokoban_arcade/0"
    assert world.actions == ("noop", "move=l", "move=u", "move=r", "move=d")
    assert sf.tabulate(world).n_states == 154
    assert len(next(v for v in world.space.variables if v.name == "man").values) == 13
    assert world.default_target == "man"
    flags = [n for n in world.space.names if n.startswith("box(")]
    for state in world.all_states:
        labels = world.space.labels(state)
        assert sum(bool(labels[name]) for name in flags) == 2
    state = next(iter(world.states()))
    for move in ("move=d", "move=r"):  # from (2, 6) to (2, 5), then against the box at (3, 5)
        ((_, state, _, _),) = world.transition(state, world.actions.index(move))
    boxes = {name for name in flags if world.space.labels(state)[name]}
    assert boxes == {"box(x3,y3)", "box(x4,y5)"}
    ((_, still, _, _),) = world.transition(state, world.actions.index("move=r"))
    assert still == state  # a wall stands behind the box
    assert not any("joined" in note for note in world.notes)


def test_flags_of_which_one_is_up_are_one_variable_unless_kept_apart():
    world = from_rddl("Navigation_MDP_ippc2011", 1)
    assert world.notes[0] == "episodes end after 40 steps; skills have their own step limit"
    assert any("of their flags are up: robot-at;" in n for n in world.notes)
    assert world.space.names == ("robot-at",)
    assert world.space.sizes == (13,)  # twelve places, and gone
    assert world.settings == {}
    apart = from_rddl("Navigation_MDP_ippc2011", 1, groups={})
    assert len(apart.space) == 12
    assert apart.settings == {"groups": {}}
    boxes = from_rddl("sokoban", check=False)
    assert boxes.space.names == ("box", "man")
    assert "x3,y3 + x4,y5" in boxes.space.variables[0].values
    hanoi = from_rddl("TowerOfHanoi", check=False)
    assert hanoi.groups["disk-on-rod(d4)"] == "disk-on-rod(d4,*)"


@pytest.mark.parametrize("name", ["Navigation_MDP_ippc2011/2", "Elevators_MDP_ippc2011/4"])
def test_entries_side_by_side_are_as_every_combination(name, monkeypatch):
    quick = make_by_name(name, check=False)
    monkeypatch.setattr(rddl_formula, "_is_entrywise", lambda expression: False)
    slow = make_by_name(name, check=False)
    for state in quick.all_states[:40]:
        again = slow.state_of(quick.values_of(state))
        assert again is not None
        for action in range(len(quick.actions)):
            expected = {o.state: o.probability for o in slow.transition(again, action)}
            got = {o.state: o.probability for o in quick.transition(state, action)}
            assert {quick.values_of(s): p for s, p in got.items()} == pytest.approx(
                {slow.values_of(s): p for s, p in expected.items()}
            )


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.integers(0, 10), min_size=4, max_size=4))
def test_any_probabilities_multiply(written, tenths):
    p, q, first, second = (tenth / 10 for tenth in tenths)
    second = round(second * (1 - first), 4)
    shares = f"@red : {first}, @green : {second}, @blue : {round(1 - first - second, 4)}"
    domain = (LAMPS % "").replace("@red : 0.5, @green : 0.3, @blue : 0.2", shares)
    world = written(domain, (TWO % 2).replace("P(b) = 0.5", f"P(a) = {p}; P(b) = {q}"), check=False)
    assert sf.tabulate(world).probabilities.sum(axis=2) == pytest.approx(1)
    got = chances(world, "press(a)+press(b)")
    lit = sum(s for changed, s in got.items() if ("lit(a)", True) in changed)
    assert lit == pytest.approx(p)
    assert sum(s for changed, s in got.items() if ("shade", "green") in changed) == pytest.approx(
        second
    )
    assert len(got) == (1 + (0 < p < 1)) * (1 + (0 < q < 1)) * sum(
        s > 0 for s in (first, second, round(1 - first - second, 4))
    )


def test_worlds_are_made_again_from_their_settings(elevators, written):
    lamps = written(LAMPS % "", TWO % 1, step_limit=7, groups={"lamps": ["lit(a)", "lit(b)"]})
    assert elevators.settings == {"groups": {"floor": "elevator-at-floor(*)"}}
    assert set(lamps.settings) == {"domain", "instance", "groups", "step_limit"}
    for world in (elevators, lamps):
        plain = json.loads(json.dumps(world.settings))
        again = make_by_name(world.id.removeprefix("rddl:"), **plain)
        assert again.id == world.id
        assert again.step_limit == world.step_limit
        assert sf.tabulate(again).fingerprint == sf.tabulate(world).fingerprint
    paths = f"{lamps.settings['domain']}+{lamps.settings['instance']}"
    assert make_by_name(paths).space.names == ("lit(a)", "lit(b)", "shade")
    with pytest.raises(
        UserError, match=r"not take these settings: .*'steplimit' .it takes: domain"
    ):
        make_by_name("Sokoban_arcade/0", steplimit=3)


@pytest.mark.parametrize(
    ("domain", "instance", "message"),
    [
        ("sokobann", None, "unknown RDDL domain 'sokobann': did you mean 'Sokoban_arcade'"),
        ("Elevators_MDP", 1, "can be Elevators_MDP_ippc2011, Elevators_MDP_ippc2014: name one"),
        ("sokoban", 7, r"unknown instance of Sokoban_arcade '7' \(known: 0\)"),
        ("elevators", 0, "num-arrival draws from Poisson"),
        ("Tamarisk_MDP_ippc2014", 1, "more than 4,096 outcomes in some state"),
        ("ChromaticDice", 1, "actions, counting up to 29 at a time, but at most 254 are possible: give an instance "
         "file with max-nondef-actions = 1"),
        ("Zombies", 0, r"the action x_move\(a\) has infinitely many values"),
        ("nowhere.rddl", None, "there is no RDDL domain file nowhere.rddl"),
    ],
)  # fmt: skip
def test_what_is_refused_and_how(domain, instance, message):
    with pytest.raises(UserError, match=message):
        from_rddl(domain, instance)


def test_too_many_states_are_refused():
    sentence = r"Sokoban_arcade/0 has more than 100 states: use a smaller one, or raise the limit"
    with pytest.raises(UserError, match=sentence):
        from_rddl("Sokoban_arcade", 0, limit=100)


def test_files_that_are_no_rddl_are_refused(written):
    with pytest.raises(UserError, match=r"cannot be read: Syntax error on line"):
        written((LAMPS % "").replace("cpfs {", "cpfs { {"), TWO % 1)


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyRDDLGym", None)
    with pytest.raises(UserError, match=r"need pyRDDLGym and rddlrepository: pip install 'skill"):
        from_rddl("sokoban")


def test_the_check_finds_what_a_wrong_model_leaves_out(written, monkeypatch):
    outcomes = ExactModel.outcomes

    def wrong(self, values, action):
        likeliest = max(outcomes(self, values, action))
        return [likeliest._replace(probability=1.0)]

    monkeypatch.setattr(ExactModel, "outcomes", wrong)
    with pytest.raises(UserError, match=r"differs from its environment: in \{.*'lit\(a\)'"):
        written(LAMPS % "", TWO % 1)
    assert len(written(LAMPS % "", TWO % 1, check=False).all_states) < 12


@pytest.mark.slow
def test_focused_skills_in_elevators_leave_the_rest_alone(elevators):
    door, direction = "elevator-closed(e0)", "elevator-dir-up(e0)"
    focused = sf.discover(
        elevators, sf.focused(sf.vic()), seed=0, targets={"floor": 3, door: 2, direction: 2}
    )
    plain = sf.discover(elevators, sf.vic(), seed=0, n_skills=7)
    effects, untold = sf.metrics.side_effects(focused), sf.metrics.side_effects(plain)
    assert all(effect.exact for effect in effects)
    for effect in effects:
        aside = [
            effect.by_variable[n] for n in ("floor", door, direction) if n not in effect.targets
        ]
        assert max(aside) < 0.07
    assert np.mean([e.by_variable[door] for e in untold]) > 0.3
    assert np.mean([e.side_effects for e in effects]) < 0.25 * np.mean(
        [e.side_effects for e in untold]
    )
    assert sum(target_change(e) for e in effects if e.targets == (door,)) > 0.9
    moving = [target_change(e) for e in effects if e.targets == ("floor",)]
    assert sum(moving) > 1.2


@pytest.mark.slow
def test_skills_push_sokoban_s_boxes_and_walk_home():
    world = from_rddl("sokoban")
    skills = sf.discover(world, sf.focused(sf.vic(), strength=50.0), seed=0)
    effects = sf.metrics.side_effects(skills)
    assert max(e.side_effects for e in effects) < 0.01
    boxes = [e.changes_target for e in effects if e.targets == ("box",)]
    assert sum(share > 0.99 for share in boxes) >= 3
