"""Build the site: live pages and tutorials, then MkDocs, which fails at any warning.

    python -m website.build out/site out/website

Live pages are three players and a small gallery, as `skillfocus view` writes them. Runs are stored
in the second folder, so a second build only writes pages. The gallery of `python -m paper gallery`
has eight algorithms with sixteen skills each; this one is planned in seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import skillfocus as sf
from website.tutorials import ROOT, TUTORIALS, write_tutorial


def build(site: Path, parts: Path) -> None:
    """Build the site.

    Args:
        site: Its folder; everything in it is replaced.
        parts: Folder for live pages and tutorials, which are kept for the next build.

    Raises:
        SystemExit: If the site has a broken link, a missing reference or any other warning.
    """
    os.chdir(ROOT)  # worlds are named by paths relative to it
    write_players(parts)
    for name in TUTORIALS:
        print(write_tutorial(name, parts), flush=True)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    settings = {"SKILLFOCUS_SITE_PARTS": str(parts), "NO_MKDOCS_2_WARNING": "1"}
    if code := subprocess.run(command, env={**os.environ, **settings}, check=False).returncode:
        raise SystemExit(code)
    print(f"the site: {site / 'index.html'}")


def players() -> dict[str, list[sf.Discovery]]:
    """Return the names of the live pages, and the runs whose skills play on them."""
    rooms = family("four-rooms", "tool_1=2,tool_4=2,position=4")
    forage = family("forage-world", "resource_1=2,position=4")
    mud = family("mud-world", "treasure=2,position=2")
    museum = family("examples/maps/museum.txt", "key=2,painting=2,lamp=2,position=2")
    taxi = family("gymnasium:Taxi-v4", "passenger=2,taxi_row=2,taxi_column=2")
    gallery = [*rooms, *forage, *mud]
    return {"four-rooms": rooms[1:], "museum": museum[1:], "taxi": taxi[2:], "gallery": gallery}


def family(world: str, targets: str) -> list[sf.Discovery]:
    """Return VIC as published, with DUSDi and focused, with few skills."""
    n_skills = sum(int(count.split("=")[1]) for count in targets.split(","))
    plain = sf.Discovery(world, "vic", 0, sf.Planning(sees_start=False), skills=n_skills)
    others = ("dusdi-vic", "focused-vic")
    return [plain, *(sf.Discovery(world, name, 0, targets=targets) for name in others)]


def write_players(parts: Path) -> None:
    """Discover the skills that are not stored yet, and write the live pages.

    Raises:
        UserError: If a run failed.
    """
    store = sf.Store(parts / "runs")
    for name, runs in players().items():
        for run, failure in sf.run_all(runs, store).failures.items():
            raise sf.UserError(f"the skills of {run} could not be planned: {failure}")
        sf.view([store.skills_path(run) for run in runs], parts / "live" / f"{name}.html")


if __name__ == "__main__":
    build(*(Path(argument).resolve() for argument in sys.argv[1:]))
