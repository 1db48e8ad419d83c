"""The markup of texts, rendered as HTML and as Markdown that holds no HTML of its own."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
CODE = re.compile(r"(`[^`]+`)")


def inline_html(text: str, pages: Mapping[str, str]) -> str:
    """Render a text as HTML. Links to other files become plain text.

    Args:
        text: The text, with the markup of `document`.
        pages: Addresses of the report's pages by their names; `""` is the main page.
    """

    def link(match: re.Match[str]) -> str:
        label, target = match.groups()
        href = target if target.startswith("#") else _page_address(target, pages)
        return label if href is None else f'<a href="{html.escape(href)}">{label}</a>'

    codes: list[str] = []

    def set_aside(match: re.Match[str]) -> str:
        codes.append(f"<code>{match[0][1:-1]}</code>")
        return f"\0{len(codes) - 1}\0"

    # Code is set aside so that asterisks and brackets in it are no markup.
    marked = CODE.sub(set_aside, html.escape(text, quote=False).replace("\0", ""))
    marked = LINK.sub(link, marked)
    marked = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", marked)
    marked = re.sub(r"\*([^*]+)\*", r"<em>\1</em>", marked)
    return re.sub("\0([0-9]+)\0", lambda match: codes[int(match[1])], marked)


def inline_markdown(text: str, pages: Mapping[str, str]) -> str:
    """Render a text as Markdown: HTML in it is escaped, and links to pages are resolved.

    Args:
        text: The text, with the markup of `document`.
        pages: Addresses of the report's pages by their names; `""` is the main page.
    """

    def link(match: re.Match[str]) -> str:
        label, target = match.groups()
        if not target.startswith("page:"):
            return match[0]
        href = _page_address(target, pages)
        return label if href is None else f"[{label}]({href})"

    return "".join(
        part if CODE.fullmatch(part) else _escape_markdown(part)
        for part in CODE.split(LINK.sub(link, text))
    )


def _page_address(target: str, pages: Mapping[str, str]) -> str | None:
    return pages.get(target.removeprefix("page:")) if target.startswith("page:") else None


def _escape_markdown(text: str) -> str:
    """Escape what Markdown would take for a tag or an entity; `a < b` stays as it is."""
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text)
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)
