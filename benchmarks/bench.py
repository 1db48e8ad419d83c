"""Speed, as ratios within one run, since machines differ and are noisy: `make bench`.

Each figure is the best of several tries; the ratio's two sides are tried in turn. `--quick` runs
every part once, at a small size, to show that it still works; its figures mean nothing.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from numba import njit
from rich.console import Console

import skillfocus as sf
from skillfocus.cli.printing import table as make_table
from skillfocus.learners.planning.learner import Model
from skillfocus.learners.planning.rewards import state_reward
from skillfocus.learners.planning.sweeps import new_stamps, sweep
from skillfocus.rollout import mdp_arrays, step

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
from problems import make_problem
from reference import PlainQ
from runs_for_tests import Tiny

QUICK = "--quick" in sys.argv
ROOM = "######\n#...T#\n#.T..#\n######"
SETTINGS = {"drawing": ROOM} if QUICK else {}
WORLD = sf.make("four-rooms", **SETTINGS)
TABLE = sf.tabulate(WORLD)
OBJECTIVE = sf.focused(sf.vic())


def best_of(tries: int, *runs: Callable[[], float]) -> list[float]:
    """The best of each run's figures (higher is better), tried in turn."""
    results = [[run() for run in runs] for _ in range(1 if QUICK else tries)]
    return [max(column) for column in zip(*results, strict=True)]


def size(full: int, quick: int) -> int:
    """How much of something: the full amount, or a little of it with --quick."""
    return quick if QUICK else full


def problem(targets):
    assignment = sf.assign(WORLD, targets=targets)
    return make_problem(TABLE, OBJECTIVE, assignment, step_limit=40, world_id=WORLD.id)


@njit(nogil=True)
def touch(arrays, q, penalty, penalty_now, in_context, count, limit, rng):
    """What a step of Q-learning must read and write, and no arithmetic: the values of the state
    that follows, one row written back, one row updated, the penalty and the starts of contexts."""
    marked = np.zeros(0, np.uint8)
    n, terminate, width = q.shape[0], q.shape[1] - 1, q.shape[2]
    here = np.zeros(width, np.float32)
    mdp = np.zeros(n, np.float32)
    for _ in range(count):
        s = int(rng.random() * n)
        for _ in range(limit):
            rng.random()
            a = int(rng.random() * terminate)
            following, _ = step(arrays, s, a, marked, rng)
            row = penalty[penalty_now[following]]
            stop = q[following, terminate]
            for c in range(width):
                here[c] = row[c] + mdp[in_context[c]]
                stop[c] = here[c]
            for b in range(terminate):
                row = q[following, b]
                for c in range(width):
                    here[c] = max(here[c], row[c])
            row = q[s, a]
            for c in range(width):
                row[c] = here[c] - row[c]
            s = following


def q_learning_kernel(rows: list[list[str]]) -> None:
    one = problem({"tool_1": 2})
    learner = sf.QLearning(greedy_share=1e-9)
    params = one.initial_params(np.random.default_rng(0))
    q = np.zeros((TABLE.n_states, 5, int(one.index.widths[0])), np.float32)
    run = learner.runner(one, params, 0, q, np.random.default_rng(1))
    run(1, np.float32(0.1))
    plain = PlainQ(one, params, 0, learner)
    skill = one.skills[0]
    penalty = np.ascontiguousarray(skill.penalty[:, skill.penalty_then])
    arguments = (penalty, skill.penalty_now, skill.terms[0].start_in_context.astype(np.uint32))
    arrays, rng = mdp_arrays(TABLE), np.random.default_rng(2)
    touch(arrays, q.copy(), *arguments, 1, 40, rng)
    spare = q.copy()

    def kernel() -> float:
        began = time.perf_counter()
        run(500, np.float32(0.1))
        return 500 * 40 / (time.perf_counter() - began)

    def slow() -> float:
        began = time.perf_counter()
        plain.episodes(1, 0.1, np.random.default_rng(3))
        return 40 / (time.perf_counter() - began)

    def memory() -> float:
        began = time.perf_counter()
        touch(arrays, spare, *arguments, 500, 40, rng)
        return 500 * 40 / (time.perf_counter() - began)

    fast, plainly, accesses = best_of(7, kernel, slow, memory)
    rows.append(["Q-learning steps/s (208 contexts each)", f"{fast:,.0f}", ""])
    rows.append(["… over plain Python", f"{fast / plainly:,.0f} x", "at least 200 x"])
    rows.append(["… cost over memory accesses alone", f"{accesses / fast:.2f} x", "at most 2 x"])


