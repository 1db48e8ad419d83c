"""Players of the report: one per world, from the skills that a folder of runs holds."""

from __future__ import annotations

from skillfocus.core.progress import Progress, no_progress
from skillfocus.experiments.gallery import FAMILIES, gallery_runs, gallery_sets
from skillfocus.experiments.presets import WORLDS
from skillfocus.report.document import Player
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.folder_store import Store
from skillfocus.viewer.page import frame_html

PLAYED_OBJECTIVES = FAMILIES[1]
"""DIAYN plain, with DUSDi and focused: the family with all three whose policies are small. VIC's
would make a report five times as large."""


def player_runs(store: Store) -> list[Discovery]:
    """Return the runs whose skills the players show."""
    return gallery_runs(store, WORLDS, PLAYED_OBJECTIVES)


def make_players(store: Store, progress: Progress = no_progress) -> list[Player]:
    """Return one player for every world whose skills the folder holds.

    Args:
        store: The folder of runs.
        progress: Progress callback.
    """
    runs = [run for run in player_runs(store) if run in store]
    worlds = list(dict.fromkeys(run.world for run in runs))
    players = []
    for number, world in enumerate(worlds):
        progress(number / len(worlds), f"making the player of {world}")
        own_runs = [run for run in runs if run.world == world]
        sets = gallery_sets(store, own_runs, PLAYED_OBJECTIVES)
        name = sets[0].skills.world.id
        caption = (
            f"{name}: {', '.join(one.label for one in sets)}; planned with the paper's settings, "
            f"the first seed. Click a cell to begin there."
        )
        players.append(Player(caption, frame_html(sets, f"Skills in {name}")))
    return players
