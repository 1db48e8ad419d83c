"""Continuous skills on the device at hand: speed, side effects and downstream returns.

    PYTHONPATH=src python benchmarks/continuous.py                      # speed, then every setting
    PYTHONPATH=src python benchmarks/continuous.py --only speed
    PYTHONPATH=src python benchmarks/continuous.py --settings gunner-focused gunner-dusdi --seeds 4
    PYTHONPATH=src python benchmarks/continuous.py --small              # a check on two CPU cores
    PYTHONPATH=src python benchmarks/continuous.py --quick              # does it work?

Prints a table and writes it as JSON (`--out`, continuous.json by default). Needs jax, optax,
numpy, scipy, numba and safetensors alone.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
import types
from dataclasses import replace

import jax
import numpy as np

if importlib.util.find_spec("gymnasium") is None:
    # `import skillfocus` registers environments, which are of no use here
    stand_in = types.ModuleType("gymnasium")
    stand_in.register = lambda *_, **__: None  # pyright: ignore[reportAttributeAccessIssue]
    sys.modules["gymnasium"] = stand_in

from skillfocus.learners.actor.settings import Actor, large_actor
from skillfocus.learners.actor.training import init_training, make_trainer, train
from skillfocus.learners.cost_network.learner import Neural
from skillfocus.learners.problem import ContinuousProblem, as_skills, make_continuous_problem
from skillfocus.metrics.continuous import continuous_side_effects, summarize
from skillfocus.metrics.coverage import coverage_by_variable
from skillfocus.objectives.kinds import Sphere
from skillfocus.objectives.registry import make_objective
from skillfocus.progress import no_progress
from skillfocus.tasks.continuous import SkillAgent, learn_skill_task
from skillfocus.tasks.sampled import tasks_of
from skillfocus.worlds.registry import make

ITEMS = {"base": 5, "arm": 5, "view": 5}
NUMBERS = {"base": 8, "arm": 8, "gripper": 2, "view": 4}
DISTANCES = {f"distance_{i}": 5 for i in range(10)}
ROOMS = {"agent": 8, "box": 8, "lamp": 2}
ONE_BY_ONE = [{name: count} for name, count in ITEMS.items()]
ROOMS_ONE_BY_ONE = [{name: count} for name, count in ROOMS.items()]
BOTH = [*ONE_BY_ONE, {"base": 5, "view": 5}, ITEMS]
SETTINGS: dict[str, tuple[str, dict, str, dict]] = {
    "gunner-focused": ("gunner", {"starts": "varied"}, "focused-diayn", {"targets": ITEMS}),
    "gunner-focused-both": ("gunner", {"starts": "varied"}, "focused-diayn", {"targets": BOTH}),
    "gunner-focused-vic": ("gunner", {"starts": "varied"}, "focused-vic", {"targets": ITEMS}),
    "gunner-dusdi": ("gunner", {"starts": "varied"}, "dusdi-diayn", {"targets": ITEMS}),
    "gunner-dusdi-centre": ("gunner", {}, "dusdi-diayn", {"targets": ITEMS}),
    "gunner-dusdi-single": (
        "gunner", {"starts": "varied"}, "dusdi-diayn", {"targets": ONE_BY_ONE},
    ),
    "gunner-diayn": ("gunner", {"starts": "varied"}, "diayn", {"n_skills": 125}),
    "gunner-metra": ("gunner", {"starts": "varied"}, "metra", {"targets": Sphere(3)}),
    "gunner-focused-metra": (
        "gunner", {"starts": "varied", "variables": "numbers"}, "focused-metra",
        {"targets": {"base": Sphere(2), "arm": Sphere(2), "view": 2}},
    ),
    "particles-dusdi": ("particles", {}, "dusdi-diayn", {"targets": DISTANCES}),
    "particles-focused": ("particles", {}, "focused-diayn", {"targets": DISTANCES}),
    "particles-diayn": ("particles", {}, "diayn", {"n_skills": 50}),
    "particles-metra": ("particles", {}, "metra", {"targets": Sphere(5)}),
    "rooms-focused": ("two-rooms", {}, "focused-diayn", {"targets": ROOMS}),
    "rooms-focused-vic": ("two-rooms", {}, "focused-vic", {"targets": ROOMS}),
    "rooms-dusdi": ("two-rooms", {}, "dusdi-diayn", {"targets": ROOMS_ONE_BY_ONE}),
    "rooms-diayn": ("two-rooms", {}, "diayn", {"n_skills": 16}),
    "rooms-metra": ("two-rooms", {}, "metra", {"targets": Sphere(2)}),
    "rooms-focused-metra": (
        "two-rooms", {}, "focused-metra",
        {"targets": {"agent": Sphere(2), "box": Sphere(2), "lamp": 2}},
    ),
}  # fmt: skip
SPEED = ("gunner-focused", "particles-dusdi", "rooms-focused")
PEER_FRAMES = 4_000_000


def problem_of(name: str) -> ContinuousProblem:
    world, settings, objective, arguments = SETTINGS[name]
    return make_continuous_problem(
        make(world, **settings),  # pyright: ignore[reportArgumentType]
        make_objective(objective),
        **arguments,
    )


def measure_speed(name: str, actor: Actor, seeds: int) -> dict:
    """Time compilation and a stretch of rounds of several seeds at once."""
    problem = problem_of(name)
    trainer = make_trainer(actor, problem)
    strength = problem.objective.penalty.strength if problem.objective.penalty else 0.0
    begun = [init_training(trainer, np.random.default_rng(seed), strength) for seed in range(seeds)]
    carry, fixed = jax.tree.map(lambda *each: jax.numpy.stack(each), *begun)
    run = jax.vmap(lambda carry, fixed: trainer.run(carry, fixed, actor.stretch))
    if seeds == 1:
        carry, fixed = begun[0]
        run = lambda carry, fixed: trainer.run(carry, fixed, actor.stretch)  # noqa: E731
    began = time.perf_counter()
    compiled = jax.jit(run, donate_argnums=0).lower(carry, fixed).compile()
    compiling = time.perf_counter() - began
    carry, _ = jax.block_until_ready(compiled(carry, fixed))
    began = time.perf_counter()
    stretches = 3
    for _ in range(stretches):
        carry, report = compiled(carry, fixed)
        jax.block_until_ready((carry, report))
    seconds = time.perf_counter() - began
    steps = stretches * actor.stretch * problem.step_limit * actor.environments * seeds
    return {
        "setting": name, "seeds": seeds, "compile_s": compiling, "steps_per_s": steps / seconds,
        "environments": actor.environments,
    }  # fmt: skip


def train_and_judge(
    name: str, actor: Actor, agent: SkillAgent, seeds: int, first_seed: int, rollouts: int
) -> list:
    """Train a setting with several seeds at once, and measure what the skills do."""
    problem = problem_of(name)
    began = time.perf_counter()
    rngs = [np.random.default_rng(first_seed + i) for i in range(seeds)]
    trained = train(actor, problem, rngs, no_progress)
    seconds = time.perf_counter() - began
    rows, sets = [], []
    for seed, each in enumerate(trained):
        skills = as_skills(problem, each.weights, Neural(actor=actor), first_seed + seed)
        row: dict = {
            "setting": name, "seed": first_seed + seed, "train_s": seconds,
            "steps": actor.rounds * actor.environments * problem.step_limit,
        }  # fmt: skip
        for settled in (False, True):
            rng = np.random.default_rng(seed)
            effects = continuous_side_effects(skills, rng=rng, n=rollouts, settled=settled)
            start = "settled" if settled else "random"
            row[start] = {key: list(value) for key, value in summarize(effects, rng).items()}
            row[f"{start}_changes"] = {
                f"{e.target}={_short(e.skill)}": np.round(e.changes.mean(axis=0), 3).tolist()
                for e in effects
            }
            if not settled:
                row["coverage"] = coverage_by_variable(
                    effects,
                    skills,
                    bins=2 if "items" in str(problem.world.settings.get("variables")) else 10,
                )
        curve = each.report["rewards"]
        row["rewards"] = [
            np.round(part.mean(axis=0), 1).tolist() for part in np.array_split(curve, 5)
        ]
        row["entropy"] = float(each.report["entropy"][-1])
        row["dual"] = each.report["dual"][-1].tolist()
        rows.append(row)
        sets.append(skills)
        show(row)
    downstream(sets, agent, rows)
    return rows


def downstream(sets: list, agent: SkillAgent, rows: list) -> None:
    """Learn the world's tasks over every set of skills, and add returns to its row."""
    for task in tasks_of(sets[0].world):
        began = time.perf_counter()
        done = learn_skill_task(sets, task, [row["seed"] for row in rows], agent)
        seconds = time.perf_counter() - began
        for row, result in zip(rows, done, strict=True):
            quarter = len(result.returns) // 4
            row.setdefault("tasks", {})[task.name] = {
                "return": float(result.last_returns.mean()),
                "true_return": float(result.last_true_returns.mean()),
                "training": [float(x) for x in result.returns[:: max(1, quarter)]],
                "decisions": result.decisions, "seconds": seconds, "best": task.best_return,
            }  # fmt: skip
        last = [row["tasks"][task.name] for row in rows]
        print(
            f"{rows[0]['setting']:<24} {task.name}: return "
            f"{np.mean([each['return'] for each in last]):.2f} of {task.best_return:g} (true "
            f"{np.mean([each['true_return'] for each in last]):.2f}; seeds "
            f"{[round(each['return'], 1) for each in last]}), {done[0].decisions:,} decisions, "
            f"{seconds:.0f} s",
            flush=True,
        )


