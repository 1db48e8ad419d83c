"""Tutorials as pages: `python website/tutorials.py out/website/tutorials`.

The folder has a stamp that says which code its pages are of, so that a second build is fast.
"""

from __future__ import annotations

import hashlib
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "tutorials"


def write_tutorials(out: Path, *, executed: bool = True) -> None:
    """Write every tutorial as Markdown, unless the folder has these very pages.

    Args:
        out: The folder; everything in it is replaced.
        executed: Whether to execute tutorials and show their outputs.
    """
    stamp = out / f"{digest(executed)}.stamp"
    if stamp.exists():
        return
    out.mkdir(parents=True, exist_ok=True)
    for old in out.iterdir():
        old.unlink()
    sys.path.insert(0, str(FOLDER.parent))
    renderer = import_module("render_tutorials")
    for path in sorted(FOLDER.glob("*.py")):
        page = renderer.Tutorial(path, out).run(execute=None if executed else False)
        (out / f"{path.stem}.md").write_text(page, encoding="utf-8")
    stamp.touch()


def digest(executed: bool) -> str:
    """Return a digest of everything that decides what the tutorials show."""
    found = hashlib.sha256(str(executed).encode())
    files = [*FOLDER.parent.glob("*.py"), *FOLDER.glob("*.py"), *(ROOT / "src").rglob("*.[jpc]*")]
    for path in sorted(path for path in files if path.suffix in (".py", ".js", ".css")):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


if __name__ == "__main__":
    write_tutorials(Path(sys.argv[1]), executed="--unexecuted" not in sys.argv)
