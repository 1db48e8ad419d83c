"""`write_page`: skill sets in, one HTML file out that needs nothing else.

The parts lie beside this file in `assets/`: the skeleton (`page.html`), its style (`page.css`) and
the ES modules of its script, which `bundle` joins into one, beginning with `main.js`.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from skillfocus.errors import UserError
from skillfocus.files import shorten, write_atomically
from skillfocus.metrics.summary import origin
from skillfocus.progress import Progress, no_progress, part_of
from skillfocus.skills.skills import Skills
from skillfocus.viewer.bundle import bundle
from skillfocus.viewer.packing import script_element
from skillfocus.viewer.payload import SkillSetView, document, policies, record_worlds

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
    sets: Sequence[SkillSetView | Skills], title: str = "", report: Progress = no_progress
) -> str:
    """Return the page of some skill sets; see `write_page`."""
    views = labelled([one if isinstance(one, SkillSetView) else SkillSetView(one) for one in sets])
    title = title or f"Skills in {', '.join(dict.fromkeys(v.skills.world.id for v in views))}"
    recorded = record_worlds(views)
    data = document(views, part_of(report, 0.0, 0.5), recorded)
    policy_data = policies(views, part_of(report, 0.5, 1.0), recorded)
    # Policies stand at the end of the page, those of the sets it opens with before the others, so
    # that it can be used before all of it has been read.
    order = sorted(range(len(policy_data)), key=lambda i: not views[i].first)
    parts = {
        "title": html.escape(title),
        "style": read_asset("page.css"),
        "script": bundle(ENTRY, read_asset),
        "data": script_element("data", data),
        "policies": "\n".join(script_element(f"policies-{i}", policy_data[i]) for i in order),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], read_asset("page.html"))


def read_asset(path: str) -> str:
    """Return the text of a file in `assets/`."""
    return files("skillfocus.viewer").joinpath("assets", *path.split("/")).read_text("utf-8")


def frame_html(sets: Sequence[SkillSetView | Skills], title: str = "", height: int = 820) -> str:
    """Return the page as an `iframe` of another one, `height` pixels high."""
    page = page_html(sets, title)
    name = html.escape(title or "Skills to watch")
    return (
        f'<iframe srcdoc="{html.escape(page)}" title="{name}" loading="lazy" '
        f'style="width: 100%; height: {height}px; border: 0"></iframe>'
    )


def labelled(sets: Sequence[SkillSetView]) -> list[SkillSetView]:
    """Return the same views with labels that differ within each world.

    The label is the given one, or the settings that differ; repeated ones get a number.
    """
    counts: Counter[tuple[str, str]] = Counter()
    views = []
    for view, made in zip(sets, default_labels([view.skills for view in sets]), strict=True):
        label = view.label or made
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
    for skills, own in zip(several, settings, strict=True):
        others = [
            other
            for mate, other in zip(several, settings, strict=True)
            if mate.world.id == skills.world.id
        ]
        names = list(dict.fromkeys(name for other in others for name in other))
        differ = [n for n in names if len({str(other.get(n)) for other in others}) > 1]
        if not differ or len({(o["objective"], o["seed"]) for o in others}) == len(others):
            differ = ["objective", "seed"]
        given = [(name, own[name]) for name in differ if own.get(name) is not None]
        labels.append(", ".join(_setting_words(*each) for each in given) or str(own["objective"]))
    return labels


def _setting_words(name: str, value: object) -> str:
    if name in ("objective", "learner"):
        return str(value)
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{name.replace('_', ' ')} {text}"


def _settings(skills: Skills) -> dict[str, object]:
    """Return what may tell one set from another, as its file says it."""
    about, objective = origin(skills), skills.info.get("objective")
    learner = skills.info.get("learner")
    details = dict(learner) if isinstance(learner, dict) else {}
    details.pop("name", None)
    rate = objective.get("rate") if isinstance(objective, dict) else None
    return {
        "objective": about["objective"],
        "learner": about["learner"],
        "strength": about["strength"],
        "rate": rate,
        **details,
        "skills": len(skills),
        "step_limit": skills.step_limit,
        "seed": about["seed"],
    }
