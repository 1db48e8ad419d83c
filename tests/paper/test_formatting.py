from __future__ import annotations

import numpy as np

from paper import formatting as fmt
from paper.agents import Setup
from skillfocus.metrics.statistics import Interval


def test_intervals_end_where_values_can_no_longer_be():
    assert fmt.mean({0: 0.0, 1: 1.0}, 2, 0, 1) == "0.50 (0.00 to 1.00)"
    assert fmt.mean({0: 0.25}, 2, 0, 1) == "0.25"
    assert fmt.mean({}) == "–"


def test_numbers_in_words():
    assert fmt.interval(Interval(-1.234, -2.0, 0.5)) == "−1.23 (−2.00 to 0.50)"
    assert fmt.interval(Interval(1.0, -np.inf, np.inf)) == "1.00"
    assert fmt.count({0: 0.9, 1: 0.2}) == "1 of 2 (0.03 to 0.97)"
    assert (
        fmt.agent_name("scattered-focused-vic-on-two") == "scattered focused VIC, two targets each"
    )
    assert fmt.agent_name("dusdi-diayn") == "DUSDi DIAYN"
    assert fmt.agent_name("focused-metra") == "focused METRA"
    assert fmt.extent([2, 1]) == "1 to 2"
    assert fmt.extent([3, 3]) == "3"


def test_missing_and_infinite_numbers():
    assert fmt.number(-np.inf) == "−∞"
    assert fmt.number(-0.5, 1) == "−0.5"
    assert fmt.number(-0.001) == "0.00"
    assert fmt.interval(None) == fmt.mean({}) == fmt.count({}) == "–"
    assert fmt.extent([]) == "0"


def test_agents_have_printed_names():
    assert fmt.agent_name("primitives") == "primitives only"
    assert fmt.agent_name("permuted-focused-vic") == "permuted focused VIC"


def test_setups_have_printed_names_and_column_titles():
    setups = [Setup("paper", "literal"), Setup("paper", "q-learning"), Setup(), Setup("best")]
    assert [fmt.setup_title(s) for s in setups] == ["literal", "Q-learning", "planning", "best"]
    assert fmt.setup_title(Setup("best", "q-learning")) == "best, Q-learning"
    assert fmt.setup_name(Setup()) == "the paper's settings, planning"
    assert fmt.setup_name(Setup("own", "q-learning")) == "the own settings, Q-learning"


def test_words_are_joined_as_in_a_sentence():
    assert [fmt.join_words(list(words)) for words in ("a", "ab", "abc")] == [
        "a",
        "a and b",
        "a, b and c",
    ]
