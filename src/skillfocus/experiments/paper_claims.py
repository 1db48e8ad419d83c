"""The eight claims of the paper, and which detailed claims bear on each.

Experiments judge many detailed claims, one per world and agent (`Claim`). A claim of the paper sums
up those whose ids match its patterns. Every detailed claim whose source is the paper belongs to
exactly one of the eight, but for the appendix's numbers of skills (`skills-N-A`): they repeat
claims 4 to 6 with fewer seeds and other numbers of skills, and have a page of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

APPENDIX_CLAIMS = r"skills-\d+-.*|coverage-scattered-.*"
"""Ids of detailed claims that are left to the appendix: numbers of skills, and the paper's ratio
reached by an agent of our own."""
FIGURE_TITLES = {
    1: "What skills change",
    2: "State coverage",
    3: "Downstream tasks",
    4: "Under-specified goals",
    5: "The penalty's strength",
}
"""What the paper's figures show."""
_UNKNOWN = "The cause has not been measured."


@dataclass(frozen=True)
class PaperClaim:
    """A claim of the paper.

    claim = find_paper_claim("coverage-dusdi-vic")
    claim.name, claim.figure  # "coverage-dusdi", 2
    """

    name: str
    figure: int
    """The number of the figure that supports it."""
    statement: str
    """The claim as a sentence without its full stop."""
    patterns: tuple[str, ...]
    """Regular expressions of whole ids of the detailed claims that bear on it."""
    cause: str = _UNKNOWN
    """Why our results differ, where they do."""

    def matches(self, claim_id: str) -> bool:
        """Return whether a detailed claim bears on this one."""
        return any(re.fullmatch(pattern, claim_id) for pattern in self.patterns)

    @property
    def page(self) -> str:
        """Name of the report's page about its figure."""
        return figure_page(self.figure)


def figure_page(figure: int) -> str:
    """Return the name of the report's page about a figure."""
    return f"figure-{figure}"


def figure_title(figure: int) -> str:
    """Return the title of the report's page about a figure."""
    return f"Figure {figure}: {FIGURE_TITLES[figure].lower()}"


PAPER_CLAIMS = (
    PaperClaim(
        "focus",
        1,
        "Focused skills change their target and leave the rest as it was; DUSDi and plain skills "
        "do not",
        (r"effects-.*",),
        cause="By the letter, focused skills do not learn to fetch in the episodes given, so there "
        "is less to tell apart. Learned to the end, they differ in every comparison.",
    ),
    PaperClaim(
        "coverage",
        2,
        "Focused skills cover several times as many states as plain ones (5.3, 2.7 and 3.0 times "
        "for VIC, DIAYN and LSD)",
        (r"coverage-(?!dusdi-|scattered-).*",),
        cause="The size falls short because planned position skills end in one cell per start; "
        "scattered skills reach the paper's areas with as few side effects. Plain VIC that "
        "remembers its start covers more than focused skills that are not scattered.",
    ),
    PaperClaim(
        "coverage-dusdi",
        2,
        "Focused and DUSDi skills cover comparable shares of the states",
        (r"coverage-dusdi-.*",),
        cause="A planned DUSDi skill that fetches a tool ends somewhere else, so each link of a "
        "chain changes two variables, and a focused one's changes one.",
    ),
    PaperClaim(
        "tasks",
        3,
        "Agents with focused skills learn all three tasks, in fewer steps than with plain skills",
        (r"downstream-.*", r"steps-(?!.*-dusdi-).*"),
        cause="Planned plain skills are better than the paper's, and skills that return to their "
        "start walk every way twice: the paper's steps in MudWorld are those of skills that do not "
        "return (`memory=none`, or no penalty). With the preset `best`, focused skills come near "
        "the optimum. Q-learned focused VIC skills fetch the tools, too, and fail in FourRooms "
        "because ties go to the first option: with random ties all seeds learn the task.",
    ),
    PaperClaim(
        "failures",
        3,
        "Plain skills and primitive moves alone fail",
        (r"fails-(?!.*-dusdi-).*",),
        cause="Learned by the letter, plain skills fail as in the paper. Planned, they are what "
        "their rewards ask for, and FourRooms is learned with them; primitive moves alone fail if "
        "ties go to the first option.",
    ),
    PaperClaim(
        "dusdi",
        3,
        "DUSDi skills are comparable in FourRooms and worse in ForageWorld and MudWorld",
        (r"steps-.*-dusdi-.*", r"fails-.*-dusdi-.*"),
        cause="Planned DUSDi skills do not walk back, which is an advantage in FourRooms, where "
        "side effects cost nothing, and lets some seeds accomplish the other tasks.",
    ),
    PaperClaim(
        "proxy",
        4,
        "Trained on a proxy reward, agents with focused skills earn the true return and all others "
        "do not",
        (r"proxy-.*",),
        cause="The direction holds throughout where skills are learned. In ForageWorld focused VIC "
        "falls short in size: two skills share three values of a resource, and fetch one unit a "
        "trip. With three skills (`best`) it earns the paper's return.",
    ),
    PaperClaim(
        "penalty",
        5,
        "Without the penalty, focused skills do not accomplish the MudWorld task; too strong a one "
        "makes them slower",
        (r"ablation-.*",),
        cause="Without a penalty, planned skills fetch the treasure and stay. The agent cleans "
        "itself with its position skills, and saves the way back.",
    ),
)
"""In the order of the paper's figures."""


def find_paper_claim(claim_id: str) -> PaperClaim | None:
    """Return the claim of the paper that a detailed claim bears on, by its id."""
    return next((claim for claim in PAPER_CLAIMS if claim.matches(claim_id)), None)
