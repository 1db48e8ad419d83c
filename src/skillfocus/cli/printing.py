"""Printing: results go to standard output, everything else to standard error."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from skillfocus.progress import ProgressBar, make_console

err = make_console(stderr=True)
LONG = 10**12
"""Counts from here on are shown as powers of ten."""
MAX_LISTED = 6
"""The most variables with equally many values to list one by one."""
FILE_WIDTH = 160
"""Columns of a table that is written to a file or a pipe."""


def _stdout() -> Any:
    console = make_console()
    return console if console.is_terminal else make_console(width=FILE_WIDTH)


def say(line: str) -> None:
    """Print a line on standard error."""
    err.print(line, highlight=False, markup=False, soft_wrap=True)


def print_text(text: str) -> None:
    """Print text on standard output."""
    _stdout().print(text, highlight=False, markup=False, emoji=False, soft_wrap=True)


def show_count(n: int) -> str:
    """Return a count as text: 1,664 or, of many digits, 3.1e+28."""
    return f"{n:,}" if n < LONG else f"{n:.1e}"


def progress_on_stderr(title: str) -> ProgressBar:
    """Return a progress bar on standard error, to be used in a `with` statement."""
    return ProgressBar(err, title)


def print_json(document: dict) -> None:
    """Print a JSON document on standard output."""
    print(json.dumps(document, indent=2))


def print_table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print a table with a title on standard output."""
    out = _stdout()
    out.print(title, style="italic", highlight=False, markup=False)
    out.print(table(None, columns, rows))


def show_runs(runs: list[dict], as_json: bool, strengths: dict[str, Any] | None = None) -> None:
    """Print what skills do: the records of `discover` and `evaluate`, as tables or as JSON.

    Args:
        runs: The records.
        as_json: Whether to print one JSON document.
        strengths: What `discover --strength auto` tried (`StrengthCurve.as_json`).
    """
    if as_json:
        print_json({"runs": runs, **({"strength_search": strengths} if strengths else {})})
        return
    if strengths:
        _show_strengths(strengths)
    out = _stdout()
    for table in effects_tables(runs):
        out.print(table)
    with_coverage = [run for run in runs if "coverage" in run]
    if with_coverage:
        rows = [
            [*(str(r[name]) for name in ("world", "objective", "seed")),
             *(f"{c:.3f}" for c in r["coverage"]),
             f"{r['auc']:.3f}", "exact" if r["coverage_exact"] else "10 trees"]
            for r in with_coverage
        ]  # fmt: skip
        columns = ["world", "objective", "seed", "1", "2", "3", "4", "5", "AUC", ""]
        print_table("Coverage of chains of 1 to 5 skills", columns, rows)


def _show_strengths(strengths: dict[str, Any]) -> None:
    rows = [
        [f"{p['strength']:g}{' *' if p['strength'] == strengths['strength'] else ''}",
         *(f"{p[name]:.3f}" for name in ("changes_alone", "side_effects", "avoidable"))]
        for p in strengths["points"]
    ]  # fmt: skip
    columns = ["strength", "best skills change targets alone", "side effects", "avoidable"]
    print_table("Strengths tried; * is taken", columns, rows)


def table(title: str | None, columns: list[str], rows: list[list[str]]) -> Table:
    """Return a table of plain text; square brackets are not markup."""
    made = Table(
        title=title and escape(title), title_justify="left", header_style="bold", box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0), pad_edge=False,
    )  # fmt: skip
    for column in columns:
        made.add_column(escape(column), overflow="fold")
    for row in rows:
        made.add_row(*map(escape, row))
    return made


def effects_tables(runs: list[dict]) -> Iterator[Table]:
    """Yield tables of what skills do.

    One run is shown skill by skill. Several are grouped by settings and shown target by target,
    averaged over seeds.

    Args:
        runs: Records of runs (`Discovery.record`).
    """
    if len(runs) == 1:
        yield _one_run(runs[0])
        return
    groups: dict[tuple, list[dict]] = {}
    for run in runs:
        targets = tuple(_goal(skill) for skill in run["skills"])
        key = (run["world"], run["objective"], run["learner"])
        groups.setdefault((key, run["strength"], targets, _unusual(run)), []).append(run)
    for (names, strength, _, unusual), members in groups.items():
        suffix = "" if strength is None else f", strength {strength:g}"
        yield _over_seeds(" ".join(names) + suffix + unusual, members)


def _goal(skill: dict) -> str:
    """What a skill is to change, or to reach."""
    return skill.get("reaches") or " + ".join(skill["targets"])


def _unusual(run: dict) -> str:
    """Settings that differ from the defaults, if known; the strength is shown elsewhere."""
    others = {k: v for k, v in run.get("unusual", {}).items() if k != "strength"}
    return "".join(f", {name}={value}" for name, value in others.items())


