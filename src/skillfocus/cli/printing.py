"""Printing: results go to standard output, everything else to standard error."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from skillfocus.progress import ProgressBar, make_console

if TYPE_CHECKING:
    from skillfocus.sweep import Score, SweepResult

err = make_console(stderr=True)
LONG = 10**12
"""Counts from here on are shown as powers of ten."""
MAX_LISTED = 6
"""The most variables with equally many values to list one by one."""
FILE_WIDTH = 160
"""Columns of a table that is written to a file or a pipe."""
SILENT_SECONDS = 1.0
"""Exploring a world shows no progress before this time."""
LINE_SECONDS = 5.0
"""Time between two progress lines where there is no terminal."""


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


@contextmanager
def shown_exploration() -> Iterator[None]:
    """Show the progress of explorations in this block, if they take long."""
    from skillfocus.worlds.explored import exploration_progress

    due, status = time.monotonic() + SILENT_SECONDS, err.status("")

    def show(_: float, line: str) -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        if err.is_terminal:
            status.start()
            status.update(Text(line))  # names of users are not markup
        else:
            say(line)
            due = time.monotonic() + LINE_SECONDS

    token = exploration_progress.set(show)
    try:
        yield
    finally:
        exploration_progress.reset(token)
        status.stop()


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
        rows = [
            [f"{p['strength']:g}{' *' if p['strength'] == strengths['strength'] else ''}",
             *(f"{p[name]:.3f}" for name in ("changes_alone", "side_effects", "avoidable"))]
            for p in strengths["points"]
        ]  # fmt: skip
        columns = ["strength", "best skills change targets alone", "side effects", "avoidable"]
        print_table("Strengths tried; * is taken", columns, rows)
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


def table(title: str | None, columns: list[str], rows: list[list[str]]) -> Table:
    """Return a table of plain text, in which names of users are neither markup nor emoji."""
    made = Table(
        title=title and Text(title, "table.title"), title_justify="left", header_style="bold",
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False,
    )  # fmt: skip
    for column in columns:
        made.add_column(Text(column), overflow="fold")
    for row in rows:
        made.add_row(*map(Text, row))
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
    """Return a table of every skill of a run."""
    skills = run["skills"]
    told = any("reaches" in skill for skill in skills)
    columns = {
        "": [str(s["skill"]) for s in skills],
        "target": [_goal(s) or "–" for s in skills],
        "changes": [_number(s["changes_target"]) for s in skills],
    }
    everywhere: dict[str, list[str]] = {}
    columns[_alone(told)] = [_number(s["changes_alone"]) for s in skills]
    exact = skills[0]["exact"]
    if any(s["best_possible"] is not None for s in skills):
        columns["best\npossible"] = [_number(s["best_possible"]) for s in skills]
    columns["effects"] = [_effects(s) for s in skills]
    # Without a table both kinds of starts are the same rollouts, of starts the world draws.
    drawn = not exact and all(s[k] == v for s in skills for k, v in s["all_starts"].items())
    if not drawn:
        everywhere["changes*"] = [_number(s["all_starts"]["changes_target"]) for s in skills]
        everywhere["effects*"] = [_number(s["all_starts"]["side_effects"]) for s in skills]
    about = (
        "How often the target ends changed; at its value and nothing else changed; and the "
        "best\npossible of that; side effects"
        if told
        else "How often the target ends changed, and alone, and the best possible of that; side"
        "\neffects"
    )
    how = "exact" if exact else "sampled rollouts, 90 % intervals"
    if any("sampled_from" in s for s in skills):
        how = "exact from sampled starts, 90 % intervals"
    about += f" (Equation 1, {how}), from starts "
    about += "that the world draws" if drawn else "within reach; * from every start"
    columns["steps"] = [_number(s["steps"], 1) for s in skills]
    columns["starts"] = [_starts(s) for s in skills]
    columns["most disturbed"] = [_most_disturbed(s) for s in skills]
    columns |= everywhere
    strength = run.get("unusual", {}).get("strength")
    strong = "" if strength is None else f", strength={strength:g}"
    title = (
        f"{run['objective']} in {run['world']} by {run['learner']}{strong}{_unusual(run)}, "
        f"seed {run['seed']}\n{about}"
    )
    return table(title, list(columns), [list(row) for row in zip(*columns.values(), strict=True)])


def _starts(skill: dict) -> str:
    """How many first states were evaluated and, if they are a sample, of how many."""
    of_all = f" of {skill['sampled_from']:,}" if "sampled_from" in skill else ""
    return f"{skill['starts']:,}{of_all}"


def _most_disturbed(skill: dict) -> str:
    name, effect = max(skill["side_effects_by_variable"].items(), key=lambda item: item[1] or 0.0)
    return f"{name} {effect:.3f}" if effect and effect >= 0.0005 else "none"


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
    """Return the bounds of a real-valued variable as text: one range if all numbers share it."""
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


# -------------------------------------------------------------------- tables of the commands


def print_names(worlds: list[dict[str, Any]], names: dict[str, list[str]]) -> None:
    """Print what `list` lists: worlds, and the names of objectives and learners."""
    finite = [w for w in worlds if not w["continuous"]]
    rows = [
        [w["name"], w["id"], show_count(w["combinations"]), list_variables(w["variables"])]
        for w in finite
    ]
    print_table("Worlds", ["name", "id", "combinations", "variables (values)"], rows)
    print_text("combinations of values; skillfocus describe counts the states within reach\n")
    rows = [[w["name"], w["id"], list_variables(w["variables"])] for w in worlds if w["continuous"]]
    print_table("Worlds of real-valued variables", ["name", "id", "variables (numbers)"], rows)
    without = [w["name"] for w in finite if not w["table"]]
    print_text(f"Too large for tables, for networks only: {', '.join(without)}")
    for title, members in names.items():
        print_text(f"{title.capitalize() + ':':<12} {', '.join(members)}")
    print_text("\nOther worlds: my-map.txt, gymnasium:Taxi-v4, minigrid:DoorKey-5x5,")
    print_text("rddl:DOMAIN/INSTANCE, my_world.py:NAME; see skillfocus describe --help")
    print_text("\nfocused-… and dusdi-… also as scattered-focused-… and scattered-dusdi-…")
    print_text("Try: skillfocus discover four-rooms focused-vic")


def print_world(world: dict[str, Any], drawing: str | None) -> None:
    """Print a description of a world (`metrics/summary.py`), and one of its states.

    Variables of worlds without a table that are alike are shown together.
    """
    name, actions, variables = world["world"], world["actions"], world["variables"]
    limit, rows, about = world["step_limit"], [], ""
    steps, goals = f"A skill may take up to {limit} steps", ""
    columns = ["variable", "values", "such as", "changes", "skills by default"]
    if "states" in world:
        size = f"{world['states']:,} states, {len(actions)} actions"
        columns.insert(4, "alone")
        rows = [
            [v["name"], str(v["values"]), v["listed"], v["changes"],
             "–" if v["alone"] is None else f"{v['alone']:.2f}", str(v["skills"])]
            for v in variables
        ]  # fmt: skip
        about = (
            f"alone: the highest probability that it changes and nothing else does, within "
            f"{limit} steps, averaged over up to 200 starts\n"
        )
    elif "observations" in world:
        size = (
            f"{sum(v['numbers'] for v in variables)} numbers in {len(variables)} variables, "
            f"{len(actions)} action dimension{'s' if len(actions) > 1 else ''}, "
            f"{world['observations']} observations"
        )
        shown = [f"{a['name']} ({a['low']:g} to {a['high']:g})" for a in actions]
        actions = shown if len(shown) <= 8 else [shorten_names(shown)]
        steps += f", an episode {world['episode_steps']:,}"
        columns = ["variable", "numbers", "range", "scale", "changes"]
        for (n, *others), names, each in _alike(
            world, lambda v: (v["numbers"], show_range(v), f"{v['scale']:.3g}", v["changes"])
        ):
            listed = ", ".join(names) if len(names) <= 4 else shorten_names(names)
            rows.append([listed, f"{n}{each}", *others])
        about = "scale: the distance that counts as a change of 1\n"
    else:
        size = f"{show_count(world['combinations'])} combinations of values, {len(actions)} actions"
        goals = f"Goals: {shorten_names(world['goals'])}\n"
        for (n, listed, changes, skills), names, each in _alike(
            world, lambda v: (v["values"], v["listed"], v["changes"], v["skills"])
        ):
            rows.append([shorten_names(names), f"{n}{each}", listed, changes, f"{skills}{each}"])
    print_text(f"{name}: {size}\nActions: {', '.join(actions)}\n{goals}{steps}.\n")
    print_table("Variables", columns, rows)
    for line in (about, *(f"- {note}" for note in world["notes"])):
        if line:
            print_text(line)
    if drawing is not None:
        print_text(f"\nOne state:\n{drawing}")


def _alike(
    world: dict[str, Any], key: Callable[[dict[str, Any]], tuple]
) -> Iterator[tuple[tuple, list[str], str]]:
    """Yield what consecutive variables share, their names, and " each" if they are several."""
    for shared, group in itertools.groupby(world["variables"], key):
        names = [variable["name"] for variable in group]
        yield shared, names, " each" if len(names) > 1 else ""


def print_solutions(title: str, runs: list[dict]) -> None:
    """Print how well agents do in a task (the records of `solve`)."""
    rows = [
        [r["world"], r["objective"], "–" if r["seed"] is None else str(r["seed"]),
         str(r["learning_seed"]), _number(r["steps"], 1), _number(r["optimum_steps"], 1),
         _number(r["proxy_return"]), _number(r["true_return"])]
        for r in runs
    ]  # fmt: skip
    columns = ["world", "skills", "seed", "agent's\nseed", "steps", "optimum", "proxy", "true"]
    print_table(f"{title}: steps and returns", columns, rows)


def print_points(result: SweepResult, best: Score) -> None:
    """Print all points, best first, and how the best one does on the reporting seeds."""
    columns = [axis.setting for axis in result.axes]
    columns += [result.metric, "90 % interval", "seeds", ""]
    rows = [
        [*_row(score), "best" if score is best else ""]
        for score in sorted(result.scores, key=lambda s: s.mean, reverse=not result.minimize)
    ]
    tuned = result.tuning_seeds
    plural = "s" if len(tuned) > 1 else ""
    title = f"{result.title}, {len(tuned)} tuning seed{plural} from {min(tuned)} up"
    print_table(title, columns, rows)
    if result.report:
        title = f"The best point on reporting seeds 0 to {result.reporting_seeds[-1]}"
        print_table(title, columns[:-1], [_row(result.report)])


def _row(score: Score) -> list[str]:
    settings = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in score.point.values()]
    interval = f"{score.low:.3f} to {score.high:.3f}" if len(score.values) > 1 else "–"
    return [*settings, f"{score.mean:.3f}", interval, str(len(score.values))]
