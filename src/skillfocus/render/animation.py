"""`export`: one run, or a chain of runs, as a picture for slides.

In a GIF, the agent walks along its path; what it takes disappears when it arrives, and tracks lie
where they were left. Once a run is over, the picture shows its verdict. An SVG shows the last state
and the path that led there. The same runs give the same file.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageColor

from skillfocus.errors import UserError
from skillfocus.files import write_atomically
from skillfocus.render.icons import PALETTES
from skillfocus.render.raster import Canvas
from skillfocus.render.scene import SCALE, Item, Paragraph, Stage, observed_tracks
from skillfocus.render.svg import VERDICT_COLORS, describe_state, document
from skillfocus.rollout import Trajectory
from skillfocus.spaces import State
from skillfocus.worlds.grid import Cell

TWEENS = 2
"""Frames of a GIF between one cell and the next."""
FRAME_MS, CARDS_MS, HOLD_MS = 80, 500, 2500
"""How long a frame of a GIF stays: on a map, without one, and the last."""
GIF_COLORS, SWATCH_HEIGHT = 128, 12
"""Colors of a GIF; pixels of each theme color in the image its palette is computed from."""
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
    """Write a run, or a chain of runs, as a moving GIF or a still SVG.

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
            caption.append(Paragraph(text, VERDICT_COLORS.get(run.verdict[0], "ink")))
        if not last:
            caption.append(Paragraph(f"step {i} of {len(places) - 1}", "faint"))
        steps.append(AnimationStep(states[i], chain[z], over, tuple(caption), tracks[i]))
    return steps


def step_items(stage: Stage, step: AnimationStep, start: State) -> list[Item]:
    """Return the items of one step's picture; `start` is the first state of the animation."""
    run = step.run
    return stage.items(step.state, run[0], run.targets, step.over, start, step.tracks, step.caption)


def gif_bytes(steps: list[AnimationStep], theme: str) -> bytes:
    """Return a looping GIF; things change when the agent has arrived.

    Args:
        steps: The states, see `animation_steps`.
        theme: "light" or "dark".
    """
    stage = Stage(steps[0].run.world, captions=[step.caption for step in steps])
    path, last = [step.state for step in steps], len(steps) - 1
    tweens, duration = (0, CARDS_MS) if stage.grid is None else (TWEENS, FRAME_MS)
    frames: list[Image.Image] = []
    for t, step in enumerate(steps):
        scene = Canvas(stage.width, stage.height, SCALE, theme)
        scene.paint(step_items(stage, step, path[0]))
        for part in range(tweens + 1 if t < last else 1):
            frame = scene.copy()
            frame.paint(stage.walk(path, t + part / (tweens + 1)))
            frames.append(frame.image())
    return _encode_gif(frames, [duration] * (len(frames) - 1) + [HOLD_MS], theme)


def _encode_gif(frames: list[Image.Image], durations: list[int], theme: str) -> bytes:
    """Return a GIF with one palette for all frames, so that only what moves differs between them.

    The palette is computed from three frames and the theme's colors, some of which occur in few
    frames only.
    """
    colors = [[ImageColor.getrgb(color)] for color in PALETTES[theme].values()]
    swatches = np.repeat(np.array(colors, np.uint8), SWATCH_HEIGHT, axis=0)
    samples = [np.asarray(frames[i]) for i in (0, len(frames) // 2, -1)]
    sheet = np.concatenate([*samples, np.repeat(swatches, frames[0].width, axis=1)])
    palette = Image.fromarray(sheet).quantize(GIF_COLORS)
    flat = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    file = io.BytesIO()
    flat[0].save(
        file, "GIF", save_all=True, append_images=flat[1:], duration=durations, loop=0, disposal=1
    )
    return file.getvalue()


def svg_bytes(steps: list[AnimationStep], theme: str) -> bytes:
    """Return a still picture of the last state, with the path that led there.

    Args:
        steps: The states, see `animation_steps`.
        theme: "light" or "dark".
    """
    last, world = steps[-1], steps[0].run.world
    stage = Stage(world, captions=[last.caption])
    items = step_items(stage, last, steps[0].state)
    caption = " ".join(paragraph.text for paragraph in last.caption[1:])
    title = (
        f"{steps[0].run.caption} in {world.id}, {len(steps) - 1} steps. {caption} It ends in "
        f"{describe_state(world, last.state)}"
    )
    walk = stage.walk([step.state for step in steps])
    return document(stage, [*items, *walk], theme, title).encode()
