"""States and trajectories as SVG and HTML that need nothing else, light or dark as the page is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from xml.sax.saxutils import escape

from skillfocus.render.icons import PALETTES, Shape
from skillfocus.render.scene import (
    NOTE_COLORS,
    SCALE,
    TARGET,
    Item,
    PlacedShape,
    Stage,
    TextLine,
    card_notes,
    observed_tracks,
    truncate,
)
from skillfocus.rollout import Trajectory
from skillfocus.spaces import State
from skillfocus.world import World, WorldState
from skillfocus.worlds.grid import GridWorld

FAINT_OPACITY = 0.55
MAX_TABLE_VALUE = 60
"""Characters of a value in a trajectory's table."""
VERDICT_COLORS = {"✓": "target", "✗": "side effect"}
"""The role of a verdict's color, by its sign."""
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape_text(text: object) -> str:
    """Return text for XML and HTML; characters that neither can hold become U+FFFD."""
    return escape(_FORBIDDEN.sub("\ufffd", str(text)), {'"': "&quot;", "'": "&#39;"})


def state_svg(
    world: World,
    state: State,
    path: Sequence[State] = (),
    targets: Sequence[str] = (),
    theme: str = "auto",
    cards: bool = True,
) -> str:
    """Return a picture of a state: the map and the variables as cards.

    Args:
        world: The world.
        state: The state.
        path: The states of the run that led there, if any: its start is marked, the line along
            it is drawn, and the cards say what has changed.
        targets: The variables the run's skill is for.
        theme: "light", "dark", or "auto": what the reader's browser prefers.
        cards: Whether to draw the cards.
    """
    stage, path = Stage(world, cards), [*path] or [state]
    first = path[0] if len(path) > 1 else None
    items = stage.items(state, first, targets, tracks=observed_tracks(world, path)[-1])
    title = f"{world.id}: {describe_state(world, state)}"
    return document(stage, [*items, *stage.walk(path)], theme, title)


def state_html(state: WorldState) -> str:
    """Return a state of a world for a notebook cell."""
    return state_svg(state.world, state)


def trajectory_html(trajectory: Trajectory) -> str:
    """Return a run for a notebook cell: its path on the map, its verdict and a table of values.

    Args:
        trajectory: The run. The table says of each variable whether it is a target, unchanged, or
            a side effect; without a map there is no picture.
    """
    if not trajectory:
        return "<p>no states</p>"
    world, first, last = trajectory.world, trajectory[0], trajectory[-1]
    notes = card_notes(world, first, last, trajectory.targets)
    labels = [world.space.labels(first), world.space.labels(last)]
    rows = []
    for name in world.space.names:
        note = notes.get(name, "")
        kind = _dashed(NOTE_COLORS[note]) if note else "faint"
        word = {"": "as it was", TARGET: "target, as it was"}.get(note, note)
        before, after = (escape_text(truncate(each[name], MAX_TABLE_VALUE)) for each in labels)
        rows.append(
            f'<tr class="skillfocus-{kind}"><th scope=row>{escape_text(truncate(name))}</th>'
            f"<td>{before}</td><td>→</td><td>{after}</td><td>{word}</td></tr>"
        )
    verdict = trajectory.verdict
    kind = _dashed(VERDICT_COLORS.get(verdict[0], "plain"))
    steps = len(trajectory) - 1
    heading = f"{trajectory.caption}: {steps} step{'' if steps == 1 else 's'}"
    on_map = isinstance(world, GridWorld)
    picture = state_svg(world, last, trajectory, trajectory.targets, cards=False) if on_map else ""
    return (
        f"<style>{_css()}</style><figure class=skillfocus-run>{picture}<figcaption>"
        f"<strong>{escape_text(heading)}</strong>"
        f'<p class="skillfocus-verdict skillfocus-{kind}">{escape_text(verdict)}</p>'
        f"<table><thead><tr><th scope=col>variable</th>"
        f"<th scope=col>first</th><th></th><th scope=col>last</th><th></th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></figcaption></figure>"
    )


def describe_state(world: World, state: State) -> str:
    """Return a state in words, for readers who do not see the picture."""
    labels = world.space.labels(state).items()
    return ", ".join(f"{truncate(name)} {truncate(value)}" for name, value in labels)


def document(stage: Stage, items: Sequence[Item], theme: str, title: str) -> str:
    """Return a whole SVG document.

    Args:
        stage: The layout, which gives the size.
        items: What the picture shows, in this order.
        theme: "light", "dark" or "auto"; only "auto" needs a style sheet, for dark pages.
        title: Read out to readers who do not see the picture.
    """
    wide, high = stage.width, stage.height
    style = f"<style>{_dark_rules()}</style>" if theme == "auto" else ""
    body = _items_svg(items, theme)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="skillfocus" role="img" '
        f'viewBox="0 0 {wide:g} {high:g}" width="{wide * SCALE:.0f}" height="{high * SCALE:.0f}" '
        f'style="max-width:100%;height:auto" stroke-linecap="round" stroke-linejoin="round" '
        f'font-family="system-ui, sans-serif"><title>{escape_text(title)}</title>{style}'
        f'<rect {_paint(theme, fill="page")} width="100%" height="100%" rx="6"/>{body}</svg>'
    )


