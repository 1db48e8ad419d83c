"""Live pages of the site: three players and a small gallery, made from skills planned here.

    python -m website.players out/website

Each page is one file that simulates its skills, as `skillfocus view` writes it. Runs are stored in
the folder, so a second build only writes pages. The gallery of `python -m paper gallery` has
eight algorithms with sixteen skills each; this one has three with four to eight, to be planned in
seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from paper.formatting import agent_name
from skillfocus.discovery import Discovery
from skillfocus.errors import UserError
from skillfocus.learners.planning.learner import Planning
from skillfocus.runs import Store, run_all
from skillfocus.skills.skills import Skills
from skillfocus.viewer.page import write_page
from skillfocus.viewer.payload import SkillSetView

ROOT = Path(__file__).resolve().parents[1]


class Player(NamedTuple):
    """A page, and the runs whose skills play on it."""

    name: str
    title: str
    runs: Sequence[Discovery]


def family(world: str, targets: str) -> list[Discovery]:
    """Return VIC as published, with DUSDi and focused, with few skills."""
    n_skills = sum(int(count.split("=")[1]) for count in targets.split(","))
    plain = Discovery(world, "vic", 0, Planning(memory=False), skills=n_skills)
    others = [Discovery(world, name, 0, targets=targets) for name in ("dusdi-vic", "focused-vic")]
    return [plain, *others]


def players() -> list[Player]:
    """Return the pages of the site."""
    rooms = family("four-rooms", "tool_1=2,tool_4=2,position=4")
    forage = family("forage-world", "resource_1=2,position=4")
    mud = family("mud-world", "treasure=2,position=2")
    museum = "examples/maps/museum.txt"  # relative, as the page shows it
    museum_runs = [
        Discovery(museum, name, 0, targets="key=2,painting=2,lamp=2,position=2")
        for name in ("dusdi-vic", "focused-vic")
    ]
    taxi = [
        Discovery(
            "gymnasium:Taxi-v4", "focused-vic", 0, targets="passenger=2,taxi_row=2,taxi_column=2"
        )
    ]
    return [
        Player("four-rooms", "Two algorithms fetch a tool", rooms[1:]),
        Player("museum", "A museum at night, drawn in a text file", museum_runs),
        Player("taxi", "Taxi from Gymnasium", taxi),
        Player("gallery", "Focused skills: a small gallery", [*rooms, *forage, *mud]),
    ]


def write_players(folder: Path, pages: Sequence[Player]) -> list[Path]:
    """Discover what the folder does not have yet, and write the pages into it.

    Raises:
        UserError: If a run failed.
    """
    store = Store(folder / "runs")
    runs = [run for page in pages for run in page.runs]
    with ThreadPoolExecutor(1) as thread:  # processes would take longer to start than to plan
        status = run_all(runs, store, executor=thread)
    for run, failure in status.failures.items():
        raise UserError(f"the skills of {run} could not be planned: {failure}")
    return [
        write_page(
            [view(store, run) for run in page.runs], folder / f"{page.name}.html", page.title
        )
        for page in pages
    ]


def view(store: Store, run: Discovery) -> SkillSetView:
    """Return a finished run's skills and what they do, for a page."""
    skills = Skills.load(store.skills_path(run), run.make_world(), mdp=run.make_mdp())
    record = store.document(run)
    return SkillSetView(skills, agent_name(run.objective), record["skills"], first=True)


if __name__ == "__main__":
    write_players(Path(sys.argv[1]), players())
