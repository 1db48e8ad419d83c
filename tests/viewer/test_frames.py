"""Pictures of worlds without a map: what environments draw, cut into tiles."""

from __future__ import annotations

import base64
import io
import zlib

import numpy as np
import pytest
from PIL import Image

import skillfocus as sf
from pages import READY
from skillfocus.envs import WorldEnv
from skillfocus.viewer import recordings as frames
from skillfocus.viewer.page import default_labels, write_page
from skillfocus.viewer.payload import longest_errand
from skillfocus.worlds.grid import environment_painter

QUICK = sf.Planning(rounds=3)


@pytest.fixture(scope="module")
def door_key():
    pytest.importorskip("minigrid")
    return sf.discover("minigrid:DoorKey-5x5", "focused-vic", seed=0, learner=QUICK)


def put_together(data, state):
    """The picture of a state from the sheet, as the page draws it."""
    sheet = Image.open(io.BytesIO(base64.b64decode(data["sheet"].partition(",")[2])))
    sheet = np.array(sheet.convert("RGB"))
    side, columns, wide = data["tile"], data["columns"], data["sheetColumns"]
    packed = zlib.decompress(base64.b64decode(data["tiles"]["data"]))
    tiles = np.frombuffer(packed, np.uint16).reshape(-1, data["rows"] * columns)[state]
    picture = np.zeros((data["rows"] * side, columns * side, 3), np.uint8)
    for place, number in enumerate(tiles.tolist()):
        (y, x), (v, u) = divmod(place, columns), divmod(number, wide)
        tile = sheet[v * side : (v + 1) * side, u * side : (u + 1) * side]
        picture[y * side : (y + 1) * side, x * side : (x + 1) * side] = tile
    return picture[: data["height"], : data["width"]]


@pytest.mark.parametrize(
    "name", ["gymnasium:FrozenLake-v1", "gymnasium:CliffWalking-v1", "minigrid:DoorKey-5x5"]
)
def test_tiles_make_the_picture_that_the_environment_draws(name):
    pytest.importorskip("minigrid" if "minigrid" in name else "pygame")
    world = sf.make(name)
    mdp = sf.tabulate(world)
    painter, (data, _) = environment_painter(world), frames.frames_data(world, mdp)
    for state in np.unique(np.linspace(0, mdp.n_states - 1, 20).astype(int)).tolist():
        drawn = painter(mdp.state(state)).astype(int)
        assert np.abs(put_together(data, state) - drawn).max() <= 8, "a palette may round colors"
        assert (painter(mdp.state(state)) == drawn).all(), "a state has one picture"
    different = {painter(mdp.state(s)).tobytes() for s in range(mdp.n_states)}
    assert len(different) > 10


def test_pictures_are_bounded(monkeypatch, door_key):
    world, mdp = door_key.world, door_key.mdp
    data, note = frames.frames_data(world, mdp)
    assert len(str(data["sheet"])) < 50_000
    assert note == ""
    monkeypatch.setattr(frames, "MAX_TILES", 5)
    assert frames.frames_data(world, mdp) == (None, "")
    monkeypatch.setattr(frames, "MAX_STATES", 5)
    data, note = frames.frames_data(world, mdp)
    assert data is None
    assert "270 states are more than the 5 that are drawn" in note
    four_rooms = sf.make("four-rooms")  # draws itself, on a map
    assert frames.frames_data(four_rooms, sf.tabulate(four_rooms)) == (None, "")


def test_worlds_that_cannot_be_drawn_have_no_pictures(door_key, monkeypatch):
    assert environment_painter(sf.make("four-rooms")) is None
    grid = type(door_key.world.simulator.env.env.unwrapped.grid)
    monkeypatch.setattr(grid, "render", lambda *a, **k: 1 / 0)
    assert environment_painter(door_key.world) is None


def test_cutting_pads_what_does_not_fit():
    assert frames.tile_side(456, 536) == 8
    assert frames.tile_side(256, 768) == frames.tile_side(160, 160) == 32
    assert frames.tile_side(240, 720) == 60
    frame = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
    tiles = frames.split_into_tiles(frame, 4)
    assert tiles.shape == (4, 4, 4, 3)
    assert (tiles[0] == frame[:4, :4]).all()
    assert (tiles[3][0, :3] == frame[4, 4:]).all()
    assert (tiles[3][3, 3] == frame[4, 6]).all()


