"""Variational Intrinsic Control (Equation 2): end in states that tell which skill it was.

r(s_0, z, s_T) = log d(z | s_T, s_0) - log nu(z | s_0)
"""

from __future__ import annotations

from dataclasses import replace

from skillfocus.errors import UserError
from skillfocus.learners.tabular.discriminator import (
    ewma,
    ewma_and_prior,
    initial,
    initial_sparse,
    log_ratio,
    sparse_ewma,
    sparse_log_ratio,
)
from skillfocus.objectives.objective import Objective


def check_weight(rate: float) -> None:
    if not 0 < rate <= 1:
        raise UserError(f"a discriminator's weight must be above 0 and at most 1, not {rate}")


def vic(
    rate: float | None = None, *, prior: str = "uniform", random_start: bool = True
) -> Objective:
    """VIC. `rate` is the EWMA weight (default: the paper's, 0.7, and 0.5 in ForageWorld);
    `prior` is "uniform" (fixed, as in the paper's experiments) or "learned" (Algorithm 1);
    `random_start=False` begins with a uniform discriminator."""
    if prior not in ("uniform", "learned"):
        raise UserError(f"prior is {prior!r}; it must be 'uniform' or 'learned'")
    if rate is not None:
        check_weight(rate)
    learned = prior == "learned"
    dense = Objective(
        name="vic",
        reward=log_ratio,
        update=ewma_and_prior if learned else ewma,
        init=initial(random_start),
        rate=0.7 if rate is None else rate,
        rate_in={"ForageWorld-v0": 0.5} if rate is None else {},
        discriminates=True,
        learns_prior=learned,
    )
    if learned:
        return dense
    sparse = replace(dense, reward=sparse_log_ratio, update=sparse_ewma, init=initial_sparse)
    return replace(dense, sparse=sparse)
