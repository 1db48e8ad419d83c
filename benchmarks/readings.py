"""Search combinations of readings for the one nearest to the paper's numbers, on tuning seeds.

Every combination of the decisions below is tried. An agent shares its runs among all combinations
that make no difference to it, so that the whole search takes a few hundred runs per seed.

    python benchmarks/readings.py --seeds 2 --out out/readings
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from paper.agents import Case, Setup
from paper.readings import distance, distances, measured, paper_numbers
from paper.results import collect_results, reduce_results
from paper.settings import AGENTS, PAPER, READING, READINGS, TASK_READINGS, WORLDS
from skillfocus.runs import Store, run_all
from skillfocus.sweep import tuning_seeds

CHOICES = {
    "memory": ("targets", "none"), "strength": ("appendix", "text"), "prior": ("target", "all"),
    "stopping": ("earns", "ends"), "steps": (1.0, 1.5),
}  # fmt: skip


def combinations(choices: dict[str, tuple]) -> list[str]:
    """Register every combination as a reading, and return the names."""
    names = []
    for values in itertools.product(*choices.values()):
        for way, task in TASK_READINGS.items():
            if way == "best":
                continue
            changes = dict(zip(choices, values, strict=True))
            changes |= {key: getattr(task, key) for key in ("ties", "choices", "updates")}
            reading = replace(PAPER, **changes)
            parts = [f"{k}={v}" for k, v in changes.items() if v != getattr(PAPER, k)]
            READINGS[" ".join(parts) or "paper's"] = reading
            names.append(" ".join(parts) or "paper's")
    return names


def main() -> None:
    """Run all combinations and print those nearest to the paper."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/readings"))
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--quick", action="store_true", help="two choices in one world, for tests")
    arguments = parser.parse_args()
    choices = {"memory": CHOICES["memory"]} if arguments.quick else CHOICES
    worlds, agents = (WORLDS[1:2], ("lsd",)) if arguments.quick else (WORLDS, AGENTS)
    names = combinations(choices)
    cases = [
        Case(
            "paper", "planning", world, agent, f"{READING}{name}", seed,
            Setup(name).case(world, agent, seed).run,
        )
        for name in names
        for seed in tuning_seeds(arguments.seeds)
        for world in worlds
        for agent in agents
    ]  # fmt: skip
    store = Store(arguments.out)
    runs = list({case.run.id: case.run for case in cases}.values())
    print(f"{len(runs)} runs", flush=True)
    run_all(runs, store, workers=arguments.workers)
    frame = reduce_results(collect_results(store, cases), cases)
    found = {}
    for name in names:
        ours = measured(frame, name)
        if not ours or (not arguments.quick and len(ours) < len(paper_numbers())):
            continue
        found[name] = (distance(ours), distances(ours))
    for name, (total, parts) in sorted(found.items(), key=lambda item: item[1][0])[:40]:
        print(f"{total:.4f}  {' '.join(f'{p:.3f}' for p in parts.values())}  {name}")


if __name__ == "__main__":
    main()
