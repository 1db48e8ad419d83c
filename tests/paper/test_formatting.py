from __future__ import annotations

import numpy as np

from paper.agents import Setup
from paper.formatting import (
    agent_name,
    format_count,
    format_interval,
    format_mean,
    format_number,
    format_range,
    join_words,
    setup_name,
    setup_title,
)
from skillfocus.metrics.statistics import Interval


def test_intervals_end_where_values_can_no_longer_be():
    assert format_mean({0: 0.0, 1: 1.0}, 2, 0, 1) == "0.50 (0.00 to 1.00)"
    assert format_mean({0: 0.25}, 2, 0, 1) == "0.25"
    assert format_mean({}) == "–"


def test_numbers_in_words():
    assert format_interval(Interval(-1.234, -2.0, 0.5)) == "−1.23 (−2.00 to 0.50)"
    assert format_interval(Interval(1.0, -np.inf, np.inf)) == "1.00"
    assert format_count({0: 0.9, 1: 0.2}) == "1 of 2 (0.03 to 0.97)"
    assert agent_name("scattered-focused-vic-on-two") == "scattered focused VIC, two targets each"
    assert agent_name("dusdi-diayn") == "DUSDi DIAYN"
    assert agent_name("focused-metra") == "focused METRA"
    assert format_range([2, 1]) == "1 to 2"
    assert format_range([3, 3]) == "3"


def test_missing_and_infinite_numbers():
    assert format_number(-np.inf) == "−∞"
    assert format_number(-0.5, 1) == "−0.5"
    assert format_number(-0.001) == "0.00"
    assert format_interval(None) == format_mean({}) == format_count({}) == "–"
    assert format_range([]) == "0"


def test_agents_have_printed_names():
    assert agent_name("primitives") == "primitives only"
    assert agent_name("permuted-focused-vic") == "permuted focused VIC"


def test_setups_have_printed_names_and_column_titles():
    setups = [Setup("paper", "literal"), Setup("paper", "q-learning"), Setup(), Setup("best")]
    assert [setup_title(s) for s in setups] == ["literal", "Q-learning", "planning", "best"]
    assert setup_title(Setup("best", "q-learning")) == "best, Q-learning"
    assert setup_name(Setup()) == "the paper's settings, planning"
    assert setup_name(Setup("own", "q-learning")) == "the own settings, Q-learning"


def test_words_are_joined_as_in_a_sentence():
    assert [join_words(list(words)) for words in ("a", "ab", "abc")] == [
        "a",
        "a and b",
        "a, b and c",
    ]
