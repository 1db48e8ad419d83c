"""`export`: a rollout, or several one after the other, as a moving GIF or SVG for slides.

The agent walks its way; what it takes is gone when it gets there, and tracks lie where they were
made. When it has arrived, the picture says in words what it did. The same rollout gives the same
file. An SVG shows the last state with the way that led there wherever nothing moves.
"""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageColor

from skillfocus._internal.atomic_io import write_atomically
from skillfocus.core.factored import State
from skillfocus.core.trajectory import Trajectory
from skillfocus.errors import UserError
from skillfocus.render import svg as drawing
from skillfocus.render.icons import BOX, PALETTES, Shape
from skillfocus.render.raster import Canvas, Point
from skillfocus.render.scene import Item, Saying, Stage, agent_icon, notes, tracked
from skillfocus.worlds.grid import Cell

BETWEEN = 2
"""Frames of a GIF between one cell and the next."""
FRAME_MS, CARDS_MS, HOLD_MS = 80, 500, 2500
"""How long a frame of a GIF stays on a map, without one, and at the end."""
COLOURS, SWATCH = 128, 12
"""Of a GIF; and the height of a colour in the picture its palette is found from."""
STEP_S, HOLD_S = 0.24, 2.5
"""How long a step of an SVG takes, and how long it rests at the end."""
WAY_WIDTH = 2.6
MOST_VERDICTS = 3
"""Of a chain's runs that are over, the last few are spoken of."""


class Moment(NamedTuple):
    """A state under way."""

    state: State
    run: Trajectory
    """The run it belongs to."""
    over: bool
    """Whether that run ends here."""
    caption: tuple[Saying, ...]
    tracks: frozenset[Cell]


def export(runs: Trajectory | Sequence[Trajectory], path: str | Path, theme: str = "light") -> Path:
    """Write what `skills.rollout` returned, or a chain of such runs, to a `.gif` or `.svg`, `light`
    or `dark`."""
    path = Path(path)
    writers = {".gif": gif_bytes, ".svg": svg_bytes}
    if path.suffix.lower() not in writers:
        raise UserError(f"cannot export to {path.name!r}: use a name that ends in .gif or .svg")
    if theme not in PALETTES:
        raise UserError(f"unknown theme {theme!r}: use light or dark")
    write_atomically(path, writers[path.suffix.lower()](moments(runs), theme))
    return path


def moments(runs: Trajectory | Sequence[Trajectory]) -> list[Moment]:
    """Every state of runs, each of which begins where the one before it ended."""
    chain = [runs] if isinstance(runs, Trajectory) else list(runs)
    if not chain or not all(isinstance(run, Trajectory) and run for run in chain):
        raise UserError("there is nothing to export: pass what skills.rollout returned, or a chain")
    for before, after in itertools.pairwise(chain):
        if before[-1] != after[0]:
            raise UserError(f"the chain breaks: {after.caption} does not begin where it should")
    places = [(0, 0), *((z, t) for z, run in enumerate(chain) for t in range(1, len(run)))]
    states = [chain[z][t] for z, t in places]
    found = []
    for step, ((z, t), tracks) in enumerate(
        zip(places, tracked(chain[0].world, states), strict=True)
    ):
        over, last = t == len(chain[z]) - 1, step == len(places) - 1
        ended = chain if last else chain[: z + over]
        caption = [Saying(chain[z].caption), *_verdicts(ended, alone=len(chain) == 1)]
        if not last:
            caption.append(Saying(f"step {step} of {len(places) - 1}", "faint"))
        found.append(Moment(states[step], chain[z], over, tuple(caption), tracks))
    return found


def _verdicts(ended: Sequence[Trajectory], alone: bool) -> list[Saying]:
    return [
        Saying(
            run.verdict if alone else f"{run.name}: {run.verdict}",
            drawing.VERDICT_COLOURS.get(run.verdict[0], "ink"),
        )
        for run in ended[-MOST_VERDICTS:]
    ]


def _scene(stage: Stage, moment: Moment, start: State) -> list[Item]:
    run = moment.run
    said = notes(run.world, run[0], moment.state, run.targets, moment.over)
    return stage.items(moment.state, said, start, moment.tracks, moment.caption, run[0])


def gif_bytes(every: list[Moment], theme: str) -> bytes:
    """A GIF that repeats; things change when the agent has arrived."""
    world, last = every[0].run.world, len(every) - 1
    stage = Stage(world, captions=[moment.caption for moment in every])
    points = drawing.way_points(stage, [stage.cell(moment.state) for moment in every])
    parts = BETWEEN + 1 if stage.grid is not None else 1
    frames: list[Image.Image] = []
    for t, moment in enumerate(every):
        scene = Canvas(stage.width, stage.height, drawing.SCALE, theme)
        scene.paint(_scene(stage, moment, every[0].state))
        gone = [(x, y) for at, x, y in points if at <= t]
        ahead = next(((x, y) for at, x, y in points if at > t), gone[-1])
        here, there = (stage.middle(stage.cell(every[i].state)) for i in (t, min(t + 1, last)))
        for part in range(parts if t < last else 1):
            frame = scene.copy()
            if stage.grid is not None:
                frame.line([*gone, _between(gone[-1], ahead, part / parts)], "way", WAY_WIDTH)
                x, y = _between(here, there, part / parts)
                frame.paint_icon(agent_icon(world, moment.state), x - BOX / 2, y - BOX / 2)
            frames.append(frame.image())
    each = FRAME_MS if stage.grid is not None else CARDS_MS
    return _gif(frames, [each] * (len(frames) - 1) + [HOLD_MS], theme)


