"""`Store`: a folder of finished runs. Files are written atomically and verified when read.

folder/LABEL_ID.parquet, LABEL_ID.skills      a finished run
folder/failed/LABEL_ID.json                   a run that raised, with its traceback
folder/damaged/                               files that failed verification, set aside
folder/.lock                                  claims of running processes
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from skillfocus._internal.atomic_io import (
    make_folder,
    remove_leftovers,
    unused_path,
    write_atomically,
)
from skillfocus._internal.checks import file_path
from skillfocus.errors import UserError
from skillfocus.runs.run import Run, settings_of
from skillfocus.runs.run_file import (
    VERSION,
    Damaged,
    Header,
    build_frame,
    build_records,
    decode,
    with_skills_digest,
)
from skillfocus.skills.skills import Skills
from skillfocus.skills.sources import load_any

try:
    import fcntl
except ImportError:  # Windows: without locks, two commands on one folder may repeat a run
    fcntl = None

_RUN_FILE = re.compile(r".*_[0-9a-f]{16}\.parquet")


class StoreWarning(UserWarning):
    """A file in a folder of runs is damaged or foreign; no finished run was lost."""


class Store:
    """A folder of finished runs; the `RunStore` that the command line uses.

        store = Store("out")
        run_all([Discovery("four-rooms", "focused-vic", seed) for seed in range(5)], store)
        store.frame()  # kind, version, every setting, run, metric, step, value

    Several processes may use one folder at the same time: each claims a run before executing it.

    Attributes:
        folder: The folder. It is created when the first run is executed.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = file_path(folder)
        if self.folder.is_file():
            raise UserError(f"{self.folder} is a file; name a folder for the runs (--out)")
        self._lock_file: int | None = None

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"

    def __str__(self) -> str:
        return str(self.folder)

    def path(self, run: Run) -> Path:
        """Return the path of a run's table."""
        return self.folder / f"{run.stem}.parquet"

    def skills_path(self, run: Run) -> Path:
        """Return the path of a run's skills file."""
        return self.folder / f"{run.stem}.skills"

    def prepare(self) -> None:
        """Create the folder, check that it is writable, and delete leftovers of dead processes.

        Raises:
            UserError: If the folder cannot be written to.
        """
        self.close()
        make_folder(self.folder)
        try:
            self._lock_file = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise UserError(
                f"cannot write to the folder {self.folder} ({error.strerror}); choose another "
                f"with --out"
            ) from None
        for folder in (self.folder, self.folder / "failed"):
            remove_leftovers(folder)
        foreign = [name for name in self._table_names() if not _RUN_FILE.fullmatch(name)]
        if foreign:
            _warn(f"ignoring files in {self.folder} that are not runs: {', '.join(foreign)}")

    def close(self) -> None:
        """Release all claims."""
        if self._lock_file is not None:
            os.close(self._lock_file)
            self._lock_file = None

    # ---------------------------------------------------------------- one run

    def __contains__(self, run: Run) -> bool:
        """Return whether a run is stored with its skills, verified; damaged files are set aside."""
        return self._read(self.path(run), with_skills=True) is not None

    def add(self, run: Run, table: bytes, skills: bytes | None) -> None:
        """Store a finished run. The table is written last: if it exists, the run is complete."""
        if skills is not None:
            write_atomically(self.skills_path(run), skills)
        write_atomically(self.path(run), table)
        with contextlib.suppress(OSError):
            self._failure_path(run).unlink()

    def replace_skills(self, run: Run, skills: bytes) -> None:
        """Store other skills with a finished run: the same ones, with more in their `info`."""
        file = self._read(self.path(run), with_skills=True)
        if file is not None and file[1].format_version == VERSION:
            self.add(run, with_skills_digest(*file, hashlib.sha256(skills).hexdigest()), skills)

    def skills(self, run: Run) -> Skills:
        """Load the skills of a finished run."""
        return load_any(self.skills_path(run))  # pyright: ignore[reportReturnType]

    def has_skills(self, run: Run) -> bool:
        """Return whether a finished run is stored together with skills."""
        return self.skills_path(run).exists() and run in self

    def _read(self, path: Path, with_skills: bool) -> tuple[bytes, Header] | None:
        """Read and verify a table; None if it does not exist or was damaged and set aside."""
        try:
            content, header = _read_verified(path)
            if with_skills and header.skills_sha256 is not None:
                _verify_skills(path.with_suffix(".skills"), header.skills_sha256)
        except FileNotFoundError:
            return None
        except Damaged as error:
            problem = f"{path.name} is damaged ({error})"
            self._set_aside([path, path.with_suffix(".skills")], problem)
            return None
        return content, header

    def _set_aside(self, paths: Iterable[Path], problem: str) -> None:
        """Move files to the folder for damaged ones and warn."""
        aside = self.folder / "damaged"
        try:
            aside.mkdir(exist_ok=True)
            for path in paths:
                if path.exists():
                    os.replace(path, unused_path(aside / path.name))
        except OSError as error:
            _warn(f"{problem}; it is ignored, and could not be set aside: {error.strerror}")
        else:
            _warn(f"{problem}; it was set aside in {aside}, and the run counts as not done")

    # ---------------------------------------------------------------- failures

    def _failure_path(self, run: Run) -> Path:
        return self.folder / "failed" / f"{run.stem}.json"

    def fail(self, run: Run, error: str, traceback: str) -> Path:
        """Record that a run raised, and return the path of the record."""
        path = self._failure_path(run)
        with contextlib.suppress(OSError):  # write_atomically raises with a better message
            path.parent.mkdir(exist_ok=True)
        record = {"id": run.id, "label": run.label, "settings": settings_of(run),
                  "error": error, "traceback": traceback}  # fmt: skip
        write_atomically(path, json.dumps(record, indent=2).encode())
        return path

    def failure(self, run: Run) -> str | None:
        """Return the recorded error of a failed run in one line; None if it did not fail."""
        path = self._failure_path(run)
        try:
            return str(json.loads(path.read_bytes())["error"])
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, KeyError, TypeError):
            self._set_aside([path], f"{path.name} is damaged")
            return None

    # ---------------------------------------------------------------- many runs

    def frame(self, runs: Iterable[Run] | None = None) -> pl.DataFrame:
        """Return the results of the finished ones among these runs as one long table.

        Args:
            runs: The runs; by default, all that the folder holds.

        Returns:
            Columns kind, version, every setting, run, metric, step, value. The frame does not
            depend on when, where or in which order the runs were executed.

        Raises:
            UserError: If the folder does not exist.
        """
        return build_frame(self._read_all(runs))

    def records(self, runs: Iterable[Run] | None = None) -> pl.DataFrame:
        """Return one row per finished run: settings, versions, host, start, time, memory.

        Args:
            runs: The runs; by default, all that the folder holds.
        """
        return build_records([header for _, header in self._read_all(runs)])

    def _table_names(self) -> list[str]:
        try:
            names = os.listdir(self.folder)
        except OSError as error:
            raise UserError(f"cannot list the folder {self.folder}: {error.strerror}") from None
        return sorted(name for name in names if name.endswith(".parquet"))

    def _read_all(self, runs: Iterable[Run] | None) -> Iterator[tuple[bytes, Header]]:
        """Yield the verified tables of these runs, or of the whole folder; each run once."""
        if not os.path.isdir(self.folder):
            raise UserError(f"there is no folder {self.folder}")
        if runs is not None:
            for run in {run.id: run for run in runs}.values():
                if (file := self._read(self.path(run), with_skills=False)) is not None:
                    yield file
            return
        seen: set[str] = set()
        for name in self._table_names():
            if not _RUN_FILE.fullmatch(name):
                continue
            try:
                content, header = _read_verified(self.folder / name)
            except FileNotFoundError:  # another process has just set it aside
                continue
            except Damaged as error:
                _warn(f"{self.folder / name} is damaged, or not a run ({error}); it is left out")
                continue
            if header.id not in seen:
                seen.add(header.id)
                yield content, header

    # ---------------------------------------------------------------- several processes

    def claim(self, run: Run) -> bool:
        """Try to reserve a run for this process; return False while another process has it.

        A claim is a lock on one byte of a file, so it ends with the process, however that ends.
        """
        return fcntl is None or self._lock(run, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self, run: Run) -> None:
        """Give up the claim on a run."""
        if fcntl is not None:
            self._lock(run, fcntl.LOCK_UN)

    def _lock(self, run: Run, operation: int) -> bool:
        if self._lock_file is None:
            raise RuntimeError("call prepare() before claiming runs")
        try:
            fcntl.lockf(self._lock_file, operation, 1, int(run.id[:15], 16))  # pyright: ignore[reportOptionalMemberAccess]
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # a file system without locks: a run may be executed twice
            return True
        return True


def _read_verified(path: Path) -> tuple[bytes, Header]:
    """Read a run's table and verify every byte of it."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    try:
        header = decode(content)
    except UserError as error:
        raise UserError(f"cannot use {path}: {error}") from None
    if not path.stem.endswith(header.id):
        raise Damaged("its name is another run's")
    return content, header


def _verify_skills(path: Path, sha256: str) -> None:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Damaged(f"its skills cannot be read: {error.strerror}") from None
    if digest != sha256:
        raise Damaged("its skills do not match their digest")


def _warn(message: str) -> None:
    warnings.warn(message, StoreWarning, stacklevel=2)
