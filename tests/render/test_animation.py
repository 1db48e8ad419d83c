"""Exported GIFs and SVGs."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image, ImageColor

import skillfocus as sf
from drawings import HOSTILE, LEFT, RIGHT, SVG, UP, Lamps, agent_at, fetch, muddy, parsed, walk
from skillfocus.render import icons, scene
from skillfocus.render.animation import (
    FRAME_MS,
    HOLD_MS,
    HOLD_S,
    STEP_S,
    Timeline,
    animation_steps,
    export,
    step_items,
)
from skillfocus.render.icons import PALETTES
from skillfocus.rollout import Trajectory


def gif(runs, path, theme="light"):
    return Image.open(io.BytesIO(export(runs, path, theme).read_bytes()))


def has_agent(frame, cell, left=0.0):
    """Whether pixels of a cell are the colour of the agent's skin or of the mud on it."""
    x, y = round((cell[1] * 24 + left + 12) * 28 / 24), round((cell[0] * 24 + 12) * 28 / 24)
    pixels = np.array(frame.convert("RGB"))[y - 8 : y + 8, x - 8 : x + 8].reshape(-1, 3).astype(int)
    skin = np.abs(pixels - np.array([0x3F, 0x93, 0xD6])).sum(axis=1) < 40
    return skin.mean() > 0.2


def near(frame, colour, box):
    """The share of pixels of a part of a frame that are about a colour."""
    pixels = np.array(frame.convert("RGB").crop(box)).reshape(-1, 3).astype(int)
    return (np.abs(pixels - np.array(ImageColor.getrgb(colour))).sum(axis=1) < 40).mean()


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


def test_a_gif_has_the_colours_of_what_is_only_under_way(tmp_path):
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
    assert "<animate" not in export(still, tmp_path / "still.svg").read_text()
    assert gif(walk(Lamps(), [0], (), Lamps().state()), tmp_path / "lamps.gif").n_frames == 2


def animations(root):
    return [element for element in root.iter() if "animate" in str(element.tag)]


def test_an_svg_walks_and_rests_in_the_last_state(tmp_path):
    run = muddy()
    root = parsed(export(run, tmp_path / "muddy.svg").read_text())
    assert agent_at(root) == (3, 6)
    (moves,) = root.iter(f"{SVG}animateTransform")
    places = [tuple(map(float, place.split())) for place in moves.get("values").split(";")]
    cells = [run.world.map.cells[state[0]] for state in run]
    assert [(y / 24, x / 24) for x, y in places] == [*cells, cells[-1]]
    for element in animations(root):
        times = [float(time) for time in element.get("keyTimes").split(";")]
        assert len(times) == len(element.get("values").split(";"))
        assert times[0] == 0
        assert times == sorted(times)
        assert times[-1] == 1 or element.get("calcMode") == "discrete"


def visible(root, path):
    """When shapes with a path are there, and whether they are at rest."""
    found = []
    for group in root.iter(f"{SVG}g"):
        fade = group.find(f"{SVG}animate")
        if fade is not None and path in ElementTree.tostring(group, "unicode"):
            found.append(
                (
                    fade.get("values"),
                    float(fade.get("keyTimes").split(";")[-1]),
                    group.get("opacity"),
                )
            )
    return found


def test_in_an_svg_things_go_when_they_are_taken_and_tracks_come_when_made(tmp_path):
    run = muddy()
    root = parsed(export(run, tmp_path / "muddy.svg").read_text())
    whole = 9 * STEP_S + HOLD_S
    taken = next(t for t, state in enumerate(run) if state.labels["treasure"])
    at = pytest.approx(taken * 0.24 / whole, abs=1e-4)
    chest = icons.TREASURE
    assert visible(root, chest[1].path) == [("1;0", at, "0")]
    assert ("0;1", at, "1") in visible(root, chest[0].path)
    tracks = visible(root, icons.TRACKS[0].path)
    assert [(values, rest) for values, _, rest in tracks] == [("0;1", "1")] * 2
    assert [time for _, time, _ in tracks] == pytest.approx(
        [7 * 0.24 / whole, 8 * 0.24 / whole], abs=1e-4
    )
    faces = visible(root, icons.MUDDY_AGENT[2].path)
    assert [(values, rest) for values, _, rest in faces][-1] == ("0;1", "1")


