"""Speed of networks: environment steps and skill samples a second, one set of skills and several.

    python benchmarks/neural.py [--world tool-rooms] [--small] [--sets 1 8] [--json FILE] [--quick]
        [--environments 16384] [--precision bfloat16]

Every transition that is learned from trains every skill with two first states, so an update of a
batch makes 2 × batch × skills skill samples. Sets that train together are one compiled program
(`jax.vmap`); the last column compares them with sets that train one after another. `--small` takes
the settings for a CPU.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

import skillfocus as sf
from skillfocus.learners.cost_network.learner import Neural, large_neural
from skillfocus.learners.cost_network.training import (
    SkillSet,
    Trainer,
    jax_world,
    make_model,
    matmul_precision,
    stack,
)
from skillfocus.learners.discovery import make_problem


def measure(world: str, settings: Neural, n_sets: int, seconds: float) -> dict[str, Any]:
    """Return the speed of training `n_sets` sets of skills at once, after compilation."""
    problem = make_problem(sf.make(world), sf.focused(sf.vic(), strength=2.5))
    model = make_model(problem)
    trainer = Trainer(jax_world(problem), model, settings, problem.step_limit)
    sets = [SkillSet(trainer, np.random.default_rng(seed), 2.5) for seed in range(n_sets)]

    def stretch(carry: Any, weights: Any) -> Any:
        return trainer.run(carry, weights, settings.updates_per_jit)

    carry, weights = (
        trees[0] if n_sets == 1 else stack(trees)
        for trees in ([each.carry for each in sets], [each.weights() for each in sets])
    )
    run = jax.jit(stretch if n_sets == 1 else jax.vmap(stretch), donate_argnums=0)
    began = time.perf_counter()
    with matmul_precision(settings):
        carry, loss, _ = run(carry, weights)
        jax.block_until_ready(loss)
        compiled, updates = time.perf_counter(), 0
        while time.perf_counter() - compiled < seconds:
            carry, loss, _ = run(carry, weights)
            jax.block_until_ready(loss)
            updates += settings.updates_per_jit * n_sets
    rate = updates / (time.perf_counter() - compiled)
    return {
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
        "world": world,
        "sets": n_sets,
        "first stretch, s": compiled - began,
        "updates/s": rate,
        "environment steps/s": rate * settings.environments,
        "skill samples/s": rate * 2 * settings.batch * model.n_skills,
        "one set, s": compiled - began + settings.updates / (rate / n_sets),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--world", default="tool-rooms")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--environments", type=int)
    parser.add_argument("--precision", default="default")
    parser.add_argument("--sets", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    settings = Neural() if options.small else large_neural()
    if options.quick:
        settings = Neural(environments=8, batch=8, hidden=8, memory=64, updates_per_jit=2)
        options.seconds = 0.1
    settings = replace(settings, precision=options.precision)
    if options.environments:
        settings = replace(settings, environments=options.environments)
    rows = [measure(options.world, settings, n, options.seconds) for n in options.sets]
    alone = rows[0]["updates/s"]
    for row in rows:
        row["over one after another"] = row["updates/s"] / alone
    print(" | ".join(rows[0]))
    for row in rows:
        print(" | ".join(f"{v:,.1f}" if isinstance(v, float) else str(v) for v in row.values()))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
