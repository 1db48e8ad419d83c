"""A folder of files that can be made again: where it is, and how large it may become.

`SKILLFOCUS_CACHE` names another folder, or is "off". Nothing here ever fails: a cache that cannot
be read is empty, and one that cannot be written stays as it is.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from skillfocus._internal.atomic_io import make_folder, write_atomically
from skillfocus.errors import UserError

VARIABLE = "SKILLFOCUS_CACHE"
OFF = ("off", "0", "")
MAX_BYTES = 500_000_000
"""The most that all entries may take; the least recently used go first."""
SUFFIX = ".world"


def cache_folder() -> Path | None:
    """Return where entries are kept; None if the cache is switched off."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return None if named.strip().lower() in OFF else Path(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "skillfocus"


def entry_path(key: str) -> Path | None:
    """Return the file of an entry; None if the cache is switched off."""
    folder = cache_folder()
    return None if folder is None else folder / f"{key}{SUFFIX}"


def store_entry(key: str, content: bytes) -> None:
    """Write an entry if that is possible, and delete the oldest ones if there are too many."""
    path = entry_path(key)
    if path is None or len(content) > MAX_BYTES:
        return
    with contextlib.suppress(UserError, OSError):
        make_folder(path.parent)
        write_atomically(path, content)
        _delete_oldest(path.parent)


def mark_used(path: Path) -> None:
    """Note that an entry was used, so that it is deleted later than others."""
    with contextlib.suppress(OSError):
        os.utime(path)


def cache_size() -> tuple[int, int]:
    """Return how many entries there are, and their bytes."""
    folder = cache_folder()
    entries = [] if folder is None else _entries(folder)
    return len(entries), sum(size for _, size, _ in entries)


def _entries(folder: Path) -> list[tuple[float, int, Path]]:
    """Return when each entry was used last, its size and its path, the oldest first."""
    found = []
    with contextlib.suppress(OSError):
        for path in folder.glob(f"*{SUFFIX}"):
            with contextlib.suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
    return sorted(found)


def _delete_oldest(folder: Path) -> None:
    entries = _entries(folder)
    total = sum(size for _, size, _ in entries)
    for _, size, path in entries[:-1]:
        if total <= MAX_BYTES:
            return
        path.unlink(missing_ok=True)
        total -= size
