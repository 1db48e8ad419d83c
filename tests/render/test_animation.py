"""Exported GIFs and SVGs."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from PIL import Image, ImageColor

import skillfocus as sf
from drawings import HOSTILE, LEFT, RIGHT, SVG, UP, Lamps, agent_at, fetch, muddy, parsed, walk
from skillfocus.render import scene
from skillfocus.render.animation import FRAME_MS, HOLD_MS, animation_steps, export, step_items
from skillfocus.render.icons import ICONS, PALETTES
from skillfocus.render.scene import Stage
from skillfocus.rollout import Trajectory


def gif(runs, path, theme="light"):
    return Image.open(io.BytesIO(export(runs, path, theme).read_bytes()))


def has_agent(frame, cell, left=0.0):
    """Whether pixels of a cell are the color of the agent's skin or of the mud on it."""
    x, y = round((cell[1] * 24 + left + 12) * 28 / 24), round((cell[0] * 24 + 12) * 28 / 24)
    pixels = np.array(frame.convert("RGB"))[y - 8 : y + 8, x - 8 : x + 8].reshape(-1, 3).astype(int)
    skin = np.abs(pixels - np.array([0x3F, 0x93, 0xD6])).sum(axis=1) < 40
    return skin.mean() > 0.2


def near(frame, color, box):
    """The share of pixels of a part of a frame that are about a color."""
    pixels = np.array(frame.convert("RGB").crop(box)).reshape(-1, 3).astype(int)
    return (np.abs(pixels - np.array(ImageColor.getrgb(color))).sum(axis=1) < 40).mean()


def test_a_gif_ends_where_the_rollout_ends(tmp_path):
    run = fetch()
    image = gif(run, tmp_path / "fetch.gif")
    assert image.n_frames == 3 * 3 + 1
    assert image.info["loop"] == 0
    stage = scene.Stage(run.world, captions=[step.caption for step in animation_steps(run)])
    assert image.size == (round(stage.width * 28 / 24), round(stage.height * 28 / 24))
    durations, there = [], []
    for number in range(image.n_frames):
        image.seek(number)
        durations.append(image.info["duration"])
        there.append([cell for cell in run.world.map.cells if has_agent(image, cell)])
    assert durations == [FRAME_MS] * 9 + [HOLD_MS]
    assert [there[number] for number in (0, 3, 6, 9)] == [[(5, 4)], [(5, 5)], [(5, 4)], [(5, 3)]]
    again = export(fetch(), tmp_path / "again.gif")
    assert again.read_bytes() == (tmp_path / "fetch.gif").read_bytes()
    assert again.stat().st_size < 60_000


def test_a_start_is_marked_in_a_gif_even_under_an_agent_that_came_home(tmp_path):
    world = sf.make("FourRooms-v0")
    home, row, column = world.state(position=(5, 4)), 5 * 28, 4 * 28
    image = gif(walk(world, [RIGHT, LEFT], ["tool_1"], home), tmp_path / "home.gif")
    image.seek(image.n_frames - 1)
    assert has_agent(image, (5, 4))
    corner = (column + 2, row + 2, column + 5, row + 5)
    assert near(image, PALETTES["light"]["start"], corner) > 0.5
    assert near(image, PALETTES["light"]["start"], tuple(x + 56 for x in corner)) == 0


def test_a_gif_has_the_colors_of_what_is_only_under_way(tmp_path):
    world = sf.make("FourRooms-v0")
    away = [*[LEFT] * 2, *[RIGHT] * 20]
    run = walk(world, away, ["tool_1"], world.state(position=(3, 3)))
    home = Trajectory([*run, *run[::-1]], world, 3, ["tool_1"])
    image = gif(home, tmp_path / "home.gif")
    red = PALETTES["light"]["side effect"]
    shares = []
    for number in (0, 9, image.n_frames - 1):
        image.seek(number)
        shares.append(near(image, red, (170, 13 * 28, *image.size)))
    assert shares[0] == shares[2] == 0
    assert shares[1] > 0.001


def test_gifs_of_worlds_without_a_map_and_of_runs_that_stay(tmp_path):
    taxi = sf.make("gymnasium:Taxi-v4")
    run = walk(taxi, [0, 0], ["passenger"], taxi.state(destination="red"))
    assert gif(run, tmp_path / "taxi.gif").n_frames == 3
    parsed(export(run, tmp_path / "taxi.svg").read_text())
    still = walk(sf.make("FourRooms-v0"), [])
    assert gif(still, tmp_path / "still.GIF").n_frames == 1
    assert gif(walk(Lamps(), [0], (), Lamps().state()), tmp_path / "lamps.gif").n_frames == 2


