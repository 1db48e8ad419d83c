"""What the page draws, and how it opens: pixels, names as text, incomplete files, notebooks."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from pages import (
    READY,
    assert_shows,
    map_image,
    pixel,
    quick,
    values_shown,
    view_without_effects,
)
from skillfocus.render.icons import PALETTES
from skillfocus.viewer.page import write_page
from skillfocus.viewer.payload import SkillSetView
from skillfocus.worlds.maps import make_map

pytestmark = pytest.mark.slow


def test_what_is_drawn(opened, four_rooms):
    """A ring round what the skill is for, gone with another skill; every layer shows."""
    colors = PALETTES["light"]
    tool_1, tool_2 = four_rooms.tools[:2]
    opened.get_by_label("skill 1, for tool_1").first.click()
    opened.keyboard.press("Home")
    assert pixel(opened, four_rooms, tool_1[0] + 0.5, tool_1[1]) == colors["target"]
    assert pixel(opened, four_rooms, tool_2[0] + 0.5, tool_2[1]) != colors["target"]
    opened.get_by_label("skill 3, for tool_2").first.click()
    assert pixel(opened, four_rooms, tool_2[0] + 0.5, tool_2[1]) == colors["target"]
    assert pixel(opened, four_rooms, tool_1[0] + 0.5, tool_1[1]) != colors["target"]
    assert pixel(opened, four_rooms, 0.5, 0.5) == colors["wall"]
    seen = {map_image(opened)}
    for key in ("a", "h", "h", "h", "g", "ArrowRight"):
        opened.keyboard.press(key)
        seen.add(map_image(opened))
    assert len(seen) >= 6  # before it has moved, an agent may hide its ghosts


def test_tracks_are_drawn_where_they_were_left(page, sets, tmp_path):
    skills = sets[-2]
    world, mdp = skills.world, skills.mdp
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page([view_without_effects(skills)], tmp_path / "p.html").as_uri())
    page.wait_for_selector(READY)
    tracked = page.evaluate("skillfocus.model.world.map.tracked")
    assert {
        world.map.cells[p]: mark for p, mark in enumerate(tracked) if mark >= 0
    } == world.mark_of
    start = world.space.state(position=(4, 7), muddy=1)
    z, seed, path = next(
        (z, seed, path)
        for z in range(len(skills))
        for seed in range(20)
        for path in [skills.rollout(z, start, np.random.default_rng(seed))]
        if path[-1][3] > 0 and world.map.cells[path[-1][0]] != (4, 7)
    )
    cells = [world.map.cells[state[0]] for state in path]
    left = next(
        cell
        for cell, before, after in zip(cells[1:], path, path[1:], strict=False)
        if after[3] > before[3] and cell != cells[-1]
    )
    link = ".".join(map(str, start))
    page.evaluate(f"location.hash = 'start={link}&skills={z}&seed={seed}&t=0'")
    page.wait_for_function(f"() => skillfocus.model.seed === {seed} && !skillfocus.app.busy")
    before = pixel(page, world, left[0] + 14.6 / 24, left[1] + 7 / 24)
    page.keyboard.press("End")
    assert pixel(page, world, left[0] + 14.6 / 24, left[1] + 7 / 24) != before
    assert mdp.n_marks


def test_light_and_dark_are_drawn_differently(opened):
    light = map_image(opened)
    opened.emulate_media(color_scheme="dark", reduced_motion="reduce")
    opened.wait_for_function(
        "light => document.querySelector('.map').toDataURL() !== light", arg=light
    )


HOSTILE = """<script>alert(1)</script> "quoted" 'single' & 🐙"""


class Hostile(sf.World):
    """A switch and a lamp without a map, both with names that a page must show as text."""

    id = "Hostile" + HOSTILE
    actions = ("wait", "<b>press</b>")
    space = sf.Space(
        (sf.Variable(HOSTILE, ("off", "<i>on</i>")), sf.Variable("hour", tuple(range(6))))
    )

    def states(self):
        return [(lamp, hour) for lamp in range(2) for hour in range(6)]

    def transition(self, state, action):
        lamp, hour = state
        return [
            sf.Outcome(0.5, (lamp ^ action, (hour + 1) % 6)),
            sf.Outcome(0.5, (lamp ^ action, hour)),
        ]


def test_worlds_without_a_map_are_cards_and_names_are_text(page, tmp_path):
    skills = sf.discover(Hostile(), sf.focused(sf.vic()), seed=0, targets={HOSTILE: 2, "hour": 2})
    path = write_page([SkillSetView(skills, HOSTILE)], tmp_path / "<b>&'page.html", title=HOSTILE)
    page.emulate_media(reduced_motion="reduce")
    page.goto(path.as_uri())
    page.wait_for_selector(READY)
    assert page.title() == HOSTILE
    assert page.locator("#world").inner_text() == Hostile.id
    assert page.locator("script").count() == 4
    assert page.locator("main b, main i, .setup b").count() == 0
    assert page.locator("canvas").count() == 0
    assert page.locator(".panel h2").inner_text() == HOSTILE
    assert page.locator(".card .name").all_inner_texts() == [HOSTILE, "hour"]
    page.locator(".chip").nth(1).click()
    page.get_by_label("Ghosts").select_option("10")
    page.keyboard.press("End")
    start = skills.mdp.state(0)
    path = skills.rollout(1, start, np.random.default_rng(0))
    assert_shows(page, skills, path)
    shown = page.locator(".card .value").all_inner_texts()
    assert shown == [str(v) for v in skills.mdp.space.labels(path[-1]).values()]


def test_maps_of_emoji(page, tmp_path):
    """Characters are cells, however many units of text JavaScript makes of them."""
    text = "🐙 = pick-up octopus\nK = pick-up key\nmap:\n#######\n#@🐙.K.#\n#######\n"
    skills = quick(make_map("<i>m</i>", text=text), sf.focused(sf.vic()))
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page([view_without_effects(skills)], tmp_path / "m.html").as_uri())
    page.wait_for_selector(READY)
    assert page.locator("#world").inner_text() == "map:<i>m</i>"
    assert set(values_shown(page)) == {"position", "octopus", "key"}
    rows = page.evaluate("skillfocus.model.world.map.rows")
    assert rows[1] == list("#.🐙.K.#")
    places = page.evaluate("skillfocus.model.world.map.places")
    names, cells = skills.world.space.names, skills.world.map.cells
    changes = {name: [cells[p] for p in places[j]] for j, name in enumerate(names)}
    assert changes == {"position": [], "octopus": [(1, 2)], "key": [(1, 4)]}


def test_a_file_that_is_cut_off_says_so(browser, rooms_page, tmp_path):
    text = rooms_page.read_text()
    cut = tmp_path / "cut.html"
    cut.write_text(text[: text.index('id="policies-0"') + 4000])
    page = browser.new_page()
    page.goto(cut.as_uri())
    page.wait_for_function("() => document.getElementById('message').textContent")
    assert "incomplete" in page.locator("#message").inner_text()
    assert page.locator("#message").bounding_box()["width"] > 100
    page.close()


def test_skills_draw_themselves_in_notebooks(page, focused_vic, tmp_path):
    """A notebook's cell is a part of another page."""
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!doctype html><title>n</title>{focused_vic._repr_html_()}", "utf-8")
    page.goto(cell.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator(READY).wait_for()
    inside.get_by_label("To the end").click()
    assert "Focused" in inside.locator(".verdict").inner_text()
