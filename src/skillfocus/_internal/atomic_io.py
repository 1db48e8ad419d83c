"""Writing files so that one that is there is whole."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import tempfile
from pathlib import Path

from skillfocus.errors import UserError

_LEFTOVER = re.compile(r"\.(?P<pid>[0-9]+)@(?P<host>[^~]*)~.*")


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UserError(f"{folder} is a file, not a folder") from None
    except OSError as error:
        raise UserError(f"cannot make the folder {folder}: {error.strerror}") from None


def require_writable_folder(folder: Path) -> None:
    """Make a folder, and make sure now that it can be written to later."""
    make_folder(folder)
    if not os.access(folder, os.W_OK):
        raise UserError(f"cannot write to the folder {folder}; choose another")


def write_atomically(path: Path, content: bytes) -> None:
    """Write to a temporary name beside the target, sync, rename, sync the folder."""
    if not path.parent.is_dir():
        raise UserError(f"there is no folder {path.parent} to write {path.name} to")
    try:
        handle, temporary = tempfile.mkstemp(
            dir=path.parent, prefix=f".{os.getpid()}@{socket.gethostname()}~"
        )
    except OSError as error:
        raise UserError(f"cannot write to {path.parent}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise UserError(f"cannot write {path}: {error.strerror}") from None
        raise


def _sync_folder(folder: Path) -> None:
    """So that the new name outlives a power cut, where the system can promise that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_leftovers(folder: Path) -> None:
    """Temporary files of processes of this machine that are no more."""
    for file in folder.glob(".*@*~*"):
        named = _LEFTOVER.fullmatch(file.name)
        if named and named["host"] == socket.gethostname() and not process_alive(int(named["pid"])):
            file.unlink(missing_ok=True)


def process_alive(pid: int) -> bool:
    """Whether this machine has such a process."""
    if os.name == "nt":  # there, asking would end it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
