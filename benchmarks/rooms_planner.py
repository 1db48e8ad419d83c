"""What the best focused skills do in rooms with many tools: the reference for networks.

Per tool the planner of `paper/rooms.py`; starts with no tool picked up, in every cell
or a sample, and starts as environments begin. A fair start's round trip takes three quarters of the
step limit at most, and a clear one also avoids other tools.

    python benchmarks/rooms_planner.py [tool-rooms] [room-blocks] [--quick]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from paper.rooms import fair_starts, plan
from skillfocus.worlds.jax.rooms import RoomBlocks, Rooms, ToolRooms

QUICK = "--quick" in sys.argv
WORLDS = {"tool-rooms": ToolRooms, "room-blocks": RoomBlocks}
MAX_STARTS = 8 if QUICK else 104
DRAWS = 1 if QUICK else 4
"""Sets of picked-up tools that are drawn per tool."""


def measure(world: Rooms, tool: int, picked_up: list[int], starts: np.ndarray) -> np.ndarray:
    """Rows of whether a start is fair, is clear, changes and side effects, [4, n_starts]."""
    skill = plan(world, tool, starts=starts, picked_up=picked_up)
    changes, side_effects = skill.effects()
    fair, clear = (fair_starts(world, tool, picked_up, clear=clear) for clear in (False, True))
    return np.stack([np.isin(starts, fair), np.isin(starts, clear), changes[0], side_effects[0]])


def report(name: str, kind: str, rows: list[np.ndarray], seconds: float) -> None:
    fair, clear, changes, side_effects = np.concatenate(rows, axis=1)
    worst = min(row[2].mean() for row in rows)
    shown = [f"{changes.mean():.3f} / {worst:.3f}", f"{side_effects.mean():.3f}"]
    shown += [f"{side_effects[mask > 0].mean():.3f}" for mask in (fair, clear)]
    print(f"| {name} | {kind} | {' | '.join(shown)} | {seconds:.0f} s |", flush=True)


def main() -> None:
    print("| world | starts | changes: mean / worst | side effects: all | fair | clear | time |")
    print("|---|---|---|---|---|---|---|")
    for name in [n for n in WORLDS if n in sys.argv] or WORLDS:
        world, rng = WORLDS[name](), np.random.default_rng(0)
        n_cells, n_tools = len(world.map.cells), len(world.tools)
        tools = range(2) if QUICK else range(n_tools)
        size = min(MAX_STARTS, n_cells)
        began = time.perf_counter()
        rows = [
            measure(world, tool, [], np.sort(rng.choice(n_cells, size, replace=False)))
            for tool in tools
        ]
        report(name, "no tool picked up", rows, time.perf_counter() - began)
        began, rows = time.perf_counter(), []
        for tool in tools:
            for _ in range(DRAWS):
                picked_up = np.flatnonzero(rng.random(n_tools) < rng.random()).tolist()
                picked_up = [other for other in picked_up if other != tool]
                cells = np.sort(rng.choice(n_cells, min(16, size), replace=False))
                rows.append(measure(world, tool, picked_up, cells))
        report(name, "random", rows, time.perf_counter() - began)


if __name__ == "__main__":
    main()
