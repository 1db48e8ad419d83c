"""The picture of the first page: two skills for one wrench, and what else they change.

python -m website.picture docs/images/two-skills.svg
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import skillfocus as sf
from skillfocus.render.svg import state_svg
from skillfocus.rollout import Trajectory

START = (6, 9)
SKILL = 1
"""The skill for the first wrench, in both sets."""
SLIPS = 2
"""Seed of the runs."""
EDGE, GAP, HEAD, MAP = 16, 32, 64, 312
STYLE = """
text { font-family: system-ui, sans-serif; }
.page { fill: #ffffff; }
.head { font-size: 21px; font-weight: 700; fill: #1f2430; }
.bad { font-size: 17px; font-weight: 600; fill: #b4142b; }
.good { font-size: 17px; font-weight: 600; fill: #0f7040; }
@media (prefers-color-scheme: dark) {
  .page { fill: #14171d; } .head { fill: #e8eaf0; } .bad { fill: #ff7b86; } .good { fill: #5fd38d; }
}
"""


class Panel(NamedTuple):
    """A skill, and what the picture says about it."""

    objective: sf.Objective
    head: str
    kind: str
    verdict: str
    changed: tuple[str, ...]
    """What the verdict claims, which is checked."""


PANELS = (
    Panel(
        sf.dusdi(sf.vic()), "Without focus (DUSDi)", "bad", "✗ takes it and stays away",
        ("position", "tool_1"),
    ),
    Panel(sf.focused(sf.vic()), "Focused skill", "good", "✓ takes it and comes home", ("tool_1",)),
)  # fmt: skip


def picture() -> str:
    """Return the picture as SVG; it follows the reader's colours, light or dark.

    Raises:
        ValueError: If a skill does not do what the picture says.
    """
    width, height = 2 * (EDGE + MAP) + GAP, HEAD + MAP + EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}"><style>{STYLE}</style>'
        f'<rect class="page" width="{width}" height="{height}" rx="8"/>'
    ]
    for number, panel in enumerate(PANELS):
        run = rollout(panel)
        if run.changed != panel.changed:
            raise ValueError(f"{panel.head} changes {run.changed}, not {panel.changed}")
        x = EDGE + number * (MAP + GAP)
        parts.append(f'<text class="head" x="{x}" y="28">{panel.head}</text>')
        parts.append(f'<text class="{panel.kind}" x="{x}" y="53">{panel.verdict}</text>')
        drawn = state_svg(run.world, run[-1], run, run.targets, cards=False)
        head, body = drawn.split(">", 1)
        view = head.split('viewBox="')[1].split('"')[0]
        parts.append(
            f'<svg class="skillfocus" x="{x}" y="{HEAD}" width="{MAP}" height="{MAP}" '
            f'viewBox="{view}" stroke-linecap="round" stroke-linejoin="round">{body}'
        )
    return "".join([*parts, "</svg>\n"])


def rollout(panel: Panel) -> Trajectory:
    """Return the run that a panel shows."""
    world = sf.make("FourRooms-v0")
    skills = sf.discover(world, panel.objective, seed=0)
    return skills.rollout(SKILL, world.state(position=START), np.random.default_rng(SLIPS))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(), encoding="utf-8")
