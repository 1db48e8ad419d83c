from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor
from problems import make_problem
from skillfocus.errors import UserError
from skillfocus.learners.planning import problem as costs
from skillfocus.objectives.kinds import assign, untargeted


def remembered(world, objective, **options):
    mdp = sf.tabulate(world)
    made = assign(world) if objective.targeted else untargeted(16)
    problem = make_problem(mdp, objective, made, step_limit=5, world_id=world.id, **options)
    names = mdp.space.names
    return problem, [tuple(names[i] for i in skill.context_variables) for skill in problem.skills]


@pytest.mark.parametrize(
    ("objective", "tool", "position"),
    [
        (sf.focused(sf.vic()), ("position", "tool_1"), ("position",)),
        (sf.focused(sf.lsd()), ("position", "tool_1"), ("position",)),
        (sf.focused(sf.diayn()), ("position",), ()),
        (sf.dusdi(sf.vic()), ("position", "tool_1"), ("position",)),
        (sf.dusdi(sf.diayn()), (), ()),
    ],
)
def test_contexts_hold_what_the_reward_still_needs(four_rooms, objective, tool, position):
    _, names = remembered(four_rooms, objective)
    assert (names[0], names[-1]) == (tool, position)


def test_plain_skills_remember_everything_that_fits(four_rooms):
    problem, names = remembered(four_rooms, sf.vic())
    assert names[0] == four_rooms.space.names
    assert problem.index.widths[0] == 1664
    mud = sf.make("mud-world")
    _, names = remembered(mud, sf.vic())
    assert names[0] == ("position", "muddy", "treasure")  # the count is the largest to forget
    _, names = remembered(mud, sf.diayn())
    assert names[0] == ()


def test_forgotten_variables_keep_the_coordinates_of_starts():
    """LSD measures from the start; what is forgotten does not count."""
    mud = sf.make("mud-world")
    problem, _ = remembered(mud, sf.lsd())
    group, mdp = problem.groups[0], problem.mdp
    for s in (0, 77, 4321):
        start = group.starts.of_state[s]
        position, muddy, treasure, _ = mdp.state(s)
        row, column = mud.map.cells[position]
        # the forgotten count comes first, then what is remembered
        assert group.coordinates[start].tolist() == [0, row, column, muddy, treasure]
        assert group.coordinates[group.values.of_state[s]].tolist() == [
            0,
            row,
            column,
            muddy,
            treasure,
        ]


def test_too_large_to_remember_is_said(four_rooms):
    with pytest.raises(UserError, match="policy entries"):
        remembered(four_rooms, sf.vic(), cell_limit=1000, max_cells=1000)


def test_starts_that_can_still_teach(four_rooms):
    problem, _ = remembered(four_rooms, sf.focused(sf.vic()))
    values = problem.mdp.values
    assert (values[problem.skills[0].starts, 1] == 0).all()
    assert len(problem.skills[0].starts) == 832
    problem, _ = remembered(four_rooms, sf.focused(sf.vic()), start_where_controllable=False)
    assert len(problem.skills[0].starts) == 1664


def test_a_variable_nothing_changes_cannot_be_targeted():
    world = corridor()
    world.transition = lambda state, action: [sf.Outcome(1.0, state)]
    with pytest.raises(UserError, match="no action ever changes tool_1"):
        make_problem(
            sf.tabulate(world), sf.focused(sf.vic()), assign(world, 3), step_limit=5, world_id="x"
        )


def test_penalties_of_pairs_are_those_of_states(four_rooms):
    problem, _ = remembered(four_rooms, sf.focused(sf.vic(), strength=4.0))
    skill, mdp = problem.skills[0], problem.mdp
    rng = np.random.default_rng(0)
    watched = np.array([True, False, False, False, False])
    for now, first in rng.integers(mdp.n_states, size=(30, 2)):
        expected = sf.weighted_norm(4.0)(mdp.space, mdp.values[[first]], mdp.values[[now]], watched)
        context = skill.context.of_state[first]
        got = skill.penalty[skill.penalty_now[now], skill.penalty_then[context]]
        assert got == pytest.approx(expected[0], rel=1e-6)


def test_penalties_between_many_states_are_computed_piece_by_piece(four_rooms, monkeypatch):
    mdp, objective = sf.tabulate(four_rooms), sf.focused(sf.vic())
    arguments = (mdp, objective, assign(four_rooms, targets={"tool_1": 2}))
    whole = make_problem(*arguments, step_limit=5, world_id="x").skills[0].penalty
    monkeypatch.setattr(costs, "PAIRS_AT_ONCE", 1000)
    pieces = make_problem(*arguments, step_limit=5, world_id="x").skills[0].penalty
    assert whole.shape == (104, 104)
    assert np.array_equal(whole, pieces)
    assert np.allclose(whole, whole.T)
