"""States and trajectories as SVG and HTML that need nothing else, light or dark as the page is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from xml.sax.saxutils import escape

from skillfocus.core.factored import State
from skillfocus.core.trajectory import Trajectory
from skillfocus.core.world import World, WorldState
from skillfocus.render.icons import BOX, PALETTES, Icon, Shape
from skillfocus.render.scene import (
    NOTE_COLOURS,
    TARGET,
    Item,
    Painted,
    Stage,
    Words,
    agent_icon,
    cut,
    notes,
    tracked,
)
from skillfocus.worlds.grid import Cell, GridWorld

SCALE = 28 / BOX
"""Pixels per unit: cells are 28 pixels wide."""
ASIDE = 0.11
"""How far beside the middles of cells a way runs, so that the way back is not hidden."""
FAINT = 0.55
VERDICT_COLOURS = {"✓": "target", "✗": "side effect"}
"""By a verdict's sign."""
NEVER: Mapping[Item, str] = {}
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(words: object) -> str:
    """Text for XML and HTML; what neither can hold is replaced by U+FFFD."""
    return escape(_FORBIDDEN.sub("\ufffd", str(words)), {'"': "&quot;", "'": "&#39;"})


def state_svg(
    world: World,
    state: State,
    way: Sequence[State] = (),
    targets: Sequence[str] = (),
    theme: str = "auto",
    cards: bool = True,
) -> str:
    """A state as a picture: the map, or the variables as cards. With the `way` that led there, its
    first state is marked, and what has changed since. `theme` is light, dark, or auto: what the
    reader's browser prefers. Without `cards`, there is only the map."""
    stage = Stage(world, cards)
    way = [*way] or [state]
    said = notes(world, way[0], state, targets) if len(way) > 1 else {}
    start = way[0] if len(way) > 1 else None
    body = [shapes(stage.items(state, said, start, tracked(world, way)[-1], (), way[0]), theme)]
    if stage.grid is not None:
        line = way_path(stage, [stage.cell(each) for each in way])
        if line:
            body.append(path(Shape(line, "", "way", 2.6), theme))
        x, y = stage.middle(stage.cell(state))
        body.append(group(agent_icon(world, state), x - BOX / 2, y - BOX / 2, theme))
    title = f"{world.id}: {said_of(world, state)}"
    return svg(stage, "".join(body), theme, title)


def state_html(state: WorldState) -> str:
    """A state of a world for a notebook cell."""
    return state_svg(state.world, state)


def trajectory_html(trajectory: Trajectory) -> str:
    """The way as a picture, and below it what became of every variable."""
    if not trajectory:
        return "<p>no states</p>"
    world, first, last = trajectory.world, trajectory[0], trajectory[-1]
    said = notes(world, first, last, trajectory.targets)
    labels = [world.space.labels(first), world.space.labels(last)]
    rows = []
    for name in world.space.names:
        note = said.get(name, "")
        kind = _dashed(NOTE_COLOURS[note]) if note else "faint"
        word = {"": "as it was", TARGET: "target, as it was"}.get(note, note)
        before, after = (text(cut(values[name], 60)) for values in labels)
        rows.append(
            f'<tr class="skillfocus-{kind}"><th scope=row>{text(cut(name))}</th><td>{before}</td>'
            f"<td>→</td><td>{after}</td><td>{word}</td></tr>"
        )
    verdict = trajectory.verdict
    kind = _dashed(VERDICT_COLOURS.get(verdict[0], "plain"))
    steps = len(trajectory) - 1
    heading = f"{trajectory.caption}: {steps} step{'' if steps == 1 else 's'}"
    on_map = isinstance(world, GridWorld)
    picture = state_svg(world, last, trajectory, trajectory.targets, cards=False) if on_map else ""
    return (
        f"<style>{_css()}</style><figure class=skillfocus-run>{picture}<figcaption>"
        f"<strong>{text(heading)}</strong>"
        f'<p class="skillfocus-verdict skillfocus-{kind}">{text(verdict)}</p>'
        f"<table><thead><tr><th scope=col>variable</th>"
        f"<th scope=col>first</th><th></th><th scope=col>last</th><th></th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></figcaption></figure>"
    )


def said_of(world: World, state: State) -> str:
    """A state in words, for those who do not see the picture."""
    labels = world.space.labels(state).items()
    return ", ".join(f"{cut(name)} {cut(value)}" for name, value in labels)


def svg(stage: Stage, body: str, theme: str, title: str) -> str:
    wide, high = stage.width, stage.height
    style = f"<style>{_dark_rules()}</style>" if theme == "auto" else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="skillfocus" role="img" '
        f'viewBox="0 0 {wide:g} {high:g}" width="{wide * SCALE:.0f}" height="{high * SCALE:.0f}" '
        f'style="max-width:100%;height:auto" stroke-linecap="round" stroke-linejoin="round" '
        f'font-family="system-ui, sans-serif"><title>{text(title)}</title>{style}'
        f'<rect {painted(theme, fill="page")} width="100%" height="100%" rx="6"/>{body}</svg>'
    )


