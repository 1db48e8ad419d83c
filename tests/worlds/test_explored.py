"""Exploring somebody else's model."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import skillfocus as sf
from skillfocus.worlds.explored import ExploredWorld, ModelOutcome, exploration_progress


def walk(values, action):
    """Three cells in a row and a lamp; action 1 may miss; cell 2 ends the episode."""
    cell, lamp = values
    if action == 0:
        return [ModelOutcome(1.0, (cell, not lamp))]
    return [ModelOutcome(0.75, (cell + 1, lamp), cell + 1 == 2), ModelOutcome(0.25, values)]


def row(**changes) -> ExploredWorld:
    arguments = {
        "names": ("cell", "lamp"), "actions": ("switch", "go"), "starts": [(0, False)],
        "model": walk,
    }  # fmt: skip
    return ExploredWorld("Row", **{**arguments, **changes})


def test_values_are_those_met_and_final_states_keep_everything():
    world = row()
    assert world.space.variables == (
        sf.Variable("cell", (0, 1, 2)),
        sf.Variable("lamp", (False, True)),
    )
    assert world.final_states == {(2, 0), (2, 1)}
    assert world.transition((1, 0), 1) == [sf.Outcome(0.75, (2, 0)), sf.Outcome(0.25, (1, 0))]
    assert world.transition((2, 1), 0) == [sf.Outcome(1.0, (2, 1))]
    assert any("2 of 6 states are final" in note for note in world.notes)
    assert sf.tabulate(world).n_states == 6


def test_equal_outcomes_are_merged_and_impossible_ones_left_out():
    world = row(
        model=lambda v, _: [
            ModelOutcome(0.5, v),
            ModelOutcome(0.5, v),
            ModelOutcome(0.0, (9, True)),
        ]
    )
    assert world.transition((0, 0), 0) == [sf.Outcome(1.0, (0, 0))]


def test_a_state_met_alive_and_over_gets_a_variable():
    def follow(values, action):
        return [ModelOutcome(1.0, values, ended=action == 1)]

    world = row(model=follow)
    assert world.space.names == ("cell", "lamp", "ended")
    assert world.transition((0, 0, 0), 1) == [sf.Outcome(1.0, (0, 0, 1))]
    assert world.transition((0, 0, 1), 0) == [sf.Outcome(1.0, (0, 0, 1))]
    assert world.state_of((0, False), ended=True) == (0, 0, 1)
    assert any("ended was added" in note for note in world.notes)
    assert "ended" not in world.goals


def test_variables_that_no_action_changes_are_no_targets():
    world = row(names=("cell", "lamp", "wall"), starts=[(0, False, "w")],
                model=lambda v, a: [ModelOutcome(1.0, (v[0], not v[1] if a else v[1], v[2]))])  # fmt: skip
    assert world.fixed == ("cell", "wall")
    assert world.default_target == "lamp"
    assert world.goals == ()


def test_flags_of_which_one_is_up_join_into_which_one():
    flags = {0: (True, False, False), 1: (False, True, False), 2: (False, False, False)}

    def follow(values, action):
        now = next(cell for cell, up in flags.items() if up == values[:3])
        return [ModelOutcome(1.0, (*flags[(now + 1) % 3], values[3]))]

    world = row(
        names=("at(a)", "at(b)", "at(c)", "lamp"), starts=[(*flags[0], True)], model=follow,
        groups={"place": "at(*"},
    )  # fmt: skip
    assert world.space.variables[0] == sf.Variable("place", ("a", "b", "none"))
    assert world.space.names == ("place", "lamp")


def test_other_groups_are_tuples_and_stand_where_the_first_stood():
    world = row(
        names=("a", "x", "y"), starts=[(5, 1, 2)], groups={"xy": ["x", "y"]},
        model=lambda v, a: [ModelOutcome(1.0, (v[0], 1 - v[1], v[2]))],
    )  # fmt: skip
    assert world.space.variables[1] == sf.Variable("xy", ((0, 2), (1, 2)))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"limit": 3}, "Row has more than 3 states"),
        ({"starts": []}, "names no state to start from"),
        ({"groups": {"both": ["cell", "lump"]}}, "did you mean 'lamp'"),
        ({"groups": {"lamp": ["cell"]}}, "has the name of a variable"),
        (
            {"declared": {"cell": sf.Variable("cell", (0, 1))}},
            "takes the value 2, which is not among",
        ),
    ],
)
def test_mistakes(changes, sentence):
    with pytest.raises(sf.UserError, match=sentence):
        row(**changes)


def test_exploration_reports_progress():
    reports = []
    token = exploration_progress.set(lambda *report: reports.append(report))
    try:
        row()
    finally:
        exploration_progress.reset(token)
    assert len(reports) == 6
    assert reports[0] == (0.0, "exploring Row: 1 states found, 0 of them done")
    assert reports[-1] == (5 / 6, "exploring Row: 6 states found, 5 of them done")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 7), st.integers(1, 5), st.booleans()), min_size=1),
        min_size=16, max_size=16,
    )
)  # fmt: skip
def test_any_finite_model_is_found_as_it_is(moves):
    """Random models over two variables: what the world says follows is what the model says."""

    def follow(values, action):
        rows = moves[(4 * values[0] + values[1]) % 8 * 2 + action]
        whole = sum(weight for _, weight, _ in rows)
        return [ModelOutcome(w / whole, (code // 4, code % 4), over) for code, w, over in rows]

    world = row(names=("a", "b"), starts=[(0, 0)], model=follow)
    sf.tabulate(world)
    for state in world.all_states:
        if state in world.final_states:
            continue
        for action in range(2):
            wanted: dict = {}
            for p, values, ended in follow(world.values_of(state), action):
                after = world.state_of(values, ended)
                wanted[after] = wanted.get(after, 0) + p
            found = {o.state: o.probability for o in world.transition(state, action)}
            assert found == pytest.approx(wanted)


def test_what_never_has_another_value_is_left_out():
    world = row(
        names=("cell", "lamp", "sky"), starts=[(0, False, "blue")],
        model=lambda v, a: [ModelOutcome(f.probability, (*f.values, "blue"), f.ended)
                             for f in walk(v[:2], a)],
    )  # fmt: skip
    assert world.space.names == ("cell", "lamp")
    assert world.constant_variables == ["sky"]
    assert any("never have another value: sky (1 in all)" in note for note in world.notes)
    assert world.values_of((1, 0)) == (1, False, "blue")
    assert world.state_of((1, False, "blue")) == (1, 0)


def test_groups_may_depend_on_what_was_found():
    seen = []

    def groups(states):
        seen.extend(states)
        return {"both": ["cell", "lamp"]}

    world = row(names=("cell", "lamp"), groups=groups)
    assert world.space.names == ("both",)
    assert len(seen) == 6
    assert world.groups == {"both": ["cell", "lamp"]}


def test_a_model_is_explored_once():
    """Tabulating uses the states and transitions that exploring found, in their order."""
    calls = []

    def model(values, action):
        calls.append((values, action))
        return walk(values, action)

    world = row(model=model)
    assert len(calls) == len(set(calls)) == 8
    mdp = sf.tabulate(world)
    assert len(calls) == 8
    assert [mdp.state(s) for s in range(mdp.n_states)] == world.all_states

    class Enumerated(ExploredWorld):
        """The same world, enumerated by `tabulate` itself."""

        def __init__(self, **arguments):
            super().__init__("Row", **arguments)
            self.graph, self.state_graph = self.state_graph, None

        def states(self):
            return self.all_states[: self.graph.n_starts]

        def transition(self, state, action):
            self.state_graph = self.graph
            outcomes = super().transition(state, action)
            self.state_graph = None
            return outcomes

    other = Enumerated(
        names=("cell", "lamp"), actions=("switch", "go"), starts=[(0, False)], model=walk
    )
    assert sf.tabulate(other).fingerprint == mdp.fingerprint


def test_tabulate_checks_what_was_explored():
    world = row(model=lambda v, a: [ModelOutcome(0.5, v)])
    with pytest.raises(sf.UserError, match=r"'switch' in state .* probabilities \[0.5\]"):
        sf.tabulate(world)
    with pytest.raises(sf.UserError, match="more than 5 states"):
        sf.tabulate(row(), limit=5)


def test_repr_shows_states_without_tabulating():
    assert repr(row()) == "<Row: 2 actions, cell (3) × lamp (2), 6 states (2 final)>"
    endless = row(model=lambda v, a: [ModelOutcome(1.0, v)])
    assert repr(endless) == "<Row: 2 actions, cell (1) × lamp (1), 1 states>"
