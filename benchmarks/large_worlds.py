"""Large worlds at the defaults: docs/scaling.md's second table.

MiniGrid's UnlockPickup, a maze with six gems and RDDL's SysAdmin, all targets, focused VIC, forty
rounds. Each is explored, learned, measured, saved and loaded in a process of its own, on all cores.
Times are seconds of computing on all cores together, and by the clock; the load at the start says
how much else the machine had to do.

    python benchmarks/large_worlds.py [WORLD …] [--quick]
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MAZE = Path(__file__).parent / "gem-maze.txt"
WORLDS = ("minigrid:UnlockPickup", str(MAZE), "rddl:SysAdmin_MDP_ippc2011/1")
QUICK = "--quick" in sys.argv
"""Learn two skills of one small world in packed form, to show that it works."""


def measure(name: str) -> dict[str, float | str]:
    import skillfocus as sf
    from skillfocus.learners.planning import problem as problem_builder

    if QUICK:
        problem_builder.MAX_CELLS = 200_000
    learner = sf.Planning(rounds=2 if QUICK else 40)
    load = os.getloadavg()[0]
    moments = [_now()]
    world = sf.make(name)
    mdp = sf.tabulate(world)
    moments.append(_now())
    skills = sf.discover(world, sf.focused(sf.vic()), seed=0, learner=learner, mdp=mdp)
    moments.append(_now())
    effects = sf.metrics.side_effects(skills)
    moments.append(_now())
    with tempfile.TemporaryDirectory() as folder:
        file = skills.save(Path(folder) / "large.skills")
        size = file.stat().st_size
        assert sf.Skills.load(file, mdp=mdp, world=world) == skills
    moments.append(_now())
    parts = ("explore", "discover", "measure", "save and load")
    taken = {
        part: [round(after - before, 1) for before, after in zip(first, last, strict=True)]
        for part, first, last in zip(parts, moments[:-1], moments[1:], strict=True)
    }
    fair = [e for e in effects if len(e.starts)]
    control: dict[tuple[str, ...], float] = {}
    for e in fair:
        control[e.targets] = max(control.get(e.targets, 0.0), e.changes_target or 0.0)
    return {
        "world": Path(name).stem if name.endswith(".txt") else name,
        "states": mdp.n_states,
        "skills": len(skills),
        "cells": skills.tabular.index.n_entries,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "file": size / 1e6,
        "load": load,
        "least control": min(control.values(), default=0.0),
        "side effects": sum(e.side_effects for e in fair) / max(len(fair), 1),
        **taken,
    }  # pyright: ignore[reportReturnType]


def _now() -> tuple[float, float]:
    """Seconds of computing on all cores, and by the clock."""
    return time.process_time(), time.perf_counter()


def main() -> None:
    named = [word for word in sys.argv[1:] if not word.startswith("--")]
    worlds = named or (
        [str(MAZE.parents[1] / "examples" / "maps" / "museum.txt")] if QUICK else WORLDS
    )
    quick = ["--quick"] if QUICK else []
    for world in worlds:
        command = [sys.executable, "-W", "ignore", __file__, "--one", world, *quick]
        environment = {**os.environ, "SKILLFOCUS_CACHE": "off"}
        output = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, env=environment
        ).stdout
        row = json.loads(output)
        times = " | ".join(
            f"{row[part][0]:.0f} / {row[part][1]:.0f} s"
            for part in ("explore", "discover", "measure", "save and load")
        )
        print(
            f"| {row['world']} | {row['states']:,} | {row['skills']} | {row['cells'] / 1e6:,.0f} M "
            f"| {times} | {row['memory']:.2f} GB | {row['file']:.1f} MB | {row['load']:.0f} "
            f"| {row['least control']:.2f} |",
            flush=True,
        )
        print(f"  {json.dumps(row)}", file=sys.stderr)


if __name__ == "__main__":
    if "--one" in sys.argv:
        print(json.dumps(measure(sys.argv[sys.argv.index("--one") + 1])))
    else:
        main()
