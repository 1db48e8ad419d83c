"""Write files into a folder that may also hold files of the user's.

A manifest in the folder lists what was written, with digests. Files of an earlier report that the
new one no longer has are deleted only if they are listed and have not been changed since.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path

from skillfocus._internal.atomic_io import make_folder, write_atomically

MANIFEST = ".skillfocus-report.json"


def write_owned_files(folder: Path, files: Mapping[str, bytes], suffixes: Collection[str]) -> None:
    """Write files, and delete those that an earlier call wrote and this one does not.

    Args:
        folder: Folder to write to; it is created.
        files: Contents by plain file name.
        suffixes: Suffixes of the files to delete; listed files with others are kept.
    """
    make_folder(folder)
    earlier = _read_manifest(folder)
    digests = {name: _digest(content) for name, content in files.items()}
    for name, content in files.items():
        write_atomically(folder / name, content)
    for name in earlier.keys() - files.keys():
        path = folder / name
        if path.suffix not in suffixes:
            digests[name] = earlier[name]
        elif path.is_file() and _digest(path.read_bytes()) == earlier[name]:
            path.unlink()
    text = json.dumps({"files": dict(sorted(digests.items()))}, indent=1) + "\n"
    write_atomically(folder / MANIFEST, text.encode())


def _read_manifest(folder: Path) -> dict[str, str]:
    """Digests of the files listed; without a manifest, or with one that cannot be read, none."""
    try:
        files = json.loads((folder / MANIFEST).read_text())["files"]
        return {name: str(digest) for name, digest in files.items() if Path(name).name == name}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
