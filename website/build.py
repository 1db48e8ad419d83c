"""Build the site: live pages and tutorials, then MkDocs, which fails at any warning.

`python -m website.build out/site out/website`
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from website.players import ROOT, players, write_players


def build(site: Path, parts: Path) -> None:
    """Build the site.

    Args:
        site: Its folder; everything in it is replaced.
        parts: Folder for live pages and tutorials, which are kept for the next build.

    Raises:
        SystemExit: If the site has a broken link, a missing reference or any other warning.
    """
    os.chdir(ROOT)  # worlds are named by paths relative to it
    parts.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "website.tutorials", str(parts / "tutorials")]
    tutorials = subprocess.Popen(command)  # beside the players
    write_players(parts, players())
    if tutorials.wait():
        raise SystemExit(tutorials.returncode)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    settings = {"SKILLFOCUS_SITE_PARTS": str(parts), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, env={**os.environ, **settings}, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the site.")
    parser.add_argument("site", type=Path, help="folder of the site")
    parser.add_argument("parts", type=Path, help="folder for live pages and tutorials")
    arguments = parser.parse_args()
    build(arguments.site.resolve(), arguments.parts.resolve())
    print(f"the site: {arguments.site / 'index.html'}")
