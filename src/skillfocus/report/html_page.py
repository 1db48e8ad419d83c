"""Blocks as one self-contained HTML page."""

from __future__ import annotations

import base64
import html
from collections import Counter
from collections.abc import Mapping, Sequence
from string import Template

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
from skillfocus.report.inline import inline_html

NO_NAMES: Mapping[str, str] = {}


def to_html(
    blocks: Sequence[Block],
    title: str,
    cell_classes: Mapping[str, str] = NO_NAMES,
    pages: Mapping[str, str] = NO_NAMES,
) -> str:
    """Render blocks as one HTML page that loads nothing else.

    Args:
        blocks: The page.
        title: Title of the page.
        cell_classes: CSS classes of table cells by their text, up to a parenthesis; `yes`,
            `partly` and `no` are green, yellow and red.
        pages: Addresses of the report's pages by their names; `""` is the main page.
    """
    body = "\n".join(_Renderer(cell_classes, pages).parts(blocks))
    # The frames of players inherit the page's policy, so their scripts need its permission.
    scripts = "; script-src 'unsafe-inline'" if _has_player(blocks) else ""
    return _PAGE.substitute(title=html.escape(title), policy=POLICY + scripts, body=body)


def _has_player(blocks: Sequence[Block]) -> bool:
    return any(
        isinstance(block, Player) or (isinstance(block, Details) and _has_player(block.blocks))
        for block in blocks
    )


class _Renderer:
    """Renders the blocks of one page, and numbers anchors that repeat."""

    def __init__(self, cell_classes: Mapping[str, str], pages: Mapping[str, str]) -> None:
        self.cell_classes = cell_classes
        self.pages = pages
        self.anchors: Counter[str] = Counter()

    def inline(self, text: str) -> str:
        return inline_html(text, self.pages)

    def parts(self, blocks: Sequence[Block]) -> list[str]:
        return [self.block(block) for block in blocks]

    def block(self, block: Block) -> str:
        if isinstance(block, Heading):
            return self.heading(block)
        if isinstance(block, Paragraph):
            return f"<p>{self.inline(block.text)}</p>"
        if isinstance(block, Listing):
            kind = "ol" if block.numbered else "ul"
            items = "\n".join(f"<li>{self.inline(item)}</li>" for item in block.items)
            return f"<{kind}>{items}</{kind}>"
        if isinstance(block, Picture):
            png = base64.b64encode(block.png).decode()
            return (
                f'<figure><img alt="{html.escape(block.caption)}" '
                f'src="data:image/png;base64,{png}">'
                f"<figcaption>{self.inline(block.caption)}</figcaption></figure>"
            )
        if isinstance(block, Player):
            caption = f"<figcaption>{self.inline(block.caption)}</figcaption>"
            return f"<figure class=player>{block.frame}{caption}</figure>"
        if isinstance(block, Details):
            inside = "\n".join(self.parts(block.blocks))
            summary = self.inline(block.summary)
            return f"<details><summary>{summary}</summary>\n{inside}\n</details>"
        return self.table(block)

    def heading(self, heading: Heading) -> str:
        seen = self.anchors[heading.anchor]
        self.anchors[heading.anchor] += 1
        anchor = f"{heading.anchor}-{seen}" if seen else heading.anchor
        tag = f"h{heading.level}"
        return f'<{tag} id="{anchor}">{self.inline(heading.text)}</{tag}>'

    def table(self, table: Table) -> str:
        def cell_html(cell: str) -> str:
            name = self.cell_classes.get(cell.partition(" (")[0])
            if not name:
                return f"<td>{self.inline(cell)}</td>"
            # A verdict and its count are kept together: "partly", "(7 of 9)".
            return f'<td class="{name}">{self.inline(cell).replace(" of ", "&nbsp;of&nbsp;")}</td>'

        head = "".join(f"<th>{self.inline(column)}</th>" for column in table.columns)
        rows = "\n".join("<tr>" + "".join(map(cell_html, row)) + "</tr>" for row in table.rows)
        caption = f"<caption>{self.inline(table.title)}</caption>" if table.title else ""
        note = f"<p>{self.inline(table.note)}</p>" if table.note else ""
        return (
            f"<div class=table><table>{caption}<thead><tr>{head}</tr></thead>\n"
            f"<tbody>{rows}</tbody></table></div>{note}"
        )


POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
"""The content security policy: the page's own style and pictures, and nothing else."""
_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="$policy">
<title>$title</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
       color: #1b1b1b; background: #fff }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #dddddd } h3 { margin-top: 1.8rem }
.table { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-size: 13px } caption { text-align: left; font-weight: 600 }
th, td { border-bottom: 1px solid #e4e4e4; padding: .25rem .6rem; text-align: left;
         vertical-align: top } th { background: #f6f6f6 }
td.yes { background: #dff0d8 } td.partly { background: #fcf3cf }
td.no { background: #f6dcd9 }
details { margin: .6rem 0; border-left: 3px solid #e4e4e4; padding-left: .8rem }
summary { cursor: pointer; font-weight: 600 }
.player iframe { border: 1px solid #dddddd !important; border-radius: .6rem }
figure { margin: 1.2rem 0 } img { max-width: 100%; height: auto }
figcaption { color: #555555; font-size: 13px }
code { background: #f3f3f3; padding: 0 .2rem }
</style></head><body>
$body
</body></html>
""")
