"""Atomic file writes: a file that exists is complete, whatever interrupts the program.

`write_atomically` writes to a temporary file in the same folder and renames it. The temporary name
holds the process id and the host, so that `remove_leftovers` can delete those of dead processes.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import tempfile
from pathlib import Path

from skillfocus.errors import UserError

MAX_SHOWN = 120
"""Characters of a path that an error shows."""
_TEMPORARY_NAME = re.compile(r"\.(?P<pid>[0-9]+)@(?P<host>[^~]*)~.*")


def make_folder(folder: Path) -> None:
    """Create a folder and its parents if they do not exist.

    Raises:
        UserError: If the path is a file, or the folder cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UserError(f"{folder} is a file, not a folder") from None
    except (OSError, ValueError) as error:  # ValueError: a null character
        reason = _reason(error)
        raise UserError(f"cannot create the folder {shorten(folder)}: {reason}") from None


def require_writable_folder(folder: Path) -> None:
    """Create a folder and check that it is writable, before hours of work depend on it.

    Raises:
        UserError: If the folder cannot be created or written to.
    """
    make_folder(folder)
    if not os.access(folder, os.W_OK):
        raise UserError(f"cannot write to the folder {folder}; choose another")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file completely or not at all, and sync it to disk.

    Raises:
        UserError: If the folder does not exist or the file cannot be written.
    """
    if not os.path.isdir(path.parent):
        raise UserError(f"there is no folder {shorten(path.parent)} to write {path.name} to")
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
        # mkstemp creates files readable by their owner alone; give ours the usual permissions.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError | ValueError):  # ValueError: a null character
            raise UserError(f"cannot write {shorten(path)}: {_reason(error)}") from None
        raise


def unused_path(path: Path) -> Path:
    """Return the first of path.1, path.2, … that does not exist, or the path if it does not."""
    number, unused = 0, path
    while os.path.lexists(unused):
        number += 1
        unused = path.with_name(f"{path.name}.{number}")
    return unused


def check_file_path(path: Path) -> None:
    """Check that `write_atomically` will be able to write a file, before work depends on it.

    Raises:
        UserError: If the path is empty or a folder, its name is not possible here, or its folder is
            missing or read-only.
    """
    if os.path.isdir(path):
        raise UserError(f"{path} is a folder; name a file to write")
    try:
        os.lstat(path)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:  # a name that is too long, or has a null character
        raise UserError(
            f"cannot write {shorten(path)}: {_reason(error)}; use another name"
        ) from None
    if not os.path.isdir(path.parent):
        raise UserError(f"there is no folder {shorten(path.parent)} to write {path.name} to")
    if not os.access(path.parent, os.W_OK):
        raise UserError(f"cannot write to {path.parent}, so {path.name} cannot be written there")


def shorten(path: Path | str) -> str:
    """Return a path for an error; one that is too long for a file system is cut."""
    text = str(path)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def _reason(error: OSError | ValueError) -> object:
    return error.strerror if isinstance(error, OSError) else error


def _sync_folder(folder: Path) -> None:
    """Make the rename survive a power failure, on systems that can sync a folder."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_leftovers(folder: Path) -> None:
    """Delete temporary files of processes of this machine that no longer exist."""
    for file in folder.glob(".*@*~*"):
        parts = _TEMPORARY_NAME.fullmatch(file.name)
        if parts and parts["host"] == socket.gethostname() and not process_alive(int(parts["pid"])):
            file.unlink(missing_ok=True)


def process_alive(pid: int) -> bool:
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
