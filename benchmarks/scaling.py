"""How time and memory grow with states, variables and skills: docs/scaling.md's table and figure.

Rooms of 100 cells with so many pick-ups (gone for good) and switches (which change back), focused
VIC, ten rounds of planning. Each size is measured in a process of its own.

    python benchmarks/scaling.py [FIGURE.png] [--quick]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

IMAGE = Path(__file__).parent.parent / "docs" / "images" / "scaling.png"
PLACES = [(1, 1), (1, 10), (10, 1), (10, 10), (5, 5), (5, 8), (8, 5), (3, 3), (3, 7), (7, 3)]
SIZES = {
    "states": [(tools, 0, 6) for tools in (2, 4, 6, 8, 10)],
    "variables": [(1, switches, 6) for switches in range(5)],
    "skills": [(6, 0, skills) for skills in (4, 8, 16, 32)],
}
"""By what grows: pick-ups, switches and skills."""
QUICK = "--quick" in sys.argv
"""Measure the smallest size of each only, to show that it works."""


def drawing(tools: int, switches: int) -> str:
    rows = [list("#" * 12), *(list("#" + "." * 10 + "#") for _ in range(10)), list("#" * 12)]
    for (r, c), glyph in zip(PLACES, "T" * tools, strict=False):
        rows[r][c] = glyph
    legend = ["slip = 0.1"]
    legend += ["T = pick-up tool"] if tools else []
    letters = "ABCDEFGH"
    for i in range(switches):
        r, c = PLACES[tools + i]
        rows[r][c] = letters[i]
        legend.append(f"{letters[i]} = switch lamp_{i + 1}")
    return "\n".join([*legend, "", "map:", *("".join(row) for row in rows)])


def measure(tools: int, switches: int, n_skills: int) -> dict[str, float]:
    import skillfocus as sf
    from skillfocus.worlds.maps import make_map

    learner = sf.Planning(rounds=10)
    world = make_map("room", text=drawing(tools, switches))
    small = make_map("small", text="T = pick-up tool\n\nmap:\n#####\n#.T.#\n#####")
    sf.metrics.side_effects(sf.discover(small, sf.focused(sf.vic()), seed=0, learner=learner))
    began = time.process_time()
    mdp = sf.tabulate(world)
    tabulated = time.process_time()
    target = "tool" if tools == 1 else "tool_1"
    targets = {target: 2, "position": n_skills - 2}
    skills = sf.discover(
        world, sf.focused(sf.vic()), seed=0, learner=learner, targets=targets, mdp=mdp
    )
    discovered = time.process_time()
    sf.metrics.side_effects(skills)
    measured = time.process_time()
    return {
        "states": mdp.n_states,
        "variables": len(mdp.space),
        "skills": len(skills),
        "cells": skills.tabular.index.n_entries,
        "tabulate": tabulated - began,
        "discover": discovered - tabulated,
        "measure": measured - discovered,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def main() -> None:
    measured: dict[str, list[dict[str, float]]] = {}
    for what, sizes in SIZES.items():
        for size in sizes[:1] if QUICK else sizes:
            command = [sys.executable, "-W", "ignore", __file__, *map(str, size)]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            row = json.loads(output)
            measured.setdefault(what, []).append(row)
            print(
                f"| {what} | {row['states']:,} | {row['variables']} | {row['skills']} | "
                f"{row['cells'] / 1e6:.1f} M | {row['tabulate']:.1f} s | {row['discover']:.1f} s | "
                f"{row['measure']:.1f} s | {row['memory']:.2f} GB |",
                flush=True,
            )
    draw(measured)


def draw(measured: dict[str, list[dict[str, float]]]) -> None:
    from matplotlib.figure import Figure

    from skillfocus.figures import save_figure

    figure = Figure(figsize=(10, 3), layout="constrained")
    panels = figure.subplots(1, 3)
    for panel, (what, rows) in zip(panels, measured.items(), strict=True):
        across = [row[what] for row in rows]
        for part, marker in (("tabulate", "o"), ("discover", "s"), ("measure", "^")):
            panel.plot(across, [row[part] for row in rows], marker=marker, ms=4, label=part)
        panel.plot(
            across, [row["memory"] for row in rows], "k--", marker="d", ms=4, label="memory (GB)"
        )
        panel.set(xlabel=what, yscale="log")
        if what == "states":
            panel.set_xscale("log")
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("CPU seconds, GB")
    panels[0].legend(frameon=False, fontsize=8)
    paths = [Path(word) for word in sys.argv[1:] if word.endswith(".png")]
    save_figure(figure, paths[0] if paths else IMAGE)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1].isdigit():
        print(json.dumps(measure(*map(int, sys.argv[1:]))))
    else:
        main()
