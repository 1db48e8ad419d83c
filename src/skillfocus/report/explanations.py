"""Causes, found by looking, of what does not come out as the paper has it or as was aimed. Shown
beside findings whose names begin so, where a verdict asks for one. No numbers: those are in the
findings."""

from __future__ import annotations

PLANNING = {
    "coverage-vic": (
        "Planned VIC remembers the whole first state and solves its reward exactly, so its skills "
        "spread over every cell and tool: they cover more than any focused set can. Planned "
        "focused skills, in turn, are too exact: from one first cell each ends in one cell, which "
        "is the row \"in one cell per first cell\" of the ideal skills. Skills that scatter over a "
        "region (see scattered focused VIC) reach the paper's area with the same side effects."
    ),
    "coverage-dusdi": (
        "DUSDi skills scatter because nothing asks them to return; planned focused skills end in "
        "one cell per first cell."
    ),
    "coverage-diayn": (
        "Eight position skills of planned DIAYN end where no other is, the nearest such place "
        "from wherever they start, so chains come to few cells."
    ),
    "coverage-lsd": (
        "A linear map of two coordinates has its extremes in the corners of the world: position "
        "skills end in four cells or so, whatever their number."
    ),
    "fails-": (
        "Planned baselines are stronger than the paper's: their policies remember the first state "
        "and are solved, not learned from samples, so chains of them reach the goal by chance "
        "within an episode."
    ),
    "downstream-forage-world-focused-vic": (
        "Two skills share three values of a resource (0, 1 or 2 units): the one that fetches "
        "fetches one unit and returns, and four such trips barely fit the cap. With a third skill "
        "per resource, as in the preset `best`, one fetches both units."
    ),
    "downstream-forage-world": (
        "The skill that fetches returns to where it began, so a plan made of skills walks every "
        "way twice; the semi-Markov learner seldom replaces a skill by the dozen moves that would "
        "be shorter. With intra-option updates (preset `best`) it does."
    ),
    "downstream-mud-world": (
        "The skill that takes the treasure washes and returns to where it began before the agent "
        "goes on to the corner. The semi-Markov learner keeps that detour, because moves are only "
        "credited when they are chosen one by one; with intra-option updates (preset `best`) it "
        "finds the short way."
    ),
    "downstream-four-rooms": (
        "Every tool is fetched from the same place and brought back there; fewer steps need "
        "position skills that end near the tools, which differ from seed to seed."
    ),
    "proxy-forage-world-focused-vic": (
        "It does not learn the proxy either: its fetching skills bring one unit a trip."
    ),
    "proxy-mud-world": (
        "Some seeds' skills happen to track little mud on the way to the treasure."
    ),
    "ablation-zero": (
        "Without a penalty the treasure's skill still ends wherever it is told apart best, often "
        "clean and near; the downstream learner makes up for the rest with moves."
    ),
    "ablation-much": "A stronger penalty only prolongs what is already avoided.",
    "skills-": (
        "Planned baselines are stronger than the paper's (see FourRooms with 16 skills)."
    ),
}  # fmt: skip
Q_LEARNING: dict[str, str] = {}


def explanation(finding: str, learner: str) -> str:
    """The one whose beginning is the longest; nothing if there is none."""
    known = PLANNING if learner == "planning" else Q_LEARNING
    fitting = [beginning for beginning in known if finding.startswith(beginning)]
    return known[max(fitting, key=len)] if fitting else ""
