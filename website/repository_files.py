"""Files of the repository that are pages of the site though they are not in `docs/`.

Pages link to files as they lie in the repository, so that links work there too, such as
`../CONTRIBUTING.md` and `../examples/own_world.py`. On the site the first is a page of its own, and
so is the second, with the code in it.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = {
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "SECURITY.md": "security.md",
}
"""Documents by their paths in the repository, and the pages that they become."""
OTHERS = {"README.md": "index.md", "CITATION.cff": "citing.md"}
"""Files that pages link to, and the pages that say the same."""
LISTED = ("examples/*.py", "examples/maps/*.txt", "benchmarks/*.py", "benchmarks/*.txt")
"""Files that are shown as code."""
_FENCE = re.compile(r"(^ *```.*?^ *```$)", flags=re.S | re.M)
_LINK = re.compile(r"\]\((?!\w+:|#|//)(?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def repository_pages() -> dict[str, str]:
    """Return the pages made of files outside `docs/`, as Markdown with links still as they were."""
    documents = {page: (ROOT / path).read_text("utf-8") for path, page in DOCUMENTS.items()}
    return {
        **documents,
        **{page: _listing(path) for path, page in listings().items()},
        "citing.md": citing_page((ROOT / "CITATION.cff").read_text("utf-8")),
    }


def listings() -> dict[str, str]:
    """Return the files shown as code, and their pages: `examples/own_world.md`."""
    paths = [path for pattern in LISTED for path in sorted(ROOT.glob(pattern))]
    names = [path.relative_to(ROOT).as_posix() for path in paths]
    return {name: re.sub(r"\.\w+$", ".md", name) for name in names}


def tutorials() -> dict[str, str]:
    """Return the tutorials, and the pages that they are rendered to: `tutorials/own-map.md`."""
    paths = sorted((ROOT / "docs" / "tutorials").glob("*.py"))
    return {f"docs/tutorials/{path.name}": f"tutorials/{path.stem}.md" for path in paths}


def source_of(page: str) -> str:
    """Return the path in the repository of the file that a page is made of."""
    made = {page: path for path, page in (DOCUMENTS | listings()).items()}
    return made.get(page, f"docs/{page}")


def with_site_links(markdown: str, page: str) -> str:
    """Return a page's text with the links that leave `docs/` leading to pages of the site.

    Args:
        markdown: The text.
        page: The page's path on the site, such as `maps.md`.
    """
    source = source_of(page)
    targets = DOCUMENTS | OTHERS | listings()

    targets |= {path: tutorial for path, tutorial in tutorials().items() if tutorial != page}

    def replace(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link["path"]))
        target = targets.get(path)
        if target is None and path.startswith("docs/"):
            target = path.removeprefix("docs/")
        if target is None:  # MkDocs says that it leads nowhere
            return link[0]
        relative = posixpath.relpath(target, posixpath.dirname(page) or ".")
        return f"]({relative}{link['anchor'] or ''})"

    parts = _FENCE.split(markdown)  # every other part is code
    parts[::2] = [_LINK.sub(replace, part) for part in parts[::2]]
    return "".join(parts)


def _listing(path: str) -> str:
    """Return the page that shows a file."""
    language = "python" if path.endswith(".py") else "text"
    code = (ROOT / path).read_text("utf-8").rstrip()
    name = posixpath.basename(path)
    return f"# {name}\n\n`{path}` in the repository:\n\n````{language}\n{code}\n````\n"


def citing_page(citation: str) -> str:
    """Return the page on citing: BibTeX of the paper and of this software, from CITATION.cff."""
    cff = yaml.safe_load(citation)
    (paper,) = cff["references"]
    authors = " and ".join(f"{a['family-names']}, {a['given-names']}" for a in paper["authors"])
    return f"""# Citing

The method is the paper's. If you use it, cite the paper; if you use this implementation or its
numbers, cite it too, with its version.

```bibtex
@article{{focused-skill-discovery,
  title   = {{{paper["title"]}}},
  author  = {{{authors}}},
  journal = {{{paper["journal"]}}},
  year    = {{{paper["year"]}}}
}}

@software{{skillfocus,
  title   = {{{cff["title"]}}},
  author  = {{{{{cff["authors"][0]["name"]}}}}},
  version = {{{cff["version"]}}},
  license = {{{cff["license"]}}}
}}
```

`CITATION.cff` in the repository says the same in the Citation File Format, which reference managers
and public forges read.
"""
