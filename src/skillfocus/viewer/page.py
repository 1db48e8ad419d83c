"""`write_page`: skill sets in, one HTML file out that needs nothing else.

Its parts lie beside this file in `assets/`: what it looks like (`page.css`), its scripts, which
stand in the page in the order of `SCRIPTS`, and the skeleton they are put into (`page.html`).
"""

from __future__ import annotations

import html
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from skillfocus._internal.atomic_io import write_atomically
from skillfocus.core.progress import Progress, no_progress
from skillfocus.metrics.summary import origin
from skillfocus.skills.skills import Skills
from skillfocus.viewer.payload import Shown, document, policies

SCRIPTS = (
    "dom", "random", "tables", "simulate", "heat", "map", "cards", "charts", "words", "model",
    "link", "panel", "effects", "chain", "controls", "keys", "main",
)  # fmt: skip


def write_page(
    sets: Sequence[Shown | Skills],
    path: str | Path,
    title: str = "",
    report: Progress = no_progress,
) -> Path:
    """Write the page of some skill sets, whole or not at all."""
    path = Path(path)
    write_atomically(path, page_html(sets, title, report).encode())
    return path


def page_html(
    sets: Sequence[Shown | Skills], title: str = "", report: Progress = no_progress
) -> str:
    shown = labelled([one if isinstance(one, Shown) else Shown(one) for one in sets])
    title = title or f"Skills in {', '.join(dict.fromkeys(s.skills.world.id for s in shown))}"
    told = document(shown, lambda part, what: report(part / 2, what))
    made = policies(shown, lambda part, what: report(0.5 + part / 2, what))
    # They stand at the end of the page, those that are shown first before the others, so that it
    # need not be read to its end before it can be used.
    order = sorted(range(len(made)), key=lambda place: not shown[place].first)
    parts = files("skillfocus.viewer").joinpath("assets")
    text = {name: parts.joinpath(name).read_text("utf-8") for name in ("page.html", "page.css")}
    scripts = [parts.joinpath(f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    filled = {
        "title": html.escape(title),
        "style": text["page.css"],
        "script": "\n".join(scripts),
        "data": _data("data", told),
        "policies": "\n".join(_data(f"policies-{place}", made[place]) for place in order),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: filled[mark[1]], text["page.html"])


def _data(name: str, held: object) -> str:
    """Data as a part of the page. Inside a script element only "<" could end or begin something."""
    text = json.dumps(_finite(held), separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _finite(held: object) -> object:
    """The same without numbers that JSON does not have."""
    if isinstance(held, dict):
        return {name: _finite(value) for name, value in held.items()}
    if isinstance(held, list | tuple):
        return [_finite(value) for value in held]
    return None if isinstance(held, float) and not math.isfinite(held) else held


def frame_html(sets: Sequence[Shown | Skills], title: str = "", height: int = 820) -> str:
    """The page as a part of another one."""
    shown = page_html(sets, title)
    name = html.escape(title or "Skills to watch")
    return (
        f'<iframe srcdoc="{html.escape(shown)}" title="{name}" loading="lazy" '
        f'style="width: 100%; height: {height}px; border: 0"></iframe>'
    )


def labelled(sets: Sequence[Shown]) -> list[Shown]:
    """The same, each with a label of its own: what it was called, or its objective and seed."""
    seen: Counter[tuple[str, str]] = Counter()
    named = []
    for one in sets:
        label = one.label or usual_label(one.skills)
        seen[one.skills.world.id, label] += 1
        count = seen[one.skills.world.id, label]
        named.append(replace(one, label=label if count == 1 else f"{label} ({count})"))
    return named


def usual_label(skills: Skills) -> str:
    about = origin(skills)
    return f"{about['objective']}, seed {about['seed']}"
