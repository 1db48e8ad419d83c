"""`write_page`: skill sets in, one HTML file out that needs nothing else; and `export_rollout`.

The parts lie beside this file in `assets/`: the skeleton (`page.html`), its style (`page.css`) and
the ES modules of its script, which `bundle` joins into one, beginning with `main.js`.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from skillfocus.errors import UserError
from skillfocus.files import check_file_path, require_writable_folder, shorten, write_atomically
from skillfocus.metrics.coverage import coverage as measure_coverage
from skillfocus.metrics.summary import list_values, origin
from skillfocus.progress import Progress, no_progress, part_of
from skillfocus.render.animation import export
from skillfocus.skills.skills import Skills, SkillSource, list_sources, load_source
from skillfocus.spaces import State
from skillfocus.tasks.solving import solve
from skillfocus.tasks.task import find_task, task_of
from skillfocus.viewer.payload import SkillSetView, choose_start_state, page_data
from skillfocus.viewer.recordings import (
    draw_starts,
    script_element,
)
from skillfocus.world import World

# -------------------- The page's ES modules as one classic script
#
# A page is one file that loads nothing, so its modules cannot import each other in the browser.

IMPORT = re.compile(r'^import (?:\{[^}]*\} from )?"([^"\n]+)";\n', re.M)
EXPORT = re.compile(r"^export (?=const |async |function|class )", re.M)


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """Return one script that runs a module after everything it imports.

    Modules share one scope: what they declare must have different names, and what they import
    keeps its name. `import { a, b } from "./file.js";` and `export` before a declaration, each at
    the beginning of a line, are all that they may use of the syntax of modules.

    Args:
        entry: The path of the entry module, relative to the folder that `read` knows.
        read: Returns the source of a module.
    """
    visited: set[str] = set()
    sources: list[str] = []

    def visit(path: str) -> None:
        if path in visited:
            return
        visited.add(path)
        source = read(path)
        for imported in IMPORT.findall(source):
            visit(posixpath.normpath(posixpath.join(posixpath.dirname(path), imported)))
        sources.append(f"// {path}\n{EXPORT.sub('', IMPORT.sub('', source)).strip()}")

    visit(entry)
    return "(() => {\n" + "\n\n".join(sources) + "\n})();"


ENTRY = "main.js"
"""The module that opens the page."""
_MARK = b'<a class="skip" href="#play">'
"""What every page has, see `is_page`."""


def write_page(
    sets: Sequence[SkillSetView | Skills],
    path: str | Path,
    title: str = "",
    report: Progress = no_progress,
) -> Path:
    """Write the page of some skill sets, completely or not at all.

    Args:
        sets: The skill sets, with labels and more (`SkillSetView`) or plain.
        path: The HTML file.
        title: The page's title; by default the names of the worlds.
        report: Called with the fraction done and the current activity.

    Returns:
        The path.

    Raises:
        UserError: If the file's name does not end in .html.
    """
    path = Path(path)
    check_page_name(path)
    write_atomically(path, page_html(sets, title, report).encode())
    return path


def check_page_name(path: Path) -> None:
    """Raise `UserError` unless a file's name ends in .html."""
    if path.suffix not in (".html", ".htm"):
        raise UserError(f"cannot write a page to {shorten(path)}: use a name that ends in .html")


def is_page(path: Path) -> bool:
    """Return whether a file is such a page."""
    try:
        return _MARK in path.read_bytes()
    except OSError:
        return False


def page_html(
    sets: Sequence[SkillSetView | Skills],
    title: str = "",
    report: Progress = no_progress,
) -> str:
    """Return the page of some skill sets; see `write_page`."""
    views = labelled([SkillSetView(one) if isinstance(one, Skills) else one for one in sets])
    data, policies = page_data(views, report)
    title = title or f"Skills in {', '.join(dict.fromkeys(one['id'] for one in data['worlds']))}"
    # Policies stand at the end of the page, those of the sets it opens with before the others, so
    # that it can be used before all of it has been read.
    order = sorted(range(len(policies)), key=lambda i: not data["sets"][i]["first"])
    parts = {
        "title": html.escape(title),
        "style": read_asset("page.css"),
        "script": bundle(ENTRY, read_asset),
        "data": script_element("data", data),
        "policies": "\n".join(script_element(f"policies-{i}", policies[i]) for i in order),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], read_asset("page.html"))


def read_asset(path: str) -> str:
    """Return the text of a file in `assets/`."""
    return files("skillfocus.viewer").joinpath("assets", path).read_text("utf-8")


