"""Files: atomic writes, digests, and arrays under a checked header.

A file that exists is complete, whatever interrupts the program: `write_atomically` writes to a
temporary file in the same folder, syncs it and renames it. Skills, checkpoints of trainings and
explored worlds are *sealed*: one safetensors file whose metadata hold a digest of everything and a
JSON header, which is checked against a schema when it is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import socket
import sys
import tempfile
import traceback
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import msgspec
import numpy as np

from skillfocus.errors import UserError, unknown

MAX_SHOWN = 120
"""Characters of a path that an error shows."""
MAX_NAME = 100
"""Characters that a file name takes from a text."""
MAX_BYTES = 16_000_000_000
"""Bytes of a compressed array once it is decompressed, at most."""
_TEMPORARY = re.compile(r"\.(?P<pid>[0-9]+)@(?P<host>[^~]*)~.*")
_UNSAFE = re.compile(r"[^A-Za-z0-9.+=-]+")
_RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9])(\..*)?", re.IGNORECASE)
Header = TypeVar("Header", bound=msgspec.Struct)


class Damaged(UserError):
    """A file whose contents are not what was written to it."""


# -------------------------------------------------------------------- paths


@contextmanager
def _explained(what: str, advice: str = "") -> Iterator[None]:
    """Turn errors of the system into one sentence: `cannot WHAT: REASON; ADVICE`."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a null character
        if isinstance(error, UserError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"cannot {what}: {reason}{advice}") from None