def planning_sweeps(rows: list[list[str]]) -> None:
    one = problem({"tool_1": 2})
    model = Model(one, 0.99)
    params = one.initial_params(np.random.default_rng(0))
    t = state_reward(one, params, 0)
    v, backup = t.copy(), model.backup(0, params)
    fresh = [new_stamps(len(t)) for _ in range(20)]  # no state is left out
    sweep(v, t, backup, False, fresh[0], 0)

    def sweeps() -> float:
        for stamps in fresh:
            stamps.updated[:] = -1
        began = time.perf_counter()
        for number, stamps in enumerate(fresh):
            sweep(v, t, backup, number % 2 == 1, stamps, 0)
        return 20 * t.size / (time.perf_counter() - began)

    (speed,) = best_of(10, sweeps)
    rows.append(["planning, cell updates/s on one core", f"{speed / 1e9:.2f} G", "at least 0.5 G"])


def threads(rows: list[list[str]]) -> None:
    for name, learner in (
        ("planning", sf.Planning(rounds=size(15, 1))),
        ("Q-learning", sf.QLearning(episodes=size(40_000, 100))),
    ):

        def seeds_per_second(workers: int, learner=learner) -> float:
            began = time.perf_counter()
            seeds = range(size(4, 2))
            made = sf.discover_many(WORLD, OBJECTIVE, seeds, workers=workers, learner=learner)
            return len(list(made)) / (time.perf_counter() - began)

        seeds_per_second(1)
        one, two = best_of(3, lambda: seeds_per_second(1), lambda: seeds_per_second(2))
        rows.append([f"{name}: two threads over one", f"{two / one:.2f} x", "at least 1.8 x"])


def workers(rows: list[list[str]]) -> None:
    """Whole runs, side effects and files included, by one worker process and by two."""
    for name, learner in (
        ("planning", sf.Planning(rounds=size(15, 1))),
        ("Q-learning", sf.QLearning(episodes=size(40_000, 100))),
    ):
        settings = json.dumps(SETTINGS)
        runs = [
            sf.Discovery(
                "four-rooms", "focused-vic", seed, learner, skills=8, world_settings=settings
            )
            for seed in range(size(4, 2))
        ]

        def runs_per_second(workers: int, runs=runs) -> float:
            context = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(workers, mp_context=context)
            with tempfile.TemporaryDirectory() as folder, pool:
                sf.run_all([Tiny(0), Tiny(1)], sf.Store(folder), executor=pool)
                began = time.perf_counter()
                sf.run_all(runs, sf.Store(folder), executor=pool)
                return len(runs) / (time.perf_counter() - began)

        one, two = best_of(2, lambda: runs_per_second(1), lambda: runs_per_second(2))
        rows.append(
            [f"{name}: two worker processes over one", f"{two / one:.2f} x", "at least 1.8 x"]
        )


