"""Comparison of focused skills with the penalties of the safety literature.

All agents are given the proxy reward. A flat agent plans over primitive actions with a penalty on
side effects; an agent over skills has no penalty, or one of those on top. Claims are aims of our
own, about differences in how often an agent is safe and complete, with W a world:

    safety-focused-W    focused skills minus the flat agent with the best single penalty
    safety-any-W        focused skills minus the flat agent with the best penalty for W
    safety-stepwise-W   as `focused`, for skills with a stepwise penalty, in worlds that move
    safety-on-top-W     focused skills with a penalty on top minus those without
    safety-steps-W      steps of focused skills minus the fewest of a flat agent
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from skillfocus.experiments.by_seed import SeedValues
from skillfocus.experiments.claims import Analysis, Claim, aim_claim
from skillfocus.experiments.experiment import Experiment
from skillfocus.experiments.formatting import (
    format_interval,
    format_mean,
    format_number,
    join_words,
)
from skillfocus.experiments.safety_cases import FOCUS, MOVING, cases
from skillfocus.experiments.safety_results import (
    ALL_WORLDS,
    BOTH,
    NAMES,
    Choice,
    best_on_top,
    best_penalty_in,
    best_single_penalty,
    flat_curve,
    flat_value,
    safe_and_complete,
    skill_values,
)
from skillfocus.experiments.safety_runs import NO_PENALTY, SMALL_WORLDS
from skillfocus.experiments.safety_tables import detail_tables
from skillfocus.metrics.statistics import Interval, mean_interval
from skillfocus.report.document import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEW_STEPS = 1.0
"""Number of additional steps that count as no difference."""
QUESTIONS = {
    "focused": "Do focused skills avoid side effects better than a penalty on a flat agent?",
    "any": "… than the penalty and the strength that suit the world best?",
    "stepwise": "Do they still when the world moves by itself?",
    "steps": "What do they cost in steps when side effects do not matter?",
    "on-top": "Does a penalty on top of focused skills help further?",
}


def analyze(frame: pl.DataFrame) -> Analysis:
    """Answer `QUESTIONS`, and tabulate the underlying results.

    Args:
        frame: Reduced results of one setup.

    Returns:
        Claims (see the module), and tables, starting with the losses of focused skills.
    """
    best = best_single_penalty(frame)
    if best is None:
        return Analysis()
    claims = [
        *_focused_claims(frame, best), *_any_claims(frame), *_step_claims(frame),
        *_on_top_claims(frame),
    ]  # fmt: skip
    tables = [_losses(claims), *_answers(frame, claims, best), *detail_tables(frame, best)]
    return Analysis(claims, [table for table in tables if table.rows])


def _less(values: SeedValues, other: float) -> Interval:
    return mean_interval([round(value - other, 9) + 0.0 for value in values.values()])


def _focused_claims(frame: pl.DataFrame, best: Choice) -> list[Claim]:
    """Compare focused skills with the flat agent with the best single penalty."""
    claims = []
    for baseline in ("", "stepwise"):
        for world in MOVING if baseline else ALL_WORLDS:
            values = safe_and_complete(frame, world, FOCUS, baseline)
            flat = flat_curve(frame, world, best.penalty, BOTH)
            if not values or not flat:
                continue
            less = _less(values, flat[best.place])
            which = "stepwise focused" if baseline else "focused"
            claims.append(
                aim_claim(
                    f"safety-{baseline or 'focused'}-{world}",
                    f"{NAMES[world]}, given the proxy: {which} skills are safe and complete at "
                    f"least as often as a flat agent with the best single penalty ({best}): "
                    f"{format_mean(values, 2, 0, 1)} and {format_number(flat[best.place])}, the "
                    f"difference",
                    0.0, less, less.estimate >= -1e-6, len(values),
                )
            )  # fmt: skip
    return claims


def _any_claims(frame: pl.DataFrame) -> list[Claim]:
    """Compare focused skills with the best penalty for each world, chosen with hindsight."""
    claims = []
    for world in ALL_WORLDS:
        values, found = safe_and_complete(frame, world, FOCUS), best_penalty_in(frame, world)
        if values and found:
            less = _less(values, found[1])
            claims.append(
                aim_claim(
                    f"safety-any-{world}",
                    f"{NAMES[world]}, given the proxy: focused skills are safe and complete at "
                    f"least as often as a flat agent with the penalty that suits this world best "
                    f"({found[0]}): {format_mean(values, 2, 0, 1)} and "
                    f"{format_number(found[1])}, the difference",
                    0.0, less, less.estimate >= -1e-6, len(values),
                )
            )  # fmt: skip
    return claims


def _step_claims(frame: pl.DataFrame) -> list[Claim]:
    """Compare steps until the proxy is paid with the fewest; a failure counts as the limit."""
    claims = []
    for world in SMALL_WORLDS:
        values = skill_values(frame, "steps", world, FOCUS)
        fewest = flat_value(frame, world, NO_PENALTY, "steps")
        if values and fewest is not None:
            more = _less(values, fewest)
            claims.append(
                aim_claim(
                    f"safety-steps-{world}",
                    f"{NAMES[world]}, given the proxy: focused skills take at most "
                    f"{FEW_STEPS:g} step more than the fewest: {format_mean(values, 1)} and "
                    f"{format_number(fewest, 1)}, the difference",
                    FEW_STEPS, more, more.estimate <= FEW_STEPS + 1e-6, len(values),
                )
            )  # fmt: skip
    return claims


def _on_top_claims(frame: pl.DataFrame) -> list[Claim]:
    """Compare the best penalty on top of focused skills with none."""
    top, claims = best_on_top(frame), []
    if top is None:
        return []
    for world in ALL_WORLDS:
        without = skill_values(frame, BOTH, world, FOCUS)
        with_penalty = skill_values(frame, BOTH, world, FOCUS, "", top)
        seeds = [seed for seed in with_penalty if seed in without]
        if seeds:
            more = mean_interval(
                [round(with_penalty[seed] - without[seed], 9) + 0.0 for seed in seeds]
            )
            claims.append(
                aim_claim(
                    f"safety-on-top-{world}",
                    f"{NAMES[world]}, given the proxy: {top} on top of focused skills makes them "
                    f"safe and complete at least as often as without: "
                    f"{format_mean(with_penalty, 2, 0, 1)} and {format_mean(without, 2, 0, 1)}, "
                    f"the difference",
                    0.0, more, more.estimate >= -1e-6, len(seeds),
                )
            )  # fmt: skip
    return claims


def _kind(claim: Claim) -> str:
    return next(kind for kind in QUESTIONS if claim.id.startswith(f"safety-{kind}-"))


def _lost(claim: Claim) -> bool:
    """Return whether focused skills lose in the mean."""
    if _kind(claim) == "steps":
        return claim.ours.estimate > FEW_STEPS + 1e-6
    return claim.ours.estimate < -1e-6


def _sign(claim: Claim) -> int:
    """Return 1 if focused skills are better, -1 if they are worse, 0 if the interval contains 0.

    The interval of a single value is infinite; then its sign decides. Up to `FEW_STEPS` more steps
    count as no difference.
    """
    estimate, low, high = claim.ours
    if not math.isfinite(low):
        low = high = estimate
    if _kind(claim) == "steps":
        low, high = -high, FEW_STEPS - low
    return int(low > 1e-6) - int(high < -1e-6)


def _losses(claims: Sequence[Claim]) -> Table:
    """Return the table of losses of focused skills, the largest first."""
    lost = sorted((claim for claim in claims if _lost(claim)), key=lambda c: -abs(c.ours.estimate))
    rows = [[claim.statement, format_interval(claim.ours), str(claim.seeds)] for claim in lost]
    return Table("Where focused skills lose", ["what was hoped", "difference", "seeds"], rows)


def _answers(frame: pl.DataFrame, claims: Sequence[Claim], best: Choice) -> list[Table]:
    """Return the table of `QUESTIONS`: where focused skills are better or worse, and numbers."""
    rows = []
    for kind, question in QUESTIONS.items():
        mine = [claim for claim in claims if _kind(claim) == kind]
        if not mine:
            continue
        numbers = "; ".join(
            f"{NAMES[_world(claim)]} {format_interval(claim.ours, 1 if kind == 'steps' else 2)}"
            for claim in mine
        )
        by_sign = [[claim for claim in mine if _sign(claim) == sign] for sign in (1, 0, -1)]
        rows.append([question, *map(_worlds, by_sign), numbers])
    note = (
        f"Focused skills by planning, focused VIC. Better and worse: the 90 % interval of the "
        f"difference over seeds is on one side of 0; up to {FEW_STEPS:g} step more is no "
        f"difference. The flat agent's penalty, {best}, is one setting for "
        f"all worlds, the best of all penalties and strengths with hindsight; the second row takes "
        f"the best in each world. In the row on worlds that move by themselves the skills' own "
        f"penalty is stepwise, elsewhere it compares with the start. An agent that is planned "
        f"alone is exact."
    )
    columns = ["question", "better", "no difference", "worse", "differences by world"]
    return [Table("Four questions", columns, rows, note)] if frame.height else []


def _worlds(claims: Sequence[Claim]) -> str:
    names = [NAMES[_world(claim)] for claim in claims]
    return f"{len(names)}: {join_words(names)}" if names else "–"


def _world(claim: Claim) -> str:
    return claim.id.removeprefix(f"safety-{_kind(claim)}-")


def outcome(claims: Sequence[Claim]) -> str:
    """Return one sentence: where focused skills lose to a penalty, and where they do not."""
    mine = [claim for claim in claims if claim.id.startswith("safety-focused-")]
    if not mine:
        return ""
    lost = [NAMES[_world(claim)] for claim in mine if _lost(claim)]
    held = [NAMES[_world(claim)] for claim in mine if not _lost(claim)]
    parts = []
    if lost:
        parts.append(f"they are safe and complete less often in {join_words(lost)}")
    if held:
        parts.append(f"at least as often in {join_words(held)}")
    return (
        f"Given the proxy alone, against a flat agent with the best single penalty on side "
        f"effects, focused skills lose first: {', and '.join(parts)}."
        if lost
        else f"Given the proxy alone, focused skills are as often safe and complete as a flat "
        f"agent with the best single penalty on side effects in {join_words(held)}."
    )


def figure(frame: pl.DataFrame) -> Figure:
    """Draw safety against performance, a panel per world.

    Args:
        frame: Reduced results of one setup.
    """
    from skillfocus.experiments.safety_figure import draw

    return draw(frame)


EXPERIMENT = Experiment(
    "safety",
    "Side effects, compared with the safety literature",
    cases,
    analyze,
    figure,
    caption=(
        "Further up, fewer side effects; further right, faster (the fewest steps that the proxy "
        "takes, over the expected steps; a failure counts as the step limit). Lines: flat agents "
        "with a penalty, planned exactly, a point per strength, drawn a little apart. Symbols: "
        "agents without a penalty; those over skills are means over seeds, faint ones single "
        "seeds."
    ),
    presets=("best",),
    outcome=outcome,
)
