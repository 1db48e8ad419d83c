"""How fast an actor is trained in worlds with real-valued actions, with one and several seeds.

    python benchmarks/continuous.py            # settings of a GPU
    python benchmarks/continuous.py --small    # settings of two CPU cores

What skills do is measured by `python -m paper continuous`.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import jax
import numpy as np

import skillfocus as sf
from skillfocus.learners.actor.learner import Actor, large_actor
from skillfocus.learners.actor.training import init_training, make_trainer
from skillfocus.learners.problem import make_problem
from skillfocus.objectives.kinds import Targets
from skillfocus.objectives.registry import make_objective

SETTINGS: dict[str, tuple[str, dict[str, str], str, Targets]] = {
    "gunner": ("gunner", {"starts": "varied"}, "focused-diayn", {"base": 5, "arm": 5, "view": 5}),
    "particles": ("particles", {}, "dusdi-diayn", {f"distance_{i}": 5 for i in range(10)}),
    "two-rooms": ("two-rooms", {}, "focused-diayn", {"agent": 8, "box": 8, "lamp": 2}),
}
"""World, its settings, objective and targets, by name."""
SCANS = 3
"""Compiled scans that are timed."""


def measure(name: str, actor: Actor, seeds: int) -> dict[str, object]:
    """Time compilation and some rounds of several seeds at once."""
    world, settings, objective, targets = SETTINGS[name]
    problem = make_problem(sf.make(world, **settings), make_objective(objective), targets=targets)
    trainer = make_trainer(actor, problem)
    strength = problem.objective.penalty.strength if problem.objective.penalty else 0.0
    begun = [init_training(trainer, np.random.default_rng(seed), strength) for seed in range(seeds)]
    carry, fixed = begun[0]
    run = lambda carry, fixed: trainer.run(carry, fixed, actor.rounds_per_jit)  # noqa: E731
    if seeds > 1:
        carry, fixed = jax.tree.map(lambda *each: jax.numpy.stack(each), *begun)
        run = jax.vmap(run)
    began = time.perf_counter()
    compiled = jax.jit(run, donate_argnums=0).lower(carry, fixed).compile()
    compiling = time.perf_counter() - began
    carry, _ = jax.block_until_ready(compiled(carry, fixed))
    began = time.perf_counter()
    for _ in range(SCANS):
        carry, report = compiled(carry, fixed)
        jax.block_until_ready((carry, report))
    seconds = time.perf_counter() - began
    steps = SCANS * actor.rounds_per_jit * problem.step_limit * actor.environments * seeds
    return {
        "setting": name, "seeds": seeds, "compile_s": compiling, "steps_per_s": steps / seconds,
        "environments": actor.environments,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how fast actors are trained.")
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), choices=SETTINGS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--small", action="store_true", help="settings for two CPU cores")
    parser.add_argument("--quick", action="store_true", help="small networks, for few rounds")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    actor = Actor() if arguments.small else large_actor()
    if arguments.quick:
        actor = Actor(
            environments=4, hidden=8, estimator_hidden=8, epochs=1, batch=80, rounds_per_jit=1
        )
    device = jax.devices()[0]
    print(f"jax {jax.__version__} on {device.device_kind} ({device.platform})", flush=True)
    rows = []
    for name in arguments.settings:
        for seeds in arguments.seeds:
            rows.append(row := measure(name, actor, seeds))
            print(
                f"{name:<12} {seeds} seeds: {row['steps_per_s'] / 1e6:6.2f} M steps/s, "  # pyright: ignore[reportOperatorIssue]
                f"compiled in {row['compile_s']:.0f} s",
                flush=True,
            )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