def test_environments_render_what_the_page_shows(door_key):
    env = WorldEnv(door_key.world, None, render_mode="rgb_array", mdp=door_key.mdp)
    env.reset(seed=0)
    state = tuple(env._episodes.values[0].tolist())
    assert (env.render() == environment_painter(door_key.world)(state)).all()


def test_the_page_opens_on_the_longest_errand(door_key):
    """Against every start and skill, one by one."""
    start, goal = longest_errand(door_key)
    mdp, lengths = door_key.mdp, {}
    for z, (name,) in enumerate(door_key.targets):
        for s in range(mdp.n_states):
            run = door_key.likely_path(z, mdp.state(s))
            if run.changed == (name,):
                lengths[s, mdp.space.index(name)] = max(
                    lengths.get((s, mdp.space.index(name)), 0), len(run) - 1
                )
    assert lengths[start, goal] == max(lengths.values()) > 10


def test_panels_are_called_by_what_differs():
    world = sf.make("FourRooms-v0", drawing="#######\n#...T.#\n#######", step_limit=12)

    def found(objective, seed=0, rounds=1):
        return sf.discover(world, objective, seed=seed, learner=sf.Planning(rounds=rounds))

    weak, strong = (sf.focused(sf.vic(), strength=s) for s in (1.0, 8.5))
    assert default_labels([found(weak)]) == ["focused-vic, seed 0"]
    assert default_labels([found(weak), found(strong)]) == ["strength 1", "strength 8.5"]
    assert default_labels([found(weak), found(weak, rounds=2)]) == ["rounds 1", "rounds 2"]
    both = default_labels([found(weak), found(sf.dusdi(sf.vic()))])
    assert both == ["focused-vic, seed 0", "dusdi-vic, seed 0"]
    mixed = default_labels([found(weak), found(weak, 1), found(strong)])
    assert mixed == ["strength 1, seed 0", "strength 1, seed 1", "strength 8.5, seed 0"]


@pytest.mark.slow
def test_the_page_says_why_it_has_no_pictures(door_key, page, tmp_path, monkeypatch):
    monkeypatch.setattr(frames, "MAX_STATES", 5)
    page.goto(write_page([door_key], tmp_path / "large.html").as_uri())
    page.wait_for_selector(READY)
    assert page.locator(".frame").count() == 0
    assert page.locator(".cards .card").count() == len(door_key.mdp.space)
    assert page.locator(".no-frames").inner_text().startswith("No pictures: 270 states")


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=["desktop", "phone"])
def test_the_page_of_a_world_without_a_map(door_key, page, size, tmp_path):
    path = write_page([door_key], tmp_path / "door-key.html")
    assert path.stat().st_size < 400_000
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(reduced_motion="reduce")
    page.goto(path.as_uri())
    page.wait_for_selector(READY)
    start, goal = longest_errand(door_key)
    page.wait_for_selector(f'.frame[data-state="{start}"]')
    assert page.locator("#goals [aria-pressed=true]").inner_text() == door_key.mdp.space.names[goal]
    drawn = page.evaluate("document.querySelector('.frame').toDataURL()").partition(",")[2]
    picture = np.array(Image.open(io.BytesIO(base64.b64decode(drawn))).convert("RGB")).astype(int)
    expected = environment_painter(door_key.world)(door_key.mdp.state(start))
    assert np.abs(picture - expected).max() <= 8
    actions = page.locator(".actions li").all_inner_texts()
    assert set(actions) <= set(door_key.world.actions)
    assert len(actions) > 10
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert page.locator(".actions .taken").count() == 4
    amber = page.evaluate("getComputedStyle(document.querySelector('.values .so-far .mark')).color")
    assert amber == "rgb(138, 90, 0)"
    top = page.locator(".setup").first.bounding_box()["y"]
    assert top + 40 < page.locator("#panels").bounding_box()["y"] < size[1] / 2
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    lines = page.evaluate(
        """[...document.querySelectorAll('.values th[scope=row]')].flatMap((cell) =>
            [...cell.childNodes].filter((node) => node.nodeType === 3).map((text) => {
                const range = document.createRange();
                range.selectNodeContents(text);
                return range.getClientRects().length;
            }))"""
    )
    assert set(lines) == {1}, "names break at underscores only"
