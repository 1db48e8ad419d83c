"""Forecasts: what learning will cost, before it begins."""

from __future__ import annotations

from dataclasses import dataclass

NOTABLE_SECONDS = 30.0
"""What takes longer is announced."""


@dataclass(frozen=True)
class Forecast:
    """What learning a problem will cost, right within a factor of about three.

    Attributes:
        states: Number of states.
        cells: Entries of all policies: states times contexts, of all skills.
        memory: Bytes at the peak.
        seconds: Time on this machine, if it has nothing else to do.
    """

    states: int
    cells: int
    memory: int
    seconds: float

    @property
    def notable(self) -> bool:
        """Whether it takes long enough to be announced."""
        return self.seconds > NOTABLE_SECONDS

    def __str__(self) -> str:
        return (
            f"{self.states:,} states, {self.cells / 1e6:,.0f} million cells of policy, about "
            f"{self.memory / 1e9:.1f} GB of memory, about {show_duration(self.seconds)}"
        )


def show_duration(seconds: float) -> str:
    """Return a duration as text: 45 seconds, 4 minutes, 2.5 hours."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"


def extrapolate(elapsed: float, fraction: float) -> float:
    """Return how long a job takes of which a fraction is done."""
    return elapsed / fraction
