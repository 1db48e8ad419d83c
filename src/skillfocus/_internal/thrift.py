"""Thrift's compact protocol, in which Parquet files describe themselves.

    footer = struct({1: i32(2), 6: text("skillfocus")})
    parse(footer.content)  # ({1: 2, 6: b"skillfocus"}, 14)

`parse` takes bytes of any origin: its work is bounded by their number, and whatever is not a struct
is a `ValueError`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_MAX_DEPTH = 16
"""Structs and lists within one another; Parquet's go five deep."""
_MAX_VARINT = 10
"""Bytes of the longest number of 64 bits."""


class Value(NamedTuple):
    """An encoded value and the protocol's number of its type."""

    type: int
    content: bytes


def varint(number: int) -> bytes:
    """Encode a non-negative integer in groups of seven bits, the lowest first."""
    content = bytearray()
    while number > 0x7F:
        content.append(number & 0x7F | 0x80)
        number >>= 7
    content.append(number)
    return bytes(content)


def i32(number: int) -> Value:
    """Encode an integer of 32 bits; also the values of enums."""
    return Value(_I32, varint(number << 1 ^ number >> 31))


def i64(number: int) -> Value:
    """Encode an integer of 64 bits."""
    return Value(_I64, varint(number << 1 ^ number >> 63))


def text(letters: str) -> Value:
    """Encode a string."""
    content = letters.encode()
    return Value(_BINARY, varint(len(content)) + content)


def items(values: Sequence[Value], type: int = _STRUCT) -> Value:
    """Encode a list of values of one type; `type` is that of an empty list."""
    type = values[0].type if values else type
    size = len(values)
    start = bytes([size << 4 | type]) if size < 15 else bytes([0xF0 | type]) + varint(size)
    return Value(_LIST, start + b"".join(value.content for value in values))


def struct(fields: Mapping[int, Value]) -> Value:
    """Encode a struct: its fields by number, in ascending order and at most 15 apart."""
    content, last = bytearray(), 0
    for number, value in fields.items():
        content.append(number - last << 4 | value.type)
        content += value.content
        last = number
    content.append(0)
    return Value(_STRUCT, bytes(content))


def parse(content: bytes, at: int = 0) -> tuple[dict, int]:
    """Decode a struct.

    Args:
        content: Bytes that hold a struct.
        at: Where it begins.

    Returns:
        Its fields by number (numbers, bools, bytes, lists, and structs as dictionaries), and where
        it ends.

    Raises:
        ValueError: If there is no struct.
    """
    if at < 0:
        raise ValueError("it begins before its first byte")
    reader = _Reader(content, at)
    try:
        return reader.struct(0), reader.at
    except IndexError:
        raise ValueError("it ends within a value") from None


class _Reader:
    """Decodes values one after another; an `IndexError` says that the bytes are used up."""

    def __init__(self, content: bytes, at: int) -> None:
        self.content, self.at = content, at

    def byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def bytes(self, size: int) -> bytes:
        self.at += size
        if self.at > len(self.content):
            raise IndexError
        return self.content[self.at - size : self.at]

    def varint(self) -> int:
        number = self.byte()
        if number < 0x80:
            return number
        number &= 0x7F
        for place in range(1, _MAX_VARINT):
            byte = self.byte()
            number |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                return number
        raise ValueError("a number has more than 64 bits")

    def zigzag(self) -> int:
        number = self.varint()
        return number >> 1 ^ -(number & 1)

    def struct(self, depth: int) -> dict:
        fields, number = {}, 0
        while start := self.byte():
            number = number + (start >> 4) if start >> 4 else self.zigzag()
            type = start & 0xF
            is_bool = type in (_TRUE, _FALSE)  # the type is the value
            fields[number] = type == _TRUE if is_bool else self.value(type, depth + 1)
        return fields

    def value(self, type: int, depth: int) -> object:
        if type in (_I16, _I32, _I64):
            return self.zigzag()
        if type == _BINARY:
            return self.bytes(self.varint())
        if depth > _MAX_DEPTH:
            raise ValueError("too much is nested")
        if type == _STRUCT:
            return self.struct(depth)
        if type in (_LIST, _SET):
            start = self.byte()
            size = start >> 4 if start < 0xF0 else self.varint()
            return [self.value(start & 0xF, depth + 1) for _ in range(size)]
        if type in (_TRUE, _FALSE, _BYTE):  # in a list, a bool is a byte
            return self.byte()
        if type == _DOUBLE:
            return self.bytes(8)
        raise ValueError(f"a value has the type {type}")  # Parquet has no maps
