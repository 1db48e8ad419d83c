"""Write a report to files.

folder/report.html, report.md, report.json     the main page, and its data
folder/report/NAME.html, NAME.md               further pages
folder/figures/NAME.png, NAME.svg, NAME.pdf    pictures

Files that were there under these names and are not an earlier report's are renamed, see
`owned_files`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from skillfocus.core.progress import Progress, no_progress
from skillfocus.figures.saving import figure_bytes
from skillfocus.report.document import Report
from skillfocus.report.html_page import NO_NAMES, to_html
from skillfocus.report.markdown import to_markdown
from skillfocus.report.owned_files import write_named_file, write_owned_files


def write_report(
    report: Report,
    folder: Path,
    *,
    cell_classes: Mapping[str, str] = NO_NAMES,
    progress: Progress = no_progress,
) -> Path:
    """Write a report as HTML, Markdown and JSON, and its pictures as PNG, SVG and PDF.

    Args:
        report: The report.
        folder: Folder to write to; it is created. See the module for the files.
        cell_classes: See `html_page.to_html`.
        progress: Progress callback.

    Returns:
        The path of report.html.
    """
    pictures = report.pictures()
    figures = {}
    for number, picture in enumerate(pictures):
        progress(number / (len(pictures) + 1), f"saving {picture.name}")
        figures[f"{picture.name}.png"] = picture.png
        for suffix in (".svg", ".pdf"):
            figures[f"{picture.name}{suffix}"] = figure_bytes(picture.figure, suffix)
    from_main, from_pages = (_addresses(report, ".html", main) for main in (True, False))
    pages = {
        f"{page.name}.html": to_html(page.blocks, page.title, cell_classes, from_pages).encode()
        for page in report.pages
    }
    pages |= _markdown_pages(report, "../figures")
    data = json.dumps(report.data, indent=1, ensure_ascii=False, allow_nan=False)
    text = to_markdown(report.blocks, "figures", _addresses(report, ".md", True))
    page = to_html(report.blocks, report.title, cell_classes, from_main)
    write_owned_files(folder / "figures", figures)
    write_owned_files(folder / "report", pages, (".html", ".md"))
    main_files = {"report.json": data + "\n", "report.md": text, "report.html": page}
    write_owned_files(folder, {name: text.encode() for name, text in main_files.items()})
    return folder / "report.html"


def write_markdown(report: Report, path: Path) -> None:
    """Write the Markdown alone, with its pages and pictures in a folder of the same name beside it.

    The file itself is overwritten. In the folder, files of an earlier report that this one no
    longer has are deleted, and whatever else is there is kept (see `owned_files`).

    Args:
        report: The report.
        path: File of the main page, such as `docs/report.md`.
    """
    folder = path.with_suffix("")
    name = quote(folder.name)
    files = {f"{picture.name}.png": picture.png for picture in report.pictures()}
    files |= _markdown_pages(report, "", quote(path.name))
    write_owned_files(folder, files, (".md", ".png"))
    pages = _addresses(report, ".md", True, name)
    write_named_file(path, to_markdown(report.blocks, name, pages).encode())


def _markdown_pages(report: Report, figures: str, main: str = "report.md") -> dict[str, bytes]:
    """The Markdown of the further pages by file name."""
    addresses = _addresses(report, ".md", False) | {"": f"../{main}"}
    return {
        f"{page.name}.md": to_markdown(page.blocks, figures, addresses).encode()
        for page in report.pages
    }


def _addresses(
    report: Report, suffix: str, from_main: bool, folder: str = "report"
) -> dict[str, str]:
    """Addresses of all pages, as the main page or the others link to them."""
    above, below = ("", f"{folder}/") if from_main else ("../", "")
    pages = {page.name: f"{below}{page.name}{suffix}" for page in report.pages}
    return {"": f"{above}report{suffix}", **pages}
