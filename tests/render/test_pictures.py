from __future__ import annotations

import copy
import io
import pickle
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image, ImageColor

import skillfocus as sf
from probes import RandomWorld
from skillfocus.core.trajectory import Trajectory
from skillfocus.core.world import WorldState
from skillfocus.render import icons, raster, scene
from skillfocus.render.animation import FRAME_MS, HOLD_MS, HOLD_S, STEP_S, _scene, export, moments
from skillfocus.render.palette import COLOURS
from skillfocus.render.svg import state_svg
from skillfocus.worlds.grid import GridWorld

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ("<script>alert(1)</script>", '"quo\'ted" & more', "🍓 berry", "a\x00b\x1b]", "x" * 300)
UP, RIGHT, DOWN, LEFT = range(4)
WRENCH = icons.TOOL[0]


class Lamps(sf.World):
    """Variables with names that try to be more than text."""

    id = "<img src=x onerror=alert(1)>"
    space = sf.FactoredSpace(tuple(sf.Variable(name, HOSTILE) for name in HOSTILE))
    actions = ("go",)

    def states(self):
        return [(0,) * len(self.space)]

    def transition(self, state, action):
        return [sf.Outcome(1.0, tuple((i + 1) % len(HOSTILE) for i in state))]


class Angles(GridWorld):
    id = '<"angles">'
    legend = {"<": "<script>", "&": "both"}
    showcase_cell = (0, 0)

    def __init__(self):
        super().__init__(".<&.", 0.0, 5)

    def other_variables(self):
        return [sf.Variable("<b>", ("&", '"'))]

    def arrive(self, state, cell):
        return sf.Outcome(1.0, tuple(state))


def walk(world, moves, targets=(), start=None, skill=3):
    """Where likeliest outcomes lead."""
    states = [world.showcase if start is None else start]
    for move in moves:
        states.append(max(world.transition(tuple(states[-1]), move)).state)
    return Trajectory(states, world, skill, targets)


def fetch():
    """From a tool's neighbour to the tool and back."""
    world = sf.make("FourRooms-v0")
    return walk(world, [RIGHT, LEFT, LEFT], ["tool_1"], world.state(position=(5, 4)))


def muddy():
    """Through the mud to the treasure, out of it over free cells, and back onto the first."""
    world = sf.make("MudWorld-v0")
    moves = [UP, UP, UP, RIGHT, UP, RIGHT, RIGHT, RIGHT, LEFT]
    return walk(world, moves, ["treasure"], world.state(position=(7, 3)))


def parsed(svg):
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert not [element for element in root.iter() if "script" in str(element.tag)]
    return root


def agent_at(root):
    """The cell of the last group that is moved somewhere: the agent's."""
    moved = [g.get("transform") for g in root.findall(f"{SVG}g") if g.get("transform")]
    x, y = map(float, re.findall(r"[\d.]+", moved[-1]))
    return y / icons.BOX, x / icons.BOX


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.text = set(), []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.text.append(data)


def test_every_thing_that_has_a_colour_has_an_icon_that_all_painters_understand():
    assert set(COLOURS) <= set(icons.ICONS)
    for icon in icons.ICONS.values():
        for shape in icon:
            assert re.fullmatch(r"([MLC][\d. -]+|Z)+", shape.path), shape
            assert (shape.stroke != "") == (shape.width > 0)
            for points, _ in raster.outlines(shape.path):
                assert len(points) > 1
                assert np.min(points) >= 0
                assert np.max(points) <= icons.BOX
    assert icons.PALETTES["light"].keys() == icons.PALETTES["dark"].keys()


def test_curves_end_where_they_should_and_bend():
    ((points, closed),) = raster.outlines(icons.disc(12, 12, 6))
    assert closed
    assert np.allclose(np.hypot(*(np.array(points) - 12).T), 6, atol=0.01)


@pytest.mark.parametrize("name", ["FourRooms-v0", "ForageWorld-v0", "MudWorld-v0"])
def test_a_state_draws_its_map_with_the_agent_where_it_is(name):
    world = sf.make(name)
    for cell in world.map.cells[::7]:
        root = parsed(world.state(position=cell)._repr_html_())
        left = scene.Stage(world).left / icons.BOX
        assert agent_at(root) == pytest.approx((cell[0], cell[1] + left))


def test_what_is_taken_leaves_an_outline():
    world = sf.make("FourRooms-v0")
    before, after = world.state()._repr_html_(), world.state(tool_2=1)._repr_html_()
    whole = f'd="{WRENCH.path}" stroke-width="{WRENCH.width}" fill="{WRENCH.fill}"'
    assert (before.count(whole), after.count(whole)) == (4, 3)
    assert (before.count("stroke-dasharray"), after.count("stroke-dasharray")) == (0, 1)
    assert before.count(WRENCH.path) == after.count(WRENCH.path) == 4


