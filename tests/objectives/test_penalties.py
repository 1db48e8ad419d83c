from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor
from skillfocus.errors import UserError


def pairs(space, *states):
    return np.array([s for s, _ in states]), np.array([e for _, e in states])


def test_the_weighted_norm_by_hand(four_rooms):
    space = four_rooms.space
    cells = four_rooms.map.index
    start = np.array([[cells[(1, 1)], 0, 0, 0, 0]])
    end = np.array([[cells[(4, 5)], 1, 1, 0, 0]])
    diagonal = np.sqrt(10**2 + 10**2)  # the largest distance between cells
    everything = np.ones(5, dtype=bool)
    expected = 4 * np.sqrt((5 / diagonal) ** 2 + 1 + 1)
    assert sf.weighted_norm(4.0)(space, start, end, everything) == pytest.approx([expected])
    but_tool_1 = np.array([True, False, True, True, True])
    expected = 4 * np.sqrt((5 / diagonal) ** 2 + 1)
    assert sf.weighted_norm(4.0)(space, start, end, but_tool_1) == pytest.approx([expected])
    assert sf.changed_variables(2.0)(space, start, end, but_tool_1).tolist() == [4.0]


@pytest.mark.parametrize("penalty", [sf.weighted_norm(), sf.changed_variables()])
@pytest.mark.parametrize("world", ["four-rooms", "forage-world", "mud-world"])
def test_the_built_in_penalties_are_penalties(penalty, world):
    sf.check_penalty(penalty, sf.tabulate(sf.make(world)), sample=60)


def test_a_penalty_that_misses_a_change_is_named():
    blind = sf.Penalty("blind", 1.0, lambda space, a, b, w: ((a != b)[:, 1] & w[1]).astype(float))
    with pytest.raises(UserError, match=r"blind is 0 from \{'position'.*must be positive"):
        sf.check_penalty(blind, sf.tabulate(corridor()))


def test_a_penalty_that_charges_for_nothing_is_named():
    greedy = sf.Penalty("greedy", 1.0, lambda space, a, b, w: np.ones(len(a)))
    with pytest.raises(UserError, match=r"greedy is 1 .* must be 0 because none changed"):
        sf.check_penalty(greedy, sf.tabulate(corridor()))


@pytest.mark.parametrize("strength", [-1, float("nan"), float("inf"), 10**40, 10**400])
def test_strengths_that_are_no_factor_are_refused(strength):
    with pytest.raises(UserError, match="must be 0 to 1e\\+30"):
        sf.focused(sf.vic(), strength=strength)


def test_strength_zero_is_no_penalty():
    with pytest.raises(UserError, match="must be positive"):
        sf.check_penalty(sf.weighted_norm(0.0), sf.tabulate(corridor()))


def test_a_user_s_penalty_is_used_and_its_strength_can_be_set():
    own = sf.Penalty("own", 1.0, lambda space, a, b, w: ((a != b) * w).sum(axis=1) * 3.0)
    objective = sf.focused(sf.vic(), penalty=own, strength=2.0)
    assert objective.penalty is not None
    assert (objective.penalty.name, objective.penalty.strength) == ("own", 2.0)
