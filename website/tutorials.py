"""Executes tutorials and writes them as pages.

A tutorial is a Python script that editors and Jupyter (with jupytext) open as a notebook. A line
`# %% [markdown]` begins a cell of text, `# %%` a cell of code; words after `# %%` describe the
picture or player that the cell shows. The value of a cell's last expression is its output, as in a
notebook. A line `# needs: PACKAGE` in the first cell names a package that only this tutorial needs;
where it is not installed, the tutorial is rendered without outputs and says so.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from html import escape
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TUTORIALS = {path.stem: path for path in sorted((ROOT / "docs" / "tutorials").glob("*.py"))}
NEEDS = re.compile(r"^# needs: (\w+)\n", flags=re.M)


def write_tutorial(name: str, parts: Path) -> Path:
    """Execute a tutorial and write its page, unless there is one of the same code and library.

    Args:
        name: The tutorial, such as `own-map`.
        parts: Folder of what the site is made of; the page is in its folder `tutorials`.

    Returns:
        The page.
    """
    page = parts / "tutorials" / f"{name}.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    stamp = f"\n<!-- {digest(name)} -->\n"
    if not page.exists() or not page.read_text("utf-8").endswith(stamp):
        for old in page.parent.glob(f"{name}[-.]*"):
            old.unlink()
        page.write_text(render(TUTORIALS[name], page.parent) + stamp, encoding="utf-8")
    return page


def digest(name: str) -> str:
    """Return a digest of everything that decides what a tutorial shows."""
    code = [path for top in ("src", "paper") for path in sorted((ROOT / top).rglob("*.[pjc]*"))]
    files = [Path(__file__), TUTORIALS[name], *(path for path in code if path.suffix != ".pyc")]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def render(tutorial: Path, folder: Path) -> str:
    """Return a tutorial as Markdown with its outputs; pictures and players go to the folder."""
    source = tutorial.read_text("utf-8")
    missing = [package for package in NEEDS.findall(source) if find_spec(package) is None]
    files = (folder / f"{tutorial.stem}-{number}" for number in itertools.count(1))
    namespace: dict[str, Any] = {"__name__": "tutorial"}
    parts = []
    for title, text in cells(NEEDS.sub("", source)):
        if title == "[markdown]":
            parts.append(re.sub(r"^# ?", "", text, flags=re.M))
            continue
        parts.append(f"```python\n{text}\n```")
        if not missing:
            printed, value = execute(text, tutorial.name, namespace)
            parts += [f"```text\n{printed.rstrip()}\n```"] if printed else []
            parts += [show(value, title, files)] if value is not None else []
    if missing:
        parts.append(f"*Built without {', '.join(missing)}, so outputs are not shown.*")
    parts.append(f'*Download this page as a <a href="{tutorial.name}">notebook in Python</a>.*')
    return "\n\n".join(parts) + "\n"


def cells(source: str) -> list[tuple[str, str]]:
    """Return the title and the text of each cell; what stands above the first is left out."""
    _, *found = re.split(r"^# %%(.*)$", source, flags=re.M)
    pairs = zip(found[::2], found[1::2], strict=True)
    return [(title.strip(), text.strip("\n")) for title, text in pairs]


def execute(code: str, name: str, namespace: dict[str, Any]) -> tuple[str, Any]:
    """Execute a cell and return what it prints and the value of its last expression."""
    tree, value = ast.parse(code, filename=name), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(StringIO()) as printed:
        exec(compile(tree, name, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    return printed.getvalue(), value


def show(value: Any, title: str, files: Iterator[Path]) -> str:
    """Return Markdown that shows a value: a player, a picture, HTML or text."""
    if hasattr(value, "view") and hasattr(value, "n_modes"):
        page = value.view(next(files).with_suffix(".html")).name
        return f'<iframe class="live" src="{page}" title="{escape(title)}" loading="lazy"></iframe>'
    if hasattr(value, "savefig"):
        picture = next(files).with_suffix(".png")
        value.savefig(picture, dpi=150)
        return f"![{title}]({picture.name})"
    if html := getattr(value, "_repr_html_", lambda: None)():
        return f'<div class="tutorial-output">{" ".join(html.split())}</div>'
    return f"```text\n{value!r}\n```"
