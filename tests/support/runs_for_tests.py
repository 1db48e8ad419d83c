"""Quick runs for tests: they yield numbers, wait, raise, or kill their process.

As a command, `python runs_for_tests.py FOLDER COUNT SECONDS WORKERS LOG` executes COUNT runs that
wait SECONDS each and append to LOG that they were executed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import dataclass, field

import numpy as np

from skillfocus.runs import Interrupted, Result, Run, Store, run_all


@dataclass(frozen=True)
class Tiny(Run):
    """Yields five random numbers and, for seeds that 3 does not divide, some bytes as skills."""

    seed: int
    scale: float = 1.0
    seconds: float = 0.0
    log: str = field(default="", metadata={"volatile": True})

    @property
    def label(self) -> str:
        return f"tiny_seed{self.seed}"

    def execute(self, progress):
        for i in range(10 if self.seconds else 0):
            progress(i / 10, "waiting")
            time.sleep(self.seconds / 10)
        rng = np.random.default_rng(self.seed)
        rows = [("draw", i, self.scale * value) for i, value in enumerate(rng.random(5).tolist())]
        if self.log:
            with open(self.log, "a") as file:
                file.write(f"{self.seed} {os.getpid()}\n")
        skills = b"skills" * (self.seed % 3) or None
        return Result([*rows, ("nothing", None, None)], skills, {"seed": self.seed})


@dataclass(frozen=True)
class Raises(Run):
    """Raises until the file exists."""

    seed: int
    file: str = ""

    def execute(self, progress):
        if not os.path.exists(self.file):
            raise ZeroDivisionError(f"seed {self.seed} cannot be divided")
        return Result([("well", None, 1.0)])


@dataclass(frozen=True)
class Dies(Run):
    """Kills its process, and creates the file first; once the file exists, succeeds."""

    seed: int
    file: str = ""

    def execute(self, progress):
        if not os.path.exists(self.file):
            if self.file:
                open(self.file, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return Result([("well", None, 1.0)])


def runs(count: int, **settings) -> list[Tiny]:
    """`Tiny` runs with the seeds 0 to count - 1."""
    return [Tiny(seed, **settings) for seed in range(count)]


def wait_until(condition, seconds=20) -> None:
    """Wait until a condition holds; fail after so many seconds."""
    deadline = time.perf_counter() + seconds
    while not condition():
        assert time.perf_counter() < deadline, "it did not happen"
        time.sleep(0.02)


def main() -> None:
    folder, count, seconds, workers, log = sys.argv[1:]
    batch = runs(int(count), seconds=float(seconds), log=log)
    try:
        status = run_all(batch, Store(folder), workers=int(workers))
    except Interrupted as interrupt:
        status = interrupt.status
    print(json.dumps(vars(status)))


if __name__ == "__main__":
    main()
