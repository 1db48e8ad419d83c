"""Write a report to files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from skillfocus._internal.atomic_io import write_atomically
from skillfocus.core.progress import Progress, no_progress
from skillfocus.figures.saving import save_figure
from skillfocus.report.document import Block, Picture, to_html, to_markdown


def write_report(
    blocks: Sequence[Block],
    folder: Path,
    title: str,
    *,
    cell_classes: Mapping[str, str] | None = None,
    progress: Progress = no_progress,
) -> Path:
    """Write report.html, report.md, and every figure as PNG, SVG and PDF to `figures/`.

    Args:
        blocks: The report.
        folder: Folder to write to; it is created.
        title: Title of the HTML page.
        cell_classes: See `document.to_html`.
        progress: Progress callback.

    Returns:
        The path of report.html.
    """
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    pictures = _pictures(blocks)
    for number, picture in enumerate(pictures):
        progress(number / (len(pictures) + 1), f"saving {picture.name}")
        write_atomically(figures / f"{picture.name}.png", picture.png)
        for suffix in (".svg", ".pdf"):
            save_figure(picture.figure, figures / f"{picture.name}{suffix}")
    write_atomically(folder / "report.md", to_markdown(blocks, "figures").encode())
    page = folder / "report.html"
    write_atomically(page, to_html(blocks, title, cell_classes).encode())
    return page


def write_markdown(blocks: Sequence[Block], path: Path) -> None:
    """Write the Markdown alone, with its pictures in a folder of the same name beside it.

    Other PNG files in that folder are deleted: they are pictures of earlier reports.
    """
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {folder / f"{picture.name}.png": picture for picture in _pictures(blocks)}
    for file, picture in pictures.items():
        write_atomically(file, picture.png)
    for stale in {*folder.glob("*.png")} - pictures.keys():
        stale.unlink()
    write_atomically(path, to_markdown(blocks, folder.name).encode())


def _pictures(blocks: Sequence[Block]) -> list[Picture]:
    return [block for block in blocks if isinstance(block, Picture)]
