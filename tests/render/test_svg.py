"""States and trajectories as SVG and HTML."""

from __future__ import annotations

import re

import pytest

import skillfocus as sf
from drawings import HOSTILE, LEFT, RIGHT, SVG, Angles, Lamps, Tags, agent_at, fetch, parsed, walk
from skillfocus.render import icons, scene
from skillfocus.render.icons import ICONS, PALETTES
from skillfocus.render.svg import state_svg
from skillfocus.rollout import Trajectory

WRENCH = ICONS["tool"][0]


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
    assert clean.count(ICONS["mud"][1].path) == sum(row.count("M") for row in world.map.rows) + 1
    assert ICONS["muddy agent"][2].path in dirty
    assert ICONS["muddy agent"][2].path not in clean


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
    floors = [PALETTES[name]["floor"] for name in ("light", "dark")]
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


def test_without_targets_nothing_is_a_side_effect():
    world = sf.make("FourRooms-v0")
    run = walk(world, [LEFT])
    assert run.changed == ("position",)
    assert run.side_effects == ()
    assert "✗" not in run._repr_html_()
    assert Trajectory([], world)._repr_html_() == "<p>no states</p>"
