"""What a report consists of: blocks, pages of blocks, and the report itself.

A text may contain `code`, **bold**, *emphasis* and links, as in Markdown: `[text](#anchor)` leads
to a heading of the same page, `[text](page:NAME)` to a page of the report, and `[text](page:)` to
its main page. Everything else is plain text, HTML too.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 (a page's title) to 4."""

    text: str
    level: int = 2

    @property
    def anchor(self) -> str:
        """The name that a link to it uses, as Markdown renderers derive it from the text.

        A heading whose text repeats gets a number: the second one ends in `-1`.
        """
        return re.sub(r"[^a-z0-9 -]", "", self.text.lower()).replace(" ", "-")


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of text."""

    text: str


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
    """Name of its file, without suffix; pictures of the same name share a file."""
    caption: str
    figure: Figure

    @cached_property
    def png(self) -> bytes:
        """The figure as PNG, drawn once."""
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", dpi=130, metadata={"Software": None})
        return buffer.getvalue()

    def with_caption(self, caption: str) -> Picture:
        """Return the same picture with another caption; it is not drawn again."""
        copy = replace(self, caption=caption)
        copy.__dict__["png"] = self.png
        return copy


@dataclass(frozen=True)
class Player:
    """An interactive player, such as the viewer's. Markdown leaves it out."""

    caption: str
    frame: str
    """Its HTML (`viewer.page.frame_html`)."""


@dataclass(frozen=True)
class Details:
    """Blocks that are collapsed until the reader opens them."""

    summary: str
    blocks: list[Block]


Block = Heading | Paragraph | Listing | Table | Picture | Player | Details


@dataclass(frozen=True)
class Page:
    """A page beside the main one."""

    name: str
    """Name of its files, without suffix: letters, digits, `_`, `.` and `-`."""
    title: str
    blocks: list[Block]

    def __post_init__(self) -> None:
        """Refuse a name that would leave the report's folder."""
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", self.name):
            raise ValueError(f"a page's name must be a plain file name, got {self.name!r}")


@dataclass(frozen=True)
class Report:
    """A report: its main page, further pages, and the same content as data.

    report = Report("A title", [Heading("A title", 1), Paragraph("See [more](page:more).")],
                    [Page("more", "More", [Heading("More", 1)])])
    """

    title: str
    blocks: list[Block]
    """The main page."""
    pages: list[Page] = field(default_factory=list)
    data: Mapping[str, Any] = field(default_factory=dict)
    """What report.json holds."""

    def pictures(self) -> list[Picture]:
        """Return the pictures of all pages, each name once."""
        everything = [*self.blocks, *(block for page in self.pages for block in page.blocks)]
        return list({picture.name: picture for picture in pictures_of(everything)}.values())


def pictures_of(blocks: Sequence[Block]) -> list[Picture]:
    """Return all pictures among blocks, those of collapsed ones too."""
    found: list[Picture] = []
    for block in blocks:
        if isinstance(block, Picture):
            found.append(block)
        elif isinstance(block, Details):
            found += pictures_of(block.blocks)
    return found
