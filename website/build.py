"""Build the site: live pages, then MkDocs, which fails at any warning.

`python website/build.py out/site out/players`
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from players import ROOT, players, write_players


def build(site: Path, live: Path) -> None:
    """Build the site.

    Args:
        site: Its folder; everything in it is replaced.
        live: Folder for live pages and the runs that they show, which are kept.

    Raises:
        SystemExit: If the site has a broken link, a missing reference or any other warning.
    """
    os.chdir(ROOT)  # worlds are named by paths relative to it
    live.mkdir(parents=True, exist_ok=True)
    write_players(live, players())
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    settings = {"SKILLFOCUS_PLAYERS": str(live), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [*command, "--site-dir", str(site)], env={**os.environ, **settings}, check=False
    )
    if done.returncode:
        raise SystemExit(done.returncode)


if __name__ == "__main__":
    site_folder, live_folder = (Path(argument).resolve() for argument in sys.argv[1:])
    build(site_folder, live_folder)
    print(f"the site: {site_folder / 'index.html'}")