def many_runs(rows: list[list[str]]) -> None:
    """What keeping runs costs, if doing them costs next to nothing."""
    with tempfile.TemporaryDirectory() as folder:
        store = sf.Store(folder)
        memory = []
        few, many = size(2000, 20), size(10_000, 50)
        for first, last in ((0, few), (few, many)):
            began = time.perf_counter()
            sf.run_all([Tiny(seed) for seed in range(first, last)], store, workers=2)
            each = 1000 * (time.perf_counter() - began) / (last - first)
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            memory.append(pages * resource.getpagesize() / 1024**2)
        grown = memory[1] - memory[0]
        rows.append(
            [f"{many:,} tiny runs: store and executor", f"{each:.1f} ms a run", "under 10 ms"]
        )
        rows.append([f"… memory from {few:,} to {many:,} runs", f"{grown:+.1f} MB", "flat"])
        began = time.perf_counter()
        length = len(store.frame())
        seconds = time.perf_counter() - began
        rows.append([f"… their frame read back ({length:,} rows)", f"{seconds:.2f} s", "under 2 s"])


CHILD = """
import resource, time, skillfocus as sf
world = sf.make("four-rooms")
sf.discover(world, sf.{objective}, seed=0, learner=sf.{learner})
began = time.perf_counter()
sf.discover(world, sf.{objective}, seed=0{rest})
seconds = time.perf_counter() - began
print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def one_seed(rows: list[list[str]]) -> None:
    """Time and peak memory of a default run, in a process of its own."""
    names = ("focused(sf.vic())", "focused(sf.diayn())", "focused(sf.lsd())")
    for name in names[: size(3, 1)]:
        rest = ", learner=sf.Planning(rounds=1)" if QUICK else ""
        code = CHILD.format(objective=name, learner="Planning(rounds=1)", rest=rest)
        output = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        seconds, memory = (float(word) for word in output.stdout.split())
        what = f"one FourRooms seed, {name.replace('sf.', '')}"
        rows.append([what, f"{seconds:.1f} s, {memory:.0f} MB", "about 10 s, under 1 GB"])


def compiling(rows: list[list[str]]) -> None:
    """A first run with an empty cache of compiled code (the usual one with --quick), and the run
    after it."""
    code = (
        "import time, skillfocus as sf; b = time.perf_counter(); w = sf.make('four-rooms');"
        "sf.discover(w, sf.{o}, seed=0, n_skills=8, learner=sf.{l}); print(time.perf_counter() - b)"
    )
    objectives = ("focused(sf.vic())", "focused(sf.lsd())", "dusdi(sf.diayn())")
    for objective in objectives[: size(3, 1)]:
        for learner in ("Planning(rounds=1)", "QLearning(episodes=8)")[: size(2, 1)]:
            with tempfile.TemporaryDirectory() as cache:
                environment = os.environ if QUICK else {**os.environ, "NUMBA_CACHE_DIR": cache}
                command = [sys.executable, "-c", code.format(o=objective, l=learner)]
                first, second = (
                    float(subprocess.run(command, env=environment, capture_output=True,
                                         check=True).stdout)
                    for _ in range(2)
                )  # fmt: skip
            what = f"{objective.replace('sf.', '')}, {learner.split('(')[0]}: first, next run"
            rows.append([what, f"{first:.1f} s, {second:.1f} s", ""])


def commands(rows: list[list[str]]) -> None:
    for word in ("--help", "list"):
        command = [sys.executable, "-m", "skillfocus.cli", word]

        def speed(command=command) -> float:
            began = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True)
            return 1 / (time.perf_counter() - began)

        (fastest,) = best_of(5, speed)
        rows.append([f"skillfocus {word}", f"{1 / fastest:.2f} s", "under 0.5 s"])


def main() -> None:
    rows: list[list[str]] = []
    parts = (
        q_learning_kernel, planning_sweeps, threads, workers, many_runs, one_seed, compiling,
        commands,
    )  # fmt: skip
    for part in parts:
        print(f"measuring: {part.__name__.replace('_', ' ')} …", file=sys.stderr, flush=True)
        part(rows)
    Console().print(make_table("skillfocus bench", ["what", "measured", "aim"], rows))


if __name__ == "__main__":
    main()
