"""Save figures to files; the suffix selects the format."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from skillfocus.errors import UserError
from skillfocus.files import check_file_path, shorten, write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
DPI, PRINT_DPI = 130, 300
"""Pixels per inch of a .png, and of the bitmaps inside the other formats."""


def check_path(path: Path) -> None:
    """Check, before anything is drawn, that `save_figure` will be able to write there.

    Raises:
        UserError: If the suffix is not one of `SUFFIXES`, or the folder is missing or read-only.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(
            f"cannot draw {shorten(path.name)}: the name must end in .png, .svg or .pdf"
        )
    check_file_path(path)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure atomically. SVG files carry no date, so that equal figures are equal files.

    Raises:
        UserError: See `check_path`.
    """
    check_path(path)
    write_atomically(path, figure_bytes(figure, path.suffix.lower()))


def figure_bytes(figure: Figure, suffix: str) -> bytes:
    """Return the contents of a figure's file; `suffix` is one of `SUFFIXES`."""
    buffer = io.BytesIO()
    metadata = {"Date": None} if suffix == ".svg" else None
    dpi = DPI if suffix == ".png" else PRINT_DPI
    figure.savefig(buffer, format=suffix.removeprefix("."), dpi=dpi, metadata=metadata)
    return buffer.getvalue()
