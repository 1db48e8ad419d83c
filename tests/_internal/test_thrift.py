"""The compact protocol: bytes worked out by hand from its specification, and bytes of any origin."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillfocus._internal.thrift import i32, i64, items, parse, struct, text, varint


@pytest.mark.parametrize(
    ("value", "content"),
    [
        (i32(0), "00"), (i32(1), "02"), (i32(-1), "01"), (i32(64), "8001"), (i32(-65), "8101"),
        (i32(-(2**31)), "ffffffff0f"), (i64(2**63 - 1), "feffffffffffffffff01"),
        (text("é"), "02c3a9"), (items([i32(1), i32(2)]), "250204"),
        (items([text("a")] * 15), "f80f" + "0161" * 15), (items([]), "0c"),
        (struct({}), "00"), (struct({1: i32(5), 4: i64(1)}), "150a360200"),
        (struct({2: struct({1: text("x")})}), "2c1801780000"),
    ],
)  # fmt: skip
def test_values_are_encoded_as_specified(value, content):
    assert value.content == bytes.fromhex(content)


def test_what_was_encoded_is_parsed():
    value = struct(
        {1: i32(-7), 3: text("abc"), 9: items([struct({1: i64(2**62)})] * 20), 15: items([i32(4)])}
    )
    fields = {1: -7, 3: b"abc", 9: [{1: 2**62}] * 20, 15: [4]}
    assert parse(b"??" + value.content + b"more", 2) == (fields, 2 + len(value.content))


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        ("1100", {1: True}), ("1200", {1: False}), ("190500", {1: []}), ("19210102" + "00", {1: [1, 2]}),
        ("13ff00", {1: 255}), ("17" + "00" * 8 + "00", {1: bytes(8)}), ("05800104" + "00", {64: 2}),
    ],
)  # fmt: skip
def test_other_types_are_parsed(content, fields):
    assert parse(bytes.fromhex(content)) == (fields, len(content) // 2)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "ends within"), ("15", "ends within"), ("18056162", "ends within"),
        ("18ffffffffffffffffff0161", "ends within"),
        ("19fcffffffffffffffff0f00", "ends within"),  # a list of 2^60 structs
        ("15" + "ff" * 10, "more than 64 bits"), ("1b", "type 11"), ("1000", "type 0"),
        ("1c" * 100, "nested"), ("19" * 100, "nested"),
    ],
)  # fmt: skip
def test_what_is_no_struct_is_an_error(content, problem):
    with pytest.raises(ValueError, match=problem):
        parse(bytes.fromhex(content))


def test_a_place_before_the_first_byte_is_an_error():
    with pytest.raises(ValueError, match="before"):
        parse(b"\0\0", -1)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_struct_or_a_value_error(content):
    try:
        _, end = parse(content)
    except ValueError:
        return
    assert 0 < end <= len(content)


@given(st.integers(0, 2**63))
def test_a_varint_is_parsed_again(number):
    assert parse(b"\x16" + varint(number << 1) + b"\0")[0] == {1: number}