def frame_html(sets: Sequence[SkillSetView | Skills], title: str = "") -> str:
    """Return the page as an `iframe` of another one."""
    page, name = html.escape(page_html(sets, title)), html.escape(title or "Skills to watch")
    return (
        f'<iframe srcdoc="{page}" title="{name}" loading="lazy" '
        f'style="width: 100%; height: 820px; border: 0"></iframe>'
    )


def labelled(sets: Sequence[SkillSetView]) -> list[SkillSetView]:
    """Return the same views with labels that differ within each world.

    The label is the given one, or the settings that differ; repeated ones get a number.
    """
    counts: Counter[tuple[str, str]] = Counter()
    views = []
    for view, default in zip(sets, default_labels([one.skills for one in sets]), strict=True):
        label = view.label or default
        counts[view.skills.world.id, label] += 1
        count = counts[view.skills.world.id, label]
        views.append(replace(view, label=label if count == 1 else f"{label} ({count})"))
    return views


def default_labels(several: Sequence[Skills]) -> list[str]:
    """Return labels of sets that were given none: the settings in which those of a world differ.

    Sets that objective and seed tell apart are called by these.
    """
    settings = [_settings(skills) for skills in several]
    labels = []
    for own in settings:
        mates = [other for other in settings if other["world"] == own["world"]]
        names = dict.fromkeys(name for mate in mates for name in mate)
        differ = [name for name in names if len({str(mate.get(name)) for mate in mates}) > 1]
        if not differ or len({(mate["objective"], mate["seed"]) for mate in mates}) == len(mates):
            differ = ["objective", "seed"]
        words = []
        for name in differ:
            value = own.get(name)
            text = f"{value:g}" if isinstance(value, float) else str(value)
            if value is not None:
                unnamed = name in ("objective", "learner")
                words.append(text if unnamed else f"{name.replace('_', ' ')} {text}")
        labels.append(", ".join(words) or str(own["objective"]))
    return labels


def _settings(skills: Skills) -> dict[str, object]:
    """Return what may tell one set from another, as its file says it, and its world."""
    about, objective = origin(skills), skills.info.get("objective")
    learner = skills.info.get("learner")
    details = dict(learner) if isinstance(learner, dict) else {}
    details.pop("name", None)
    return {
        **{name: about[name] for name in ("world", "objective", "learner", "strength")},
        "rate": objective.get("rate") if isinstance(objective, dict) else None,
        **details,
        "skills": len(skills),
        "step_limit": skills.step_limit,
        "seed": about["seed"],
    }


# --------------------
#
# `view`: a page to watch skills on, with coverage and a learned task if asked for


def view(
    skills: SkillSource | Iterable[SkillSource],
    out: str | Path | None = None,
    *,
    task: str = "none",
    coverage: bool = False,
    world: World | None = None,
    progress: Progress = no_progress,
) -> Path:
    """Write one HTML page, which needs nothing but a browser, to watch skills on.

        view(["out/plain.skills", "out/focused.skills"], "skills.html", task="true")

    Args:
        skills: Sets of skills or files of them, one or several.
        out: The page; by default, beside the first file.
        task: Also learn the world's task with each set, from its `"true"` or its `"proxy"` reward,
            to watch the agent; `"none"` for no task.
        coverage: Whether to compute the expected coverage of skill chains too.
        world: The world of the skills, for files that cannot name it.
        progress: Callback for the fraction done.

    Returns:
        The path of the page.

    Raises:
        UserError: If a file cannot be loaded or the page cannot be written.
    """
    sources = list_sources(skills)
    first = sources[0]
    page = page_path(out, first.with_suffix(".html") if isinstance(first, Path) else None)
    loaded = [load_source(source, world) for source in sources]
    if (task != "none" or coverage) and not all(one.world.space.is_finite for one in loaded):
        raise UserError("pages of continuous worlds show skills alone: leave task and coverage out")
    # Sets that would have the same label are called by their files.
    made = default_labels(loaded)
    several = Counter(zip([one.world.id for one in loaded], made, strict=True))
    sets = []
    for number, (source, one, label) in enumerate(zip(sources, loaded, made, strict=True)):
        if isinstance(source, Path) and several[one.world.id, label] > 1:
            label = source.stem
        progress(number / len(loaded) / 2, f"preparing {label}")
        shown = SkillSetView(one, label)
        if coverage:
            curve = measure_coverage(one, rng=np.random.default_rng(0)).curve
            shown = replace(shown, coverage=curve)
        if task != "none":
            if find_task(one.world) is None:
                raise UserError(
                    f"{one.world.id} has no task of its own, so there is no agent to watch: leave "
                    f"task (--task) out"
                )
            goal = task_of(one.world, one.mdp)
            solution = solve(one.mdp, goal, one, seed=0, reward=task)
            shown = replace(shown, task=goal, solution=solution, reward=task)
        sets.append(shown)
    return write_page(sets, page, "", part_of(progress, 0.5, 1.0))


