"""Write files into a folder that may also hold files of the user's.

A manifest in the folder lists what was written, with digests. A file that is not listed, or that
was changed since, is never lost: where a new one takes its name, it is kept as `NAME.1`. Files of
an earlier report that the new one no longer has are deleted only if they are listed and unchanged.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Collection, Mapping
from pathlib import Path

from skillfocus._internal.atomic_io import make_folder, unused_path, write_atomically
from skillfocus.errors import UserError

MANIFEST = ".skillfocus-report.json"


class KeptFileWarning(UserWarning):
    """Files had the names of a report's files; they were renamed, not overwritten."""


def write_owned_files(
    folder: Path, files: Mapping[str, bytes], suffixes: Collection[str] = ()
) -> None:
    """Write files, and delete those that an earlier call wrote and this one does not.

    Args:
        folder: Folder to write to; it is created.
        files: Contents by plain file name.
        suffixes: Suffixes of the files to delete; listed files with others are kept.
    """
    make_folder(folder)
    earlier = _read_manifest(folder)
    digests = {name: _digest(content) for name, content in files.items()}
    _keep_foreign_files(folder, digests, earlier)
    for name, content in files.items():
        write_atomically(folder / name, content)
    for name in earlier.keys() - files.keys():
        path = folder / name
        if path.suffix not in suffixes:
            digests[name] = earlier[name]
        elif path.is_file() and _digest(path.read_bytes()) == earlier[name]:
            path.unlink()
    _write_manifest(folder, digests)


def write_named_file(path: Path, content: bytes) -> None:
    """Write a file by the name that the user gave, whatever was there before."""
    write_atomically(path, content)
    listed = _read_manifest(path.parent)
    if path.name in listed:  # the folder is a report's, too
        _write_manifest(path.parent, {**listed, path.name: _digest(content)})


def _keep_foreign_files(
    folder: Path, digests: Mapping[str, str], earlier: Mapping[str, str]
) -> None:
    """Rename what has the name of a new file and is neither that nor what an earlier call wrote."""
    kept = []
    for name, digest in digests.items():
        path = folder / name
        try:
            if _digest(path.read_bytes()) in (digest, earlier.get(name)):
                continue
        except FileNotFoundError:
            continue
        except OSError:
            pass  # a folder, or a file that only its owner reads
        kept.append(aside := unused_path(path))
        try:
            os.rename(path, aside)
        except OSError as error:
            raise UserError(
                f"cannot rename {path}, which is in the way: {error.strerror}"
            ) from None
    if kept:
        names = ", ".join(path.name for path in kept)
        warnings.warn(
            f"{folder} had other files under the names of this report's; they are now {names}",
            KeptFileWarning,
            stacklevel=3,
        )


def _read_manifest(folder: Path) -> dict[str, str]:
    """Digests of the files listed; without a manifest, or with one that cannot be read, none."""
    try:
        files = json.loads((folder / MANIFEST).read_text())["files"]
        return {name: str(digest) for name, digest in files.items() if Path(name).name == name}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _write_manifest(folder: Path, digests: Mapping[str, str]) -> None:
    text = json.dumps({"files": dict(sorted(digests.items()))}, indent=1) + "\n"
    write_atomically(folder / MANIFEST, text.encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
