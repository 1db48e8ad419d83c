"""`export`: one run, or a chain of runs, as an animated GIF or SVG for slides.

The agent walks along its path; what it takes disappears when it arrives, and tracks lie where they
were left. Once a run is over, the picture shows its verdict. The same runs give the same file. An
SVG that cannot move shows the last state and the path that led there.
"""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageColor

from skillfocus.errors import UserError
from skillfocus.files import write_atomically
from skillfocus.render.icons import BOX, PALETTES, Point, Shape, agent_icon
from skillfocus.render.raster import Canvas
from skillfocus.render.scene import (
    PATH_WIDTH,
    SCALE,
    Item,
    Paragraph,
    Stage,
    card_notes,
    observed_tracks,
    path_data,
    path_points,
)
from skillfocus.render.svg import (
    VERDICT_COLOURS,
    describe_state,
    document,
    icon_svg,
    items_svg,
    shape_svg,
)
from skillfocus.rollout import Trajectory
from skillfocus.spaces import State
from skillfocus.worlds.grid import Cell

# -------------------- When what happens in an animated SVG, as SMIL elements
#
# An animation takes `STEP_S` per step, rests for `HOLD_S` in its last state, and repeats. Where
# animations do not run, an SVG shows the last state: that is what the elements' own attributes say.

STEP_S, HOLD_S = 0.24, 2.5
"""How long a step takes, and the rest at the end, in seconds."""


class Timeline:
    """The times of an SVG's steps, as SMIL attributes."""

    def __init__(self, steps: int) -> None:
        """Time `steps` steps and the rest at the end."""
        self._duration = steps * STEP_S + HOLD_S
        self._times = [f"{t * STEP_S / self._duration:.5g}" for t in range(steps + 1)]

    def animate(self, attribute: str, values: list[str], kind: str = "", more: str = "") -> str:
        """Return an animation of an attribute through `values`, one per step.

        Args:
            attribute: The attribute.
            values: Its values; the last is held. If all are equal there is no animation.
            kind: Suffix of the element's name, such as "Transform".
            more: Further attributes, beginning with a space.
        """
        if len(set(values)) == 1:
            return ""
        held, times = [*values, values[-1]], [*self._times, "1"]
        return (
            f'<animate{kind} attributeName="{attribute}"{more} dur="{self._duration:g}s" '
            f'repeatCount="indefinite" values="{";".join(held)}" keyTimes="{";".join(times)}"/>'
        )

    def fade(self, visible: list[bool]) -> str:
        """Return the opening tag of a group that is visible at some steps only.

        Args:
            visible: Whether it is, at each step. If always, the result is empty.
        """
        if all(visible):
            return ""
        turns = [t for t, now in enumerate(visible) if t == 0 or now != visible[t - 1]]
        values = ";".join(str(int(visible[t])) for t in turns)
        times = ";".join(self._times[t] for t in turns)
        return (
            f'<g opacity="{int(visible[-1])}"><animate attributeName="opacity" calcMode="discrete" '
            f'dur="{self._duration:g}s" repeatCount="indefinite" values="{values}" '
            f'keyTimes="{times}"/>'
        )


TWEENS = 2
"""Frames of a GIF between one cell and the next."""
FRAME_MS, CARDS_MS, HOLD_MS = 80, 500, 2500
"""How long a frame of a GIF stays: on a map, without one, and the last."""
GIF_COLOURS, SWATCH_HEIGHT = 128, 12
"""Colours of a GIF; pixels of each theme colour in the image its palette is computed from."""
MAX_VERDICTS = 3
"""How many verdicts of a chain's finished runs are shown: the last ones."""


class AnimationStep(NamedTuple):
    """One state of an animation."""

    state: State
    run: Trajectory
    """The run it belongs to."""
    over: bool
    """Whether that run ends here."""
    caption: tuple[Paragraph, ...]
    tracks: frozenset[Cell]


