"""What small exact cases give: policies, metrics, tasks, networks, worlds, files and `--json`.

`tests/data/guard_rails.json` holds them as they were computed last. Numbers are compared to six
digits; digests, of policies and of worlds, bit for bit.

    python tests/support/guard_rails.py        writes the file anew
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import skillfocus as sf
from commands import command
from skillfocus.objectives import registry

FILE = Path(__file__).parent.parent / "data" / "guard_rails.json"
ROOM = "######\n#...T#\n#.#..#\n#T...#\n######"
TARGETS = {"tool_1": 2, "tool_2": 2, "position": 3}
MAP = """slip = 0.1
step limit = 8
T = pick-up tool

map:
######
#@..T#
#.#..#
#....#
######
"""
OBJECTIVES = (
    "vic", "diayn", "lsd", "dusdi-vic", "dusdi-diayn", "focused-vic", "focused-diayn",
    "focused-lsd", "focused-reach", "focused-change", "scattered-focused-vic",
)  # fmt: skip
LEARNERS = {
    "planning": sf.Planning(rounds=4),
    "q-learning": sf.QLearning(episodes=3000),
    "literal": sf.literal_q_learning(episodes=3000),
}
PENALTIES = [
    (penalty, baseline)
    for penalty in ("weighted-norm", "path-norm", "changed-variables")
    for baseline in ("start", "inaction", "stepwise")
]


def make_objective(name: str, **settings: Any) -> sf.Objective:
    """Return the objective of a name with the paper's rate for VIC."""
    rate = {"rate": 0.7} if name.endswith("vic") else {}
    return registry.make_objective(name, **rate, **settings)


def digest(*arrays: np.ndarray) -> str:
    """Return a digest of arrays: shapes and every bit, whatever the width of integers."""
    found = hashlib.sha256()
    for array in arrays:
        array = np.ascontiguousarray(array)
        if array.dtype.kind in "iub":
            array = array.astype(np.int64)
        found.update(f"{array.dtype.kind}{array.shape}".encode() + array.tobytes())
    return found.hexdigest()[:16]


def room(**settings: Any) -> sf.World:
    return sf.make("four-rooms", drawing=ROOM, **{"slip": 0.1, "step_limit": 8, **settings})


def policies(skills: sf.Skills) -> str:
    """Return a digest of what every skill does, by mode, context and state."""
    tables = [
        skills.policy_of(z, mode) for z in range(len(skills)) for mode in range(skills.n_modes[z])
    ]
    return digest(*tables, skills.contexts)


def effects(skills: sf.Skills) -> list[list[float]]:
    """Return side effects and what is beside them, a row per skill."""
    rng = np.random.default_rng(0)
    return [
        [e.side_effects, -1.0 if e.changes_target is None else e.changes_target,
         float(e.steps.mean()), float(e.changed.sum()), float(e.amount.sum()),
         float(e.controlled.sum()), float(len(e.starts))]
        for e in sf.metrics.side_effects(skills, rng=rng)
    ]  # fmt: skip


def measured(skills: sf.Skills) -> dict[str, Any]:
    coverage = sf.metrics.coverage(skills, 3, rng=np.random.default_rng(1))
    return {
        "policies": policies(skills),
        "effects": effects(skills),
        "coverage": coverage.curve.tolist(),
        "auc": coverage.auc,
    }


def tabular(objective: str, learner: str) -> dict[str, Any]:
    made = make_objective(objective)
    own: dict[str, Any] = {"targets": TARGETS} if made.targeted else {"n_skills": 5}
    if objective in ("focused-reach", "focused-change"):
        own = {}  # their skills are enumerated by the values of the variables
    skills = sf.discover(room(), made, seed=3, learner=LEARNERS[learner], **own)
    return measured(skills)


