"""Explored worlds on disk, so that `describe`, `discover` and `evaluate` explore once.

An entry is a safetensors file with the states and transitions that exploring found, compressed,
under the SHA-256 of all that decides them: the world's id, its settings, the versions of the
packages that step it, and the code of skillfocus that explores. Reading one parses and checks;
nothing in it is run. An entry that is damaged, or of another form, counts as missing, and is
written anew. Values of variables that JSON cannot hold are not stored.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from skillfocus._internal.cache_folder import entry_path, mark_used, store_entry
from skillfocus.core.enumeration import StateGraph
from skillfocus.core.packed_transitions import PackedTransitions, pack_transitions
from skillfocus.errors import UserError
from skillfocus.worlds.model import Key

FORMAT = "skillfocus-explored-1"
MAX_ITEMS = 1_000_000_000
"""The most numbers of an array that is unpacked."""
_CODE = ("core/enumeration.py", "core/packed_transitions.py", "core/factored.py", "worlds")
_DTYPES = {"values": "<i4", "begins": "<i8", "probabilities": "<f8", "successors": "<i4"}


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
        versions = {name: version(name) for name in ("skillfocus", "numpy", *packages)}
        text = json.dumps(
            [FORMAT, world_id, settings, versions, _code_digest(), decides], sort_keys=True
        )
    except (TypeError, ValueError, PackageNotFoundError):
        return None
    return hashlib.sha256(text.encode()).hexdigest()


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file's contents."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


@cache
def _code_digest() -> str:
    """Return a digest of the code that explores."""
    root = Path(__file__).parents[1]
    folders = [root / name for name in _CODE if not name.endswith(".py")]
    files = [root / name for name in _CODE if name.endswith(".py")]
    files += [path for folder in folders for path in folder.rglob("*.py")]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def cached_exploration(
    key: str | None, n_actions: int, explore: Callable[[], StateGraph[Key]]
) -> StateGraph[Key]:
    """Return what exploring finds, from the cache if it is there; else explore and store it.

    Args:
        key: The entry's name; None to explore in any case.
        n_actions: How many actions the world has.
        explore: Explores the world.
    """
    path = None if key is None else entry_path(key)
    if key is None or path is None:
        return explore()
    known = _read(path, n_actions)
    if known is not None:
        mark_used(path)
        return known
    graph = explore()
    content = _pack(graph, n_actions)
    if content is not None:
        store_entry(key, content)
    return graph


def _pack(graph: StateGraph[Key], n_actions: int) -> bytes | None:
    """Return the contents of an entry; None if it cannot hold the states' values."""
    from safetensors.numpy import save

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
        "values": np.array(numbers).reshape(len(columns), -1),
        "begins": moves.begins,
        "probabilities": moves.probabilities,
        "successors": moves.successors,
        "ended": np.array([ended for _, ended in graph.states]),
    }
    packed, sizes = {}, {}
    for name, array in arrays.items():
        content = array.astype(_DTYPES.get(name, "u1")).tobytes()
        packed[name] = np.frombuffer(zlib.compress(content, 1), np.uint8)
        sizes[name] = array.size
    header = json.dumps(
        {"format": FORMAT, "listed": listed, "n_starts": graph.n_starts, "sizes": sizes}
    )
    return save(packed, metadata={"skillfocus": _digest(header, packed) + header})


def _digest(header: str, packed: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(header.encode())
    for name in sorted(packed):
        digest.update(packed[name].tobytes())
    return digest.hexdigest()


def _read(path: Path, n_actions: int) -> StateGraph[Key] | None:
    """Return what an entry holds; None if there is none, or it is not whole."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {})["skillfocus"]
            packed = {name: file.get_tensor(name) for name in (*_DTYPES, "ended")}
        digest, header = text[:64], text[64:]
        if _digest(header, packed) != digest:
            return None
        return _unpack(json.loads(header), packed, n_actions)
    except (
        OSError, SafetensorError, KeyError, TypeError, ValueError, IndexError, AttributeError,
        zlib.error, UserError, RecursionError,
    ):  # fmt: skip
        return None


def _unpack(header: Any, packed: Mapping[str, np.ndarray], n_actions: int) -> StateGraph[Key]:
    """Return the graph of an entry whose digest is right; anything else about it may be wrong."""
    if header["format"] != FORMAT:
        raise ValueError(header["format"])
    arrays = {}
    for name, stream in packed.items():
        kind, size = np.dtype(_DTYPES.get(name, "u1")), int(header["sizes"][name])
        if not 0 <= size <= MAX_ITEMS:
            raise ValueError(size)
        content = zlib.decompressobj().decompress(stream.tobytes(), kind.itemsize * size + 1)
        if len(content) != kind.itemsize * size:
            raise ValueError(name)
        arrays[name] = np.frombuffer(content, kind).astype(kind.newbyteorder("="))
    moves = PackedTransitions(
        n_actions, arrays["begins"], arrays["probabilities"], arrays["successors"]
    )
    listed = [[_as_hashable(value) for value in values] for values in header["listed"]]
    numbers = arrays["values"].reshape(len(listed), len(moves))
    ended, n_starts = arrays["ended"].astype(bool).tolist(), int(header["n_starts"])
    if len(ended) != len(moves) or not 1 <= n_starts <= len(moves) or numbers.min() < 0:
        raise ValueError(n_starts)
    columns = [
        [values[i] for i in row.tolist()] for values, row in zip(listed, numbers, strict=True)
    ]
    states = list(zip(zip(*columns, strict=True), ended, strict=True))
    return StateGraph(states, moves, n_starts)


def _is_plain(value: Hashable) -> bool:
    """Return whether JSON gives a value back as it was, tuples as lists."""
    if isinstance(value, tuple):
        return type(value) is tuple and all(_is_plain(part) for part in value)
    return value is None or type(value) in (bool, int, float, str)


def _as_hashable(value: Any) -> Hashable:
    return tuple(_as_hashable(part) for part in value) if isinstance(value, list) else value
