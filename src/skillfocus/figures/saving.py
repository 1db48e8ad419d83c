"""Save figures to files; the suffix selects the format."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from skillfocus._internal.atomic_io import write_atomically
from skillfocus.errors import UserError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
DPI = 130


def check_path(path: Path) -> None:
    """Check, before anything is drawn, that `save_figure` will be able to write there.

    Raises:
        UserError: If the suffix is not one of `SUFFIXES`, or the folder is missing or read-only.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"cannot draw {path.name}: the name must end in .png, .svg or .pdf")
    if not path.parent.is_dir():
        raise UserError(f"there is no folder {path.parent} to draw {path.name} in")
    if not os.access(path.parent, os.W_OK):
        raise UserError(f"cannot write to {path.parent}, so {path.name} cannot be drawn there")


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure atomically. SVG files carry no date, so that equal figures are equal files.

    Raises:
        UserError: See `check_path`.
    """
    check_path(path)
    buffer = io.BytesIO()
    kind = path.suffix.lower().removeprefix(".")
    metadata = {"Date": None} if kind == "svg" else None
    figure.savefig(buffer, format=kind, dpi=DPI, metadata=metadata)
    write_atomically(path, buffer.getvalue())
