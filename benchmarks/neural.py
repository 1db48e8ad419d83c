"""Speed of networks: environment steps and skill samples a second.

    python benchmarks/neural.py [--world tool-rooms] [--small] [--json FILE] [--quick]
        [--environments 16384] [--precision bfloat16]

Every transition that is learned from trains every skill with two first states, so an update of a
batch makes 2 × batch × skills skill samples. `--small` takes the settings for a CPU.
"""

from __future__ import annotations

import argparse
import json
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

import skillfocus as sf
from skillfocus.learners.cost_network.learner import Neural, large_neural
from skillfocus.learners.cost_network.training import Trainer, jax_world, make_model
from skillfocus.learners.problem import make_problem


def measure(world: str, settings: Neural, seconds: float) -> dict[str, Any]:
    """Return the speed of training a set of skills, after compilation."""
    problem = make_problem(sf.make(world), sf.focused(sf.vic(), strength=2.5))
    model = make_model(problem)
    trainer = Trainer(jax_world(problem), model, settings, problem.step_limit)
    carry, rewards = trainer.init(np.random.default_rng(0))
    weights = rewards.weights(0.0)
    run = jax.jit(
        lambda carry, weights: trainer.run(carry, weights, settings.updates_per_jit),
        donate_argnums=0,
    )
    precision = None if settings.precision == "default" else settings.precision
    began = time.perf_counter()
    with nullcontext() if precision is None else jax.default_matmul_precision(precision):
        carry, loss, _ = run(carry, weights)
        jax.block_until_ready(loss)
        compiled, updates = time.perf_counter(), 0
        while time.perf_counter() - compiled < seconds:
            carry, loss, _ = run(carry, weights)
            jax.block_until_ready(loss)
            updates += settings.updates_per_jit
    rate = updates / (time.perf_counter() - compiled)
    return {
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
        "world": world,
        "first stretch, s": compiled - began,
        "updates/s": rate,
        "environment steps/s": rate * settings.environments,
        "skill samples/s": rate * 2 * settings.batch * model.n_skills,
        "one set, s": compiled - began + settings.updates / rate,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--world", default="tool-rooms")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--environments", type=int)
    parser.add_argument("--precision", default="default")
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
    row = measure(options.world, settings, options.seconds)
    for name, value in row.items():
        print(f"{name}: {value:,.1f}" if isinstance(value, float) else f"{name}: {value}")
    if options.json:
        options.json.write_text(json.dumps(row, indent=1))


if __name__ == "__main__":
    main()