def page_path(out: str | Path | None, default: Path | None) -> Path:
    """Return where the page goes, and create its folder.

    A page that the caller named may be overwritten, one by the default name only if it is a page.

    Args:
        out: The name that the caller gave, if any.
        default: The name without one.

    Raises:
        UserError: If there is no name, it does not end in .html, or the page cannot be written.
    """
    page = default if out is None else Path(out)
    if page is None:
        raise UserError("skills in memory have no file to put the page beside; give out=…")
    check_page_name(page)
    require_writable_folder(page.parent)
    check_file_path(page)
    if out is None and page.exists() and not is_page(page):
        raise UserError(f"{page} exists and is not a page of skills; give another name with --out")
    return page


# -------------------- One rollout of a skill as a moving picture, for slides


class ExportedRollout(NamedTuple):
    """What was exported."""

    path: Path
    """The file."""
    skill: int
    """Number of the skill."""
    steps: int
    """Number of steps of the rollout."""


def export_rollout(
    skills: SkillSource,
    path: str | Path,
    *,
    skill: int | None = None,
    start: str = "",
    slips: int = 0,
    world: World | None = None,
) -> ExportedRollout:
    """Write one rollout of a skill to a .gif or .svg file.

    Args:
        skills: A set of skills, or a file of them.
        path: The file to write.
        skill: Number of the skill; by default, see `representative_skill`.
        start: The start state, see `parse_start`; by default, where the viewer begins.
        slips: Seed of the rollout's randomness, in [0, 2^32), as on the viewer's page.
        world: The world of the skills, for a file that cannot name it.

    Raises:
        UserError: If an argument is out of range or the file cannot be written.
    """
    if not 0 <= slips < 2**32:
        raise UserError(f"slips is {slips}; it must be at least 0 and below 2^32")
    (source,) = list_sources(skills)
    loaded = load_source(source, world)
    first = parse_start(loaded, start)
    number = representative_skill(loaded, first) if skill is None else skill
    rollout = loaded.rollout(number, first, np.random.default_rng(slips))
    return ExportedRollout(export(rollout, path), number, len(rollout) - 1)


def representative_skill(skills: Skills, start: State) -> int:
    """Return the first skill that changes its targets with the fewest side effects if nothing
    slips; in a world without a table, in one run."""

    def shortcomings(z: int) -> tuple[bool, int]:
        if skills.has_table:
            path = skills.likely_path(z, start)
        else:
            path = skills.rollout(z, start, np.random.default_rng(0))
        missed = not path.changed or not set(skills.targets[z]) <= set(path.changed)
        return missed, len(path.side_effects)

    return min(range(len(skills)), key=shortcomings)


def parse_start(skills: Skills, text: str) -> State:
    """Return the state described by text such as `position=(6, 9), tool_1=1`.

    Args:
        skills: The skills; variables that the text leaves out are as where the viewer begins.
        text: Variables and their values.

    Raises:
        UserError: If the text names an unknown variable, value or state.
    """
    space = skills.world.space
    if skills.has_table:
        state = list(skills.mdp.state(choose_start_state(skills)))
    else:
        state = list(draw_starts(skills, np.random.default_rng(0))[0])
    names = "|".join(map(re.escape, space.names))
    # Values may contain commas, so only one before a variable's name ends a value.
    for part in re.split(rf",(?=\s*(?:{names})\s*=)", text) if text.strip() else ():
        name, _, value = part.partition("=")
        variable = space.index(name.strip())
        values = space.variables[variable].values
        labels = [_without_spaces(str(label)) for label in values]
        if _without_spaces(value) not in labels:
            raise UserError(
                f"cannot start with {part.strip()!r}: {name.strip()} can be {list_values(values)}"
            )
        state[variable] = labels.index(_without_spaces(value))
    if skills.has_table:
        skills.mdp.number(state)  # raises if the world has no such state
    return tuple(state)


def _without_spaces(text: str) -> str:
    return "".join(text.split())