def export(runs: Trajectory | Sequence[Trajectory], path: str | Path, theme: str = "light") -> Path:
    """Write an animation of a run or of a chain of runs.

    Args:
        runs: What `skills.rollout` returned, or several, each from where the one before it ended.
        path: The file; its suffix, .gif or .svg, says the format.
        theme: "light" or "dark".

    Returns:
        The path.

    Raises:
        UserError: The suffix or theme is unknown, there is no run, or the chain is broken.
    """
    path = Path(path)
    writers = {".gif": gif_bytes, ".svg": svg_bytes}
    if path.suffix.lower() not in writers:
        raise UserError(f"cannot export to {path.name!r}: use a name that ends in .gif or .svg")
    if theme not in PALETTES:
        raise UserError(f"unknown theme {theme!r}: use light or dark")
    write_atomically(path, writers[path.suffix.lower()](animation_steps(runs), theme))
    return path


def animation_steps(runs: Trajectory | Sequence[Trajectory]) -> list[AnimationStep]:
    """Return every state of a run or chain with what its picture shows besides.

    Raises:
        UserError: There is no run, or one does not start where the one before it ended.
    """
    chain = [runs] if isinstance(runs, Trajectory) else list(runs)
    if not chain or not all(isinstance(run, Trajectory) and run for run in chain):
        raise UserError("nothing to export: pass what skills.rollout returned, or a list of runs")
    for before, after in itertools.pairwise(chain):
        if before[-1] != after[0]:
            raise UserError(
                f"the chain is broken: {after.caption} does not start where {before.caption} ended"
            )
    # A run starts in the state in which the one before it ended: that state occurs once.
    places = [(0, 0), *((z, t) for z, run in enumerate(chain) for t in range(1, len(run)))]
    states = [chain[z][t] for z, t in places]
    tracks = observed_tracks(chain[0].world, states)
    steps = []
    for i, (z, t) in enumerate(places):
        over, last = t == len(chain[z]) - 1, i == len(places) - 1
        finished = chain if last else chain[: z + over]
        caption = [Paragraph(chain[z].caption)]
        for run in finished[-MAX_VERDICTS:]:
            text = run.verdict if len(chain) == 1 else f"{run.name}: {run.verdict}"
            caption.append(Paragraph(text, VERDICT_COLOURS.get(run.verdict[0], "ink")))
        if not last:
            caption.append(Paragraph(f"step {i} of {len(places) - 1}", "faint"))
        steps.append(AnimationStep(states[i], chain[z], over, tuple(caption), tracks[i]))
    return steps


def step_items(stage: Stage, step: AnimationStep, start: State) -> list[Item]:
    """Return the items of one step's picture; `start` is the first state of the animation."""
    run = step.run
    notes = card_notes(run.world, run[0], step.state, run.targets, step.over)
    return stage.items(step.state, notes, start, step.tracks, step.caption, run[0])


def gif_bytes(steps: list[AnimationStep], theme: str) -> bytes:
    """Return a looping GIF; things change when the agent has arrived.

    Args:
        steps: The states, see `animation_steps`.
        theme: "light" or "dark".
    """
    world, last = steps[0].run.world, len(steps) - 1
    stage = Stage(world, captions=[step.caption for step in steps])
    cells = [stage.cell(step.state) for step in steps]
    points = path_points(stage, cells)
    parts, duration = (1, CARDS_MS) if stage.grid is None else (TWEENS + 1, FRAME_MS)
    frames: list[Image.Image] = []
    for t, step in enumerate(steps):
        scene = Canvas(stage.width, stage.height, SCALE, theme)
        scene.paint(step_items(stage, step, steps[0].state))
        behind = [(x, y) for at, x, y in points if at <= t]
        ahead = next(((x, y) for at, x, y in points if at > t), behind[-1])
        here, there = stage.centre(cells[t]), stage.centre(cells[min(t + 1, last)])
        for part in range(parts if t < last else 1):
            frame = scene.copy()
            if stage.grid is not None:
                tip = _interpolate(behind[-1], ahead, part / parts)
                frame.line([*behind, tip], "way", PATH_WIDTH)
                x, y = _interpolate(here, there, part / parts)
                frame.paint_icon(agent_icon(world, step.state), x - BOX / 2, y - BOX / 2)
            frames.append(frame.image())
    return _encode_gif(frames, [duration] * (len(frames) - 1) + [HOLD_MS], theme)


