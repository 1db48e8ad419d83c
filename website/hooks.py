"""What MkDocs does beyond its settings: pages that are generated, formulas, links, live pages."""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from website.api_pages import api_pages, public_paths
from website.command_pages import commands_page
from website.mathml import with_mathml, write_font
from website.repository_files import repository_pages, with_site_links

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

PLAYERS = ("four-rooms", "museum", "taxi", "gallery")
"""Live pages, which `players.py` writes."""
_ASSETS = Path(__file__).parent / "assets"
_PUBLIC_NAME = re.compile(r"(?<!<h\d>)<code>sf\.(?P<name>\w+)(?P<rest>[^<]*)</code>(?!</a>)")
_TABLE = re.compile(r"<table>(.*?)</table>", flags=re.S)
_MATH = re.compile(r"<math\b.*?</math>", flags=re.S)
_formulas: set[str] = set()
"""The formulas of all pages so far, for the font."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are generated, live pages, the style and the scripts."""
    parts = Path(config.extra["parts"])
    pages = {**repository_pages(), **api_pages(), "commands.md": commands_page()}
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    for asset in _ASSETS.iterdir():
        files.append(File.generated(config, f"assets/{asset.name}", abs_src_path=str(asset)))
    for name in PLAYERS:
        page = parts / f"{name}.html"
        if not page.is_file():
            raise PluginError(f"there is no {page}: run `make docs`, which makes the live pages")
        files.append(File.generated(config, f"live/{name}.html", abs_src_path=str(page)))
    for path in sorted((parts / "tutorials").iterdir()):
        if path.suffix == ".stamp":
            continue
        files.append(File.generated(config, f"tutorials/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to files of the repository to the pages that show them."""
    del config, files
    markdown = markdown.replace("<details>", '<details markdown="1">')  # as forges render them
    return with_site_links(markdown, page.file.src_uri)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Convert formulas, link public names to the reference, let wide tables scroll."""
    del config, files
    try:
        html = with_mathml(html)
    except ValueError as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from error
    _formulas.update(_MATH.findall(html))
    html = _TABLE.sub(  # the class keeps the theme's script from wrapping it once more
        r'<div class="table" tabindex="0" role="group" aria-label="Table">'
        r'<table class="data">\1</table></div>',
        html,
    )  # fmt: skip
    return html if page.file.src_uri.startswith("api/") else _with_api_links(html, page.file.url)


def on_post_build(config: MkDocsConfig) -> None:
    """Write the font of the formulas."""
    write_font(_formulas, Path(config.site_dir) / "assets" / "math.woff")


def _with_api_links(html: str, url: str) -> str:
    """Return the HTML with `sf.name` in running text linking to its entry in the reference."""

    def replace(code: re.Match[str]) -> str:
        entry = _public_names().get(code["name"])
        if entry is None:
            return code[0]
        page, anchor = entry
        target = posixpath.relpath(page.replace(".md", ".html"), posixpath.dirname(url) or ".")
        return f'<a class="api" href="{target}#{anchor}">{code[0]}</a>'

    parts = re.split(r"(<a\b.*?</a>|<h[1-6].*?</h[1-6]>|<pre>.*?</pre>)", html, flags=re.S)
    parts[::2] = [_PUBLIC_NAME.sub(replace, part) for part in parts[::2]]
    return "".join(parts)


@cache
def _public_names() -> dict[str, tuple[str, str]]:
    return public_paths()
