"""What MkDocs does beyond its settings: generated pages, files of the repository, formulas.

Pages link to files as they lie in the repository, so that links work there too, such as
`../CONTRIBUTING.md` and `../examples/own_world.py`. On the site the first is a page of its own, and
so is the second, with the code in it.
"""

from __future__ import annotations

import posixpath
import re
from html import unescape
from importlib.resources import files as resources
from pathlib import Path

from fontTools import subset
from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from website.reference import api_overview, commands_page, with_api_links, with_docstrings

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md"
LISTED = ("CITATION.cff", "examples/*.py", "examples/maps/*.txt", "benchmarks/*.[pt]*")
"""Files that are shown as code."""
_FENCE = re.compile(r"(^ *```.*?^ *```$)", flags=re.S | re.M)
_LINK = re.compile(r"\]\((?!\w+:|#|//)(?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
_FORMULA = re.compile(r'(<(div|span) class="arithmatex">)\s*\\[\[(](.*?)\\[\])]', flags=re.S)
FONT_RANGES = "20-f7,391-3f5,2010-2032,210e-2113,2190-22a5,27e8-29f5,1d434-1d467,1d53c,1d6e2-1d71b"
"""The characters that formulas may have: Latin, Greek, arrows, operators, italic letters."""


# -------------------------------------------------------------------- called by MkDocs


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are generated, live pages, tutorials, the style and the scripts."""
    pages = {page: file_page(path) for path, page in repository_pages().items()}
    pages |= {"api/index.md": api_overview(), "commands.md": commands_page()}
    for uri, text in pages.items():
        files.append(File.generated(config, uri, content=text))
    parts = Path(config.extra["parts"])
    for folder in (ROOT / "website" / "assets", parts / "live", parts / "tutorials"):
        for path in sorted(folder.iterdir()):
            uri = f"{folder.name}/{path.name}"
            files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Prepare names of the reference, and lead links to files of the repository to their pages."""
    markdown = markdown.replace("<details>", '<details markdown="1">')  # as forges render them
    if page.file.src_uri.startswith("api/"):
        markdown = with_docstrings(markdown)
    return with_site_links(markdown, page.file.src_uri)


def on_page_content(html: str, **_: object) -> str:
    """Convert the formulas that `pymdownx.arithmatex` marked, and link public names."""
    html = _FORMULA.sub(lambda mark: mark[1] + to_mathml(mark[3], mark[2] == "div"), html)
    return with_api_links(html)


def on_post_build(config: MkDocsConfig) -> None:
    """Write the font of the formulas.

    Browsers stretch roots and brackets with a font that has a MATH table, and not every system has
    one. This is STIX Two Math (SIL Open Font License 1.1, which the font's own name table states),
    as the package `ziamath` brings it, less the characters that no formula has.
    """
    font = resources("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf"
    target = Path(config.site_dir) / "assets" / "math.woff"
    options = ("--flavor=woff", "--name-IDs=*", f"--unicodes={FONT_RANGES}")  # names: the license
    subset.main([str(font), *options, f"--output-file={target}"])


# -------------------------------------------------------------------- files and formulas


def repository_pages() -> dict[str, str]:
    """Return the files, and their pages: `{"examples/own_world.py": "examples/own_world.md"}`."""
    pages = {path: path.lower().replace("_", "-") for path in DOCUMENTS}
    listed = [path.relative_to(ROOT) for pattern in LISTED for path in ROOT.glob(pattern)]
    return pages | {path.as_posix(): path.with_suffix(".md").as_posix() for path in listed}


def file_page(path: str) -> str:
    """Return a file's page as Markdown with links still as they were: its text, or its code."""
    text = (ROOT / path).read_text("utf-8")
    if path in DOCUMENTS:
        return text
    name, language = posixpath.basename(path), "python" if path.endswith(".py") else "text"
    return f"# {name}\n\n`{path}` in the repository:\n\n````{language}\n{text.rstrip()}\n````\n"


def with_site_links(markdown: str, page: str) -> str:
    """Return a page's text with the links that leave `docs/` leading to pages of the site.

    Args:
        markdown: The text.
        page: The page's path on the site, such as `maps.md`.
    """
    pages = repository_pages()
    source = {page: path for path, page in pages.items()}.get(page, f"docs/{page}")

    def replace(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link["path"]))
        if path not in pages and not path.startswith("docs/"):
            return link[0]  # MkDocs says that it leads nowhere
        target = pages.get(path, re.sub(r"^docs/(tutorials/.*)\.py$", r"\1.md", path))
        relative = posixpath.relpath(target.removeprefix("docs/"), posixpath.dirname(page) or ".")
        return f"]({relative}{link['anchor'] or ''})"

    parts = _FENCE.split(markdown)  # every other part is code
    parts[::2] = [_LINK.sub(replace, part) for part in parts[::2]]
    return "".join(parts)


def to_mathml(latex: str, is_block: bool = False) -> str:
    """Return a formula as a `math` element.

    Raises:
        PluginError: If it has a command that the converter does not know; it would print its name.
    """
    math = convert(unescape(latex).strip(), display="block" if is_block else "inline")
    if unknown := re.search(r"\\[A-Za-z]+", unescape(math)):
        raise PluginError(f"the formula {latex} has the unknown command {unknown[0]}")
    return math
