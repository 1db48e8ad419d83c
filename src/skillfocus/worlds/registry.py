"""World names: versioned ids (`FourRooms-v0`) and the command line's short forms (`four-rooms`)."""

from __future__ import annotations

from skillfocus.errors import UserError, unknown
from skillfocus.worlds.forage_world import ForageWorld
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.grid import GridWorld
from skillfocus.worlds.mud_world import MudWorld

WORLDS: dict[str, type[GridWorld]] = {
    "four-rooms": FourRooms,
    "forage-world": ForageWorld,
    "mud-world": MudWorld,
}


WORLD_IDS = {world.id: world for world in WORLDS.values()}


def make(name: str, **settings: object) -> GridWorld:
    """A world by its id or short name, with any of its settings (slip, step_limit, …)."""
    kind = WORLDS.get(name) or WORLD_IDS.get(name)
    if kind is None:
        raise unknown("world", name, [*WORLDS, *WORLD_IDS])
    try:
        return kind(**settings)  # pyright: ignore[reportArgumentType, reportCallIssue]
    except TypeError as error:
        raise UserError(f"{kind.id} does not take these settings: {error}") from None
