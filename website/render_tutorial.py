"""Executes a tutorial, a Python file in the percent format, and returns it as Markdown.

A tutorial is a Python script that editors and Jupyter (with jupytext) open as a notebook. A line
`# %% [markdown]` begins a cell of text, `# %%` a cell of code; words after `# %%` describe the
picture or player that the cell shows. The value of a cell's last expression is its output, as in a
notebook. A line `# needs: PACKAGE` in the first cell names a package that only this tutorial needs;
where it is not installed, the tutorial is rendered without outputs and says so.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CELL = re.compile(r"^# %%(?P<markdown> \[markdown\])?(?P<title>.*)$", re.M)
NEEDS = re.compile(r"^# needs: (\w+)\n", re.M)
PLAYER_HEIGHT = 720


@dataclass(frozen=True)
class Cell:
    """A cell of a tutorial.

    Attributes:
        text: Markdown, or Python.
        is_code: Which of the two.
        title: What the cell shows, for readers who cannot see it.
    """

    text: str
    is_code: bool
    title: str = ""


@dataclass
class Tutorial:
    """A tutorial after execution: `Tutorial(path, out).run()` returns its Markdown.

    Attributes:
        path: The Python file.
        out: Folder for pictures and players.
        namespace: The variables of the tutorial, for tests.
        shown: How many files have been written so far.
    """

    path: Path
    out: Path
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "tutorial"})
    shown: int = 0

    def run(self, *, execute: bool | None = None) -> str:
        """Return the tutorial as Markdown with its outputs.

        Args:
            execute: Whether to execute the code (default: if the packages it needs are installed).
        """
        source = self.path.read_text(encoding="utf-8")
        missing = [name for name in NEEDS.findall(source) if find_spec(name) is None]
        execute = not missing if execute is None else execute
        parts = []
        for cell in parse(NEEDS.sub("", source)):
            if not cell.is_code:
                parts.append(cell.text)
                continue
            parts.append(f"```python\n{cell.text}\n```")
            if execute:
                parts += self.outputs(cell)
        if missing:
            parts.append(f"*Built without {', '.join(missing)}, so outputs are not shown.*")
        parts.append(f"*Download this page as a [notebook in Python]({self.path.name}).*")
        return "\n\n".join(parts) + "\n"

    def outputs(self, cell: Cell) -> Iterator[str]:
        """Execute a cell of code and yield what it prints and shows, as Markdown."""
        tree = ast.parse(cell.text, filename=self.path.name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        value = None
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(tree, self.path.name, "exec"), self.namespace)
            if isinstance(last, ast.Expr):
                expression = ast.Expression(last.value)
                value = eval(compile(expression, self.path.name, "eval"), self.namespace)
        if printed.getvalue():
            yield f"```text\n{printed.getvalue().rstrip()}\n```"
        if value is not None:
            yield self.display(value, cell.title)

    def display(self, value: Any, title: str) -> str:
        """Return Markdown that shows a value: a player, a picture, HTML or text."""
        if hasattr(value, "view") and hasattr(value, "n_modes"):
            page = value.view(self.file("html"))
            return (
                f'<iframe src="{page.name}" title="{escape(title)}" loading="lazy" '
                f'style="width:100%;height:{PLAYER_HEIGHT}px;border:0"></iframe>'
            )
        if hasattr(value, "savefig"):
            picture = self.file("png")
            value.savefig(picture, dpi=150)
            return f"![{title}]({picture.name})"
        if html := getattr(value, "_repr_html_", lambda: None)():
            return f'<div class="tutorial-output">{" ".join(html.split())}</div>'
        return f"```text\n{value!r}\n```"

    def file(self, extension: str) -> Path:
        """Return the path of the next file to write."""
        self.out.mkdir(parents=True, exist_ok=True)
        self.shown += 1
        return self.out / f"{self.path.stem}-{self.shown}.{extension}"


def parse(source: str) -> Iterator[Cell]:
    """Yield the cells of a file in the percent format; what stands above the first is left out."""
    marks = list(CELL.finditer(source))
    ends = [mark.start() for mark in marks[1:]] + [len(source)]
    for mark, end in zip(marks, ends, strict=True):
        text = source[mark.end() : end].strip("\n")
        if mark["markdown"]:
            yield Cell(re.sub(r"^# ?", "", text, flags=re.M), is_code=False)
        else:
            yield Cell(text, is_code=True, title=mark["title"].strip())
