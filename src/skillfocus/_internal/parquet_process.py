"""The process that reads the tables of `foreign_parquet`: Parquet files in, Arrow tables out.

It is started as a script and imports polars alone. Files and answers are preceded by their size. An
answer is a table after `=`, or after `!` a line that says why there is none.
"""

from __future__ import annotations

import contextlib
import io
import struct
import sys

SIZE = struct.Struct("<Q")
"""The size of what follows."""


def packed(content: bytes) -> bytes:
    """Return bytes with their size before them."""
    return SIZE.pack(len(content)) + content


def unpacked(stream: bytes, at: int) -> bytes | None:
    """Return what `packed` wrote at a place, or None if it is not whole."""
    start = at + SIZE.size
    if start > len(stream):
        return None
    (size,) = SIZE.unpack_from(stream, at)
    return stream[start : start + size] if start + size <= len(stream) else None


def _answer(content: bytes) -> bytes:
    import polars as pl

    answer = io.BytesIO()
    answer.write(b"=")
    try:
        pl.read_parquet(io.BytesIO(content)).write_ipc_stream(answer)
    except BaseException as error:  # polars' panics are no Exceptions
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return b"!" + reason.encode(errors="replace")
    return answer.getvalue()


def _limit_memory(n_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has none
        return
    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        limit = used + n_bytes
        if most == resource.RLIM_INFINITY or limit < most:
            resource.setrlimit(resource.RLIMIT_AS, (limit, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(n_bytes: int) -> None:
    """Answer every file on the standard input, in order.

    Args:
        n_bytes: Memory that the process may ask for, beyond what it has with polars loaded.
    """
    import polars as pl

    pl.DataFrame({"started": [1]}).lazy().collect()  # starts polars' threads
    _limit_memory(n_bytes)
    stream, at = sys.stdin.buffer.read(), 0
    while (content := unpacked(stream, at)) is not None:
        at += SIZE.size + len(content)
        sys.stdout.buffer.write(packed(_answer(content)))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
