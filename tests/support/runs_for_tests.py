"""Runs that are quick and do what tests need: yield numbers, wait, raise, die. As a command:
`python runs_for_tests.py FOLDER COUNT SECONDS WORKERS LOG` does COUNT runs that wait SECONDS each
and note in LOG that they were executed."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import dataclass, field

import numpy as np

from skillfocus.runs.folder_store import Store
from skillfocus.runs.run import Result, Run
from skillfocus.runs.scheduler import run_all
from skillfocus.runs.status import Interrupted


@dataclass(frozen=True)
class Tiny(Run):
    seed: int
    scale: float = 1.0
    seconds: float = 0.0
    log: str = field(default="", compare=False)

    def settings(self):
        return {"scale": self.scale, "seconds": self.seconds, "seed": self.seed}

    @property
    def label(self) -> str:
        return f"tiny_seed{self.seed}"

    def execute(self, report):
        for i in range(10 if self.seconds else 0):
            report(i / 10, "waiting")
            time.sleep(self.seconds / 10)
        rng = np.random.default_rng(self.seed)
        rows = [("draw", i, self.scale * value) for i, value in enumerate(rng.random(5).tolist())]
        if self.log:
            with open(self.log, "a") as file:
                file.write(f"{self.seed} {os.getpid()}\n")
        return Result([*rows, ("nothing", None, None)], b"skills" * (self.seed % 3) or None)


@dataclass(frozen=True)
class Raises(Run):
    """Raises as long as the file is not there."""

    seed: int
    file: str = ""

    def execute(self, report):
        if not os.path.exists(self.file):
            raise ZeroDivisionError(f"seed {self.seed} cannot be divided")
        return Result([("well", None, 1.0)])


@dataclass(frozen=True)
class Dies(Run):
    """Takes its process with it as long as the file is not there, and then makes the file."""

    seed: int
    file: str = ""

    def execute(self, report):
        if not os.path.exists(self.file):
            if self.file:
                open(self.file, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return Result([("well", None, 1.0)])


def main() -> None:
    folder, count, seconds, workers, log = sys.argv[1:]
    runs = [Tiny(seed, seconds=float(seconds), log=log) for seed in range(int(count))]
    try:
        status = run_all(runs, Store(folder), workers=int(workers))
    except Interrupted as interrupt:
        status = interrupt.status
    print(json.dumps(vars(status)))


if __name__ == "__main__":
    main()