def test_a_treasure_lies_in_mud_and_a_muddy_agent_looks_muddy():
    world = sf.make("MudWorld-v0")
    clean, dirty = world.state()._repr_html_(), world.state(muddy=1)._repr_html_()
    assert clean.count(icons.MUD[1].path) == sum(row.count("M") for row in world.map.rows) + 1
    assert icons.MUDDY_AGENT[2].path in dirty
    assert icons.MUDDY_AGENT[2].path not in clean


def test_names_that_try_to_be_more_are_text():
    lamps = Lamps()
    for html in (
        lamps.state()._repr_html_(),
        walk(lamps, [0, 0], HOSTILE[:1], lamps.state())._repr_html_(),
        Angles().showcase._repr_html_(),
        walk(Angles(), [RIGHT, RIGHT], ["<b>"])._repr_html_(),
    ):
        assert not {"script", "img", "b"} & Tags(html).tags
    root = parsed(lamps.state()._repr_html_())
    shown = "".join(root.itertext())
    assert "<script>alert(1)</scr" in shown
    assert "🍓 berry" in shown
    assert "x" * 30 not in shown
    letters = [
        element.text for element in parsed(Angles().showcase._repr_html_()).iter(f"{SVG}text")
    ]
    assert {"<", "&"} <= set(letters)


def test_worlds_without_a_map_are_cards():
    world = sf.make("gymnasium:Taxi-v4")
    state = world.state(passenger="in taxi", taxi_row=3)
    texts = [element.text for element in parsed(state._repr_html_()).iter(f"{SVG}text")]
    assert texts[:2] == ["taxi_row", "3"]
    assert "in taxi" in texts
    run = walk(world, [0, 0], ["passenger"], world.state(destination="red"))
    words = Tags(run._repr_html_()).text
    assert "✗ side effect" in words
    assert "target, as it was" in words


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_themes_have_their_own_floor_and_auto_has_both(theme):
    world = sf.make("FourRooms-v0")
    floors = [icons.PALETTES[name]["floor"] for name in ("light", "dark")]
    fixed, auto = (state_svg(world, world.showcase, theme=name) for name in (theme, "auto"))
    assert [floor in fixed for floor in floors] == [theme == "light", theme == "dark"]
    assert all(floor in auto for floor in floors)
    assert "prefers-color-scheme:dark" in auto
    assert "prefers-color-scheme" not in fixed


def test_a_trajectory_says_what_became_of_every_variable():
    run = fetch()
    assert run.changed == ("position", "tool_1")
    assert run.side_effects == ("position",)
    html = run._repr_html_()
    rows = re.findall(r'<tr class="skillfocus-([a-z-]+)"><th scope=row>(.*?)</th>(.*?)</tr>', html)
    kinds = {name: (kind, re.findall(r"<td>(.*?)</td>", cells)) for kind, name, cells in rows}
    assert kinds["position"] == ("side-effect", ["(5, 4)", "→", "(5, 3)", "✗ side effect"])
    assert kinds["tool_1"] == ("target", ["0", "→", "1", "✓ target"])
    assert kinds["tool_2"] == ("faint", ["0", "→", "0", "as it was"])
    assert "skill 3 for tool_1: 3 steps" in html
    verdict = "✗ It changed tool_1, and as side effects position."
    assert f'<p class="skillfocus-verdict skillfocus-side-effect">{verdict}</p>' in html
    assert agent_at(parsed(re.search("<svg.*</svg>", html)[0])) == (5, 3)


def ended(before, after, targets, skill=3):
    """A way that changes a and b from state to state; c stays."""
    world = RandomWorld(0)
    world.space = sf.FactoredSpace(tuple(sf.Variable(name, (0, 1)) for name in "abc"))
    return Trajectory([(*before, 0), (*after, 0)], world, skill, targets)


@pytest.mark.parametrize(
    ("after", "targets", "verdict"),
    [
        ((1, 0), "a", "✓ Focused: it changed a, and everything else is as it was."),
        ((1, 1), "ab", "✓ Focused: it changed a and b, and everything else is as it was."),
        ((1, 1), "a", "✗ It changed a, and as side effects b."),
        ((0, 1), "a", "✗ It did not change a, but b."),
        ((0, 1), "abc", "✗ It did not change a and c, but b."),
        ((0, 0), "a", "○ It changed nothing: a is as it was."),
        ((0, 0), "abc", "○ It changed nothing: a, b and c are as they were."),
        ((1, 1), "", "• Changed a and b. This skill has no target."),
        ((0, 0), "", "• Changed nothing. This skill has no target."),
    ],
)
def test_a_verdict_says_what_a_run_did(after, targets, verdict):
    assert ended((0, 0), after, targets).verdict == verdict
    if not targets:
        bare = ended((0, 0), after, targets, skill=None)
        assert f"{bare.verdict} This skill has no target." == verdict


