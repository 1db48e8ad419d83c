"""Figures to files: the suffix says which format, and a file that is there is whole."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from skillfocus._internal.atomic_io import write_atomically
from skillfocus.errors import UserError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check_path(path: Path) -> None:
    """Say now what would stop `save_figure` later."""
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise UserError(f"cannot draw {path.name}: the name must end in .png, .svg or .pdf")
    if not path.parent.is_dir():
        raise UserError(f"there is no folder {path.parent} to draw {path.name} in")
    if not os.access(path.parent, os.W_OK):
        raise UserError(f"cannot write to {path.parent}, so {path.name} cannot be drawn there")


def save_figure(figure: Figure, path: Path) -> None:
    check_path(path)
    drawn = io.BytesIO()
    kind = path.suffix.lower().removeprefix(".")
    figure.savefig(drawn, format=kind, dpi=130, metadata={"Date": None} if kind == "svg" else None)
    write_atomically(path, drawn.getvalue())
