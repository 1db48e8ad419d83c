"""The picture of the first page: two skills for one wrench, and what else they change.

python -m website.picture docs/images/two-skills.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import skillfocus as sf
from skillfocus.render.svg import state_svg

START, SKILL, SLIPS = (6, 9), 1, 2
"""Where the skill for the first wrench starts, its number in both sets, and the runs' seed."""
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
PANELS = (
    (sf.dusdi, "bad", "Without focus (DUSDi)", "✗ takes it and stays away", ("position", "tool_1")),
    (sf.focused, "good", "Focused skill", "✓ takes it and comes home", ("tool_1",)),
)
"""Skills, what the picture says about them, and the variables that change if that is true."""


def picture() -> str:
    """Return the picture as SVG; it follows the reader's colors, light or dark.

    Raises:
        ValueError: If a skill does not do what the picture says.
    """
    width, height = 2 * (EDGE + MAP) + GAP, HEAD + MAP + EDGE
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}"><style>{STYLE}</style>'
        f'<rect class="page" width="{width}" height="{height}" rx="8"/>'
    )
    world, x = sf.make("FourRooms-v0"), EDGE
    for variant, kind, head, verdict, changed in PANELS:
        skills = sf.discover(world, variant(sf.vic()), seed=0)
        run = skills.rollout(SKILL, world.state(position=START), np.random.default_rng(SLIPS))
        if run.changed != changed:
            raise ValueError(f"{head} changes {run.changed}, not {changed}")
        drawn, body = state_svg(world, run[-1], run, run.targets, cards=False).split(">", 1)
        view = drawn.split('viewBox="')[1].split('"')[0]
        svg += (
            f'<text class="head" x="{x}" y="28">{head}</text>'
            f'<text class="{kind}" x="{x}" y="53">{verdict}</text>'
            f'<svg class="skillfocus" x="{x}" y="{HEAD}" width="{MAP}" height="{MAP}" '
            f'viewBox="{view}" stroke-linecap="round" stroke-linejoin="round">{body}'
        )
        x += MAP + GAP
    return svg + "</svg>\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(), encoding="utf-8")