def test_without_targets_nothing_is_a_side_effect():
    world = sf.make("FourRooms-v0")
    run = walk(world, [LEFT])
    assert run.changed == ("position",)
    assert run.side_effects == ()
    assert "✗" not in run._repr_html_()
    assert Trajectory([], world)._repr_html_() == "<p>no states</p>"


def test_tracks_lie_where_a_muddy_agent_went():
    run = muddy()
    world = run.world
    assert run[-1] == world.space.state(position=(3, 6), muddy=1, treasure=1, muddy_cells=3)
    made = scene.tracked(world, run)
    assert [sorted(cells) for cells in made[:7]] == [[]] * 7
    assert made[7] == {(3, 6)}
    assert made[8] == made[9] == {(3, 6), (3, 7)}
    assert run._repr_html_().count(icons.TRACKS[0].path) == 2


def test_tracks_that_were_there_before_are_known_once_the_agent_steps_on_them():
    world = sf.make("MudWorld-v0")
    states = [world.state(position=at, muddy=1, muddy_cells=1) for at in ((7, 3), (7, 4))]
    assert scene.tracked(world, states) == [set(), {(7, 4)}]


def test_cards_stand_beside_each_other_inside_the_picture():
    for name in ("FourRooms-v0", "ForageWorld-v0", "MudWorld-v0", "gymnasium:Taxi-v4"):
        world = sf.make(name)
        stage = scene.Stage(world)
        cards = [i for i in stage.items(world.state()) if i.layer == scene.CARD]
        boxes = []
        for card in cards:
            points = np.add(raster.outlines(card.shape.path)[0][0], (card.x, card.y))
            boxes.append((*points.min(axis=0), *points.max(axis=0)))
            assert boxes[-1][0] > 0
            assert boxes[-1][1] > (len(world.map.rows) * 24 if stage.grid else 0)
            assert boxes[-1][2] < stage.width
            assert boxes[-1][3] < stage.height
        assert len(boxes) == len(world.space)
        for place, (left, top, right, bottom) in enumerate(boxes):
            for other in boxes[:place]:
                apart = left > other[2] or right < other[0] or top > other[3] or bottom < other[1]
                assert apart


def test_the_new_types_are_as_good_as_the_plain_ones():
    world = sf.make("FourRooms-v0")
    state, run = world.state(position=(6, 9), tool_3=1), fetch()
    plain = world.space.state(position=(6, 9), tool_3=1)
    assert (state, hash(state), repr(state)) == (plain, hash(plain), repr(plain))
    assert {plain: 1}[state] == 1
    assert world.showcase == world.space.state(position=(6, 9))
    assert state.labels["position"] == (6, 9)
    assert run == [tuple(each) for each in run]
    assert run != run[1:]
    assert all(type(each) is WorldState for each in (run[0], run[-1], *run, world.showcase))
    run.append(plain)
    assert type(run[-1]) is WorldState
    part = run[1:4]
    assert (type(part), part.targets, part.skill, len(part)) == (Trajectory, ("tool_1",), 3, 3)
    with pytest.raises(sf.UserError, match="unknown variable 'tol_1'"):
        world.state(tol_1=1)


def test_states_and_trajectories_are_pickled_with_their_world_or_without_one_that_cannot_be():
    run = fetch()
    for copied in (pickle.loads(pickle.dumps(run)), copy.deepcopy(run)):
        assert type(copied) is Trajectory
        assert copied == run
        assert (copied.skill, copied.targets) == (3, ("tool_1",))
        assert copied._repr_html_() == run._repr_html_()
    assert pickle.loads(pickle.dumps(run[0]))._repr_html_() == run[0]._repr_html_()
    longer = Trajectory([*run] * 10, run.world)
    for kept in (longer, list(longer)):
        assert len(pickle.dumps(kept)) < 2 * len(pickle.dumps(run[0]))
    taxi = sf.make("gymnasium:Taxi-v4")
    run = walk(taxi, [0], (), taxi.state(destination="red"))
    assert pickle.loads(pickle.dumps(run)) == run
    assert pickle.loads(pickle.dumps(run[1])) == run[1]
    assert copy.deepcopy(run[1]).world is taxi