def test_an_svg_shows_the_last_state_and_the_path_that_led_there(tmp_path):
    run = muddy()
    text = export(run, tmp_path / "muddy.svg").read_text()
    root = parsed(text)
    assert agent_at(root) == (3, 6)
    assert ICONS["muddy agent"][2].path in text
    assert text.count(ICONS["treasure"][0].path) == 1  # the outline of what was taken
    assert ICONS["treasure"][1].path not in text
    assert text.count(ICONS["tracks"][0].path) == 2
    line = Stage(run.world).walk(run)[0].shape.path
    assert text.count(f'd="{line}"') == 1
    again = export(muddy(), tmp_path / "again.svg")
    assert again.read_text() == text


def test_a_chain_is_one_picture(tmp_path):
    first = fetch()
    second = walk(first.world, [UP, RIGHT], ["tool_2"], first[-1], skill=5)
    image = gif([first, second], tmp_path / "chain.gif", theme="dark")
    assert image.n_frames == 5 * 3 + 1
    image.seek(image.n_frames - 1)
    assert has_agent(image, (4, 4))
    root = parsed(export([first, second], tmp_path / "chain.svg").read_text())
    captions = [e.text for e in root.iter(f"{SVG}text") if re.match(r"skill \d for", e.text or "")]
    assert captions == ["skill 5 for tool_2"]
    assert agent_at(root) == (4, 4)
    third = walk(first.world, [], ["tool_3"], second[-1], skill=6)
    told = [
        [paragraph.text for paragraph in step.caption]
        for step in animation_steps([first, second, third])
    ]
    verdicts = [
        "skill 3: ✗ It changed tool_1, and as side effects position.",
        "skill 5: ✗ It did not change tool_2, but position.",
        "skill 6: ○ It changed nothing: tool_3 is as it was.",
    ]
    assert told[2] == ["skill 3 for tool_1", "step 2 of 5"]
    assert told[3] == ["skill 3 for tool_1", verdicts[0], "step 3 of 5"]
    assert told[4] == ["skill 5 for tool_2", verdicts[0], "step 4 of 5"]
    assert told[5] == ["skill 5 for tool_2", *verdicts]
    longer = [walk(first.world, [], ["tool_1"], skill=z) for z in range(5)]
    assert [paragraph.text[:7] for paragraph in animation_steps(longer)[-1].caption[1:]] == [
        "skill 2", "skill 3", "skill 4",
    ]  # fmt: skip


def shown(run, t):
    """The texts of an exported picture at a moment, and the frames of its cards."""
    every = animation_steps(run)
    stage = scene.Stage(run.world, captions=[step.caption for step in every])
    items = step_items(stage, every[t], every[0].state)
    words = [item for item in items if isinstance(item, scene.TextLine)]
    frames = [item.shape.stroke for item in items if item.layer == scene.CARD]
    return {item.text: item.color for item in words}, frames


def test_cards_judge_side_effects_at_the_end_only_and_show_the_agents_place():
    run = fetch()
    texts, frames = shown(run, 1)
    assert texts["(5, 4) → (5, 5)"] == "ink"
    assert texts["changed so far"] == "side effect"
    assert texts["step 1 of 3"] == "faint"
    assert not [text for text in texts if text.startswith("✗")]
    assert frames == ["grid", "target", "grid", "grid", "grid"]
    texts, frames = shown(run, 2)
    assert "(5, 4)" in texts
    assert "changed so far" not in texts
    texts, frames = shown(run, 3)
    assert texts["(5, 4) → (5, 3)"] == "ink"
    assert texts["✗ side effect"] == "side effect"
    assert frames == ["side effect", "target", "grid", "grid", "grid"]
    assert not [text for text in texts if text.startswith("step")]
    verdict = [text for text, color in texts.items() if color == "side effect"][:2]
    assert " ".join(verdict) == run.verdict


@pytest.mark.parametrize(
    "runs", [fetch, muddy, lambda: walk(Lamps(), [0] * 3, HOSTILE[:1], (0,) * 5)]
)
def test_exported_pictures_end_with_the_verdict(runs, tmp_path):
    run = runs()
    root = parsed(export(run, tmp_path / "a.svg").read_text())
    last = len(run) - 1
    assert f"{last} steps. {run.verdict[:6]}" in (root[0].text or "")
    texts = [element.text or "" for element in root.iter(f"{SVG}text")]
    assert [text for text in texts if run.verdict[:6] in text]
    assert not [text for text in texts if text.startswith("step ")]


@pytest.mark.parametrize(
    ("runs", "name", "theme", "message"),
    [
        (fetch, "a.png", "light", "cannot export to 'a.png': use a name that ends in .gif or .svg"),
        (fetch, "a.gif", "blue", "unknown theme 'blue': use light or dark"),
        (lambda: [(0, 0)], "a.gif", "light", "pass what skills.rollout returned"),
        (lambda: [], "a.svg", "light", "nothing to export"),
        (lambda: [fetch(), fetch()], "a.svg", "light", "the chain is broken: skill 3 for tool_1"),
    ],
)
def test_what_cannot_be_exported(runs, name, theme, message, tmp_path):
    with pytest.raises(sf.UserError, match=re.escape(message)):
        export(runs(), tmp_path / name, theme)
    assert not list(tmp_path.iterdir())
