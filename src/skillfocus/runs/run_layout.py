"""The layout of a run's Parquet file: a few sizes decide every byte but those of its parts.

One row group; a page per column, not compressed:

    run     string   dictionary of one word, one run of indices
    metric  string   dictionary, indices of 32 bits
    step    int64    plain, may be missing
    value   double   plain, may be missing

The footer's last field names the program that wrote the file; it ends with the sizes, so that they
are found from the file's end.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from skillfocus._internal.foreign_parquet import MAGIC
from skillfocus._internal.thrift import Value, i32, i64, items, text, varint
from skillfocus._internal.thrift import struct as fields

DIGEST = 82
"""Characters of a file's digest."""
_INT64, _DOUBLE, _BYTES = 2, 5, 6  # Parquet's numbers: types,
_PLAIN, _RLE, _DICTIONARY = 0, 3, 8  # encodings,
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2  # and pages
_TYPES = {"run": _BYTES, "metric": _BYTES, "step": _INT64, "value": _DOUBLE}
_WRITER = "skillfocus version 2 (build "
_SIZES = re.compile(re.escape(_WRITER.encode()) + rb"([0-9,]{1,99})\)\0....PAR1", re.DOTALL)


class Sizes(NamedTuple):
    """What decides where the parts of a file are.

    Attributes:
        rows: Rows of the table.
        steps: Rows with a step.
        values: Rows with a value.
        names: Metrics.
        run: Bytes of the run's id; 0 without rows.
        names_length: Bytes of the metrics' names, each with its length before it.
        header: Bytes of the JSON header.
    """

    rows: int
    steps: int
    values: int
    names: int
    run: int
    names_length: int
    header: int

    def lengths(self) -> tuple[int, ...]:
        """Return the bytes of every part: the run's id, the metrics' names, the indices of the
        rows' metrics; a bit per row that has a step, the steps; the same of values; the header, the
        digest."""
        eights = -(-self.rows // 8)
        return (
            self.run, self.names_length, 32 * eights, eights, 8 * self.steps, eights,
            8 * self.values, self.header, DIGEST,
        )  # fmt: skip


def join(sizes: Sizes, parts: Sequence[bytes]) -> bytes:
    """Return the contents of the file with these parts."""
    *between, end = _between(sizes)
    return b"".join(chain.from_iterable(zip(between, parts, strict=True))) + end


def split(content: bytes) -> tuple[Sizes, list[bytes]]:
    """Return the sizes and the parts that `join` was given.

    Args:
        content: The contents of a file of any origin.

    Raises:
        ValueError: If `join` does not return such a file.
    """
    found = _SIZES.fullmatch(content, max(0, content.rfind(_WRITER.encode())))
    numbers = [int(number) for number in found[1].split(b",") if number] if found else []
    if len(numbers) != len(Sizes._fields):
        raise ValueError("it does not end with the sizes of its parts")
    sizes = Sizes(*numbers)
    lengths = sizes.lengths()
    if sum(lengths) > len(content):
        raise ValueError("its parts are larger than the file")
    parts, at = [], 0
    for before, length in zip(_between(sizes)[:-1], lengths, strict=True):
        at += len(before) + length
        parts.append(content[at - length : at])
    if join(sizes, parts) != content:
        raise ValueError("it is not laid out as the sizes of its parts say")
    return sizes, parts


# ------------------------------------------------------------------ between the parts


@lru_cache(maxsize=4096)
def _between(sizes: Sizes) -> tuple[bytes, ...]:
    """Return the bytes before each part, and those after the last one."""
    rows, (run, names, indices, bits, steps, _, values, header, _) = sizes.rows, sizes.lengths()
    if rows:
        all_rows = b"\x01" + varint(rows << 1) + b"\x00"  # of one bit each: word 0
        run_start = _page(_DICTIONARY_PAGE, 1, _PLAIN, 4 + run) + struct.pack("<I", run)
        run_end = _page(_DATA_PAGE, rows, _DICTIONARY, len(all_rows)) + all_rows
        names_start = _page(_DICTIONARY_PAGE, sizes.names, _PLAIN, names)
        of_32_bits = b"\x20" + varint(bits << 1 | 1)
        indices_start = _page(_DATA_PAGE, rows, _DICTIONARY, len(of_32_bits) + indices) + of_32_bits
        steps_start = _page_of_present(rows, bits, steps)
        values_start = _page_of_present(rows, bits, values)
        pages = {
            "run": [len(run_start) + run, len(run_end)],
            "metric": [len(names_start) + names, len(indices_start) + indices],
            "step": [len(steps_start) + bits + steps],
            "value": [len(values_start) + bits + values],
        }
        starts = [MAGIC + run_start, run_end + names_start, indices_start]
        starts += [steps_start, b"", values_start, b""]
    else:
        pages, starts = {}, [MAGIC, *[b""] * 6]
    header_start = _footer_start(rows, pages) + _pair_start("skillfocus", header)
    digest_start = b"\0" + _pair_start("digest", DIGEST)
    end = b"\0" + _NEXT_TEXT + text(_WRITER + ",".join(map(str, sizes)) + ")").content + b"\0"
    length = len(header_start) + header + len(digest_start) + DIGEST + len(end)
    return (*starts, header_start, digest_start, end + struct.pack("<I", length) + MAGIC)


def _page(kind: int, n_values: int, encoding: int, length: int) -> bytes:
    """Return the header of a page with so many bytes."""
    about, field = {1: i32(n_values), 2: i32(encoding)}, 7
    if kind == _DATA_PAGE:
        about, field = about | {3: i32(_RLE), 4: i32(_RLE)}, 5
    return fields({1: i32(kind), 2: i32(length), 3: i32(length), field: fields(about)}).content


def _page_of_present(rows: int, bits: int, length: int) -> bytes:
    """Return what stands before the bits that say which rows have a value."""
    of_one_bit = varint(bits << 1 | 1)
    start = struct.pack("<I", len(of_one_bit) + bits) + of_one_bit
    return _page(_DATA_PAGE, rows, _PLAIN, len(start) + bits + length) + start


def _footer_start(rows: int, pages: Mapping[str, Sequence[int]]) -> bytes:
    """Return the footer up to its list of two texts; `pages` has their lengths by column."""
    chunks, at = [], len(MAGIC)
    for name, lengths in pages.items():
        chunks.append(_chunk(name, rows, at, lengths))
        at += sum(lengths)
    group = fields({1: items(chunks), 2: i64(at - len(MAGIC)), 3: i64(rows)})
    table = {1: i32(2), 2: _SCHEMA, 3: i64(rows), 4: items([group] if rows else [])}
    return fields(table).content[:-1] + _NEXT_LIST_OF_TWO


_NEXT_TEXT, _NEXT_LIST_OF_TWO = b"\x18", b"\x19\x2c"
"""How a struct's next field begins."""


def _pair_start(key: str, length: int) -> bytes:
    """Return a struct of a key and a text of so many bytes, up to the text."""
    return fields({1: text(key)}).content[:-1] + _NEXT_TEXT + varint(length)


def _chunk(name: str, rows: int, at: int, lengths: Sequence[int]) -> Value:
    """Describe a column whose pages begin at a place; the first one of two is its dictionary."""
    encodings = [_PLAIN, _RLE, _DICTIONARY] if len(lengths) > 1 else [_PLAIN, _RLE]
    column = {
        1: i32(_TYPES[name]), 2: items([i32(one) for one in encodings]), 3: items([text(name)]),
        4: i32(0), 5: i64(rows), 6: i64(sum(lengths)), 7: i64(sum(lengths)),
        9: i64(at + sum(lengths[:-1])),
    }  # fmt: skip
    if len(lengths) > 1:
        column[11] = i64(at)
    return fields({2: i64(at), 3: fields(column)})


def _schema() -> Value:
    columns = [fields({4: text("table"), 5: i32(len(_TYPES))})]
    for name, type in _TYPES.items():
        column = {1: i32(type), 3: i32(type != _BYTES), 4: text(name)}  # 3: may be missing
        if type == _BYTES:  # a string, said in the old way and in the new one
            column |= {6: i32(0), 10: fields({1: fields({})})}
        columns.append(fields(column))
    return items(columns)


_SCHEMA = _schema()
