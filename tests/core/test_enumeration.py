from __future__ import annotations

import pytest

from skillfocus.errors import UserError
from skillfocus.mdp import Transition, enumerate_states


def expand(n):
    """Two actions on the numbers modulo 5: add 1 or 2 (by chance), or stay and set mark 0."""
    return [
        [(0.25, (n + 2) % 5, -1, None), (0.75, (n + 1) % 5, -1, None)],
        [(1.0, n, 0, (n + 1) % 5)],
    ]


def run(starts=(3,), **changes):
    arguments = {"limit": 5, "limit_advice": "use fewer", **changes}
    return enumerate_states("Ring", starts, expand, **arguments)


def test_states_are_numbered_breadth_first_in_the_order_of_outcomes():
    graph = run()
    assert graph.states == [3, 0, 4, 2, 1]
    assert graph.n_starts == 1
    assert graph.transitions[0] == [
        [Transition(0.25, 1, -1, 1), Transition(0.75, 2, -1, 2)],
        [Transition(1.0, 0, 0, 2)],
    ]
    assert graph.transitions[2][1] == [Transition(1.0, 2, 0, 1)]  # the key 0 is a key like others
    assert len(graph.transitions) == 5


def test_starts_come_first_and_count_once():
    graph = run(starts=(4, 1, 4))
    assert graph.states[:2] == [4, 1]
    assert graph.n_starts == 2


def test_every_state_is_expanded_once():
    expanded = []

    def counting(n):
        expanded.append(n)
        return expand(n)

    enumerate_states("Ring", [3], counting, limit=5, limit_advice="")
    assert expanded == [3, 0, 4, 2, 1]


def test_limit_and_missing_starts_are_errors():
    with pytest.raises(UserError, match="Ring has more than 4 states: use fewer"):
        run(limit=4)
    with pytest.raises(UserError, match="Ring names no state to start from"):
        run(starts=())


def test_progress_is_reported_once_per_state():
    reports = []
    run(progress=lambda fraction, activity: reports.append((fraction, activity)))
    assert [fraction for fraction, _ in reports] == [0.0, 1 / 3, 2 / 5, 3 / 5, 4 / 5]
    assert reports[-1][1] == "exploring Ring: 5 states found, 4 of them done"
