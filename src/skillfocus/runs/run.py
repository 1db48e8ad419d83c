"""A run: everything that decides a result, as one frozen dataclass, and how to compute the result.

A run's `id` is a digest of its class name, the class's `version` and its settings. Stores file
results under it, so a run with the same id is never executed twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import ClassVar

from skillfocus._internal.file_names import file_name
from skillfocus.core.progress import Progress
from skillfocus.core.rows import Row as Row

Setting = str | int | float | bool | None
"""The type of one setting: what both JSON and a column of a data frame can hold."""
RESERVED = ("kind", "version", "run", "metric", "step", "value")
"""Column names of a frame that no setting may have."""


@dataclass(frozen=True)
class Result:
    """What a run yields.

        Result([("home", None, 0.25), ("side_effects", 3, 0.01)], skills.to_bytes())

    Attributes:
        rows: The result table, see `core.rows.Row`.
        skills: The contents of a skills file (`Skills.to_bytes`), or None if there are no skills.
    """

    rows: list[Row]
    skills: bytes | None = None


@dataclass(frozen=True)
class Run:
    """A computation with a stored result; subclass it as a frozen dataclass.

    The fields of the subclass decide the result and `execute` computes it:

        @dataclass(frozen=True)
        class Walks(Run):
            length: int
            seed: int

            def execute(self, progress):
                rng = np.random.default_rng(self.seed)
                return Result([("end", None, rng.choice([-1, 1], self.length).sum())])

    The class name is part of the run's identity, and so is `version`: raise it with every change of
    the code that can change a result, so that old results are not taken for new ones.
    """

    version: ClassVar[int] = 1

    def execute(self, progress: Progress, /) -> Result:
        """Compute the result.

        Args:
            progress: Callback to report the fraction done to, see `core.progress`.
        """
        raise NotImplementedError

    def settings(self) -> Mapping[str, Setting]:
        """Return everything that decides the result, by name; these become columns of a frame."""
        return flatten(self)

    @property
    def label(self) -> str:
        """A short readable name, shown in progress lines and at the start of file names."""
        return "_".join([type(self).__name__, *map(str, settings_of(self).values())])

    @cached_property
    def id(self) -> str:
        """The run's identity: 16 hexadecimal digits."""
        return identify(self)

    @property
    def stem(self) -> str:
        """File name without suffix: the label, made safe for file systems, and the id."""
        return file_name(self.label, f"_{self.id}")


def flatten(instance: object) -> dict[str, Setting]:
    """Return a dataclass's fields by name, with those of nested dataclasses at the same level.

    An int in a field declared as float becomes a float, so that 4 and 4.0 are the same setting. A
    renamed field keeps its old name in files through `metadata={"stored_as": old_name}`, and one
    that was added later leaves its default out through `metadata={"stored": "unless default"}`, so
    that stored runs are still found. A nested dataclass may have a `{"prefix": text}` for the names
    of its fields. One that does not decide results is `{"stored": "never"}`.

    Raises:
        TypeError: If two fields end up under the same name.
    """
    flat: dict[str, Setting] = {}
    for field in fields(instance):  # pyright: ignore[reportArgumentType]
        value = getattr(instance, field.name)
        stored = field.metadata.get("stored")
        if stored == "never" or (stored == "unless default" and value == field.default):
            continue
        if type(value) is int and "float" in str(field.type):
            value = float(value)
        name = field.metadata.get("stored_as", field.name)
        inner = {name: value}
        if is_dataclass(value):
            prefix = field.metadata.get("prefix", "")
            inner = {f"{prefix}{key}": part for key, part in flatten(value).items()}
        if duplicates := flat.keys() & inner.keys():
            raise TypeError(f"{type(instance).__name__} has two settings named {min(duplicates)}")
        flat |= inner
    return flat


def settings_of(run: Run) -> dict[str, Setting]:
    """Return a run's settings, checked to fit into a file and a data frame.

    Raises:
        TypeError: If a setting has a reserved name or a value of another type than `Setting`.
    """
    settings = dict(run.settings())
    for name, value in settings.items():
        if name in RESERVED or not isinstance(value, Setting):
            raise TypeError(f"a run cannot have a setting {name} = {value!r}")
    return settings


def identify(run: Run) -> str:
    """Return the digest of a run's class name, version and settings, as 16 hexadecimal digits."""
    key = {"kind": type(run).__name__, "version": run.version, "settings": settings_of(run)}
    text = json.dumps(key, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
