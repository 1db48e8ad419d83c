"""A run is everything that decides a result, in one frozen value. What it yields is one table.

A finished run is one Parquet file: a long table (run, metric, step, value), and in the file's
metadata a JSON header and a digest of every byte of the file. `store.py` keeps such files.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import ClassVar

import polars as pl

from skillfocus.core.progress import Progress
from skillfocus.errors import UserError

Setting = str | int | float | bool | None
Row = tuple[str, int | None, float | None]
"""(metric, step, value): a step counts whatever the metric is counted by, such as skills."""

FORMAT, VERSION = "skillfocus-run", 1
COLUMNS = {"run": pl.String, "metric": pl.String, "step": pl.Int64, "value": pl.Float64}
OWN = ("kind", "version", *COLUMNS)
"""Column names that settings may not have."""
_DIGEST = re.compile(rb"skillfocus-sha256:([0-9a-f]{64})")
_NO_DIGEST = "skillfocus-sha256:" + "0" * 64


class Damaged(Exception):
    """A file that does not hold what was written to it."""


@dataclass(frozen=True)
class Result:
    rows: list[Row]
    skills: bytes | None = None
    """A skills file's contents (`Skills.to_bytes`), where there are skills."""


@dataclass(frozen=True)
class Run:
    """Subclass it as a frozen dataclass whose fields decide the result, and say in `execute` how
    to get it. The class's name is part of a run's identity, and so is `version`: raise it with
    any change of the code that could change a result."""

    version: ClassVar[int] = 1

    def execute(self, report: Progress) -> Result:
        raise NotImplementedError

    def settings(self) -> Mapping[str, Setting]:
        """Everything that decides the result, one name each; the columns of a frame."""
        return flatten(self)

    @property
    def label(self) -> str:
        """A few words for people: progress shows it, file names begin with it."""
        return "_".join([type(self).__name__, *map(str, settings_of(self).values())])

    @cached_property
    def id(self) -> str:
        return identify(self)

    @property
    def stem(self) -> str:
        """What the names of its files begin with."""
        return f"{re.sub(r'[^A-Za-z0-9.+=-]+', '_', self.label)[:100]}_{self.id}"


def flatten(value: object) -> dict[str, Setting]:
    """A dataclass's fields under their names, those of dataclasses in it beside them. A whole
    number where a float is declared becomes one: 4 and 4.0 are the same setting. A field that was
    renamed keeps its old name in files (`metadata={"stored_as": …}`), so that runs stay known."""
    flat: dict[str, Setting] = {}
    for field in fields(value):  # pyright: ignore[reportArgumentType]
        held = getattr(value, field.name)
        if type(held) is int and "float" in str(field.type):
            held = float(held)
        name = field.metadata.get("stored_as", field.name)
        inner = flatten(held) if is_dataclass(held) else {name: held}
        if twice := flat.keys() & inner.keys():
            raise TypeError(f"{type(value).__name__} has two settings named {min(twice)}")
        flat |= inner
    return flat


def settings_of(run: Run) -> dict[str, Setting]:
    """A run's settings, once it is sure that a file and a frame can hold them."""
    settings = dict(run.settings())
    for name, value in settings.items():
        if name in OWN or not isinstance(value, Setting):
            raise TypeError(f"a run cannot have a setting {name} = {value!r}")
    return settings


def identify(run: Run) -> str:
    """A digest of what decides a run's result: its kind, the kind's version, its settings."""
    key = {"kind": type(run).__name__, "version": run.version, "settings": settings_of(run)}
    text = json.dumps(key, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Header:
    """What a run's file says of itself."""

    id: str
    kind: str
    version: int
    settings: dict[str, Setting]
    record: dict[str, object]
    """Versions, time and memory: what varies between two executions of the same run."""
    skills_sha256: str | None = None
    format: str = FORMAT
    format_version: int = VERSION


def encode(header: Header, rows: Iterable[Row]) -> bytes:
    """A run's file."""
    table = pl.DataFrame([(header.id, *row) for row in rows], schema=COLUMNS, orient="row")
    buffer = io.BytesIO()
    metadata = {"skillfocus": json.dumps(vars(header)), "digest": _NO_DIGEST}
    table.write_parquet(buffer, metadata=metadata, statistics=False)
    content = buffer.getvalue()
    digest = hashlib.sha256(content).hexdigest()
    return content.replace(_NO_DIGEST.encode(), f"skillfocus-sha256:{digest}".encode())


def decode(content: bytes) -> Header:
    """Check every byte of a run's file, and read its header; `Damaged` says what is wrong."""
    found = list(_DIGEST.finditer(content))
    if not found:
        raise Damaged("it has no digest")
    first, last = found[-1].span(1)
    zeroed = b"".join((content[:first], b"0" * (last - first), content[last:]))
    if hashlib.sha256(zeroed).hexdigest().encode() != content[first:last]:
        raise Damaged("its contents do not match its digest")
    held = json.loads(pl.read_parquet_metadata(io.BytesIO(content))["skillfocus"])
    if held.get("format") != FORMAT or held.get("format_version") != VERSION:
        raise UserError(
            f"it has version {held.get('format_version')} of the file format, this program reads "
            f"version {VERSION}: use the skillfocus that wrote it"
        )
    return Header(**held)