def _items_svg(items: Sequence[Item], theme: str) -> str:
    """Return the items of a scene in their order, neighbors at one place as one group.

    Faint ones are dashed and translucent, as something that is gone.
    """

    def place(item: Item) -> object:
        return (item.x, item.y, item.faint) if isinstance(item, PlacedShape) else item

    parts = []
    for _, members in groupby(items, key=place):
        group = list(members)
        first = group[0]
        if isinstance(first, TextLine):
            parts.append(_text_svg(first, theme))
            continue
        shapes = "".join(_shape_svg(i.shape, theme) for i in group if isinstance(i, PlacedShape))
        dashed = f' opacity="{FAINT_OPACITY}" stroke-dasharray="2.5 2.5"' if first.faint else ""
        parts.append(f'<g transform="translate({first.x:g} {first.y:g})"{dashed}>{shapes}</g>')
    return "".join(parts)


def _shape_svg(shape: Shape, theme: str) -> str:
    """Return a shape as a path element."""
    width = f' stroke-width="{shape.width:g}"' if shape.stroke else ""
    colors = _paint(theme, fill=shape.fill or "none", stroke=shape.stroke)
    return f'<path d="{shape.path}"{width} {colors}/>'


def _text_svg(item: TextLine, theme: str) -> str:
    """Return a line of text as a text element."""
    bold = ' font-weight="600"' if item.bold else ""
    at = f'x="{item.x:g}" y="{item.y:g}" font-size="{item.size:g}" text-anchor="{item.anchor}"'
    return f"<text {at}{bold} {_paint(theme, fill=item.color)}>{escape_text(item.text)}</text>"


def _paint(theme: str, **colors: str) -> str:
    """Return `fill` and `stroke` attributes.

    Args:
        theme: In theme "auto" the light colors are written out, and classes named after the roles
            let `_dark_rules` replace them on dark pages.
        **colors: A role or CSS color for each attribute; empty for none.
    """
    palette = PALETTES["dark" if theme == "dark" else "light"]
    classes = [f"{what}-{_dashed(name)}" for what, name in colors.items() if name in palette]
    parts = [f'{what}="{palette.get(name, name)}"' for what, name in colors.items() if name]
    if classes and theme == "auto":
        parts.append(f'class="{" ".join(classes)}"')
    return " ".join(parts)


def _dashed(name: str) -> str:
    return name.replace(" ", "-")


def _dark_rules() -> str:
    rules = "".join(
        f".skillfocus .{what}-{_dashed(name)}{{{what}:{value}}}"
        for name, value in PALETTES["dark"].items()
        for what in ("fill", "stroke")
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"


RUN_STYLE = (
    ".skillfocus-run{display:inline-flex;flex-wrap:wrap;gap:16px;align-items:center;margin:0;"
    "padding:12px;border-radius:8px;font:14px system-ui,sans-serif;"
    "background:var(--page);color:var(--ink)}"
    ".skillfocus-run .skillfocus-verdict{margin:6px 0 0;max-width:26em}"
    ".skillfocus-run table{border-collapse:collapse;margin-top:8px;color:inherit}"
    ".skillfocus-run :is(th,td){padding:2px 8px 2px 0;text-align:left;font-weight:400;"
    "background:none;color:inherit}.skillfocus-run td:last-child{font-weight:600}"
    ".skillfocus-run .skillfocus-faint td:last-child{color:var(--faint);font-weight:400}"
    ".skillfocus-run .skillfocus-way td:last-child{color:var(--way)}"
    ".skillfocus-run .skillfocus-target td:last-child{color:var(--target)}"
    ".skillfocus-run .skillfocus-side-effect td{color:var(--side-effect)}"
    ".skillfocus-verdict.skillfocus-target{color:var(--target)}"
    ".skillfocus-verdict.skillfocus-side-effect{color:var(--side-effect)}"
)


def _css() -> str:
    """Return the style sheet of `trajectory_html`."""
    light, dark = (
        "".join(f"--{_dashed(role)}:{color};" for role, color in PALETTES[theme].items())
        for theme in ("light", "dark")
    )
    dark = f"@media (prefers-color-scheme:dark){{.skillfocus-run{{{dark}}}}}"
    return f".skillfocus-run{{{light}}}{dark}{RUN_STYLE}"