def _interpolate(a: Point, b: Point, share: float) -> Point:
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


def _encode_gif(frames: list[Image.Image], durations: list[int], theme: str) -> bytes:
    """Return a GIF with one palette for all frames, so that only what moves differs between them.

    The palette is computed from three frames and the theme's colours, some of which occur in few
    frames only.
    """
    wide, high = frames[0].size
    samples = [frames[0], frames[len(frames) // 2], frames[-1]]
    sheet = Image.new("RGB", (wide, high * len(samples) + SWATCH_HEIGHT * len(PALETTES[theme])))
    for i, colour in enumerate(PALETTES[theme].values()):
        top = high * len(samples) + SWATCH_HEIGHT * i
        sheet.paste(ImageColor.getrgb(colour), (0, top, wide, top + SWATCH_HEIGHT))
    for i, frame in enumerate(samples):
        sheet.paste(frame, (0, high * i))
    palette = sheet.quantize(GIF_COLOURS)
    flat = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    file = io.BytesIO()
    flat[0].save(
        file, "GIF", save_all=True, append_images=flat[1:], duration=durations, loop=0, disposal=1
    )
    return file.getvalue()


def svg_bytes(steps: list[AnimationStep], theme: str) -> bytes:
    """Return a looping SVG that animates itself (SMIL).

    Every item that occurs at some step is drawn once; those that are not always visible are in
    groups whose opacity is animated.

    Args:
        steps: The states, see `animation_steps`.
        theme: "light" or "dark".
    """
    world, last = steps[0].run.world, len(steps) - 1
    stage = Stage(world, captions=[step.caption for step in steps])
    timeline = Timeline(last)
    scenes = [dict.fromkeys(step_items(stage, step, steps[0].state)) for step in steps]
    items = sorted({item: 0 for scene in scenes for item in scene}, key=lambda item: item.layer)
    fades = {item: timeline.fade([item in scene for scene in scenes]) for item in items}
    body = [items_svg(items, theme, fades)]
    if stage.grid is not None:
        body += _moving_agent(stage, steps, timeline, theme)
    end = describe_state(world, steps[-1].state)
    caption = " ".join(paragraph.text for paragraph in steps[-1].caption[1:])
    title = f"{steps[0].run.caption} in {world.id}, {last} steps. {caption} It ends in {end}"
    return document(stage, "".join(body), theme, title).encode()


def _moving_agent(
    stage: Stage, steps: list[AnimationStep], timeline: Timeline, theme: str
) -> list[str]:
    """Return the path, growing, and the agent at its end."""
    cells = [stage.cell(step.state) for step in steps]
    parts = []
    line = path_data(stage, cells)
    if line:
        shares = _path_shares(path_points(stage, cells), len(steps))
        growth = timeline.animate("stroke-dashoffset", [f"{1 - share:.4g}" for share in shares])
        drawn = shape_svg(Shape(line, "", "way", PATH_WIDTH), theme)
        parts.append(drawn.replace("/>", f' pathLength="1" stroke-dasharray="1">{growth}</path>'))
    places = [f"{x - BOX / 2:g} {y - BOX / 2:g}" for x, y in map(stage.centre, cells)]
    looks = [agent_icon(step.run.world, step.state) for step in steps]
    moves = timeline.animate("transform", places, "Transform", ' type="translate"')
    parts.append(f'<g transform="translate({places[-1]})">{moves}')
    for icon in dict.fromkeys(looks):
        drawn = icon_svg(icon, 0, 0, theme)
        fade = timeline.fade([look == icon for look in looks])
        parts.append(f"{fade}{drawn}</g>" if fade else drawn)
    return [*parts, "</g>"]


def _path_shares(points: list[tuple[int, float, float]], n: int) -> list[float]:
    """Return the share of a path's length that is behind the agent at each step.

    Args:
        points: (step, x, y) of the path's corners.
        n: The number of steps.
    """
    behind, length = [0.0] * n, 0.0
    for before, now in itertools.pairwise(points):
        length += math.dist(before[1:], now[1:])
        behind[now[0]] = length
    return [max(behind[: t + 1]) / length for t in range(n)]
