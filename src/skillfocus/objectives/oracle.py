"""A control that discovers nothing: what each skill is to do is dealt out beforehand.

    r(z, s_T) = 1 if z owns the value of s_T, else 0

The V values of a variable are dealt to its K skills in order, V / K to each: of a tool's two
skills one is to leave it and one to take it, and each position skill is to go to a region. What
planned skills reach with this reward is about as much as an objective with the same penalty could.
"""

from __future__ import annotations

import numpy as np

from skillfocus.learners.tabular.compiled import reward_function
from skillfocus.objectives.objective import Objective


@reward_function
def owned(params, values, skill, start, value):
    return params[skill, value, 0]


def _deal(n: int, n_starts: int, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    del n_starts, rng
    owner = np.arange(len(values)) * n // len(values)
    return (owner == np.arange(n)[:, None]).astype(np.float32)[:, :, None]


def oracle() -> Objective:
    return Objective(name="oracle", reward=owned, init=_deal, uses_start=False)