def way_points(stage: Stage, cells: Sequence[Cell]) -> list[tuple[int, float, float]]:
    """A way as (moment, x, y), the way back a little beside the way out: both pass through the
    farthest cell."""
    far = [abs(cell[0] - cells[0][0]) + abs(cell[1] - cells[0][1]) for cell in cells]
    away = far.index(max(far))
    out = [(t, cell, -ASIDE) for t, cell in enumerate(cells[: away + 1])]
    back = [(t, cell, ASIDE) for t, cell in enumerate(cells) if t >= away] if away else []
    every = out + (back if len(back) > 1 else [])
    return [(t, *stage.middle((r + aside, c + aside))) for t, (r, c), aside in every]


def way_path(stage: Stage, cells: Sequence[Cell]) -> str:
    """The same as path data; nothing if it stays in one place."""
    steps = [f"{x:g} {y:g}" for _, x, y in way_points(stage, cells)]
    return f"M{'L'.join(steps)}" if len(set(steps)) > 1 else ""


def shapes(items: Sequence[Item], theme: str, fades: Mapping[Item, str] = NEVER) -> str:
    """Items in their order, those of one place together; `fades` opens the group of an item that
    is not always there."""

    def together(item: Item) -> tuple[object, ...]:
        at = (item.x, item.y, item.faint) if isinstance(item, Painted) else item
        return at, fades.get(item, "")

    parts = []
    for (_, fade), found in groupby(items, key=together):
        every = list(found)
        first = every[0]
        if isinstance(first, Painted):
            icon = tuple(item.shape for item in every if isinstance(item, Painted))
            part = group(icon, first.x, first.y, theme, first.faint)
        else:
            part = words(first, theme)
        parts.append(f"{fade}{part}</g>" if fade else part)
    return "".join(parts)


def group(icon: Icon, x: float, y: float, theme: str, faint: bool = False) -> str:
    """Shapes, moved to where they belong."""
    look = f' opacity="{FAINT}" stroke-dasharray="2.5 2.5"' if faint else ""
    inside = "".join(path(shape, theme) for shape in icon)
    return f'<g transform="translate({x:g} {y:g})"{look}>{inside}</g>'


def path(shape: Shape, theme: str) -> str:
    width = f' stroke-width="{shape.width:g}"' if shape.stroke else ""
    colours = painted(theme, fill=shape.fill or "none", stroke=shape.stroke)
    return f'<path d="{shape.path}"{width} {colours}/>'


def words(item: Words, theme: str) -> str:
    bold = ' font-weight="600"' if item.bold else ""
    at = f'x="{item.x:g}" y="{item.y:g}" font-size="{item.size:g}" text-anchor="{item.anchor}"'
    return f"<text {at}{bold} {painted(theme, fill=item.colour)}>{text(item.text)}</text>"


def painted(theme: str, **colours: str) -> str:
    """A fill and a stroke: colours of a palette (with classes by which a dark page changes them),
    or of a thing's own."""
    palette = PALETTES["dark" if theme == "dark" else "light"]
    named = [f"{what}-{_dashed(name)}" for what, name in colours.items() if name in palette]
    found = [f'{what}="{palette.get(name, name)}"' for what, name in colours.items() if name]
    return " ".join(found + ([f'class="{" ".join(named)}"'] if named and theme == "auto" else []))


def _dashed(name: str) -> str:
    return name.replace(" ", "-")


def _dark_rules() -> str:
    rules = "".join(
        f".skillfocus .{what}-{_dashed(name)}{{{what}:{value}}}"
        for name, value in PALETTES["dark"].items()
        for what in ("fill", "stroke")
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"


def _css() -> str:
    def look(theme: str) -> str:
        p = PALETTES[theme]
        return (
            f".skillfocus-run{{background:{p['page']};color:{p['ink']}}}"
            f".skillfocus-run .skillfocus-faint td:last-child{{color:{p['faint']};font-weight:400}}"
            f".skillfocus-run .skillfocus-way td:last-child{{color:{p['way']}}}"
            f".skillfocus-run .skillfocus-target td:last-child{{color:{p['target']}}}"
            f".skillfocus-run .skillfocus-side-effect td{{color:{p['side effect']}}}"
            f".skillfocus-verdict.skillfocus-target{{color:{p['target']}}}"
            f".skillfocus-verdict.skillfocus-side-effect{{color:{p['side effect']}}}"
        )

    return (
        ".skillfocus-run{display:inline-flex;flex-wrap:wrap;gap:16px;align-items:center;margin:0;"
        "padding:12px;border-radius:8px;font:14px system-ui,sans-serif}"
        ".skillfocus-run .skillfocus-verdict{margin:6px 0 0;max-width:26em}"
        ".skillfocus-run table{border-collapse:collapse;margin-top:8px;color:inherit}"
        ".skillfocus-run :is(th,td){padding:2px 8px 2px 0;text-align:left;font-weight:400;"
        "background:none;color:inherit}.skillfocus-run td:last-child{font-weight:600}"
        f"{look('light')}@media (prefers-color-scheme:dark){{{look('dark')}}}"
    )