def test_a_chain_is_one_picture(tmp_path):
    first = fetch()
    second = walk(first.world, [UP, RIGHT], ["tool_2"], first[-1], skill=5)
    image = gif([first, second], tmp_path / "chain.gif", theme="dark")
    assert image.n_frames == 5 * 3 + 1
    image.seek(image.n_frames - 1)
    assert has_agent(image, (4, 4))
    root = parsed(export([first, second], tmp_path / "chain.svg").read_text())
    captions = [e.text for e in root.iter(f"{SVG}text") if re.match(r"skill \d for", e.text or "")]
    assert captions == ["skill 3 for tool_1", "skill 5 for tool_2"]
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
    return {item.text: item.colour for item in words}, frames


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
    verdict = [text for text, colour in texts.items() if colour == "side effect"][:2]
    assert " ".join(verdict) == run.verdict


@pytest.mark.parametrize(
    "runs", [fetch, muddy, lambda: walk(Lamps(), [0] * 3, HOSTILE[:1], (0,) * 5)]
)
def test_exported_pictures_end_with_the_verdict(runs, tmp_path):
    run = runs()
    root = parsed(export(run, tmp_path / "a.svg").read_text())
    last = len(run) - 1
    assert f"{last} steps. {run.verdict[:6]}" in (root[0].text or "")
    (line,) = (
        g for g in root.iter(f"{SVG}g") if run.verdict[:6] in (g.findtext(f"{SVG}text") or "")
    )
    fade = line.find(f"{SVG}animate")
    assert (line.get("opacity"), fade.get("values")) == ("1", "0;1")
    at = float(fade.get("keyTimes").split(";")[-1])
    assert at == pytest.approx(last * STEP_S / (last * STEP_S + HOLD_S), abs=1e-4)


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


@pytest.mark.slow
def test_in_a_browser_an_svg_is_at_every_moment_where_python_is(page, tmp_path):
    run = muddy()
    page.goto(export(run, tmp_path / "muddy.svg").as_uri())
    page.evaluate("document.documentElement.pauseAnimations()")
    look = """time => {
        const root = document.documentElement
        root.setCurrentTime(time)
        const agent = [...root.children].at(-1), at = agent.transform.animVal.getItem(0).matrix
        const seen = e => !e || e === root || (+getComputedStyle(e).opacity > 0 && seen(e.parentNode))
        const texts = [...root.querySelectorAll("text")].filter(seen)
        const card = e => [e.textContent, [+e.getAttribute("x"), +e.getAttribute("y")]]
        return [at.f / 24, at.e / 24, texts.map(card)]
    }"""
    for t, state in enumerate(run):
        *cell, texts = page.evaluate(look, t * 0.24 + 1e-3)
        assert cell == pytest.approx(run.world.map.cells[state[0]], abs=0.01)
        places = {text: tuple(at) for text, at in texts}
        below = {(x, y - 15): text for text, (x, y) in texts}
        for name in ("muddy", "treasure", "muddy_cells"):
            assert below[places[name]] == str(state.labels[name])
        over = t == len(run) - 1
        assert ("changed so far" in places) == (t > 0 and not over)
        assert ("✗ side effect" in places) == over
        assert (f"step {t} of {len(run) - 1}" in places) == (not over)
        assert any(text.startswith("✗ It changed treasure") for text in places) == over


def numbers(text, attribute):
    return [float(part) for part in re.search(rf'{attribute}="([^"]*)"', text)[1].split(";")]


def test_values_are_reached_step_by_step_and_the_last_is_held():
    made = Timeline(2).animate("x", ["1", "5", "3"])
    whole = 2 * STEP_S + HOLD_S
    assert made.startswith('<animate attributeName="x"')
    assert f'dur="{whole:g}s"' in made
    assert numbers(made, "values") == [1, 5, 3, 3]
    times = [0, STEP_S / whole, 2 * STEP_S / whole, 1]
    assert numbers(made, "keyTimes") == pytest.approx(times, abs=1e-4)


def test_what_stays_is_not_animated():
    assert Timeline(2).animate("x", ["1", "1", "1"]) == ""
    assert Timeline(2).fade([True, True, True]) == ""


def test_groups_appear_and_disappear_at_their_steps():
    made = Timeline(3).fade([False, True, True, False])
    whole = 3 * STEP_S + HOLD_S
    assert made.startswith('<g opacity="0">')
    assert numbers(made, "values") == [0, 1, 0]
    assert numbers(made, "keyTimes") == pytest.approx(
        [0, STEP_S / whole, 3 * STEP_S / whole], abs=1e-4
    )
    assert Timeline(1).fade([False, True]).startswith('<g opacity="1">')