def make_folder(folder: Path) -> None:
    """Create a folder and its parents if they do not exist.

    Raises:
        UserError: If the path is a file, or the folder cannot be created.
    """
    with _explained(f"create the folder {shorten(folder)}"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise UserError(f"{folder} is a file, not a folder") from None


def require_writable_folder(folder: Path) -> None:
    """Create a folder and check that it is writable, before hours of work depend on it.

    Raises:
        UserError: If the folder cannot be created or written to.
    """
    make_folder(folder)
    if not os.access(folder, os.W_OK):
        raise UserError(f"cannot write to the folder {folder}; choose another")


def check_file_path(path: Path) -> None:
    """Check that `write_atomically` will be able to write a file, before work depends on it.

    Raises:
        UserError: If the path is a folder, its name is not possible here, or its folder is missing
            or read-only.
    """
    if os.path.isdir(path):
        raise UserError(f"{path} is a folder; name a file to write")
    too_long = _explained(f"write {shorten(path)}", "; use another name")
    with too_long, contextlib.suppress(FileNotFoundError):
        os.lstat(path)
    _require_folder_of(path)
    if not os.access(path.parent, os.W_OK):
        raise UserError(f"cannot write to {path.parent}, so {path.name} cannot be written there")


def _require_folder_of(path: Path) -> None:
    if not os.path.isdir(path.parent):
        raise UserError(f"there is no folder {shorten(path.parent)} to write {path.name} to")


def shorten(path: Path | str) -> str:
    """Return a path for an error; one that is too long for a file system is cut."""
    text = str(path)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def file_name(text: str, ending: str = "") -> str:
    """Return a file name that every system accepts.

    Args:
        text: What the name says; it is cut, and whatever is not a letter, a digit or one of
            `.+=-` becomes `_`.
        ending: What distinguishes the file, such as `_0123456789abcdef.png`; it is kept as it is.
    """
    name = f"{_UNSAFE.sub('_', text)[:MAX_NAME]}{ending}".rstrip(".") or "_"
    return f"_{name}" if _RESERVED.fullmatch(name) else name


def set_aside(path: Path, folder: Path) -> Path:
    """Move a file to the first of NAME, NAME.1, … that is free in a folder; return that path."""
    aside, number = folder / path.name, 0
    while os.path.lexists(aside):
        number += 1
        aside = folder / f"{path.name}.{number}"
    os.replace(path, aside)
    return aside


# -------------------------------------------------------------------- writing


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file completely or not at all, and sync it to disk.

    Raises:
        UserError: If the folder does not exist or the file cannot be written.
    """
    _require_folder_of(path)
    with _explained(f"write to {path.parent}"):
        prefix = f".{os.getpid()}@{socket.gethostname()}~"
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=prefix)
    try:
        with _explained(f"write {shorten(path)}"):
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            # mkstemp creates files readable by their owner alone; give ours the usual permissions.
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    with contextlib.suppress(
        OSError
    ):  # so that it survives a power failure, where that is possible
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def remove_leftovers(folder: Path) -> None:
    """Delete temporary files of processes of this machine that no longer exist."""
    for file in folder.glob(".*@*~*"):
        parts = _TEMPORARY.fullmatch(file.name)
        if parts and parts["host"] == socket.gethostname() and not _is_alive(int(parts["pid"])):
            file.unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    """Return whether this machine has a process of that id; on Windows, always True."""
    if os.name == "nt":  # there, os.kill(pid, 0) would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


# -------------------------------------------------------------------- contents


def digest(*parts: bytes) -> str:
    """Return the SHA-256 of some bytes, one part after another, in hexadecimal."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()


def read_bytes(path: Path, what: str) -> bytes:
    """Return the contents of a file.

    Args:
        path: The file.
        what: What the file should hold, for errors, such as "skills".

    Raises:
        UserError: If there is no such file, or it cannot be read.
    """
    if os.path.isdir(path):
        raise UserError(f"{path} is a folder: name a file of {what}")
    with _explained(f"read {shorten(path)}"):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            raise UserError(f"there is no file {shorten(path)}: name a file of {what}") from None


def seal(header: msgspec.Struct, arrays: Mapping[str, np.ndarray], compress: int = 0) -> bytes:
    """Return the contents of a safetensors file with a header, arrays and a digest of both.

    Args:
        header: What `unseal` checks and returns.
        arrays: Arrays by name.
        compress: zlib level; 0 stores the arrays as they are.
    """
    from safetensors.numpy import save

    stored = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    shapes = {name: [array.dtype.str, *array.shape] for name, array in stored.items()}
    if compress:
        stored = {
            name: np.frombuffer(zlib.compress(array.tobytes(), compress), np.uint8)
            for name, array in stored.items()
        }
    plain = msgspec.to_builtins(header, enc_hook=lambda number: number.item())  # NumPy's numbers
    text = json.dumps({"header": plain, "zlib": shapes if compress else {}})
    return save(stored, metadata={"skillfocus": _digest_of(text, stored) + text})


def unseal(content: bytes, kind: type[Header]) -> tuple[Header, dict[str, np.ndarray]]:
    """Return the header and the arrays of a sealed file.

    Args:
        content: Bytes of any origin; nothing in them is executed.
        kind: The header's schema.

    Raises:
        Damaged: If the content is not what `seal` returned.
        UserError: If the header is another one than `kind` describes.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        size = int.from_bytes(content[:8], "little")
        text = json.loads(content[8 : 8 + size])["__metadata__"]["skillfocus"]
        stored = load(content)
        known, text = text[:64], text[64:]
    except (SafetensorError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise Damaged("it is not a file of skillfocus, or not a whole one") from None
    if _digest_of(text, stored) != known:
        raise Damaged("its contents do not match its digest")
    try:
        sealed = msgspec.json.decode(text, type=_Sealed)
        header = msgspec.convert(sealed.header, kind)
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as error:
        raise UserError(f"bad header ({error})") from None
    if not sealed.zlib:
        return header, stored
    if sealed.zlib.keys() != stored.keys():
        raise UserError("bad header (it lists other arrays)")
    return header, {name: _inflate(stored[name], sealed.zlib[name]) for name in stored}


class _Sealed(msgspec.Struct, forbid_unknown_fields=True):
    header: dict
    zlib: dict[str, list[str | int]]


def _digest_of(text: str, arrays: Mapping[str, np.ndarray]) -> str:
    """Return a digest of the header's text and of all arrays, whatever their order."""
    parts = [text.encode()]
    for name in sorted(arrays):
        array = arrays[name]
        parts += [f"{name}{array.dtype.str}{array.shape}".encode(), array.tobytes()]
    return digest(*parts)


def _inflate(stream: np.ndarray, form: list[str | int]) -> np.ndarray:
    """Return a compressed array of this dtype and shape; memory is bounded by `MAX_BYTES`."""
    try:
        kind, shape = np.dtype(form[0]), [int(n) for n in form[1:]]  # pyright: ignore[reportCallIssue, reportArgumentType]
        size = kind.itemsize * int(np.prod(shape, dtype=object))
        if kind.hasobject or min(shape, default=0) < 0 or size > MAX_BYTES:
            raise ValueError
        inflate = zlib.decompressobj()
        content = inflate.decompress(stream.tobytes(), size + 1)
        if len(content) != size:
            raise ValueError
        return np.frombuffer(bytearray(content), kind).reshape(shape)
    except (TypeError, ValueError, IndexError, zlib.error):
        raise UserError("bad header (an array has another size)") from None


# -------------------- Things that users define in Python files of their own, by `FILE.py:NAME`
#
# Running such a file is running code. Only names that a user typed may come here, never those that
# a skills file or stored results hold.


def is_own(name: str) -> bool:
    """Return whether a name has the form `FILE.py:NAME`."""
    return name.rpartition(":")[0].endswith(".py")


def load_own(name: str) -> Any:
    """Run the file of `FILE.py:NAME` and return what it calls NAME.

    Like a script, it can import files beside it.

    Raises:
        UserError: If there is no such file or name, or the file raises.
    """
    path, attribute = _parts(name)
    if not os.path.isfile(path):
        raise UserError(f"there is no file {shorten(path)}")
    with own_code(name):
        module = _run_file(path.resolve(), own_digest(name))
    if not hasattr(module, attribute):
        public = [known for known in vars(module) if not known.startswith("_")]
        raise unknown(f"name in {path}", attribute, public)
    return getattr(module, attribute)


def own_digest(name: str) -> str:
    """Return 16 hexadecimal digits that change with the contents of the file."""
    return digest(_parts(name)[0].read_bytes())[:16]


@contextmanager
def own_code(name: str) -> Iterator[None]:
    """Turn what the code behind `FILE.py:NAME` raises into one sentence with the line.

    Raises:
        UserError: If that code raised. For names of another form, nothing is changed.
    """
    file = name.rpartition(":")[0]
    try:
        yield
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        if not file.endswith(".py"):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        own = Path(file).resolve()
        lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == own]
        place = f" (line {lines[-1]})" if lines else ""
        raise UserError(f"{name} does not work{place}: {type(error).__name__}: {error}") from error


@lru_cache(maxsize=16)
def _run_file(path: Path, contents: str) -> ModuleType:
    """Run a file once, unless its contents change, so that its functions stay the same objects."""
    del contents
    spec = importlib.util.spec_from_file_location(f"skillfocus_own_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    if str(path.parent.resolve()) not in sys.path:
        sys.path.append(str(path.parent.resolve()))
    spec.loader.exec_module(module)
    return module


def _parts(name: str) -> tuple[Path, str]:
    file, _, attribute = name.rpartition(":")
    return Path(file), attribute