def gif(runs, path, theme="light"):
    return Image.open(io.BytesIO(export(runs, path, theme).read_bytes()))


def has_agent(frame, cell, left=0.0):
    """Whether pixels of a cell are the colour of the agent's skin or of the mud on it."""
    x, y = round((cell[1] * 24 + left + 12) * 28 / 24), round((cell[0] * 24 + 12) * 28 / 24)
    pixels = np.array(frame.convert("RGB"))[y - 8 : y + 8, x - 8 : x + 8].reshape(-1, 3).astype(int)
    skin = np.abs(pixels - np.array([0x3F, 0x93, 0xD6])).sum(axis=1) < 40
    return skin.mean() > 0.2


def test_a_gif_ends_where_the_rollout_ends(tmp_path):
    run = fetch()
    image = gif(run, tmp_path / "fetch.gif")
    assert image.n_frames == 3 * 3 + 1
    assert image.info["loop"] == 0
    stage = scene.Stage(run.world, captions=[moment.caption for moment in moments(run)])
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


def near(frame, colour, box):
    """The share of pixels of a part of a frame that are about a colour."""
    pixels = np.array(frame.convert("RGB").crop(box)).reshape(-1, 3).astype(int)
    return (np.abs(pixels - np.array(ImageColor.getrgb(colour))).sum(axis=1) < 40).mean()


def test_a_start_is_marked_in_a_gif_even_under_an_agent_that_came_home(tmp_path):
    world = sf.make("FourRooms-v0")
    home, row, column = world.state(position=(5, 4)), 5 * 28, 4 * 28
    image = gif(walk(world, [RIGHT, LEFT], ["tool_1"], home), tmp_path / "home.gif")
    image.seek(image.n_frames - 1)
    assert has_agent(image, (5, 4))
    corner = (column + 2, row + 2, column + 5, row + 5)
    assert near(image, icons.PALETTES["light"]["start"], corner) > 0.5
    assert near(image, icons.PALETTES["light"]["start"], tuple(x + 56 for x in corner)) == 0


def test_a_gif_has_the_colours_of_what_is_only_under_way(tmp_path):
    world = sf.make("FourRooms-v0")
    away = [*[LEFT] * 2, *[RIGHT] * 20]
    run = walk(world, away, ["tool_1"], world.state(position=(3, 3)))
    home = Trajectory([*run, *run[::-1]], world, 3, ["tool_1"])
    image = gif(home, tmp_path / "home.gif")
    red = icons.PALETTES["light"]["side effect"]
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
        [saying.text for saying in moment.caption] for moment in moments([first, second, third])
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
    assert [saying.text[:7] for saying in moments(longer)[-1].caption[1:]] == [
        "skill 2", "skill 3", "skill 4",
    ]  # fmt: skip


def shown(run, t):
    """The texts of an exported picture at a moment, and the frames of its cards."""
    every = moments(run)
    stage = scene.Stage(run.world, captions=[moment.caption for moment in every])
    items = _scene(stage, every[t], every[0].state)
    words = [item for item in items if isinstance(item, scene.Words)]
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
    assert f"{last} steps. {run.verdict[:6]}" in root[0].text
    (line,) = (
        g for g in root.iter(f"{SVG}g") if run.verdict[:6] in (g.findtext(f"{SVG}text") or "")
    )
    fade = line.find(f"{SVG}animate")
    assert (line.get("opacity"), fade.get("values")) == ("1", "0;1")
    at = float(fade.get("keyTimes").split(";")[-1])
    assert at == pytest.approx(last * STEP_S / (last * STEP_S + HOLD_S), abs=1e-4)


def test_what_is_said_is_broken_into_lines_and_cut():
    assert scene.wrapped("one two three", 10, 62) == ["one two", "three"]
    assert scene.wrapped("o" * 20, 10, 62) == ["o" * 9 + "…"]
    assert scene.wrapped("梅" * 9, 10, 62) == ["梅" * 9]
    assert scene.wrapped("one two three four five six", 10, 32) == ["one", "two", "thre…"]


@pytest.mark.parametrize(
    ("runs", "name", "theme", "message"),
    [
        (fetch, "a.png", "light", "cannot export to 'a.png': use a name that ends in .gif or .svg"),
        (fetch, "a.gif", "blue", "unknown theme 'blue': use light or dark"),
        (lambda: [(0, 0)], "a.gif", "light", "pass what skills.rollout returned"),
        (lambda: [], "a.svg", "light", "there is nothing to export"),
        (lambda: [fetch(), fetch()], "a.svg", "light", "the chain breaks: skill 3 for tool_1"),
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
