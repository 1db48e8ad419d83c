"""Things that users define in Python files of their own, by `FILE.py:NAME`.

Running such a file is running code. Only names that a user typed may come here, never those that a
skills file or stored results hold.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from skillfocus.errors import UserError, unknown
from skillfocus.files import shorten


def is_own(name: str) -> bool:
    """Return whether a name has the form `FILE.py:NAME`."""
    return name.rpartition(":")[0].endswith(".py")


def load_own(name: str) -> Any:
    """Run the file of `FILE.py:NAME` and return what it calls NAME.

    Raises:
        UserError: If there is no such file or name, or the file raises.
    """
    path, attribute = _parts(name)
    with own_code(name):
        module = run_file(path)
    if not hasattr(module, attribute):
        public = [known for known in vars(module) if not known.startswith("_")]
        raise unknown(f"name in {path}", attribute, public)
    return getattr(module, attribute)


def own_digest(name: str) -> str:
    """Return 16 hexadecimal digits that change with the contents of the file."""
    path, _ = _parts(name)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


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
        lines = [frame.lineno for frame in frames if _same(frame.filename, file)]
        place = f" (line {lines[-1]})" if lines else ""
        raise UserError(f"{name} does not work{place}: {type(error).__name__}: {error}") from error


def run_file(path: Path) -> ModuleType:
    """Run a user's Python file; like a script, it can import files beside it.

    A file that has not changed is run once, so that its functions stay the same objects.
    """
    if not os.path.isfile(path):
        raise UserError(f"there is no file {shorten(path)}")
    return _run(path.resolve(), hashlib.sha256(path.read_bytes()).hexdigest())


@lru_cache(maxsize=16)
def _run(path: Path, digest: str) -> ModuleType:
    del digest
    spec = importlib.util.spec_from_file_location(f"skillfocus_own_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    if str(path.parent.resolve()) not in sys.path:
        sys.path.append(str(path.parent.resolve()))
    spec.loader.exec_module(module)
    return module


def _same(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve()


def _parts(name: str) -> tuple[Path, str]:
    file, _, attribute = name.rpartition(":")
    return Path(file), attribute
