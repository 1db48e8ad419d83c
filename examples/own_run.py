"""A run of your own: how often do random walks of a given length end where they began?

    python examples/own_run.py

executes 24 runs on two worker processes and stores them in `out/walks`; rerun, it reads them.
"""

from dataclasses import dataclass

import numpy as np

import skillfocus as sf


@dataclass(frozen=True)
class Walks(sf.Run):
    """The fields decide the result; raise `version` if `execute` changes what it yields."""

    length: int
    seed: int

    version = 1

    def execute(self, progress) -> sf.Result:
        rng = np.random.default_rng(self.seed)
        home = 0
        for walk in range(1000):
            progress(walk / 1000, "walking")
            home += rng.choice([-1, 1], size=self.length).sum() == 0
        return sf.Result([("home", None, home / 1000)])


if __name__ == "__main__":
    store = sf.Store("out/walks")
    runs = [Walks(length, seed) for length in (2, 4, 8) for seed in range(8)]
    status = sf.run_all(runs, store, workers=2)
    print(f"{status.done} done, {status.found} found")
    for (length,), group in store.frame(runs).group_by("length", maintain_order=True):
        print(f"{length} steps: home {group['value'].mean():.3f}")
