"""Tutorials as pages: `python -m website.tutorials out/website/tutorials`.

Beside every page lies a stamp that says which code it is of, so that a second build is fast.
"""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from pathlib import Path

from website.render_tutorial import Tutorial

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "tutorials"
TUTORIALS = tuple(sorted(path.stem for path in FOLDER.glob("*.py")))
"""The names of all tutorials."""


def write_tutorial(name: str, out: Path) -> Path:
    """Execute a tutorial and write it as Markdown, unless the folder has that very page.

    Args:
        name: The tutorial, such as `own-map`.
        out: Folder of the page, its pictures and its players.

    Returns:
        The page.
    """
    page, stamp = out / f"{name}.md", out / f"{name}-{digest()}.stamp"
    if not stamp.exists():
        out.mkdir(parents=True, exist_ok=True)
        for old in out.glob(f"{name}[-.]*"):
            old.unlink()
        text = Tutorial(FOLDER / f"{name}.py", out).run()
        page.write_text(text, encoding="utf-8")
        stamp.touch()
    return page


@cache
def digest() -> str:
    """Return a digest of everything that decides what tutorials show."""
    found = hashlib.sha256()
    files = [
        *Path(__file__).parent.glob("*tutorial*.py"),
        *FOLDER.glob("*.py"),
        *(ROOT / "src").rglob("*.[jpc]*"),
    ]
    for path in sorted(path for path in files if path.suffix in (".py", ".js", ".css")):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


if __name__ == "__main__":
    for tutorial in TUTORIALS:
        print(write_tutorial(tutorial, Path(sys.argv[1])), flush=True)