def _between(a: Point, b: Point, share: float) -> Point:
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


def _gif(frames: list[Image.Image], durations: list[int], theme: str) -> bytes:
    """One palette for all frames, so that only what moves differs from frame to frame; it has the
    theme's colours, also those that some frames alone show."""
    wide, high = frames[0].size
    few = [frames[0], frames[len(frames) // 2], frames[-1]]
    sample = Image.new("RGB", (wide, high * len(few) + SWATCH * len(PALETTES[theme])))
    for place, colour in enumerate(PALETTES[theme].values()):
        top = high * len(few) + SWATCH * place
        sample.paste(ImageColor.getrgb(colour), (0, top, wide, top + SWATCH))
    for place, frame in enumerate(few):
        sample.paste(frame, (0, high * place))
    palette = sample.quantize(COLOURS)
    flat = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    file = io.BytesIO()
    flat[0].save(
        file, "GIF", save_all=True, append_images=flat[1:], duration=durations, loop=0, disposal=1
    )
    return file.getvalue()


def svg_bytes(every: list[Moment], theme: str) -> bytes:
    """An SVG that moves by itself, and repeats."""
    world, last = every[0].run.world, len(every) - 1
    stage = Stage(world, captions=[moment.caption for moment in every])
    clock = Clock(last)
    scenes = [_scene(stage, moment, every[0].state) for moment in every]
    seen = [set(scene) for scene in scenes]
    items = dict.fromkeys(item for scene in scenes for item in scene)
    fades = {item: clock.fade([item in scene for scene in seen]) for item in items}
    ordered = sorted(items, key=lambda item: item.layer)
    body = [drawing.shapes(ordered, theme, {i: fade for i, fade in fades.items() if fade})]
    if stage.grid is not None:
        body += _walk(stage, every, clock, theme)
    end = drawing.said_of(world, every[-1].state)
    told = " ".join(saying.text for saying in every[-1].caption[1:])
    title = f"{every[0].run.caption} in {world.id}, {last} steps. {told} It ends in {end}"
    return drawing.svg(stage, "".join(body), theme, title).encode()


def _walk(stage: Stage, every: list[Moment], clock: Clock, theme: str) -> list[str]:
    """The way, growing, and the agent at its end."""
    cells = [stage.cell(moment.state) for moment in every]
    parts = []
    line = drawing.way_path(stage, cells)
    if line:
        grown = _shares(drawing.way_points(stage, cells), len(every))
        moves = clock.animate("stroke-dashoffset", [f"{1 - share:.4g}" for share in grown])
        drawn = drawing.path(Shape(line, "", "way", WAY_WIDTH), theme)
        parts.append(drawn.replace("/>", f' pathLength="1" stroke-dasharray="1">{moves}</path>'))
    corners = [(x - BOX / 2, y - BOX / 2) for x, y in map(stage.middle, cells)]
    places = [f"{x:g} {y:g}" for x, y in corners]
    looks = [agent_icon(moment.run.world, moment.state) for moment in every]
    body = ""
    for icon in dict.fromkeys(looks):
        drawn = drawing.group(icon, 0, 0, theme)
        fade = clock.fade([look == icon for look in looks])
        body += f"{fade}{drawn}</g>" if fade else drawn
    moves = clock.animate("transform", places, "Transform", ' type="translate"')
    parts.append(f'<g transform="translate({places[-1]})">{moves}{body}</g>')
    return parts


def _shares(points: list[tuple[int, float, float]], n: int) -> list[float]:
    """How much of a way is behind at each moment."""
    behind, reached = [0.0] * n, 0.0
    for before, now in itertools.pairwise(points):
        reached += math.dist(before[1:], now[1:])
        behind[now[0]] = reached
    return [max(behind[: t + 1]) / reached for t in range(n)]


class Clock:
    """When what happens, as SVG wants it."""

    def __init__(self, steps: int) -> None:
        self._whole = steps * STEP_S + HOLD_S
        self._times = [f"{t * STEP_S / self._whole:.5g}" for t in range(steps + 1)]

    def animate(self, what: str, values: list[str], kind: str = "", more: str = "") -> str:
        """From value to value, and at rest after the last."""
        if len(set(values)) == 1:
            return ""
        held, times = [*values, values[-1]], [*self._times, "1"]
        return (
            f'<animate{kind} attributeName="{what}"{more} dur="{self._whole:g}s" '
            f'repeatCount="indefinite" values="{";".join(held)}" keyTimes="{";".join(times)}"/>'
        )

    def fade(self, there: list[bool]) -> str:
        """The opening of a group for what is there at some moments only; nothing for the rest."""
        if all(there):
            return ""
        turns = [t for t, now in enumerate(there) if t == 0 or now != there[t - 1]]
        values, times = (
            ";".join(str(int(there[t])) for t in turns),
            ";".join(self._times[t] for t in turns),
        )
        return (
            f'<g opacity="{int(there[-1])}"><animate attributeName="opacity" calcMode="discrete" '
            f'dur="{self._whole:g}s" repeatCount="indefinite" values="{values}" '
            f'keyTimes="{times}"/>'
        )
