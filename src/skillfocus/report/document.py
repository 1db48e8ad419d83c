"""A report as a list of blocks, rendered as Markdown and as one self-contained HTML page."""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 (the report's title) to 4."""

    text: str
    level: int = 2

    @property
    def anchor(self) -> str:
        """The name that a link to it uses, as Markdown renderers derive it from the text."""
        return re.sub(r"[^a-z0-9 -]", "", self.text.lower()).replace(" ", "-")


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of text."""

    text: str
    """May contain `code`, **bold**, *emphasis* and [links](#anchor), as in Markdown."""


@dataclass(frozen=True)
class Listing:
    """A list of items."""

    items: list[str]
    numbered: bool = False


@dataclass(frozen=True)
class Table:
    """A table of text with a title, and a note below it."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""


@dataclass(frozen=True)
class Picture:
    """A figure with a caption."""

    name: str
    """Name of its file, without suffix."""
    caption: str
    figure: Figure

    @cached_property
    def png(self) -> bytes:
        """The figure as PNG, drawn once."""
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", dpi=130, metadata={"Software": None})
        return buffer.getvalue()


@dataclass(frozen=True)
class Player:
    """An interactive player, such as the viewer's. Markdown leaves it out."""

    caption: str
    frame: str
    """Its HTML (`viewer.page.frame_html`)."""


Block = Heading | Paragraph | Listing | Table | Picture | Player


def to_markdown(blocks: Sequence[Block], figures: str) -> str:
    """Render blocks as Markdown.

    Args:
        blocks: The report.
        figures: Folder of the pictures, which are linked as `figures/NAME.png`.
    """
    parts = []
    for block in blocks:
        if isinstance(block, Player):
            continue
        if isinstance(block, Heading):
            parts.append(f"{'#' * block.level} {block.text}")
        elif isinstance(block, Paragraph):
            parts.append(block.text)
        elif isinstance(block, Listing):
            marks = [f"{n}." if block.numbered else "-" for n in range(1, len(block.items) + 1)]
            items = zip(marks, block.items, strict=True)
            parts.append("\n".join(f"{mark} {item}" for mark, item in items))
        elif isinstance(block, Picture):
            parts.append(f"![{block.caption}]({figures}/{block.name}.png)\n\n*{block.caption}*")
        else:
            lines = [block.columns, ["---"] * len(block.columns), *block.rows]
            cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
            table = "\n".join(f"| {' | '.join(line)} |" for line in cells)
            parts += [f"**{block.title}**", table, *([block.note] if block.note else [])]
    return "\n\n".join(parts) + "\n"


def to_html(
    blocks: Sequence[Block], title: str, cell_classes: Mapping[str, str] | None = None
) -> str:
    """Render blocks as one HTML page that loads nothing else.

    Args:
        blocks: The report.
        title: Title of the page.
        cell_classes: CSS classes of table cells by their text; `yes`, `partly` and `no` are
            green, yellow and red.
    """
    parts = []
    for number, block in enumerate(blocks):
        if isinstance(block, Heading):
            # Headings below level 2 repeat, so their anchors need a number.
            anchor = block.anchor if block.level < 3 else f"{block.anchor}-{number}"
            parts.append(f'<h{block.level} id="{anchor}">{_inline(block.text)}</h{block.level}>')
        elif isinstance(block, Paragraph):
            parts.append(f"<p>{_inline(block.text)}</p>")
        elif isinstance(block, Listing):
            kind = "ol" if block.numbered else "ul"
            items = "\n".join(f"<li>{_inline(item)}</li>" for item in block.items)
            parts.append(f"<{kind}>{items}</{kind}>")
        elif isinstance(block, Picture):
            png = base64.b64encode(block.png).decode()
            parts.append(
                f'<figure><img alt="{html.escape(block.caption)}" '
                f'src="data:image/png;base64,{png}">'
                f"<figcaption>{_inline(block.caption)}</figcaption></figure>"
            )
        elif isinstance(block, Player):
            caption = f"<figcaption>{_inline(block.caption)}</figcaption>"
            parts.append(f"<figure class=player>{block.frame}{caption}</figure>")
        else:
            parts.append(_table(block, cell_classes or {}))
    return _PAGE.replace("TITLE", html.escape(title)).replace("BODY", "\n".join(parts))


def _inline(text: str) -> str:
    """Render Markdown's inline markup. Links to other files become plain text."""
    escaped = html.escape(text, quote=False)
    escaped = re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)
    escaped = re.sub(r"\[([^\]]+)\]\((#[^)]+)\)", r'<a href="\2">\1</a>', escaped)
    escaped = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r"\1", escaped)
    escaped = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", escaped)
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", escaped)


def _table(table: Table, cell_classes: Mapping[str, str]) -> str:
    def cell_html(cell: str) -> str:
        attribute = f' class="{cell_classes[cell]}"' if cell in cell_classes else ""
        return f"<td{attribute}>{_inline(cell)}</td>"

    head = "".join(f"<th>{_inline(column)}</th>" for column in table.columns)
    rows = "\n".join("<tr>" + "".join(map(cell_html, row)) + "</tr>" for row in table.rows)
    note = f"<p>{_inline(table.note)}</p>" if table.note else ""
    return (
        f"<div class=table><table><caption>{_inline(table.title)}</caption>"
        f"<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>{note}"
    )


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>TITLE</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
       color: #1b1b1b; background: #fff }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #ddd } h3 { margin-top: 1.8rem }
.table { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-size: 13px } caption { text-align: left; font-weight: 600 }
th, td { border-bottom: 1px solid #e4e4e4; padding: .25rem .6rem; text-align: left;
         vertical-align: top } th { background: #f6f6f6 }
td.yes { background: #dff0d8 } td.partly { background: #fcf3cf } td.no { background: #f6dcd9 }
.player iframe { border: 1px solid #ddd !important; border-radius: .6rem }
figure { margin: 1.2rem 0 } img { max-width: 100%; height: auto }
figcaption { color: #555; font-size: 13px } code { background: #f3f3f3; padding: 0 .2rem }
</style></head><body>
BODY
</body></html>
"""