def _one_run(run: dict) -> Table:
    if "exceeds" in run["skills"][0]:
        return _one_continuous_run(run)
    rows = []
    for skill in run["skills"]:
        everywhere = skill["all_starts"]
        name, p = max(skill["side_effects_by_variable"].items(), key=lambda item: item[1] or 0.0)
        rows.append(
            [
                str(skill["skill"]),
                _goal(skill) or "–",
                _number(skill["changes_target"]),
                _number(skill.get("changes_alone")),
                _number(skill.get("best_possible")),
                _effects(skill),
                _number(skill["steps"], 1),
                f"{skill['starts']:,}",
                f"{name} {p:.3f}" if p and p >= 0.0005 else "none",
                _number(everywhere["changes_target"]),
                _number(everywhere["side_effects"]),
            ]
        )
    exact = run["skills"][0]["exact"]
    kind = "exact" if exact else "sampled, 90 % intervals"
    # Without a table both kinds of starts are the same rollouts, of starts that the world draws.
    drawn = not exact and all(
        skill[name] == value
        for skill in run["skills"]
        for name, value in skill["all_starts"].items()
    )
    starts = "that the world draws" if drawn else "within reach; * from every start"
    strength = run.get("unusual", {}).get("strength")
    strong = "" if strength is None else f", strength={strength:g}"
    told = any("reaches" in skill for skill in run["skills"])
    done = (
        "How often the target ends changed; at its value and nothing else changed; and the best\n"
        "possible of that; side effects"
        if told
        else "How often the target ends changed, and alone, and the best possible of that; side\n"
        "effects"
    )
    title = (
        f"{run['objective']} in {run['world']} by {run['learner']}{strong}{_unusual(run)}, "
        f"seed {run['seed']}\n"
        f"{done} (Equation 1, {kind}), from starts {starts}"
    )
    columns = [
        "", "target", "changes", _alone(told), "best\npossible", "effects", "steps", "starts",
        "most disturbed", "changes*", "effects*",
    ]  # fmt: skip
    shown = len(columns) - 2 if drawn else len(columns)
    return table(title, columns[:shown], [row[:shown] for row in rows])


def _one_continuous_run(run: dict) -> Table:
    from skillfocus.metrics.continuous import THRESHOLD

    rows = []
    for skill in run["skills"]:
        name, change = max(
            skill["side_effects_by_variable"].items(), key=lambda item: item[1] or 0.0
        )
        rows.append(
            [
                str(skill["skill"]), _goal(skill) or "–", _number(skill["changes_target"]),
                _effects(skill), _number(skill["exceeds"]), _number(skill["steps"], 1),
                f"{skill['starts']:,}", f"{name} {change:.3f}" if change else "none",
            ]
        )  # fmt: skip
    title = (
        f"{run['objective']} in {run['world']} by {run['learner']}{_unusual(run)}, "
        f"seed {run['seed']}\n"
        f"Changes: how often the target moves by more than {THRESHOLD:g} of its scale.\n"
        f"Side effects: how far all other variables move, added up (sampled)."
    )
    columns = [
        "", "target", "changes", "side effects", f"one above\n{THRESHOLD:g}", "steps", "starts",
        "most disturbed",
    ]  # fmt: skip
    return table(title, columns, rows)


def _over_seeds(title: str, runs: list[dict]) -> Table:
    """Per target: how often its best skill changes it, and the side effects of all its skills."""
    rows = []
    for target in dict.fromkeys(_goal(s) for run in runs for s in run["skills"]):
        of_runs = [[s for s in run["skills"] if _goal(s) == target and s["starts"]] for run in runs]
        of_runs = [mine for mine in of_runs if mine]
        if not of_runs:
            rows.append([target or "–", "no start within reach", *"–––––", "0"])
            continue
        every = [skill for mine in of_runs for skill in mine]
        best = [max((s["changes_target"] or 0.0) for s in mine) for mine in of_runs]
        alone = [max((s.get("changes_alone") or 0.0) for s in mine) for mine in of_runs]
        possible = [s["best_possible"] for s in every if s.get("best_possible") is not None]
        starts = sorted({s["starts"] for s in every})
        rows.append(
            [
                target or "–",
                f"{_mean(best):.3f} ({min(best):.3f})" if target else "–",
                f"{_mean(alone):.3f}" if possible else "–",
                f"{_mean(possible):.3f}" if possible else "–",
                f"{_mean([_mean([s['side_effects'] for s in mine]) for mine in of_runs]):.3f}",
                f"{max(s['side_effects'] for s in every):.3f}",
                f"{_mean([_mean([s['steps'] for s in mine]) for mine in of_runs]):.1f}",
                " to ".join(f"{n:,}" for n in dict.fromkeys((starts[0], starts[-1]))),
            ]
        )
    told = any("reaches" in s for run in runs for s in run["skills"])
    columns = [
        "target", "best skill changes it\n(worst seed)", _alone(told), "best\npossible",
        "side effects\nper skill", "worst\nskill", "steps", "starts",
    ]  # fmt: skip
    seeds = f"{len(runs)} seeds" if len(runs) > 1 else "1 seed"
    return table(f"{title}, {seeds}, from starts within reach", columns, rows)


def _alone(told: bool) -> str:
    return "reaches\nalone" if told else "alone"


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _effects(skill: dict) -> str:
    if skill["exact"] or skill["side_effects_interval"] is None:
        return _number(skill["side_effects"])
    low, high = skill["side_effects_interval"]
    return f"{skill['side_effects']:.3f} ±{(high - low) / 2:.3f}"


# -------------------------------------------------------------------- text


def list_variables(sizes: Mapping[str, int]) -> str:
    """Return variables and their numbers of values as text: of many alike, the first and last."""
    parts = []
    for n_values, group in itertools.groupby(sizes, key=lambda name: sizes[name]):
        names = list(group)
        shown = names if len(names) <= MAX_LISTED else [f"{names[0]} … {names[-1]}"]
        parts += [f"{name} ({n_values})" for name in shown]
    return ", ".join(parts)


def show_range(variable: dict[str, Any]) -> str:
    """Return the bounds of a continuous variable as text: one range if all numbers share it."""
    ranges = [
        f"{'-∞' if low is None else f'{low:g}'} to {'∞' if high is None else f'{high:g}'}"
        for low, high in zip(variable["low"], variable["high"], strict=True)
    ]
    return ranges[0] if len(set(ranges)) == 1 else " × ".join(ranges)


def shorten_names(names: list[str]) -> str:
    """Return names as text: all, or the first and the last of many, with their number."""
    if len(names) <= 2:
        return ", ".join(names)
    return f"{names[0]} … {names[-1]} ({len(names)})"