def penalized(penalty: str, baseline: str) -> dict[str, Any]:
    world = sf.make("conveyor-vase")
    objective = make_objective("focused-vic", penalty=penalty, baseline=baseline)
    skills = sf.discover(world, objective, seed=0, learner=sf.Planning(rounds=3), n_skills=4)
    return measured(skills)


def best_possible() -> dict[str, Any]:
    """Return the records of `evaluate`, which hold the best possible and what is avoidable."""
    skills = sf.discover(
        room(), make_objective("focused-vic"), seed=3, learner=LEARNERS["planning"], targets=TARGETS
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "room.skills"
        skills.save(path)
        loaded = sf.Skills.load(path)
        records = sf.evaluate([path])
    assert loaded == skills
    return {"skills": records[0]["skills"]}


def task(intra_option: bool) -> dict[str, Any]:
    world = room()
    skills = sf.discover(
        world, make_objective("focused-vic"), seed=3, learner=LEARNERS["planning"], targets=TARGETS
    )
    settings = sf.SMDPQLearning(episodes=2000, intra_option=intra_option, epsilon_decay=0.005)
    goal = {"tool_1": 1, "tool_2": 1}
    solution = sf.solve(
        skills, goal, seed=1, settings=settings, start={"position": (1, 1)}, max_episode_steps=40
    )
    return {
        "q": digest(np.round(solution.q, 9)),
        "q_sum": float(solution.q.sum()),
        "steps": solution.steps.tolist(),
        "true_return": solution.true_return.tolist(),
        "optimum": solution.optimum_steps,
    }


def room_task() -> dict[str, Any]:
    mdp = sf.tabulate(sf.make("four-rooms"))
    made = sf.task_of(sf.make("four-rooms"), mdp)
    return {"optimum": list(sf.optimum(mdp, made))}


def fingerprint(world: str) -> str:
    return sf.tabulate(sf.make(world)).fingerprint


def traced(name: str) -> str:
    """Return a digest of a few random steps of a world in JAX."""
    import jax

    world: Any = sf.make(name)
    keys = jax.random.split(jax.random.key(0), 8)
    state = jax.vmap(world.reset)(keys)
    values = [jax.vmap(world.values)(state)]
    rng = np.random.default_rng(0)
    for t in range(6):
        keys = jax.random.split(jax.random.key(t + 1), 8)
        if not world.has_real_actions:
            action: Any = rng.integers(len(world.actions), size=8).astype(np.int32)
        else:
            low, high = np.asarray(world.action_low), np.asarray(world.action_high)
            drawn = rng.random((8, len(world.actions)))
            action = (low + (high - low) * drawn).astype(np.float32)
        state = jax.vmap(world.step)(keys, state, action)
        values.append(jax.vmap(world.values)(state))
    return digest(*(np.round(np.asarray(v), 4) for v in values))


def network() -> dict[str, Any]:
    """Return what a cost network does after a few updates."""
    learner = sf.Neural(
        steps=240,
        environments=8,
        batch=16,
        memory=256,
        hidden=16,
        updates_per_jit=10,
        warmup_fraction=0.3,
    )
    skills = sf.discover(
        room(), make_objective("focused-vic"), seed=1, learner=learner, targets=TARGETS
    )
    return {"policies": policies(skills), "effects": effects(skills)}


def actor() -> dict[str, Any]:
    """Return what an actor of real-valued actions does after a few rounds."""
    world = sf.make("two-rooms")
    steps = 4 * 8 * world.step_limit
    learner = sf.Actor(steps=steps, environments=8, hidden=16, batch=64, rounds_per_jit=2)
    skills: Any = sf.discover(
        world, make_objective("focused-vic"), seed=1, learner=learner,
        targets={"agent": 4, "lamp": 2},
    )  # fmt: skip
    found = sf.metrics.side_effects(skills, rng=np.random.default_rng(0), sample=64)
    return {
        "weights": [float(np.abs(w).sum()) for w in skills.policies.weights["actor"].values()],
        "effects": [[float(e.amount.sum()), float(e.ends.sum())] for e in found],
    }


def flat_agents() -> dict[str, Any]:
    """Return the value of planned penalized agents with and without skills."""
    from paper.safety.penalties import deviation, penalize
    from paper.safety.planning import plan

    world = sf.make("vase")
    mdp = sf.tabulate(world)
    made = sf.task_of(world, mdp)
    skills = sf.discover(
        world, make_objective("focused-vic"), seed=0, learner=sf.Planning(rounds=3), n_skills=4
    )
    values = []
    for strength in (0.0, 0.1, 1.0):
        for baseline in ("start", "stepwise"):
            penal = penalize(mdp, made, deviation(mdp), strength=strength, baseline=baseline)
            values.append([plan(mdp, penal).value, plan(mdp, penal, skills).value])
    return {"values": values}


VOLATILE = {"file", "page", "bytes", "plot", "fingerprint", "settings", "unusual", "base"}


def _stable(value: Any) -> Any:
    """Drop what depends on the machine, or on how files are named."""
    if isinstance(value, dict):
        return {k: _stable(v) for k, v in sorted(value.items()) if k not in VOLATILE}
    return [_stable(v) for v in value] if isinstance(value, list) else value


def documents() -> dict[str, Any]:
    """Return the JSON of every command, in a folder with a map."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "room.txt").write_text(MAP)

        def run(title: str, *arguments: str) -> None:
            done = command(*arguments, "--json", cwd=folder)
            assert done.returncode == 0, done.stderr
            found[title] = _stable(json.loads(done.stdout))

        quick = ("--rounds", "3", "--skills", "6", "--workers", "1")
        run("list", "list")
        run("describe", "describe", "room.txt")
        run("describe-jax", "describe", "tool-rooms")
        run("describe-continuous", "describe", "two-rooms")
        run("discover", "discover", "room.txt", "focused-vic", *quick, "--coverage")
        files = [str(path) for path in folder.glob("out/*.skills")]
        run("evaluate", "evaluate", *files, "--coverage")
        run("solve", "solve", *files, "--task", "tool=1", "--episodes", "500")
        run("view", "view", *files, "--no-open")
        run("sweep", "sweep", "room.txt", "focused-vic", *quick, "--over", "strength=1,4",
            "--seeds", "2")  # fmt: skip
    return found


TABLES = (
    "four-rooms", "forage-world", "mud-world", "box", "vase", "conveyor-sushi", "conveyor-vase",
    "train", "gymnasium:Taxi-v4", "gymnasium:FrozenLake-v1",
    "gymnasium:CliffWalking-v1", "minigrid:DoorKey-5x5", "rddl:TriangleTireworld_MDP_ippc2014/1",
)  # fmt: skip
TRACED = (
    "tool-rooms", "room-blocks", "visible-mud", "installing-a-printer", "thawing-frozen-food",
    "cleaning-a-car", "two-rooms", "gunner", "particles",
)  # fmt: skip
CASES: dict[str, Callable[[], Any]] = {
    **{
        f"{learner} {objective}": lambda o=objective, n=learner: tabular(o, n)
        for learner in LEARNERS
        for objective in OBJECTIVES
        if learner == "planning" or not objective.startswith("scattered")
    },
    **{f"penalty {p} {b}": lambda p=p, b=b: penalized(p, b) for p, b in PENALTIES},
    "best possible": best_possible,
    "task": lambda: task(False),
    "task intra-option": lambda: task(True),
    "paper task": room_task,
    **{f"table {name}": lambda name=name: fingerprint(name) for name in TABLES},
    **{f"traced {name}": lambda name=name: traced(name) for name in TRACED},
    "network": network,
    "actor": actor,
    "flat agents": flat_agents,
    "commands": documents,
}


def main() -> None:
    found = {}
    for name, case in CASES.items():
        print(name, flush=True)
        found[name] = case()
    lines = [f"{json.dumps(name)}: {json.dumps(case)}" for name, case in found.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
