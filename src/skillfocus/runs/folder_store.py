"""A folder of finished runs. A file that is there is whole; a run that is there is not done again.

folder/LABEL_ID.parquet, LABEL_ID.skills      a finished run
folder/failed/LABEL_ID.json                   a run that raised, with its traceback
folder/damaged/                               files that were found broken, set aside
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl

from skillfocus._internal.atomic_io import make_folder, remove_leftovers, write_atomically
from skillfocus.errors import UserError
from skillfocus.runs.run import COLUMNS, Damaged, Header, Run, decode, settings_of
from skillfocus.skills.skills import Skills

try:
    import fcntl
except ImportError:  # Windows: two commands on one folder then may do a run twice
    fcntl = None

_RUN_FILE = re.compile(r".*_[0-9a-f]{16}\.parquet")
_AT_ONCE = 1000
"""Files read into memory before they are made into one table."""


class StoreWarning(UserWarning):
    """Something in a folder of runs is not as it should be; nothing was lost by it."""


class Store:
    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._locks: int | None = None

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"

    def path(self, run: Run) -> Path:
        return self.folder / f"{run.stem}.parquet"

    def skills_path(self, run: Run) -> Path:
        return self.folder / f"{run.stem}.skills"

    def prepare(self) -> None:
        """Make the folder, and make sure that it can be written to."""
        self.close()
        make_folder(self.folder)
        try:
            self._locks = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise UserError(
                f"cannot write to the folder {self.folder} ({error.strerror}); choose another "
                f"with --out"
            ) from None
        for folder in (self.folder, self.folder / "failed"):
            remove_leftovers(folder)
        foreign = [name for name in self._files() if not _RUN_FILE.fullmatch(name)]
        if foreign:
            warn(f"{self.folder} holds files that are not runs, left alone: {', '.join(foreign)}")

    def close(self) -> None:
        """Give up all claims."""
        if self._locks is not None:
            os.close(self._locks)
            self._locks = None

    # ---------------------------------------------------------------- one run

    def __contains__(self, run: Run) -> bool:
        """Whether a run is there, whole, with its skills; what is broken is set aside."""
        return self._read(self.path(run), with_skills=True) is not None

    def add(self, run: Run, table: bytes, skills: bytes | None) -> None:
        """Keep a finished run. Its table comes last: where it is, everything is."""
        if skills is not None:
            write_atomically(self.skills_path(run), skills)
        write_atomically(self.path(run), table)
        with contextlib.suppress(OSError):
            self._failure_path(run).unlink()

    def skills(self, run: Run) -> Skills:
        return Skills.load(self.skills_path(run))

    def _read(self, path: Path, with_skills: bool) -> tuple[bytes, Header] | None:
        """The file of a run that is asked for; None if it is not there, or was set aside."""
        try:
            content, header = _checked(path)
            if with_skills and header.skills_sha256 is not None:
                _check_skills(path.with_suffix(".skills"), header.skills_sha256)
        except FileNotFoundError:
            return None
        except Damaged as error:
            why = f"{path.name} is damaged ({error})"
            self._set_aside([path, path.with_suffix(".skills")], why)
            return None
        return content, header

    def _set_aside(self, paths: Iterable[Path], why: str) -> None:
        aside = self.folder / "damaged"
        try:
            aside.mkdir(exist_ok=True)
            for path in paths:
                if path.exists():
                    os.replace(path, _free_name(aside / path.name))
        except OSError as error:
            warn(f"{why}; it is ignored, and could not be set aside: {error.strerror}")
        else:
            warn(f"{why}; it was set aside in {aside}, and the run counts as not done")

    # ---------------------------------------------------------------- failures

    def _failure_path(self, run: Run) -> Path:
        return self.folder / "failed" / f"{run.stem}.json"

    def fail(self, run: Run, error: str, traceback: str) -> Path:
        """Record that a run raised."""
        path = self._failure_path(run)
        with contextlib.suppress(OSError):  # write_whole says what is wrong
            path.parent.mkdir(exist_ok=True)
        record = {"id": run.id, "label": run.label, "settings": settings_of(run),
                  "error": error, "traceback": traceback}  # fmt: skip
        write_atomically(path, json.dumps(record, indent=2).encode())
        return path

    def failure(self, run: Run) -> str | None:
        """What a failed run raised, in one line."""
        path = self._failure_path(run)
        try:
            return str(json.loads(path.read_bytes())["error"])
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, KeyError, TypeError):
            self._set_aside([path], f"{path.name} is damaged")
            return None

    # ---------------------------------------------------------------- many runs

    def _files(self) -> list[str]:
        return sorted(name for name in os.listdir(self.folder) if name.endswith(".parquet"))

    def _whole(self, runs: Iterable[Run] | None) -> Iterator[tuple[bytes, Header]]:
        """The files of these runs, or of all that the folder holds; each run once."""
        if not self.folder.is_dir():
            raise UserError(f"there is no folder {self.folder}")
        if runs is not None:
            for run in {run.id: run for run in runs}.values():
                if (read := self._read(self.path(run), with_skills=False)) is not None:
                    yield read
            return
        seen: set[str] = set()
        for name in self._files():
            if not _RUN_FILE.fullmatch(name):
                continue
            try:
                content, header = _checked(self.folder / name)
            except FileNotFoundError:  # another command has just set it aside
                continue
            except Damaged as error:
                warn(f"{self.folder / name} is damaged, or no run ({error}); it is left out")
                continue
            if header.id not in seen:
                seen.add(header.id)
                yield content, header

    def frame(self, runs: Iterable[Run] | None = None) -> pl.DataFrame:
        """The finished ones among these runs (default: all of the folder's) as one long table:
        kind, version, every setting, run, metric, step, value. It does not depend on when, where
        or in which order they ran."""
        headers, contents, parsing = [], [], []
        with ThreadPoolExecutor(1) as parser:  # parses the last files while the next are checked
            for content, header in self._whole(runs):
                headers.append(header)
                contents.append(content)
                if len(contents) == _AT_ONCE:
                    parsing.append(parser.submit(_table, contents))
                    contents = []
            if contents:
                parsing.append(parser.submit(_table, contents))
            tables = [parsed.result() for parsed in parsing]
        if not tables:
            return pl.DataFrame(schema={"kind": pl.String, "version": pl.Int64, **COLUMNS})
        settings = _settings_frame(headers)
        names = [name for name in settings.columns if name != "run"]
        joined = pl.concat(tables).join(settings, on="run", how="left", maintain_order="left")
        return joined.select(*names, *COLUMNS).sort(*names, "run", maintain_order=True)

    def records(self, runs: Iterable[Run] | None = None) -> pl.DataFrame:
        """A row per finished run: its settings, versions, when and where it ran, time, memory."""
        headers = [header for _, header in self._whole(runs)]
        if not headers:
            return pl.DataFrame(schema={"run": pl.String})
        records = pl.DataFrame([h.record for h in headers], infer_schema_length=None)
        return pl.concat([_settings_frame(headers), records], how="horizontal")

    # ---------------------------------------------------------------- several commands at once

    def claim(self, run: Run) -> bool:
        """Whether this process may do a run now: no other process with this folder is at it.
        A claim is a lock on one byte of a file, so it ends with the process, however that ends."""
        return fcntl is None or self._lock(run, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self, run: Run) -> None:
        if fcntl is not None:
            self._lock(run, fcntl.LOCK_UN)

    def _lock(self, run: Run, operation: int) -> bool:
        if self._locks is None:
            raise RuntimeError("prepare the store first")
        try:
            fcntl.lockf(self._locks, operation, 1, int(run.id[:15], 16))  # pyright: ignore[reportOptionalMemberAccess]
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # a file system without locks: a run may then be done twice
            return True
        return True


def _checked(path: Path) -> tuple[bytes, Header]:
    """A run's file, every byte of it checked."""
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


def _check_skills(path: Path, sha256: str) -> None:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Damaged(f"its skills cannot be read: {error.strerror}") from None
    if found != sha256:
        raise Damaged("its skills do not match their digest")


def warn(message: str) -> None:
    warnings.warn(message, StoreWarning, stacklevel=2)


def _free_name(path: Path) -> Path:
    number = 1
    while path.exists():
        path = path.with_name(f"{path.name.removesuffix(f'.{number - 1}')}.{number}")
        number += 1
    return path


def _table(contents: list[bytes]) -> pl.DataFrame:
    return pl.scan_parquet(contents, schema=COLUMNS).collect()


def _settings_frame(headers: list[Header]) -> pl.DataFrame:
    rows = [
        {"run": header.id, "kind": header.kind, "version": header.version, **header.settings}
        for header in headers
    ]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    return pl.DataFrame(
        [pl.Series(name, _one_type(values), strict=False) for name, values in columns.items()]
    )


def _one_type(values: list) -> list:
    """A setting that is a number here and a word there becomes words; 4 and 4.5 both floats."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    if len(kinds) > 1:
        return [None if value is None else str(value) for value in values]
    return values