def _short(skill: object) -> str:
    return str(skill) if isinstance(skill, int) else ",".join(f"{x:.1f}" for x in skill)  # pyright: ignore[reportGeneralTypeIssues]


def show(row: dict) -> None:
    parts = [f"{row['setting']:<24} seed {row['seed']} {row['steps'] / 1e6:7.1f} M steps"]
    for start in ("random", "settled"):
        target, others, exceeds = (
            row[start][key] for key in ("target_change", "side_effects", "exceeds")
        )
        parts.append(
            f"{start}: target {target[0]:.3f} others {others[0]:.3f} [{others[1]:.3f}, "
            f"{others[2]:.3f}] >0.1 {exceeds[0]:.2f}"
        )
    coverage = ", ".join(f"{name} {share:.2f}" for name, share in [*row["coverage"].items()][:4])
    print("; ".join(parts), f"; coverage {coverage}; rewards {row['rewards']}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure continuous skills.")
    parser.add_argument("--only", choices=("speed", "train"))
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), choices=SETTINGS)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--environments", type=int)
    parser.add_argument("--entropy", type=float)
    parser.add_argument("--persistence", type=float)
    parser.add_argument("--credit", type=float)
    parser.add_argument("--task-rounds", type=int, default=120)
    parser.add_argument("--rollouts", type=int, default=256)
    parser.add_argument("--peer-frames", action="store_true", help="train for DUSDi's 4 M frames")
    parser.add_argument("--small", action="store_true", help="settings for two CPU cores")
    parser.add_argument("--quick", action="store_true", help="small networks, for few rounds")
    parser.add_argument("--out", default="continuous.json")
    arguments = parser.parse_args()
    actor = Actor() if arguments.small else large_actor()
    if arguments.quick:
        actor = Actor(
            rounds=2, environments=4, hidden=8, judge_hidden=8, epochs=1, batch=80, stretch=1
        )
    changes = {
        name: getattr(arguments, name)
        for name in ("rounds", "environments", "entropy", "persistence", "credit")
        if getattr(arguments, name) is not None
    }
    actor = replace(actor, **changes)
    agent = SkillAgent(rounds=arguments.task_rounds)
    if not (arguments.small or arguments.quick):
        agent = replace(agent, environments=256, batch=1280, hidden=128)
    device = jax.devices()[0]
    print(f"jax {jax.__version__} on {device.device_kind} ({device.platform})", flush=True)
    results: dict = {
        "jax": jax.__version__, "device": device.device_kind, "speed": [], "trained": [],
    }  # fmt: skip
    if arguments.only != "train":
        for name in [name for name in SPEED if name in arguments.settings]:
            for seeds in (1, 2 if arguments.quick else 8):
                row = measure_speed(name, actor, seeds)
                results["speed"].append(row)
                print(
                    f"{name:<24} {seeds} seeds: {row['steps_per_s'] / 1e6:6.2f} M steps/s, "
                    f"compiled in {row['compile_s']:.0f} s",
                    flush=True,
                )
    if arguments.only != "speed":
        for name in arguments.settings:
            mine = actor
            if arguments.peer_frames:
                mine = peer_actor(actor, problem_of(name).step_limit)
            results["trained"] += train_and_judge(
                name, mine, agent, arguments.seeds, arguments.first_seed, arguments.rollouts
            )
            with open(arguments.out, "w") as file:
                json.dump(results, file)
    with open(arguments.out, "w") as file:
        json.dump(results, file)


def peer_actor(actor: Actor, step_limit: int) -> Actor:
    """Return settings that take DUSDi's number of frames: few environments, many rounds."""
    environments = 64
    rounds = PEER_FRAMES // (environments * step_limit)
    return replace(actor, environments=environments, rounds=rounds, batch=1600, epochs=4)


if __name__ == "__main__":
    main()
