"""The API reference: one page for each part of the public interface, from its docstrings.

`skillfocus.__all__` decides what is on the pages, so a new public name is documented by being one.
Pages of packages that export names of their own list these too.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import griffe

import skillfocus as sf

ROOT = Path(__file__).resolve().parents[1]


class Entry(NamedTuple):
    """A documented name."""

    shown: str
    """As users write it: `sf.discover`."""
    path: str
    """Where it is defined: `skillfocus.learners.discovery.discover`."""


class ApiPage(NamedTuple):
    """A page of the reference."""

    name: str
    title: str
    text: str
    packages: tuple[str, ...]
    """The packages whose public names it documents."""
    more: tuple[str, ...] = ()
    """Further names, by their full paths: `skillfocus.testing.check_world`."""
    first: tuple[str, ...] = ()
    """Public names that come before all others."""


PAGES = (
    ApiPage(
        "worlds", "Worlds and tables",
        "A [world](../worlds.md) has variables, actions and transitions, and no reward. Finite "
        "ones become tables. `sf.adapters` makes worlds of foreign environments.",
        ("core", "worlds"),
        (
            "skillfocus.adapters.from_gymnasium", "skillfocus.adapters.from_minigrid",
            "skillfocus.adapters.from_rddl", "skillfocus.adapters.from_object",
            "skillfocus.adapters.from_continuous_gymnasium",
            "skillfocus.worlds.maps.read_map", "skillfocus.worlds.maps.make_map",
            "skillfocus.worlds.jax.world.JaxWorld", "skillfocus.worlds.jax.table.from_table",
        ),
    ),
    ApiPage(
        "objectives", "Objectives",
        "An objective is a value, and a variant such as [`focused`](../focused.md) is a function "
        "from an objective to an objective.",
        ("objectives",),
    ),
    ApiPage(
        "learners", "Learners",
        "`discover` takes a world and an objective and returns skills; a learner decides how.",
        ("learners",),
        first=("discover", "discover_many"),
    ),
    ApiPage(
        "skills", "Skills",
        "A set of skills runs, saves, draws and shows itself.",
        ("skills", "viewer"),
    ),
    ApiPage(
        "metrics", "Metrics",
        "What skills change, computed exactly where the world has a table.",
        ("metrics",),
        (
            "skillfocus.metrics.side_effects", "skillfocus.metrics.SkillEffects",
            "skillfocus.metrics.coverage", "skillfocus.metrics.Coverage",
            "skillfocus.metrics.reachability", "skillfocus.metrics.best_plan",
            "skillfocus.metrics.FocusedPlan", "skillfocus.metrics.fair_starts",
            "skillfocus.metrics.round_trips", "skillfocus.metrics.shortest_steps",
            "skillfocus.metrics.continuous_side_effects", "skillfocus.metrics.ContinuousEffects",
            "skillfocus.metrics.coverage_by_variable", "skillfocus.metrics.representation_fit",
            "skillfocus.metrics.RepresentationFit",
            "skillfocus.metrics.statistics.mean_interval",
            "skillfocus.metrics.statistics.success_interval",
            "skillfocus.metrics.statistics.bootstrap_interval",
        ),
    ),
    ApiPage(
        "tasks", "Downstream tasks",
        "Tasks that agents [learn with skills](../downstream.md) as actions.",
        ("tasks",),
        (
            "skillfocus.tasks.task.Task", "skillfocus.tasks.solving.Solution",
            "skillfocus.tasks.sampled.JaxTask", "skillfocus.tasks.sampled.household_task",
            "skillfocus.tasks.networks.solve", "skillfocus.tasks.networks.solve_seeds",
            "skillfocus.tasks.sampled.OptionLearning",
        ),
    ),
    ApiPage(
        "envs", "Gymnasium environments",
        "Worlds and skills as [environments](../skill-env.md) for other people's agents.",
        ("envs",),
        (),
    ),
    ApiPage(
        "runs", "Runs and sweeps",
        "[Runs](../runs.md) are computed once and stored; [sweeps](../sweeps.md) are made of them.",
        ("runs", "sweep", "discovery"),
    ),
    ApiPage(
        "testing", "Testing and errors",
        "Checks to call in your own tests, and the one exception that you may want to catch.",
        ("testing", "errors"),
        (
            "skillfocus.testing.check_world", "skillfocus.testing.check_jax_world",
            "skillfocus.testing.check_objective",
        ),
    ),
)  # fmt: skip


def api_pages() -> dict[str, str]:
    """Return the reference as Markdown: `{"api/worlds.md": "# Worlds …"}`, the overview first."""
    pages = {f"api/{page.name}.md": _page_text(page) for page in PAGES}
    return {"api/index.md": _overview(), **pages}


def entries(page: ApiPage) -> list[Entry]:
    """Return what a page documents: functions of `sf`, its classes, and further names."""
    named = [(name, find(f"skillfocus.{name}")) for name in sf.__all__]
    named.sort(key=lambda item: (item[0] not in page.first, item[1].is_class))
    own = [
        Entry(f"sf.{name}", found.path)
        for name, found in named
        if not found.is_module and found.path.split(".")[1] in page.packages
    ]
    return [*own, *(Entry(_shown(path), find(path).path) for path in page.more)]


def public_paths() -> dict[str, tuple[str, str]]:
    """Return `{"discover": ("api/learners.md", "skillfocus.learners.discovery.discover")}`."""
    return {
        entry.shown.removeprefix("sf."): (f"api/{page.name}.md", entry.path)
        for page in PAGES
        for entry in entries(page)
        if entry.shown.startswith("sf.")
    }


def find(path: str) -> griffe.Object:
    """Return what a name stands for, read from the sources: nothing is imported.

    Raises:
        KeyError: If there is no such name.
    """
    found = _sources()[path.removeprefix("skillfocus.")]
    if found.is_module and found.name in found.members:  # `metrics.coverage` is both
        found = found[found.name]
    return found.final_target if isinstance(found, griffe.Alias) else found


@cache
def _sources() -> griffe.Object:
    package = griffe.load("skillfocus", search_paths=[ROOT / "src"])
    assert isinstance(package, griffe.Object)
    return package


def _shown(path: str) -> str:
    """Return a name as users write it: `sf.metrics.coverage`, or with the import it needs."""
    reachable = r"skillfocus\.((?:metrics|adapters|testing)\.\w+)"
    match = re.fullmatch(reachable, path)
    return f"sf.{match[1]}" if match else path


def _page_text(page: ApiPage) -> str:
    parts = [f"# {page.title}", page.text]
    for shown, path in entries(page):
        label = shown.rsplit(".", 1)[1]
        parts.append(
            f"::: {path}\n    options:\n      heading: {shown}\n      toc_label: {label}\n"
        )
    return "\n\n".join(parts)


def _overview() -> str:
    parts = [
        "# API",
        "`import skillfocus as sf` gives every name that begins with `sf.`. The others "
        "are imported from the module that is shown. "
        "What is not listed here may change in any release.",
    ]
    for page in PAGES:
        rows = "\n".join(
            f"| [`{shown}`]({page.name}.md#{path}) | {_first_line(path)} |"
            for shown, path in entries(page)
        )
        parts.append(f"## [{page.title}]({page.name}.md)\n\n| name | |\n|---|---|\n{rows}")
    return "\n\n".join(parts) + "\n"


def _first_line(path: str) -> str:
    """Return the first sentence of a docstring, for the cell of a table."""
    docstring = find(path).docstring
    paragraph = inspect.cleandoc(docstring.value).split("\n\n")[0] if docstring else ""
    sentence = re.split(r"(?<=\.)\s", " ".join(paragraph.split()), maxsplit=1)[0]
    return re.sub(r"([|<*\[])", r"\\\1", sentence)
