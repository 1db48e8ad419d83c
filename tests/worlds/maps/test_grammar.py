from __future__ import annotations

import pytest

from skillfocus.errors import UserError
from skillfocus.worlds.maps import SourceText, Span

SOURCE = SourceText("m.txt", "one \r\ntwo\rthree\n")


def match(form, text):
    words, affirmative = SOURCE.match_form(form, Span(text, 3, 5).split())
    return [word.text for word in words], affirmative


def test_lines_end_in_any_way_and_without_spaces():
    assert SOURCE.lines == ["one", "two", "three", ""]


def test_words_know_where_they_begin():
    assert Span("  up  to 12", 3, 5).split() == [
        Span("up", 3, 7),
        Span("to", 3, 11),
        Span("12", 3, 14),
    ]


def test_phrases_are_split_at_commas_with_their_columns():
    phrases = SOURCE.split_phrases(Span("a b, c", 2, 4))
    assert phrases == [[Span("a", 2, 4), Span("b", 2, 6)], [Span("c", 2, 9)]]
    with pytest.raises(UserError, match=r"^m\.txt, line 2, column 6: a word is missing here$"):
        SOURCE.split_phrases(Span("a,", 2, 4))


def test_forms_return_names_and_numbers():
    assert match("counter NAME up to N", "counter coin up to 3") == (["coin", "3"], True)
    assert match("door needs [no] NAME", "door needs key") == (["key"], True)
    assert match("door needs [no] NAME", "door needs no key") == (["key"], False)
    assert match("door needs [no] NAME", "door needs no") == (["no"], True)  # a name like others


@pytest.mark.parametrize("text", ["0", "11", "-1", "1.0", "ten", "٣", "1" * 5000])
def test_counts_are_whole_numbers_in_range(text):
    assert SOURCE.parse_count(Span("10", 1, 1), 10) == 10
    with pytest.raises(UserError, match="must be a whole number from 1 to 10"):
        SOURCE.parse_count(Span(text, 1, 1), 10)
