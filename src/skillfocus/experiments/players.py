"""Players of the report's worlds, from the skills that a folder of runs holds."""

from __future__ import annotations

from skillfocus.core.progress import Progress, no_progress
from skillfocus.experiments.gallery import FAMILIES, gallery_runs, gallery_sets
from skillfocus.experiments.presets import WORLDS
from skillfocus.report.document import Player
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.folder_store import Store
from skillfocus.viewer.page import frame_html

WATCHED = FAMILIES[1]
"""DIAYN plain, with DUSDi and focused: of the families with all three, the one whose policies are
small. VIC's would make a report five times as large."""


def watched_runs(store: Store) -> list[Discovery]:
    """The runs whose skills are played."""
    return gallery_runs(store, WORLDS, WATCHED)


def players(store: Store, report: Progress = no_progress) -> list[Player]:
    """One player per world of which the folder holds skills."""
    runs = [run for run in watched_runs(store) if run in store]
    worlds = list(dict.fromkeys(run.world for run in runs))
    made = []
    for place, world in enumerate(worlds):
        report(place / len(worlds), f"making the player of {world}")
        sets = gallery_sets(store, [run for run in runs if run.world == world], WATCHED)
        name = sets[0].skills.world.id
        caption = (
            f"{name}: {', '.join(one.label for one in sets)}; planned with the paper's settings, "
            f"the first seed. Click a cell to begin there."
        )
        made.append(Player(caption, frame_html(sets, f"Skills in {name}")))
    return made
