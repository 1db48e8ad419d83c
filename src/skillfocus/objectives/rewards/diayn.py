"""Diversity Is All You Need (Equation 3): be, at every step, where the skill can be told.

    r(s_0, z, s_t) = log d(z | s_t) - log nu(z)

A skill that terminates stays where it is and goes on earning that state's reward.
"""

from __future__ import annotations

from skillfocus.learners.tabular.discriminator import ewma, initial, log_ratio
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.rewards.vic import check_weight


def diayn(rate: float = 0.05, *, random_start: bool = True) -> Objective:
    """DIAYN. `rate` is the EWMA weight of its discriminator."""
    check_weight(rate)
    return Objective(
        name="diayn",
        reward=log_ratio,
        update=ewma,
        init=initial(random_start),
        rate=rate,
        every_step=True,
        uses_start=False,
        discriminates=True,
    )
