"""Parquet files of any origin.

Compiled Parquet readers trust a file's numbers: polars aborts the process when one asks for more
memory than there is. So what a file says of itself is parsed here, and its table is read by polars
in a process of its own.
"""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import polars as pl

from skillfocus._internal import parquet_process
from skillfocus._internal.thrift import parse

MAGIC = b"PAR1"
"""The first and the last bytes of a Parquet file."""
MAX_CRASHES = 5
"""After so many files that crash the process, the remaining ones are not tried."""
SECONDS = 60
"""A process that takes longer than this, and a second per `BYTES_PER_SECOND`, has crashed."""
BYTES_PER_SECOND = 1_000_000
MAX_BYTES = 2 * 1024**3
"""Memory that the process may ask for."""


def read_footer(file: BinaryIO) -> dict:
    """Return what a file says of itself, by Parquet's numbers of fields.

    Raises:
        ValueError: If it is no Parquet file.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size < 12 or file.read(4) != MAGIC:
        raise ValueError("it is no Parquet file")
    file.seek(-8, os.SEEK_END)
    length, end = struct.unpack("<I4s", file.read(8))
    if end != MAGIC or length > size - 12:
        raise ValueError("it is no Parquet file, or not a whole one")
    file.seek(-8 - length, os.SEEK_END)
    return parse(file.read(length))[0]


def column_names(footer: dict) -> list[str]:
    """Return the names of the columns that a footer lists.

    Raises:
        ValueError: If it lists none.
    """
    try:
        return [column[4].decode() for column in footer[2][1:]]
    except (AttributeError, LookupError, TypeError):
        raise ValueError("its footer lists no columns") from None


def metadata_of(footer: dict) -> dict[str, str]:
    """Return the texts that a footer carries besides the description of the table.

    Raises:
        ValueError: If it carries none.
    """
    try:
        return {pair[1].decode(): pair[2].decode() for pair in footer[5]}
    except (AttributeError, LookupError, TypeError):
        raise ValueError("its footer carries no texts") from None


def read_tables(contents: Sequence[bytes]) -> list[pl.DataFrame | str]:
    """Return the tables of files, read in another process, or why one cannot be read.

    Args:
        contents: The contents of each file. They had better be many: starting the process takes
            half a second.
    """
    tables: list[pl.DataFrame | str] = []
    crashes = 0
    while len(tables) < len(contents):
        if crashes == MAX_CRASHES:
            reason = f"not tried, as {MAX_CRASHES} other files crashed their reader"
            return tables + [reason] * (len(contents) - len(tables))
        answers = _ask(contents[len(tables) :])
        tables += answers
        if len(tables) < len(contents):  # the process ended at the next one
            tables.append("it crashes polars, or takes too much memory or time")
            crashes += 1
    return tables


def _ask(contents: Sequence[bytes]) -> list[pl.DataFrame | str]:
    """Start the process, and return its answers, up to the file at which it ended."""
    question = b"".join(parquet_process.packed(content) for content in contents)
    script = str(Path(parquet_process.__file__))
    command = [sys.executable, "-P", "-W", "ignore", script, str(MAX_BYTES)]
    path = os.pathsep.join(folder for folder in sys.path if folder)
    try:
        done = subprocess.run(
            command,
            input=question,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path, "RUST_BACKTRACE": "0"},
            timeout=SECONDS + len(question) / BYTES_PER_SECOND,
            check=False,
        )
        stream = done.stdout
    except subprocess.TimeoutExpired as expired:
        stream = expired.stdout or b""
    except OSError as error:  # there is no such command
        return [f"no process can be started to read it: {error.strerror}"] * len(contents)
    answers, at = [], 0
    while (answer := parquet_process.unpacked(stream, at)) is not None:
        at += parquet_process.SIZE.size + len(answer)
        if answer.startswith(b"!"):
            answers.append(answer[1:].decode())
        else:
            answers.append(pl.read_ipc_stream(io.BytesIO(answer[1:])))
    return answers
