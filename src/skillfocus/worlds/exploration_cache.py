"""Explored worlds on disk, so that `describe`, `discover` and `evaluate` explore once.

An entry is a sealed file (`files.py`) with the states and transitions that exploring found, under
the digest of all that decides them: the world's id, its settings, the versions of the packages that
step it, and the code of skillfocus. An entry that is damaged, or of another form, is set aside and
made again. Values of variables that JSON cannot hold are not stored.

`SKILLFOCUS_CACHE` names another folder, or is "off". A cache that cannot be read is empty, and one
that cannot be written stays as it is.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from skillfocus.core.enumeration import StateGraph
from skillfocus.core.packed_transitions import PackedTransitions, pack_transitions
from skillfocus.errors import UserError
from skillfocus.files import digest, make_folder, seal, unseal, write_atomically
from skillfocus.versions import code_version
from skillfocus.worlds.model import Key

VARIABLE = "SKILLFOCUS_CACHE"
OFF = ("off", "0", "")
MAX_BYTES = 500_000_000
"""The most that all entries may take; the least recently used go first."""
SUFFIX = ".world"
DTYPES = {
    "values": "<i4", "begins": "<i8", "probabilities": "<f8", "successors": "<i4", "ended": "|b1",
}  # fmt: skip
"""The arrays of an entry."""


class Header(msgspec.Struct, forbid_unknown_fields=True):
    """What an entry holds beside its arrays: the values of each variable, and the starts."""

    listed: list[list[Any]]
    n_starts: int


# -------------------------------------------------------------------- the folder


def cache_folder() -> Path | None:
    """Return where entries are kept; None if the cache is switched off or there is no home."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return None if named.strip().lower() in OFF else Path(named)
    try:
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # a container's user without a home
        return None
    return Path(base) / "skillfocus"


def describe_cache() -> str:
    """Return where explored worlds are kept, and how many there are, for people."""
    folder = cache_folder()
    if folder is None:
        return f"off ({VARIABLE})"
    sizes = [size for _, size, _ in _entries(folder)]
    total = sum(sizes) / 1e6
    return f"{folder}: {len(sizes)} explored worlds, {total:.1f} MB; {VARIABLE} moves it, or off"


def _entries(folder: Path) -> list[tuple[float, int, Path]]:
    """Return when each entry was used last, its size and its path, the oldest first."""
    found = []
    with contextlib.suppress(OSError):
        for path in folder.glob(f"*{SUFFIX}"):
            with contextlib.suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
    return sorted(found)


def _store(path: Path, content: bytes) -> None:
    """Write an entry if that is possible, and delete the oldest ones if there are too many."""
    if len(content) > MAX_BYTES:
        return
    with contextlib.suppress(UserError, OSError):
        make_folder(path.parent)
        write_atomically(path, content)
        entries = _entries(path.parent)
        total = sum(size for _, size, _ in entries)
        for _, size, old in entries[:-1]:
            if total <= MAX_BYTES:
                return
            old.unlink(missing_ok=True)
            total -= size


# -------------------------------------------------------------------- entries


def exploration_key(
    world_id: str, settings: Mapping[str, object], packages: Sequence[str], **decides: object
) -> str | None:
    """Return the name of an entry: a digest of everything that decides what exploring finds.

    Args:
        world_id: The world's id.
        settings: The arguments that make it again.
        packages: The packages that step it.
        **decides: What else decides it, such as the names of actions or a digest of files.

    Returns:
        None if the settings do not fit into JSON: then they do not say what decides the world.
    """
    try:
        versions = {name: version(name) for name in packages}
        text = json.dumps([world_id, settings, versions, code_version(), decides], sort_keys=True)
    except (TypeError, ValueError, PackageNotFoundError):
        return None
    return digest(text.encode())


def cached_exploration(
    key: str | None, n_actions: int, explore: Callable[[], StateGraph[Key]]
) -> StateGraph[Key]:
    """Return what exploring finds, from the cache if it is there; else explore and store it.

    Args:
        key: The entry's name; None to explore in any case.
        n_actions: How many actions the world has.
        explore: Explores the world.
    """
    folder = cache_folder()
    if key is None or folder is None:
        return explore()
    path = folder / f"{key}{SUFFIX}"
    with contextlib.suppress(OSError):
        content = path.read_bytes()
        try:
            graph = _unpack(content, n_actions)
            os.utime(path)
            return graph
        except (UserError, ValueError, TypeError, KeyError, IndexError):
            path.unlink(missing_ok=True)
    graph = explore()
    content = _pack(graph, n_actions)
    if content is not None:
        _store(path, content)
    return graph


def _pack(graph: StateGraph[Key], n_actions: int) -> bytes | None:
    """Return the contents of an entry; None if it cannot hold the states' values."""
    columns = list(zip(*(values for values, _ in graph.states), strict=True))
    if not all(_is_plain(value) for column in columns for value in set(column)):
        return None
    listed = [list(dict.fromkeys(column)) for column in columns]
    places = [{value: place for place, value in enumerate(values)} for values in listed]
    numbers = [
        [where[value] for value in column] for where, column in zip(places, columns, strict=True)
    ]
    # Values that are equal but of another type, as 1 and True are, would come back as the first.
    if any(len({(type(v), v) for v in c}) > len(ls) for c, ls in zip(columns, listed, strict=True)):
        return None
    try:
        moves = pack_transitions(graph.transitions, n_actions)
    except UserError:  # whoever tabulates the world says what is wrong with it
        return None
    arrays = {
        "values": np.array(numbers, np.int32).reshape(len(columns), -1),
        "begins": moves.begins,
        "probabilities": moves.probabilities,
        "successors": moves.successors,
        "ended": np.array([ended for _, ended in graph.states]),
    }
    return seal(Header(listed, graph.n_starts), arrays, compress=1)


def _unpack(content: bytes, n_actions: int) -> StateGraph[Key]:
    """Return the graph of an entry; anything about it may be wrong."""
    header, arrays = unseal(content, Header)
    if {name: array.dtype.str for name, array in arrays.items()} != DTYPES:
        raise ValueError(sorted(arrays))
    moves = PackedTransitions(
        n_actions, arrays["begins"], arrays["probabilities"], arrays["successors"]
    )
    listed = [[_as_hashable(value) for value in values] for values in header.listed]
    numbers = arrays["values"].reshape(len(listed), len(moves))
    ended = arrays["ended"].tolist()
    if len(ended) != len(moves) or not 1 <= header.n_starts <= len(moves) or numbers.min() < 0:
        raise ValueError(header.n_starts)
    columns = [
        [values[i] for i in row.tolist()] for values, row in zip(listed, numbers, strict=True)
    ]
    states = list(zip(zip(*columns, strict=True), ended, strict=True))
    return StateGraph(states, moves, header.n_starts)


def _is_plain(value: Hashable) -> bool:
    """Return whether JSON gives a value back as it was, tuples as lists."""
    if isinstance(value, tuple):
        return type(value) is tuple and all(_is_plain(part) for part in value)
    return value is None or type(value) in (bool, int, float, str)


def _as_hashable(value: Any) -> Hashable:
    if isinstance(value, list):
        return tuple(_as_hashable(part) for part in value)
    if not _is_plain(value):
        raise ValueError(value)
    return value
