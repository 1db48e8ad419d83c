"""What comes out of each experiment, in one sentence made from its claims.

Every function takes the claims of one setup and returns a sentence, or an empty text if the claims
that it needs are missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from paper.claims import DIRECTION_ONLY, REACHED, REPRODUCED, UNDECIDED, Claim
from paper.formatting import agent_name, format_number, join_words
from paper.settings import WORLD_NAMES, WORLDS


def default_outcome(claims: Sequence[Claim]) -> str:
    """Return how many claims show at least the claimed direction."""
    if not claims:
        return ""
    return f"{_shown(claims)} of {len(claims)} claims show at least the claimed direction."


def aims_outcome(claims: Sequence[Claim]) -> str:
    """Return how many of our own aims are reached, and how many have too few seeds to tell."""
    if not claims:
        return ""
    reached, undecided = (
        sum(claim.verdict == verdict for claim in claims) for verdict in (REACHED, UNDECIDED)
    )
    open_ones = f"; undecided with one seed: {undecided}" if undecided else ""
    return f"{reached} of {len(claims)} aims of our own are reached{open_ones}."


def side_effects_outcome(claims: Sequence[Claim]) -> str:
    """Return in how many cases focused skills change their targets, and have fewer side effects."""
    control = _matching(claims, r"effects-.*-control")
    effects = _matching(claims, r"effects-(?!.*-control).*")
    if not effects:
        return ""
    changing = f"change their targets in {_shown(control)} of {len(control)} cases, and "
    return (
        f"Focused skills {changing if control else ''}have fewer side effects than their DUSDi and "
        f"plain counterparts in {_shown(effects)} of {len(effects)} comparisons."
    )


def coverage_outcome(claims: Sequence[Claim]) -> str:
    """Return the ratios of the areas of focused skills to those of plain and of DUSDi ones."""
    plain = _matching(claims, r"coverage-(vic|diayn|lsd)")
    dusdi = _matching(claims, r"coverage-dusdi-.*")
    parts = []
    if plain:
        bases = join_words([_base(claim) for claim in plain])
        parts.append(f"{_numbers(plain)} times the area of plain {bases} {_paper(plain)}")
    if dusdi:
        bases = join_words([_base(claim) for claim in dusdi])
        parts.append(f"{_numbers(dusdi)} times that of DUSDi over {bases} {_paper(dusdi)}")
    return f"Focused skills cover {', and '.join(parts)}." if parts else ""


def downstream_outcome(claims: Sequence[Claim]) -> str:
    """Return the steps with focused skills by world, and how many agents fail as in the paper."""
    parts = _by_world(claims, r"downstream-{world}-.*", 1, " steps")
    fails = _matching(claims, r"fails-.*")
    if not parts:
        return ""
    sentence = f"With focused skills, tasks take {join_words(parts)}"
    if fails:
        sentence += (
            f"; of {len(fails)} cases that fail in the paper, {_shown(fails)} are shown to fail"
        )
    return f"{sentence}."


def underspecified_outcome(claims: Sequence[Claim]) -> str:
    """Return the true returns of agents with focused skills and of the others, by world."""
    focused = _by_world(claims, r"proxy-{world}-focused-.*", 2)
    others = _by_world(claims, r"proxy-{world}-(?!focused).*", 2)
    if not focused:
        return ""
    sentence = f"Trained on the proxy, focused skills earn a true return of {join_words(focused)}"
    return f"{sentence}; others earn {join_words(others)}." if others else f"{sentence}."


def ablation_outcome(claims: Sequence[Claim]) -> str:
    """Return the shares of seeds that learn the task without a penalty."""
    zero = _matching(claims, r"ablation-zero-.*")
    if not zero:
        return ""
    agents = join_words([_base(claim) for claim in zero])
    return (
        f"Without the penalty, the MudWorld task is learned with focused {agents} in "
        f"{join_words([f'{claim.ours.estimate:.0%}' for claim in zero])} of the seeds (the paper: "
        f"none)."
    )


# -------------------------------------------------------------------- parts of sentences


def _matching(claims: Sequence[Claim], pattern: str) -> list[Claim]:
    return [claim for claim in claims if re.fullmatch(pattern, claim.id)]


def _shown(claims: Sequence[Claim]) -> int:
    return sum(claim.verdict in (REPRODUCED, DIRECTION_ONLY) for claim in claims)


def _base(claim: Claim) -> str:
    """The objective that a claim's id ends with, such as `VIC`."""
    return agent_name(claim.id.rpartition("-")[2])


def _numbers(claims: Sequence[Claim]) -> str:
    return join_words([format_number(claim.ours.estimate) for claim in claims])


def _paper(claims: Sequence[Claim]) -> str:
    """The paper's numbers in brackets; equal ones once."""
    numbers = [f"{claim.reference:g}" for claim in claims if claim.reference is not None]
    numbers = numbers[:1] if len(set(numbers)) == 1 else numbers
    return f"(the paper: {join_words(numbers)})" if numbers else ""


def _by_world(claims: Sequence[Claim], pattern: str, digits: int, unit: str = "") -> list[str]:
    """The range of our numbers in each world, with the paper's; the unit stands once."""
    parts = []
    for world in WORLDS:
        if mine := _matching(claims, pattern.format(world=world)):
            ours = _range([claim.ours.estimate for claim in mine], digits)
            paper = _range([c.reference for c in mine if c.reference is not None], digits)
            unit_once = "" if parts else unit
            parts.append(f"{ours}{unit_once} in {WORLD_NAMES[world]} (the paper: {paper})")
    return parts


def _range(values: Sequence[float], digits: int) -> str:
    low, high = (format_number(edge, digits) for edge in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"
