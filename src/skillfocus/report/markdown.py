"""Blocks as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillfocus.report.document import (
    Block,
    Details,
    Heading,
    Listing,
    Paragraph,
    Picture,
    Player,
    Table,
)
from skillfocus.report.inline import inline_html, inline_markdown

NO_PAGES: Mapping[str, str] = {}


def to_markdown(blocks: Sequence[Block], figures: str, pages: Mapping[str, str] = NO_PAGES) -> str:
    """Render blocks as Markdown.

    Args:
        blocks: A page.
        figures: Folder of the pictures, which are linked as `figures/NAME.png`; empty for the
            page's own folder.
        pages: Addresses of the report's pages by their names; `""` is the main page.
    """
    return "\n\n".join(_parts(blocks, figures, pages)) + "\n"


def _parts(blocks: Sequence[Block], figures: str, pages: Mapping[str, str]) -> list[str]:
    def inline(text: str) -> str:
        return inline_markdown(text, pages)

    parts: list[str] = []
    for block in blocks:
        if isinstance(block, Player):
            continue
        if isinstance(block, Heading):
            parts.append(f"{'#' * block.level} {inline(block.text)}")
        elif isinstance(block, Paragraph):
            parts.append(inline(block.text))
        elif isinstance(block, Listing):
            marks = [f"{n}." if block.numbered else "-" for n in range(1, len(block.items) + 1)]
            items = zip(marks, block.items, strict=True)
            parts.append("\n".join(f"{mark} {inline(item)}" for mark, item in items))
        elif isinstance(block, Picture):
            caption, folder = inline(block.caption), f"{figures}/" if figures else ""
            parts.append(f"![{caption}]({folder}{block.name}.png)\n\n*{caption}*")
        elif isinstance(block, Details):
            # A summary stands in a line of HTML, in which Markdown is not rendered.
            summary = inline_html(block.summary, pages)
            parts.append(f"<details>\n<summary>{summary}</summary>")
            parts += [*_parts(block.blocks, figures, pages), "</details>"]
        else:
            parts += _table_parts(block, pages)
    return parts


def _table_parts(table: Table, pages: Mapping[str, str]) -> list[str]:
    def cell(text: str) -> str:
        return inline_markdown(" ".join(text.splitlines()), pages).replace("|", "\\|")

    lines = [map(cell, table.columns), ["---"] * len(table.columns)]
    lines += [map(cell, row) for row in table.rows]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    title = [f"**{inline_markdown(table.title, pages)}**"] if table.title else []
    return [*title, text, *([inline_markdown(table.note, pages)] if table.note else [])]
